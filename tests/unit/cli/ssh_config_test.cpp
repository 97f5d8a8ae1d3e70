#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

class SshConfigCommand : public testing::Test {
 protected:
  SshConfigCommand() {
    world_.fill = [](MemoryStore& store) {
      core::Job job = SampleJob("train");
      job.slice = SampleSlice("train-000001-a1");
      ASSERT_TRUE(store.Create(job, "", {}).ok());
      ASSERT_TRUE(store.Create(SampleJob("new"), "", {}).ok());
      ASSERT_TRUE(store.PinKey("8123456789/0", "ssh-ed25519 AAAA").ok());
    };
  }
  base::Path File() const { return world_.paths().home / "user config"; }
  std::string Text() const { return base::ReadFile(File()).value_or("(none)"); }
  CliWorld::Ended Install(std::vector<std::string> more) {
    more.insert(more.begin(), {"ssh-config", "install", "--file", File().string()});
    return world_.Run(more);
  }
  CliWorld world_;
};

TEST_F(SshConfigCommand, ShowsTheFileTheNamesOrJson) {
  const auto shown = world_.Run({"ssh-config"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("\nHost jobman-1 jobman-1-w0 jobman-train jobman-train-w0\n"));
  EXPECT_THAT(shown.err, HasSubstr("jobman ssh-config write"));
  EXPECT_EQ(world_.Run({"ssh-config", "train", "-q"}).out,
            "jobman-1\njobman-1-w0\njobman-train\njobman-train-w0\njobman-1-w1\njobman-train-w1\n");
  const auto json = base::ParseJson(world_.Run({"ssh-config", "1", "--json"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->at("hosts").at(0).at("address"), "203.0.113.7");
  EXPECT_EQ(json->at("hosts").at(0).at("pinned"), true);
  EXPECT_EQ(json->at("hosts").at(1).at("names").at(0), "jobman-1-w1");
  EXPECT_EQ(world_.Run({"ssh-config", "new"}).exit_code, 75);
  EXPECT_EQ(world_.Run({"ssh-config", "missing"}).exit_code, 3);
}

TEST_F(SshConfigCommand, WriteWritesItWithoutAController) {
  const auto written = world_.Run({"ssh-config", "write"});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.err, HasSubstr("with names for 2 hosts"));
  EXPECT_EQ(base::ReadFile(world_.paths().SshConfig()).value_or(""),
            world_.Run({"ssh-config"}).out);
  EXPECT_EQ(base::ReadFile(world_.paths().SshKnownHosts()).value_or(""),
            "jobman-8123456789-0 ssh-ed25519 AAAA\n");
}

TEST_F(SshConfigCommand, InstallAsksAndAddsTheLineOnce) {
  const std::string line = "Include \"" + world_.paths().SshConfig().string() + "\"\n";
  EXPECT_EQ(Install({"--print"}).out, line);
  EXPECT_EQ(Text(), "(none)");
  EXPECT_NE(Install({}).exit_code, 0) << "nobody can be asked";
  world_.on_ask = [](MemoryStore&, const std::string&) { return false; };
  EXPECT_THAT(Install({}).err, HasSubstr("nothing was changed"));
  EXPECT_EQ(Text(), "(none)");
  EXPECT_EQ(Install({"--yes"}).exit_code, 0);
  EXPECT_EQ(Text(), line);
  EXPECT_THAT(Install({}).err, HasSubstr("is already in")) << "nothing is asked";
  EXPECT_THAT(base::ReadFile(world_.paths().SshConfig()).value_or(""), HasSubstr("Host jobman-1 "));
  EXPECT_EQ(Install({"--remove", "--yes"}).exit_code, 0);
  EXPECT_EQ(Text(), "");
}

}  // namespace
}  // namespace jobman::test
