// The state folder is on a disk that is full or becomes full: one message, nothing half done, and
// nothing lost when there is room again.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kSize = "size=2m,mode=0700";
constexpr int kLines = 20'000;

/// Gives this process a mount namespace; for ordinary users within a user namespace with the same
/// ids.
base::Status OwnMounts() {
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return base::FromErrno(errno, "unshare");
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user << " " << user << " 1";
    std::ofstream("/proc/self/gid_map") << group << " " << group << " 1";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return base::FromErrno(errno, "making mounts private");
  }
  return base::Ok();
}

/// A small disk, and a file that fills it.
class SmallDisk {
 public:
  /// Mounted at `at`, or in a temporary folder.
  explicit SmallDisk(const base::Path& at = {}) : path_(at.empty() ? dir_.path() : at) {}
  /// Processes started from now on also see disks that are mounted later.
  static base::Status MayMount() {
    static const base::Status kOwn = OwnMounts();
    return kOwn;
  }
  base::Status Mount() {
    if (base::Status may = MayMount(); !may.ok()) return may;
    if (mount("none", path_.c_str(), "tmpfs", 0, kSize) != 0) {
      return base::FromErrno(errno, "mounting a tmpfs");
    }
    mounted_ = true;
    return base::Ok();
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  base::Path path() const { return path_; }
  void Fill() {
    std::ofstream ballast(path_ / "ballast", std::ios::app);
    while (ballast << std::string(4096, 'x') << std::flush) {
    }
  }
  void MakeRoom() { std::filesystem::remove(path_ / "ballast"); }

 private:
  TempDir dir_;
  base::Path path_;
  bool mounted_ = false;
};

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    const base::Status mounted = disk_.Mount();
    if (!mounted.ok()) GTEST_SKIP() << "no small disk here: " << mounted.error().ToString();
    place_ = std::make_unique<Place>(disk_.path());
    // The hosts use another disk.
    base::Path hosts = place_->path() / "sim";
    std::filesystem::create_directory(hosts);
    std::filesystem::create_directory_symlink(hosts, disk_.path() / "sim");
    place_->StartSim({"--delays", "0"});
  }

  SmallDisk disk_;
  std::unique_ptr<Place> place_;
};

TEST_F(FullDisk, CreateFailsWithTheCauseAndChangesNothing) {
  const std::string file = place_->JobFile("full", 1, "true");
  disk_.Fill();
  const Ran ran = place_->Jobman({"create", file});
  EXPECT_EQ(ran.code, 75) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr((disk_.path() / "store" / "jobman.db").string()));
  EXPECT_THAT(ran.err, HasSubstr("No space left on device\n  free some space there"));
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(place_->Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
  EXPECT_EQ(place_->Jobman({"list", "--all"}).code, 0);
  disk_.MakeRoom();
  EXPECT_EQ(place_->Jobman({"run", file}).code, 0);
}

TEST_F(FullDisk, AJobIsStoredCompletelyOrNotAtAll) {
  ASSERT_EQ(place_->Jobman({"run", place_->JobFile("first", 1, "true")}).code, 0);
  ASSERT_EQ(place_->Jobman({"controller", "stop"}).code, 0);
  // More than the free space inside the existing files.
  const std::string file = place_->JobFile("big", 1, "true # " + std::string(300'000, 'x'));
  disk_.Fill();
  const Ran ran = place_->Jobman({"create", file});
  EXPECT_EQ(ran.code, 75) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("is full"));
  EXPECT_EQ(place_->Jobman({"show", "big"}).code, 3);
  EXPECT_EQ(place_->StateOf("first"), "SUCCEEDED");
  disk_.MakeRoom();
}

TEST_F(FullDisk, NothingIsLostWhileAJobRuns) {
  const std::string cmd =
      "echo up\nwhile [ ! -e ~/go ]; do sleep 0.5; done\n"
      "seq " +
      std::to_string(kLines) + "; touch ~/written";
  std::string expected = "up\n";
  for (int line = 1; line <= kLines; ++line) expected += std::to_string(line) + "\n";
  place_->StartController({"--poll", "1", "--host-limit", Place::kHostLimit});
  ASSERT_EQ(place_->Jobman({"create", place_->JobFile("writer", 2, cmd)}).code, 0);
  for (int host = 0; host < 2; ++host) {
    ASSERT_TRUE(place_->Until("the command to be up",
                              [&] { return place_->Log(1, 1, "run", host) == "up\n"; }));
  }
  disk_.Fill();
  ASSERT_EQ(place_->Jobman({"exec", "1", "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(place_->Until("both hosts to have written all", [&] {
    return place_->Jobman({"exec", "1", "--", "test -e ~/written"}).code == 0;
  }));
  // Longer than --host-limit: a local error does not count as an unreachable host.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{15};
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    EXPECT_EQ(place_->StateOf("1"), "RUNNING") << place_->Jobman({"history", "1"}).All();
  }
  EXPECT_LT(place_->Log(1, 1, "run", 0).size(), expected.size());
  disk_.MakeRoom();
  ASSERT_TRUE(place_->Reaches("1", "SUCCEEDED"));
  for (int host = 0; host < 2; ++host) {
    EXPECT_TRUE(place_->Log(1, 1, "run", host) == expected) << "host " << host;
  }
  EXPECT_EQ(place_->Show("1")["attempt"], 1);
}

