// `controller install` with stand-ins for systemctl, loginctl and crontab, which are real programs:
// they answer, refuse, or never answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "jobman/base/json.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Service : public testing::Test {
 protected:
  Service() {
    setenv("PATH", (dir_.path().string() + ":/usr/bin:/bin").c_str(), 1);
    setenv("XDG_CONFIG_HOME", (dir_.path() / "config").c_str(), 1);
    world_.fill = [this](MemoryStore& store) {
      ASSERT_TRUE(store.TakeLease(controller::LeaseHolder(), world_.clock.Now(), kLong).ok());
    };
    Systemctl("exit 1");
    Program("loginctl", "echo Linger=no");
    Program("crontab", kCrontab);
  }
  ~Service() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("XDG_CONFIG_HOME");
  }
  /// A stand-in, which notes how it is called.
  void Program(const std::string& name, const std::string& does) {
    const base::Path file = dir_.path() / name;
    std::ofstream(file) << "#!/bin/sh\ncd " << dir_.path().string() << "\necho \"" << name
                        << " $*\" >>calls\n"
                        << does << "\n";
    ASSERT_EQ(chmod(file.c_str(), 0755), 0);
  }
  void Systemctl(const std::string& does) { Program("systemctl", does); }
  std::string Read(const base::Path& file) { return base::ReadFile(file).value_or(""); }
  std::string Calls() { return Read(dir_.path() / "calls"); }
  std::string Crontab() { return Read(dir_.path() / "crontab.txt"); }
  void WriteCrontab(const std::string& text) { std::ofstream(dir_.path() / "crontab.txt") << text; }
  std::string OnlyUnit() {
    for (const auto& entry :
         std::filesystem::directory_iterator(dir_.path() / "config" / "systemd" / "user"))
      return Read(entry.path());
    return {};
  }

  /// As cron's: -l prints, - replaces, -r removes.
  static constexpr const char* kCrontab =
      "case $1 in\n"
      "  -l) [ -f crontab.txt ] || { echo 'no crontab for ada' >&2; exit 1; }; cat crontab.txt ;;\n"
      "  -) cat >crontab.txt ;;\n"
      "  -r) rm crontab.txt ;;\nesac";
  static constexpr base::Duration kLong = std::chrono::hours{1};
  const std::string path_ = getenv("PATH");
  TempDir dir_;
  CliWorld world_;
};

