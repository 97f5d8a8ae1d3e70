#include "jobman/client/local_cloud.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "jobman/client/host_target.hpp"
#include "tests/unit/client/client_world.hpp"
#include "tests/unit/client/sim_folder.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

class LocalCloudTest : public test::ClientWorld {
 protected:
  base::Path Dir() { return Context().paths.SimDir(); }
  static std::string Description(const std::string& endpoint = "http://127.0.0.1:9") {
    return R"({"endpoint": ")" + endpoint +
           R"(", "ssh_port": 2222, "user": "ada", "token": "t0k", "pid": )" +
           std::to_string(::getpid()) + "}";
  }
  /// A program in place of jobman-sim. It is called with: up --detach --dir DIR.
  base::Path Program(const std::string& script) {
    const base::Path path = Context().paths.home / "fake-sim";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  base::Result<LocalCloud> Find() { return FindLocalCloud(Context().paths); }
  base::Result<LocalCloud> Start(base::Path program) {
    return Await(StartLocalCloud(Context().paths, std::move(program)));
  }
  /// Refused, and no other simulator is started in its place.
  void IsDistrusted(const std::string& why) {
    EXPECT_EQ(Find().error().code, base::Code::kFailedPrecondition);
    EXPECT_THAT(Find().error().message, HasSubstr(why));
    EXPECT_NE(Find().error().hint, "");
    const auto started = Start(Program("touch \"$4/started\"\n"));
    EXPECT_EQ(started.error().code, base::Code::kFailedPrecondition);
    EXPECT_FALSE(base::FileSize(Dir() / "started"));
  }
};

TEST_F(LocalCloudTest, IsFoundByTheDescriptionOfARunningSimulator) {
  EXPECT_EQ(Find().error().code, base::Code::kNotFound);
  const test::SimFolder folder(Dir());
  EXPECT_EQ(Find().error().code, base::Code::kNotFound) << "it is starting";
  folder.Describe(Description());
  const auto cloud = Find();
  ASSERT_TRUE(cloud.ok()) << cloud.error().ToString();
  EXPECT_EQ(cloud->endpoint, "http://127.0.0.1:9");
  EXPECT_EQ(cloud->ssh_port, 2222);
  EXPECT_EQ(cloud->pid, ::getpid());
  EXPECT_EQ(cloud->user, "ada");
  EXPECT_EQ(cloud->token, "t0k");
  EXPECT_TRUE(Find().ok()) << "looking changes nothing";
}

/// A controller asks for the port of each host, before each call.
TEST_F(LocalCloudTest, TheSshPortIsKeptForAWhile) {
  const test::SimFolder folder(Dir());
  const core::CloudSpec local{.endpoint = "local"};
  SshPorts kept(Context().paths, std::chrono::hours{1});
  SshPorts anew(Context().paths, base::Duration{0});
  folder.Describe(Description());
  EXPECT_EQ(kept.Of(local), 2222);
  EXPECT_EQ(anew.Of(local), 2222);
  EXPECT_EQ(kept.Of({}), 22) << "of another cloud";
  folder.Describe("{");
  EXPECT_EQ(kept.Of(local), 2222);
  EXPECT_EQ(anew.Of(local), 22) << "it is gone";
}

TEST_F(LocalCloudTest, ADescriptionThatOutlivedItsSimulatorIsNone) {
  test::SimFolder folder(Dir());
  folder.Describe(Description());  // of a process that lives: this one
  folder.Die();
  EXPECT_EQ(Find().error().code, base::Code::kNotFound);
}

TEST_F(LocalCloudTest, ABrokenDescriptionIsNone) {
  const test::SimFolder folder(Dir());
  for (const char* text : {"{", "{\"pid\": 1}", "{\"endpoint\": \"http://127.0.0.1:9\"}"}) {
    folder.Describe(text);
    EXPECT_EQ(Find().error().code, base::Code::kNotFound) << text;
  }
}

TEST_F(LocalCloudTest, AnEndpointOnAnotherMachineIsRefused) {
  const test::SimFolder folder(Dir());
  for (const char* endpoint :
       {"http://example.org:80", "https://127.0.0.1:9", "http://127.0.0.1:9@example.org",
        "http://127.0.0.1.example.org:9", "http://127.0.0.1:9/x", "http://127.0.0.1:70000"}) {
    folder.Describe(Description(endpoint));
    IsDistrusted(endpoint);
  }
}

TEST_F(LocalCloudTest, WhatOthersCanWriteIsRefused) {
  const test::SimFolder folder(Dir());
  folder.Describe(Description());
  ASSERT_EQ(chmod((Dir() / "sim.json").c_str(), 0666), 0);
  IsDistrusted("sim.json can be written by other users");
  folder.Describe(Description());
  ASSERT_EQ(chmod(Dir().c_str(), 0777), 0);
  IsDistrusted("can be written by other users");
}

TEST_F(LocalCloudTest, WhatBelongsToAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const test::SimFolder folder(Dir());
  folder.Describe(Description());
  ASSERT_EQ(chown((Dir() / "sim.json").c_str(), 65534, 65534), 0);
  IsDistrusted("sim.json belongs to another user (uid 65534");
  folder.Describe(Description());
  ASSERT_EQ(chown(Dir().c_str(), 65534, 65534), 0);
  IsDistrusted("belongs to another user (uid 65534");
}

TEST_F(LocalCloudTest, ARunningSimulatorIsNotStartedAgain) {
  const test::SimFolder folder(Dir());
  folder.Describe(Description());
  const auto cloud = Start("/nonexistent/program");
  ASSERT_TRUE(cloud.ok()) << cloud.error().ToString();
  EXPECT_EQ(cloud->pid, ::getpid());
}

TEST_F(LocalCloudTest, IsStartedWhenNoneRuns) {
  const test::SimFolder folder(Dir());  // the lock of the simulator that will be started
  const auto cloud =
      Start(Program("test \"$1 $2 $3\" = 'up --detach --dir' || exit 9\n"
                    "umask 077; echo '" +
                    Description() + "' >\"$4/sim.json\"\n"));
  ASSERT_TRUE(cloud.ok()) << cloud.error().ToString();
  EXPECT_EQ(cloud->pid, ::getpid());
}

TEST_F(LocalCloudTest, AFailedStartTellsWhatTheProgramSaid) {
  const base::Path program = Program("echo 'no bubblewrap here' >&2; exit 3\n");
  const auto cloud = Start(program);
  ASSERT_FALSE(cloud.ok());
  EXPECT_EQ(cloud.error().code, base::Code::kUnavailable);
  EXPECT_EQ(cloud.error().message, "the local simulator did not start: " + program.string() +
                                       " up ended with 3: no bubblewrap here");
  EXPECT_THAT(cloud.error().hint, HasSubstr(program.string() + " up --dir "));
}

TEST_F(LocalCloudTest, AProgramThatEndsWellButLeavesNoSimulatorFailed) {
  const auto cloud = Start(Program("exit 0\n"));
  ASSERT_FALSE(cloud.ok());
  EXPECT_EQ(cloud.error().code, base::Code::kUnavailable);
  EXPECT_THAT(cloud.error().message, HasSubstr("ended with 0"));
}

}  // namespace
}  // namespace jobman::client
