// The step of the section nfs. Programs that change the machine (mount, exportfs, service) are
// played by scripts, which note their arguments in ~/played and refuse what the real ones refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "jobman/remote/setup_script.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;
using testing::Not;

/// With ~/no-server, nobody answers; ~/mounted has what is mounted.
constexpr const char* kMount = R"sh(#!/bin/sh
home=$(dirname "$0")/..
echo "mount $*" >>"$home/played"
[ "$1 $2 $3 $4 $#" = '-t nfs -o retry=0 6' ] || { echo "mount: bad usage"; exit 1; }
case $5 in ?*:/*) ;; *) echo "mount.nfs: remote share not in 'host:dir' format"; exit 1 ;; esac
[ -d "$6" ] || { echo "mount.nfs: mount point $6 does not exist"; exit 32; }
[ ! -e "$home/unknown" ] || { echo "mount: unknown filesystem type 'nfs'"; exit 32; }
[ ! -e "$home/refuses" ] || { echo 'mount.nfs: access denied by server'; exit 32; }
if [ -e "$home/no-server" ]; then
  echo 'mount.nfs: Connection refused'
  [ "$(grep -c mount "$home/played")" -lt 2 ] || [ ! -e "$home/comes" ] || rm "$home/no-server"
  exit 32
fi
echo "$5" >"$home/mounted"
)sh";
constexpr const char* kFindmnt = R"sh(#!/bin/sh
cat "$(dirname "$0")/../mounted" 2>/dev/null
)sh";
constexpr const char* kUmount = R"sh(#!/bin/sh
echo "umount $*" >>"$(dirname "$0")/../played"
rm -f "$(dirname "$0")/../mounted"
)sh";
constexpr const char* kNote = R"sh(#!/bin/sh
echo "${0##*/} $*" >>"$(dirname "$0")/../played"
! [ -e "$(dirname "$0")/../broken-${0##*/}" ]
)sh";
/// "Root" is this user.
constexpr const char* kSudo = R"sh(#!/bin/sh
[ "$1" != -n ] || shift
exec "$@"
)sh";

class SetupNfsTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    if (IsSkipped()) return;
    const base::Path tools = host.home() / "tools";
    std::filesystem::create_directories(tools);
    for (const auto& [name, text] : {std::pair{"mount", kMount},
                                     {"findmnt", kFindmnt},
                                     {"exportfs", kNote},
                                     {"service", kNote},
                                     {"systemctl", kNote},
                                     {"mount.nfs", kNote},
                                     {"umount", kUmount},
                                     {"sudo", kSudo}}) {
      std::ofstream(tools / name) << text;
      std::filesystem::permissions(tools / name, std::filesystem::perms::owner_all);
    }
    std::ofstream(host.home() / ".profile")
        << "PATH=" << tools.string() << ":" << getenv("PATH") << "\n";
    spec_.nfs.path = (host.home() / "shared").string();
  }
  Ended Step(int number) {
    RunOrder order{.run_id = "n" + std::to_string(++runs_),
                   .script = SetupScript(spec_, core::SetupStage{}),
                   .env = {{"JOBMAN_HOST_INDEX", std::to_string(number)},
                           {"JOBMAN_HOSTS", "10.0.0.2,10.0.0.3"},
                           {"JOBMAN_HEAD", head_},
                           {"JOBMAN_NFS_WAIT_S", wait_},
                           {"JOBMAN_EXPORTS", (host.home() / "etc/jobman.exports").string()}}};
    return host.Run(order);
  }
  std::string Calls() { return Slurp(host.home() / "played"); }
  void Touch(const std::string& name) { std::ofstream(host.home() / name) << "x"; }

  core::JobSpec spec_;
  std::string wait_ = "0";
  std::string head_ = "10.0.0.2";

 private:
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shells, SetupNfsTest, HostsShell(), ShellName);

class SetupNfsInEveryShell : public SetupNfsTest {};
INSTANTIATE_TEST_SUITE_P(Shells, SetupNfsInEveryShell, EveryShell(), ShellName);

TEST_P(SetupNfsInEveryShell, HostZeroExportsTheFolderToTheHostsOfTheJob) {
  const Ended step = Step(0);
  EXPECT_THAT(step.err, HasSubstr("exited 0")) << step.out;
  EXPECT_EQ(Slurp(host.home() / "etc/jobman.exports"),
            "\"" + spec_.nfs.path + "\" 10.0.0.2(rw,sync,no_subtree_check,no_root_squash) " +
                "10.0.0.3(rw,sync,no_subtree_check,no_root_squash)\n");
  EXPECT_TRUE(std::filesystem::is_directory(spec_.nfs.path));
  EXPECT_THAT(Calls(), HasSubstr("exportfs -ra\n"));
  EXPECT_THAT(Calls(), HasSubstr(" start"));
  EXPECT_THAT(Calls(), Not(HasSubstr("mount ")));
}

TEST_P(SetupNfsTest, AServerThatDoesNotStartIsAFailure) {
  Touch("broken-service");
  Touch("broken-systemctl");
  const Ended step = Step(0);
  EXPECT_THAT(step.err, HasSubstr("exited 1"));
  EXPECT_THAT(step.out, HasSubstr("the NFS server of host 0 does not start"));
}

TEST_P(SetupNfsTest, WhatCannotBeExportedIsAFailure) {
  Touch("broken-exportfs");
  const Ended step = Step(0);
  EXPECT_THAT(step.err, HasSubstr("exited 1"));
  EXPECT_THAT(step.out, HasSubstr("host 0 cannot export " + spec_.nfs.path));
}

