#include "jobman/client/local_cloud.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

class LocalCloudTest : public test::ClientWorld {
 protected:
  void WriteDescription(const std::string& text) {
    std::filesystem::create_directories(Context().paths.SimDir());
    std::ofstream(Context().paths.SimDir() / "sim.json") << text;
  }
  static std::string Description(std::int64_t pid) {
    return R"({"endpoint": "http://127.0.0.1:9", "ssh_port": 2222, "user": "ada", "pid": )" +
           std::to_string(pid) + "}";
  }
  /// A program in place of jobman-sim. It is called with: up --detach --dir DIR.
  base::Path Program(const std::string& script) {
    const base::Path path = Context().paths.home / "fake-sim";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::optional<LocalCloud> Find() { return FindLocalCloud(Context().paths); }
  base::Result<LocalCloud> Start(base::Path program) {
    return Await(StartLocalCloud(Context().paths, std::move(program)));
  }
  /// Not a process id: the limit is 2^22 (proc(5), pid_max).
  static constexpr std::int64_t kNoProcess = 4'194'999;
};

TEST_F(LocalCloudTest, IsFoundByTheDescriptionOfARunningSimulator) {
  EXPECT_FALSE(Find());
  WriteDescription(Description(::getpid()));
  const auto cloud = Find();
  ASSERT_TRUE(cloud);
  EXPECT_EQ(cloud->endpoint, "http://127.0.0.1:9");
  EXPECT_EQ(cloud->ssh_port, 2222);
  EXPECT_EQ(cloud->pid, ::getpid());
  EXPECT_EQ(cloud->user, "ada");
}

TEST_F(LocalCloudTest, ADeadSimulatorOrABrokenDescriptionIsNone) {
  for (const std::string& text :
       {Description(kNoProcess), Description(0), std::string("{"), std::string("{\"pid\": 1}")}) {
    WriteDescription(text);
    EXPECT_FALSE(Find()) << text;
  }
}

TEST_F(LocalCloudTest, ARunningSimulatorIsNotStartedAgain) {
  WriteDescription(Description(::getpid()));
  const auto cloud = Start("/nonexistent/program");
  ASSERT_TRUE(cloud.ok()) << cloud.error().ToString();
  EXPECT_EQ(cloud->pid, ::getpid());
}

TEST_F(LocalCloudTest, IsStartedWhenNoneRuns) {
  WriteDescription(Description(kNoProcess));
  const auto cloud =
      Start(Program("test \"$1 $2 $3\" = 'up --detach --dir' || exit 9\n"
                    "echo '" +
                    Description(::getpid()) + "' > \"$4/sim.json\"\n"));
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