/// Its controller lives, but cannot renew its lease.
TEST_F(FullDisk, ExecNamesItAndEndsTheCommandsThatWrite) {
  ASSERT_EQ(place_->Jobman({"run", place_->JobFile("two", 2, "true")}).code, 0);
  const base::Path out = disk_.path() / "out";
  const Ran ran = place_->Jobman({"exec", "1", "--out", out.string(), "--", "cat /dev/zero"});
  EXPECT_EQ(ran.code, 75) << ran.All();
  EXPECT_THAT(ran.err, AllOf(HasSubstr("\n0-1   -          "), HasSubstr("the disk here is full"),
                             HasSubstr((out / "host-0000.out").string() + ": No space left")));
  EXPECT_THAT(ran.err, HasSubstr("--rerun-failed will not know of this"));
  ASSERT_TRUE(base::RemoveAll(out).ok());
  EXPECT_EQ(place_->Jobman({"exec", "1", "--out", out.string(), "--", "echo well"}).code, 0);
}

TEST_F(FullDisk, IsNamedWhereverAControllerIsMissed) {
  const pid_t controller = place_->StartController({"--poll", "1", "--lease", "2"});
  ASSERT_EQ(place_->Jobman({"create", place_->JobFile("sleeper", 1, "sleep 600")}).code, 0);
  ASSERT_TRUE(place_->Reaches("1", "RUNNING"));
  disk_.Fill();
  const std::string full = "the disk of " + (disk_.path() / "store").string() + " is full";
  EXPECT_TRUE(place_->Until("the lease to end", [&] {
    return base::Contains(place_->Jobman({"controller", "status"}).All(), full);
  }));
  EXPECT_EQ(kill(controller, 0), 0);
  EXPECT_THAT(place_->Jobman({"list", "--json"}).out, HasSubstr("RUNNING"));
  EXPECT_THAT(place_->Jobman({"list"}).All(), HasSubstr("is full, so nothing happens"));
  const Ran why = place_->Jobman({"why", "1"});
  EXPECT_THAT(why.All(), HasSubstr("is full, so nothing happens"));
  EXPECT_THAT(why.All(), HasSubstr("free some space there"));
  const Ran start = place_->Jobman({"controller", "start"});
  EXPECT_EQ(start.code, 75) << start.All();
  EXPECT_THAT(start.err, AllOf(HasSubstr("is full"), HasSubstr("free some space there")));
  disk_.MakeRoom();
  EXPECT_TRUE(place_->Until("the controller to go on", [&] {
    return place_->Jobman({"controller", "status"}).code == 0;
  }));
}

/// Two hosts, on one node or on two; host 1 gets a small disk.
class FullHost : public testing::TestWithParam<Way> {
 protected:
  static const Way& way() { return GetParam(); }
  void SetUp() override {
    const base::Status may_mount = SmallDisk::MayMount();
    if (!may_mount.ok()) GTEST_SKIP() << "no small disk here: " << may_mount.error().ToString();
    place_.StartSim({"--delays", "0"});
    const std::string host = way().Node(kSlice) + "-w-" + (way().nodes == 1 ? "1" : "0");
    const base::Path homes = place_.home() / "sim/hosts" / ("t1v-n-" + host) / "homes";
    ASSERT_TRUE(base::EnsureDir(homes).ok());
    disk_ = std::make_unique<SmallDisk>(homes);
    ASSERT_TRUE(disk_->Mount().ok());
    place_.StartController({"--poll", "1"});
  }
  void Create(const std::string& cmd, const std::string& more) {
    std::vector<std::string> args = {"create", place_.JobFile("full", 2 / way().nodes, cmd, more)};
    for (const std::string& setting : way().Settings()) {
      args.insert(args.end(), {"--set", setting});
    }
    ASSERT_EQ(place_.Jobman(args).code, 0);
  }

  static constexpr const char* kSlice = "full-000001-a1";
  Place place_;
  std::unique_ptr<SmallDisk> disk_;
};

TEST_P(FullHost, IsNamedAndTheSliceIsKeptForTheRetry) {
  const std::string wait = "while [ ! -e ~/go ]; do sleep 0.5; done";
  Create("echo done",
         "retries: {backoff: 500ms}\nsetup: [{name: wait, run: 'echo up; " + wait + "'}]\n");
  ASSERT_TRUE(place_.Until("the setup step to be up",
                           [&] { return place_.Log(1, 1, "setup-0-wait", 1) == "up\n"; }));
  disk_->Fill();
  ASSERT_EQ(place_.Jobman({"exec", "1", "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(place_.Until("the host to be named", [&] {
    const std::string told = place_.Jobman({"history", "1"}).out;
    return base::Contains(told, "host 1 could not start run: cannot write to") &&
           base::Contains(told, "(is the disk full?)");
  }));
  disk_->MakeRoom();
  ASSERT_TRUE(place_.Reaches("1", "SUCCEEDED"));
  const base::Json job = place_.Show("1");
  for (const int host : {0, 1}) EXPECT_EQ(place_.Log(1, job["attempt"], "run", host), "done\n");
  EXPECT_EQ(job["slice"]["name"], kSlice) << "the retry uses the same slice";
  EXPECT_GE(job["spent"]["infra"], 1);
}

INSTANTIATE_TEST_SUITE_P(Ways, FullHost, kEachWay, NameOf);

}  // namespace
}  // namespace jobman::test