TEST_F(Service, WithSystemdAUnitIsWrittenEnabledAndStarted) {
  Systemctl("case $2 in is-enabled) [ -f enabled ] ;; enable) : >enabled ;; esac");
  const auto printed = world_.Run({"controller", "install", "--print"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, AllOf(HasSubstr("systemd/user/jobman-"), HasSubstr("[Service]")));
  EXPECT_THAT(Calls(), Not(HasSubstr("enable jobman")));

  const auto installed = world_.Run({"controller", "install", "--yes"});
  EXPECT_EQ(installed.exit_code, 0) << installed.err;
  EXPECT_THAT(installed.err,
              AllOf(HasSubstr("is started by jobman-"), HasSubstr("one runs already"),
                    HasSubstr("next: loginctl enable-linger")));
  EXPECT_THAT(OnlyUnit(),
              HasSubstr(" --home \"" + world_.paths().home.string() + "\" controller run"));
  EXPECT_THAT(Calls(),
              AllOf(HasSubstr("--user daemon-reload\n"), HasSubstr("--user enable jobman-"),
                    HasSubstr("--user start --no-block jobman-")));
  EXPECT_THAT(Calls(), Not(HasSubstr("crontab -\n")));

  std::filesystem::remove(dir_.path() / "calls");
  const auto again = world_.Run({"--json", "controller", "install", "--yes"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_TRUE(base::GetBool(*base::ParseJson(again.out), "was_installed"));
  EXPECT_THAT(Calls(), Not(HasSubstr("start")));

  const auto removed = world_.Run({"controller", "uninstall"});
  EXPECT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_THAT(removed.err, HasSubstr("removed: " + (dir_.path() / "config").string()));
  EXPECT_THAT(Calls(), HasSubstr("disable --now --no-block jobman-"));
  EXPECT_EQ(OnlyUnit(), "");
  EXPECT_THAT(world_.Run({"controller", "uninstall"}).err, HasSubstr("no service was installed"));
}

TEST_F(Service, WithoutSystemdLinesAreAddedToTheCrontab) {
  WriteCrontab("0 3 * * * mine\n");
  const auto installed = world_.Run({"controller", "install", "--yes"});
  EXPECT_EQ(installed.exit_code, 0) << installed.err;
  EXPECT_THAT(installed.err, HasSubstr("the controller is started by cron"));
  const std::string script = world_.paths().home / "controller-start.sh";
  EXPECT_THAT(Crontab(),
              AllOf(testing::StartsWith("0 3 * * * mine\n"),
                    HasSubstr("\n@reboot " + script + "\n*/5 * * * * " + script + "\n")));
  EXPECT_THAT(Read(script), HasSubstr("--quiet controller start\n"));
  const std::string before = Crontab();
  EXPECT_THAT(world_.Run({"controller", "install", "--yes"}).err, HasSubstr("by cron already"));
  EXPECT_EQ(Crontab(), before);

  EXPECT_THAT(world_.Run({"controller", "uninstall"}).err, HasSubstr("the lines of the crontab"));
  EXPECT_EQ(Crontab(), "0 3 * * * mine\n");
  EXPECT_FALSE(base::FileSize(script));
}

TEST_F(Service, ACrontabThatCannotBeReadIsNotReplaced) {
  Program("crontab", "echo 'crontab: /var/spool/cron: Permission denied' >&2; exit 1");
  const auto refused = world_.Run({"controller", "install", "--yes"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("there is no service to start the controller"),
                    HasSubstr("Permission denied"), HasSubstr("jobman controller start")));
  EXPECT_THAT(Calls(), Not(HasSubstr("crontab -\n")));
  EXPECT_FALSE(base::FileSize(world_.paths().home / "controller-start.sh"));
}

TEST_F(Service, ACrontabThatRefusesTheLinesIsToldOf) {
  Program("crontab", "[ \"$1\" = -l ] || { echo 'you are not allowed to use cron' >&2; exit 1; }");
  const auto refused = world_.Run({"controller", "install", "--yes"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("crontab - ended with exit code 1: you are not allowed"));
  EXPECT_FALSE(base::FileSize(world_.paths().home / "controller-start.sh"));
}

TEST_F(Service, LinesThatOthersAddMeanwhileStay) {
  Program("crontab",
          "case $1 in\n"
          "  -l) touch crontab.txt; cat crontab.txt; echo '1 1 * * * theirs' >>crontab.txt ;;\n"
          "  -) cat >crontab.txt ;;\nesac");
  const auto installed = world_.Run({"controller", "install", "--yes"});
  EXPECT_EQ(installed.exit_code, 0) << installed.err;
  EXPECT_THAT(Crontab(), AllOf(HasSubstr("theirs\n"), HasSubstr("\n@reboot ")));
}

TEST_F(Service, AUserManagerThatNeverAnswersIsGivenUp) {
  Systemctl("exec sleep 1000");
  const auto installed = world_.Run({"controller", "install", "--print", "--json"});
  EXPECT_EQ(installed.exit_code, 0) << installed.err;
  EXPECT_EQ(base::GetString(*base::ParseJson(installed.out), "kind"), "cron");
}

TEST_F(Service, AUnitThatSystemdRefusesIsToldOf) {
  Systemctl("[ \"$2\" = show ] || { echo 'Failed to enable unit: no space' >&2; exit 1; }");
  const auto refused = world_.Run({"controller", "install", "--yes"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("systemctl --user daemon-reload ended with exit code 1: Failed"));
}

TEST_F(Service, OneKindIsInstalledAtATime) {
  ASSERT_EQ(world_.Run({"controller", "install", "--yes"}).exit_code, 0);
  Systemctl("exit 0");
  const auto refused = world_.Run({"controller", "install", "--yes"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("is installed with cron already"),
                                 HasSubstr("jobman controller uninstall, then")));
  EXPECT_EQ(world_.Run({"controller", "install", "--yes", "--cron"}).exit_code, 0);
}

/// Whoever runs this test may have a terminal: without one there is nobody to ask.
TEST_F(Service, NobodyIsAskedWithoutATerminal) {
  if (isatty(0) == 1) GTEST_SKIP() << "there is a terminal";
  const auto refused = world_.Run({"controller", "install"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("added to the crontab:\n"), HasSubstr("pass --yes")));
  EXPECT_EQ(Crontab(), "");
}

}  // namespace
}  // namespace jobman::test
