// The real script of `jobman top`, on a host with another /proc, and with files as chips.
#include <gmock/gmock.h>

#include "jobman/base/files.hpp"
#include "jobman/remote/top_script.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

class TopScriptTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (access(GetParam().c_str(), X_OK) != 0) GTEST_SKIP() << GetParam() << " is not installed";
    Write("proc/stat", "cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 5 0 5 35 5\ncpu1 5 0 5 35 5\nintr 7\n");
    Write("proc/loadavg", "1.25 0.50 0.10 1/200 4711\n");
    Write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\n");
    host.env["JOBMAN_PROC"] = host.home() / "proc";
    host.env["JOBMAN_CHIP_DEVICES"] = (host.home() / "dev/accel*").string();
  }
  void Write(const std::string& file, const std::string& text) {
    const base::Path path = host.home() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// A program that the script finds before all others.
  void WriteProgram(const std::string& file, const std::string& body) {
    Write(file, "#!/bin/sh\n" + body);
    std::filesystem::permissions(host.home() / file, std::filesystem::perms::owner_all);
  }
  void AddChips() {
    Write("dev/accel0", "");
    Write("dev/accel1", "");
  }
  /// A process that has the file open.
  void AddHolder(int pid, const std::string& open, const std::string& command) {
    const std::string folder = "proc/" + std::to_string(pid);
    Write(folder + "/cmdline", command);
    std::filesystem::create_directories(host.home() / folder / "fd");
    std::filesystem::create_symlink(host.home() / open, host.home() / folder / "fd/3");
  }
  HostLook Look() {
    const Ended ended = host.Do({.command = TopCommand(seconds{0})});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    HostLookReader reader;
    const auto look = reader.Take(ended.out);
    EXPECT_TRUE(look.ok() && *look) << ended.out;
    return look.ok() ? look->value_or(HostLook{}) : HostLook{};
  }
  LocalHost host{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Shells, TopScriptTest, EveryShell(), ShellName);

TEST_P(TopScriptTest, SaysHowTheHostDoes) {
  const HostLook look = Look();
  EXPECT_EQ(look.cpus, 2);
  EXPECT_EQ(look.load, 1.25);
  EXPECT_EQ(look.memory, (Amount{.used = 600 * 1024, .total = 1000 * 1024}));
  ASSERT_TRUE(look.root_disk);
  EXPECT_GT(look.root_disk->total, 0);
  EXPECT_TRUE(look.home_disk);
  EXPECT_THAT(look.chips, IsEmpty());
  EXPECT_EQ(look.tpu_info, HostLook::TpuInfo::kAbsent);
}

TEST_P(TopScriptTest, IsUnderstoodBehindAGreetingWithoutALineBreak) {
  const Ended ended = host.Do({.command = "printf Welcome; " + TopCommand(seconds{0})});
  HostLookReader reader;
  const auto look = reader.Take(ended.out);
  ASSERT_TRUE(look.ok() && *look) << ended.out;
  EXPECT_EQ((*look)->load, 1.25);
}

TEST_P(TopScriptTest, OfTheRealProcTheCpuIsBusyToo) {
  host.env.erase("JOBMAN_PROC");
  const HostLook look = Look();
  EXPECT_GT(look.cpus, 0);
  EXPECT_TRUE(look.load);
  EXPECT_TRUE(look.cpu_percent);
  EXPECT_TRUE(look.memory);
}

TEST_P(TopScriptTest, WhatIsNotThereIsLeftOut) {
  host.env["JOBMAN_PROC"] = host.home() / "none";
  const HostLook look = Look();
  EXPECT_EQ(look.cpus, 0);
  EXPECT_FALSE(look.load || look.cpu_percent || look.memory);
}

TEST_P(TopScriptTest, NamesWhoHoldsWhichChip) {
  AddChips();
  AddHolder(11, "dev/accel1", std::string("python\0train.py\0a\nb\0", 19));
  AddHolder(12, "dev/accel1", "");
  AddHolder(13, "dev/other", "x");
  const HostLook look = Look();
  ASSERT_EQ(look.chips.size(), 2u);
  EXPECT_EQ(look.chips[0].device, (host.home() / "dev/accel0").string());
  EXPECT_THAT(look.chips[0].holders, IsEmpty());
  ASSERT_EQ(look.chips[1].holders.size(), 2u);
  EXPECT_EQ(look.chips[1].holders[0].pid, 11);
  EXPECT_EQ(look.chips[1].holders[0].user, base::UserName());
  EXPECT_EQ(look.chips[1].holders[0].command, "python train.py a?b");
  EXPECT_EQ(look.chips[1].holders[1].command, "");
}

TEST_P(TopScriptTest, OthersAreSeenWithSudoOnly) {
  AddChips();
  AddHolder(11, "dev/accel0", "mine");
  AddHolder(12, "dev/none", "theirs");
  WriteProgram("shell/id", "case $1 in -u) echo 1000 ;; *) echo \"$(cat ~/groups)\" ;; esac\n");
  Write("groups", "ann users");
  HostLook look = Look();
  EXPECT_FALSE(look.sees_all);
  EXPECT_EQ(look.chips[0].holders.size(), 1u) << "ours";

  Write("groups", "ann google-sudoers");
  WriteProgram("shell/sudo", "[ \"$2\" != true ] || exit 1\n");
  EXPECT_FALSE(Look().sees_all) << "it wants a password";

  WriteProgram("shell/sudo",
               "[ \"$2\" != true ] || exit 0\nshift\nfor one; do :; done\n"
               "\"$@\"; echo \"${one%/*}/fd:\"; echo \"l 3 -> $HOME/dev/accel1\"\n");
  look = Look();
  EXPECT_TRUE(look.sees_all);
  ASSERT_EQ(look.chips[1].holders.size(), 1u);
  EXPECT_EQ(look.chips[1].holders[0].command, "theirs");

  WriteProgram("shell/sudo", "touch ~/asked; exit 1\n");
  std::filesystem::remove(host.home() / "dev/accel1");
  EXPECT_TRUE(Look().sees_all) << "a chip has one holder";
  EXPECT_FALSE(std::filesystem::exists(host.home() / "asked"));
}

TEST_P(TopScriptTest, AsksTpuInfoForTheTwoMetricsAndAnOlderOneForAll) {
  AddChips();
  EXPECT_EQ(Look().tpu_info, HostLook::TpuInfo::kAbsent);
  const std::string say =
      "echo '| Chip | HBM usage | Duty cycle |'\n"
      "echo '| 0 | 1.00 GiB / 2.00 GiB | 90.00% |'\necho '| 1 | 1.00 GiB / 2.00 GiB | 50.00% |'\n";
  // Of an environment of the job.
  WriteProgram("env/bin/tpu-info", "echo $* >>~/asked-for\n[ $# = 4 ] || exit 2\n" + say);
  HostLook look = Look();
  EXPECT_EQ(look.duty_percent, 70.0);
  EXPECT_EQ(look.chips[1].duty_percent, 50.0);
  EXPECT_EQ(Slurp(host.home() / "asked-for"), "--metric duty_cycle_percent --metric hbm_usage\n");
  WriteProgram("env/bin/tpu-info", "[ $# = 0 ] || exit 2\n" + say);
  EXPECT_EQ(Look().duty_percent, 70.0);
  WriteProgram("env/bin/tpu-info", "echo No program uses the TPU >&2; exit 1\n");
  EXPECT_EQ(Look().tpu_info, HostLook::TpuInfo::kSilent);
}

TEST_P(TopScriptTest, WhatTpuInfoPrintsWithoutEndIsCut) {
  AddChips();
  WriteProgram("env/bin/tpu-info", "head -c 20000000 /dev/zero | tr '\\0' x\n");
  const Ended ended = host.Do({.command = TopCommand(seconds{0})});
  EXPECT_LT(ended.out.size(), 20000u);
  EXPECT_THAT(ended.out, HasSubstr("jobman-top end\n"));
}

TEST_P(TopScriptTest, LooksAgainAndAgainUntilNobodyListens) {
  const Ended twice =
      host.Do({.command = TopCommand(seconds{1}) + " | grep -m 2 '^jobman-top end'"});
  EXPECT_EQ(twice.out, "jobman-top end\njobman-top end\n");
  const Ended ended = host.Do({.command = TopCommand(seconds{1}) + " | head -n 2"});
  EXPECT_EQ(ended.out, "\njobman-top begin\n") << "and it came back";
}

}  // namespace
}  // namespace jobman::remote