TEST_P(SetupNfsInEveryShell, TheOtherHostsMountItOnce) {
  EXPECT_THAT(Step(1).out, HasSubstr("mounted 10.0.0.2:" + spec_.nfs.path));
  const Ended again = Step(1);
  EXPECT_THAT(again.err, HasSubstr("exited 0")) << again.out;
  EXPECT_THAT(again.out, HasSubstr("is mounted on " + spec_.nfs.path + " already"));
  EXPECT_EQ(Calls(),
            "mount -t nfs -o retry=0 10.0.0.2:" + spec_.nfs.path + " " + spec_.nfs.path + "\n");
}

TEST_P(SetupNfsTest, TheServerIsWaitedFor) {
  Touch("no-server");
  Touch("comes");
  wait_ = "60";
  const Ended step = Step(1);
  EXPECT_THAT(step.err, HasSubstr("exited 0")) << step.out;
  EXPECT_THAT(step.out, HasSubstr("waiting for 10.0.0.2:"));
}

TEST_P(SetupNfsTest, AServerThatStaysAwayIsTriedAnotherTime) {
  Touch("no-server");
  spec_.nfs.exported = "10.9.9.9:/vol";
  for (const int number : {0, 1}) {
    const Ended step = Step(number);
    EXPECT_THAT(step.err, HasSubstr("exited 75"));
    EXPECT_THAT(step.out, HasSubstr("Connection refused"));
    EXPECT_THAT(step.out, HasSubstr("cannot mount 10.9.9.9:/vol"));
    EXPECT_THAT(step.out, HasSubstr("tcp:2049"));
  }
}

TEST_P(SetupNfsTest, ThePortIsOpenedByACommandThatCanBeCopied) {
  Touch("no-server");
  const std::string rest = " --allow tcp:2049 --source-ranges 10.0.0.0/8)";
  const std::string create = "tcp:2049? (gcloud compute firewall-rules create jobman-nfs";
  EXPECT_THAT(Step(1).out, HasSubstr(create + " --network default" + rest));
  spec_.tpu.project = "lab";
  EXPECT_THAT(Step(1).out, HasSubstr(create + " --project lab --network default" + rest));
  spec_.tpu.network = "net";
  EXPECT_THAT(Step(1).out, HasSubstr(create + " --project lab --network net" + rest));
  spec_.tpu.network = "projects/shared/global/networks/all";
  EXPECT_THAT(Step(1).out, HasSubstr(create + " --project shared --network all" + rest));
  spec_.tpu.network = "";
  spec_.tpu.subnetwork = "sub";
  EXPECT_THAT(Step(1).out, HasSubstr("reach it at tcp:2049?\n")) << "its network is not known";
}

TEST_P(SetupNfsTest, AMountOfAHostThatWasReplacedIsTakenAway) {
  head_ = "10.0.0.9";
  Step(1);
  head_ = "10.0.0.2";
  spec_.nfs.path += "/";
  const Ended step = Step(1);
  EXPECT_THAT(step.err, HasSubstr("exited 0")) << step.out;
  EXPECT_THAT(Calls(), HasSubstr("umount -f -l"));
  EXPECT_THAT(Step(1).out, HasSubstr("already")) << "whatever slash the job file has";
}

TEST_P(SetupNfsTest, AMountThatJobmanDidNotMakeStays) {
  std::ofstream(host.home() / "mounted") << "10.0.0.9:" << spec_.nfs.path << "\n";
  std::filesystem::create_directories(spec_.nfs.path);
  EXPECT_THAT(Step(1).out, HasSubstr("mounted on it: unmount it"));
  EXPECT_EQ(Calls(), "");
}

TEST_P(SetupNfsTest, AnErrorThatStaysIsNotWaitedFor) {
  Touch("unknown");
  wait_ = "60";
  const Ended step = Step(1);
  EXPECT_THAT(step.err, HasSubstr("exited 1"));
  EXPECT_THAT(step.out, HasSubstr("unknown filesystem type"));
}

TEST_P(SetupNfsTest, EveryHostMayWriteToTheFolderOfHostZero) {
  Step(0);
  EXPECT_EQ(std::filesystem::status(spec_.nfs.path).permissions(),
            std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
}

TEST_P(SetupNfsTest, AMountOfAnotherServerStaysWhereAnExportIsNamed) {
  std::ofstream(host.home() / "mounted") << "10.0.0.9:" << spec_.nfs.path << "\n";
  spec_.nfs.exported = "10.9.9.9:" + spec_.nfs.path;
  const Ended step = Step(1);
  EXPECT_THAT(step.err, HasSubstr("exited 1"));
  EXPECT_THAT(step.out, HasSubstr("has 10.0.0.9:"));
  EXPECT_EQ(Calls(), "");
}

TEST_P(SetupNfsTest, AnExportThatRefusesTheHostIsNotWaitedFor) {
  Touch("refuses");
  wait_ = "60";
  spec_.nfs.exported = "10.9.9.9:/vol";
  const Ended step = Step(1);
  EXPECT_THAT(step.err, HasSubstr("exited 1"));
  EXPECT_THAT(step.out, HasSubstr("is nfs.export right"));
}

TEST_P(SetupNfsTest, NothingIsHiddenAndNoOtherMountIsTaken) {
  std::filesystem::create_directories(spec_.nfs.path);
  Touch("shared/mine");
  const Ended full = Step(1);
  EXPECT_THAT(full.err, HasSubstr("exited 1"));
  EXPECT_THAT(full.out, HasSubstr("holds files, which 10.0.0.2:"));
  std::ofstream(host.home() / "mounted") << "/dev/sdb1\n";
  const Ended taken = Step(1);
  EXPECT_THAT(taken.err, HasSubstr("exited 1"));
  EXPECT_THAT(taken.out, HasSubstr("has /dev/sdb1 mounted on it"));
  EXPECT_EQ(Calls(), "");
}

}  // namespace
}  // namespace jobman::remote
