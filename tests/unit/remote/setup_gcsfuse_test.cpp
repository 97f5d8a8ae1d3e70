// The step of the section gcsfuse, with real mounts: the program `gcsfuse` is played by the script
// of tests/support/gcsfuse.hpp, which mounts a local folder.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "jobman/base/strings.hpp"
#include "jobman/remote/setup_script.hpp"
#include "tests/support/gcsfuse.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Whether this user may let others see a mount.
bool MayShare() {
  return getuid() == 0 ||
         std::system("grep -qs '^[[:space:]]*user_allow_other' /etc/fuse.conf") == 0;
}

class SetupGcsfuseTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    if (IsSkipped()) return;
    static const std::string why = test::WhyNoMounts();
    if (!why.empty()) GTEST_SKIP() << why;
    test::InstallGcsfuse(host.home(), {"data", "more"});
    host.env["PATH"] = (host.home() / "tools").string() + ":" + host.env["PATH"];
    host.env["JOBMAN_NET_TRIES"] = "2";
    host.env["JOBMAN_NET_PAUSE_S"] = "0";
    std::ofstream(host.home() / ".profile") << "PATH=" << host.env["PATH"] << "\n";
    spec.gcsfuse = {.bucket_name = "data", .mount_path = "~/gcs"};
  }
  /// Whatever is mounted in the home folder goes before the folder does.
  void TearDown() override {
    for (const base::Path& folder : Mounted()) {
      const std::string path = " '" + folder.string() + "' 2>/dev/null";
      const std::string unmount =
          "fusermount -uz" + path + " || fusermount3 -uz" + path + " || sudo -n umount -l" + path;
      EXPECT_EQ(std::system(unmount.c_str()), 0) << folder;
    }
    EXPECT_THAT(Mounted(), IsEmpty());
  }
  /// What is mounted in the home folder. Last first.
  std::vector<base::Path> Mounted() {
    std::vector<base::Path> folders;
    for (const std::string& line : base::Split(Slurp("/proc/self/mountinfo"), '\n')) {
      const auto words = base::Split(line, ' ');
      if (words.size() < 5 || !words[4].starts_with(host.home().string() + "/")) continue;
      folders.emplace_back(base::ReplaceAll(words[4], "\\040", " "));
    }
    std::reverse(folders.begin(), folders.end());
    return folders;
  }
  /// The process that serves what is mounted there.
  static pid_t ServerOf(const base::Path& folder) {
    for (const auto& process : std::filesystem::directory_iterator("/proc")) {
      const std::string words = Slurp(process.path() / "cmdline");
      if (words.starts_with("bindfs") && base::Contains(words, folder.string() + '\0')) {
        return std::stoi(process.path().filename());
      }
    }
    return -1;
  }
  /// Runs the step, in the shell of this test, as a run of a new id.
  Ended Step() {
    const std::string shell = GetParam() == "/bin/busybox" ? "/bin/busybox sh" : GetParam();
    return host.Run({.run_id = "r" + std::to_string(++runs_),
                     .script = "#!" + shell + "\n" + SetupScript(spec, core::SetupStage{})});
  }
  /// Each call of gcsfuse: its arguments in a line.
  std::vector<std::string> Calls() {
    return base::Split(base::Trim(Slurp(host.home() / "arguments")), '\n');
  }
  std::string InHome(const std::string& name) { return (host.home() / name).string(); }
  std::string LastRun() const { return "r" + std::to_string(runs_); }
  static std::string Flags() {
    return std::string(MayShare() ? "-o allow_other " : "") +
           "--implicit-dirs --dir-mode=777 --file-mode=777 --kernel-list-cache-ttl-secs=-1 "
           "--metadata-cache-ttl-secs=-1 --stat-cache-max-size-mb=-1 --type-cache-max-size-mb=-1";
  }

  core::JobSpec spec = {};

 private:
  int runs_ = 0;
};

/// How the last line of a step that ended begins.
testing::Matcher<const Ended&> EndedWith(int code, const std::string& line) {
  return testing::AllOf(
      testing::Field(&Ended::err, HasSubstr("jobman: exited " + std::to_string(code) + "\n")),
      testing::Field(&Ended::out, HasSubstr("jobman: " + line)));
}

INSTANTIATE_TEST_SUITE_P(Shells, SetupGcsfuseTest, HostsShell(), ShellName);

class SetupGcsfuseInEveryShell : public SetupGcsfuseTest {};
INSTANTIATE_TEST_SUITE_P(Shells, SetupGcsfuseInEveryShell, EveryShell(), ShellName);

TEST_P(SetupGcsfuseInEveryShell, TheBucketCanBeReadAndWritten) {
  std::ofstream(host.home() / "buckets/data/old") << "read";
  EXPECT_THAT(Step(), EndedWith(0, "mounted gs://data on " + InHome("gcs")));
  EXPECT_EQ(Slurp(host.home() / "gcs/old"), "read");
  std::ofstream(host.home() / "gcs/new") << "written";
  EXPECT_EQ(Slurp(host.home() / "buckets/data/new"), "written");
  EXPECT_THAT(Calls(), ElementsAre(Flags() + " data " + InHome("gcs")));
}

TEST_P(SetupGcsfuseTest, TheMountOutlivesItsRunAndTheEndOfIt) {
  Step();
  EXPECT_EQ(host.Stop(LastRun(), 0).kind, Kind::kExited);
  std::ofstream(host.home() / "gcs/new") << "written";
  EXPECT_EQ(Slurp(host.home() / "buckets/data/new"), "written");
}

TEST_P(SetupGcsfuseTest, ASecondRunDoesNothing) {
  Step();
  EXPECT_THAT(Step(), EndedWith(0, "gs://data is mounted on " + InHome("gcs") + " already"));
  EXPECT_EQ(Calls().size(), 1U);
}

TEST_P(SetupGcsfuseInEveryShell, MoreMountsAreOfTheFirstBucketWithFlagsOfTheirOwn) {
  spec.gcsfuse.cache = {.metadata_ttl_secs = "60", .stat_cache_max_size_mb = "32"};
  spec.gcsfuse.extra_mounts = {{.mount_path = InHome("a b/c"),
                                .cache = {.dir = "~/cache",
                                          .type_cache_max_size_mb = "4",
                                          .file_cache_max_size_mb = "100",
                                          .cache_file_for_range_read = true,
                                          .enable_parallel_downloads = false}},
                               {.bucket_name = "more", .mount_path = "~/more"}};
  EXPECT_THAT(Step(), EndedWith(0, "mounted gs://more on " + InHome("more")));
  const std::string head =
      std::string(MayShare() ? "-o allow_other " : "") +
      "--implicit-dirs --dir-mode=777 --file-mode=777 --kernel-list-cache-ttl-secs=-1 ";
  EXPECT_THAT(Calls(), ElementsAre(head +
                                       "--metadata-cache-ttl-secs=60 --stat-cache-max-size-mb=32 "
                                       "--type-cache-max-size-mb=-1 data " +
                                       InHome("gcs"),
                                   head +
                                       "--metadata-cache-ttl-secs=-1 --stat-cache-max-size-mb=-1 "
                                       "--type-cache-max-size-mb=4 --file-cache-max-size-mb=100 "
                                       "--file-cache-cache-file-for-range-read=true "
                                       "--file-cache-enable-parallel-downloads=false --cache-dir=" +
                                       InHome("cache") + " data " + InHome("a b/c"),
                                   Flags() + " more " + InHome("more")));
  std::ofstream(host.home() / "gcs/new") << "written";
  EXPECT_EQ(Slurp(host.home() / "a b/c/new"), "written");
  Step();
  EXPECT_EQ(Calls().size(), 3U);
}

TEST_P(SetupGcsfuseTest, AContainerSeesTheMountToo) {
  if (!MayShare()) GTEST_SKIP() << "this user's mounts are for this user alone";
  spec.env_type = core::EnvType::kDocker;
  spec.docker.image = "i";
  EXPECT_THAT(Step(), EndedWith(0, "mounted"));
  EXPECT_THAT(Calls(), ElementsAre(Flags() + " data " + InHome("gcs")));
  EXPECT_THAT(Slurp("/proc/self/mountinfo"), HasSubstr("allow_other"));
  Step();
  EXPECT_EQ(Calls().size(), 1U);
}

TEST_P(SetupGcsfuseTest, ADeadMountIsReplaced) {
  std::ofstream(host.home() / "buckets/data/old") << "read";
  Step();
  const pid_t server = ServerOf(host.home() / "gcs");
  ASSERT_GT(server, 0);
  kill(server, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !IsAlive(server); }));
  const Ended again = Step();
  EXPECT_THAT(again.out, HasSubstr("has died; mounting it anew"));
  EXPECT_THAT(again, EndedWith(0, "mounted gs://data"));
  EXPECT_EQ(Slurp(host.home() / "gcs/old"), "read");
  EXPECT_EQ(Mounted().size(), 1U);
}

TEST_P(SetupGcsfuseTest, AMountWhoseProcessHangsIsReplaced) {
  Step();
  const pid_t server = ServerOf(host.home() / "gcs");
  ASSERT_GT(server, 0);
  kill(server, SIGSTOP);
  host.env["JOBMAN_TOUCH_S"] = "3";
  EXPECT_THAT(Step(), EndedWith(0, "mounted gs://data"));
  kill(server, SIGKILL);
  EXPECT_EQ(Mounted().size(), 1U);
}

TEST_P(SetupGcsfuseTest, OtherFlagsAreAMountAnewUnlessItIsInUse) {
  Step();
  spec.gcsfuse.cache.metadata_ttl_secs = "60";
  EXPECT_THAT(Step(), EndedWith(0, "mounted gs://data"));
  EXPECT_THAT(Calls().back(), HasSubstr("--metadata-cache-ttl-secs=60"));
  std::ofstream user(host.home() / "gcs/open");
  spec.gcsfuse.cache.metadata_ttl_secs = "61";
  EXPECT_THAT(Step(), EndedWith(1, "cannot unmount " + InHome("gcs") +
                                       ", which is mounted with other flags and in use: stop"));
  EXPECT_EQ(Calls().size(), 2U);
}

TEST_P(SetupGcsfuseTest, TheMountOfAnotherBucketStays) {
  Step();
  spec.gcsfuse.bucket_name = "more";
  EXPECT_THAT(Step(), EndedWith(1, InHome("gcs") + " is in use: gs://data is mounted there, not "
                                                   "gs://more. Name another folder"));
  EXPECT_EQ(Calls().size(), 1U);
}

TEST_P(SetupGcsfuseTest, AMountThatSomebodyElseMadeIsUsedAsItIs) {
  Step();
  std::filesystem::remove_all(host.home() / ".jobman/mounts");
  spec.gcsfuse.cache.metadata_ttl_secs = "60";
  EXPECT_THAT(Step(),
              EndedWith(0, "gs://data is mounted on " + InHome("gcs") + " already, not by jobman"));
}

TEST_P(SetupGcsfuseTest, WhatAnotherHostWithThisHomeMountedIsNotBelieved) {
  Step();
  std::ofstream(host.home() / "another_boot") << "boot-2\n";
  host.env["JOBMAN_BOOT_ID_FILE"] = InHome("another_boot");
  EXPECT_THAT(Step(),
              EndedWith(0, "gs://data is mounted on " + InHome("gcs") + " already, not by jobman"));
}

TEST_P(SetupGcsfuseTest, AFolderInUseIsNamed) {
  std::filesystem::create_directories(host.home() / "gcs");
  ASSERT_EQ(std::system(("bindfs " + InHome("buckets/more") + " " + InHome("gcs")).c_str()), 0);
  EXPECT_THAT(Step(), EndedWith(1, InHome("gcs") + " is in use: " + InHome("buckets/more") +
                                       " (fuse) is mounted there, not gs://data"));
}

TEST_P(SetupGcsfuseTest, AFolderThatIsNotEmptyIsNotHidden) {
  std::filesystem::create_directories(host.home() / "gcs");
  std::ofstream(host.home() / "gcs/weights") << "mine";
  EXPECT_THAT(Step(), EndedWith(1, InHome("gcs") + " is not empty (it holds weights)"));
  spec.gcsfuse.mount_path = "~/gcs/weights";
  EXPECT_THAT(Step(), EndedWith(1, InHome("gcs/weights") + " is a file"));
  EXPECT_THAT(Mounted(), IsEmpty());
}

TEST_P(SetupGcsfuseTest, ThePrefixRunsBeforeTheMount) {
  spec.gcsfuse.cache.prefix = "ls -A ~/gcs\necho \"prefix of it's own\"\n";
  const Ended first = Step();
  EXPECT_THAT(first.out, HasSubstr("prefix of it's own\njobman: mounted gs://data"));
  EXPECT_THAT(Step().out, testing::Not(HasSubstr("prefix")));
}

TEST_P(SetupGcsfuseTest, APrefixThatFailsIsAFailedStep) {
  spec.gcsfuse.cache.prefix = "echo no ramdisk; exit 7";
  EXPECT_THAT(Step(), EndedWith(1, "gcsfuse.cache.prefix of gs://data failed (7)"));
  EXPECT_THAT(Mounted(), IsEmpty());
}

TEST_P(SetupGcsfuseTest, WhatAnOlderGcsfuseDoesNotKnowIsLeftOut) {
  std::ofstream(host.home() / "unknown") << "stat-cache-max-size-mb\nmetadata-cache-ttl-secs\n";
  const Ended ended = Step();
  EXPECT_THAT(ended, EndedWith(0, "mounted gs://data"));
  EXPECT_THAT(ended.out, HasSubstr("does not know --stat-cache-max-size-mb: mounting without it"));
  std::string flags = base::ReplaceAll(Flags(), "--metadata-cache-ttl-secs=-1 ", "");
  flags = base::ReplaceAll(flags, "--stat-cache-max-size-mb=-1 ", "");
  EXPECT_EQ(Calls().back(), flags + " data " + InHome("gcs"));
  Step();
  EXPECT_EQ(Calls().size(), 3U) << "it is mounted as far as this gcsfuse can";
}

TEST_P(SetupGcsfuseTest, ABucketThatIsNotThereIsTheJobFilesFault) {
  spec.gcsfuse.bucket_name = "lost";
  const Ended ended = Step();
  EXPECT_THAT(ended, EndedWith(1, "there is no bucket lost"));
  EXPECT_THAT(ended.out, HasSubstr("storage: bucket doesn't exist\n")) << "gcsfuse's own words";
  EXPECT_EQ(Calls().size(), 1U);
}

TEST_P(SetupGcsfuseTest, ANetworkThatIsDownIsTriedAgain) {
  std::ofstream(host.home() / "down") << "";
  EXPECT_THAT(Step(), EndedWith(75, "mounting gs://data failed 2 times"));
  EXPECT_EQ(Calls().size(), 2U);
  std::filesystem::remove(host.home() / "down");
  EXPECT_THAT(Step(), EndedWith(0, "mounted gs://data"));
}

TEST_P(SetupGcsfuseTest, APackageThatIsNotThereIsNamed) {
  std::filesystem::remove(host.home() / "tools/gcsfuse");
  if (std::system("command -v gcsfuse >/dev/null") == 0) GTEST_SKIP() << "gcsfuse is installed";
  const bool root = getuid() == 0 || std::system("sudo -n true 2>/dev/null") == 0;
  host.env["JOBMAN_GCSFUSE_DEB"] = "~/gcsfuse.deb";
  EXPECT_THAT(Step(), EndedWith(1, root ? "JOBMAN_GCSFUSE_DEB: there is no file"
                                        : "install gcsfuse on the hosts: this user may not"));
  if (!root) return;
  std::ofstream(host.home() / "gcsfuse.deb") << "no package";
  EXPECT_THAT(Step(), EndedWith(1, "JOBMAN_GCSFUSE_DEB: ~/gcsfuse.deb is not a Debian package"));
}

}  // namespace
}  // namespace jobman::remote
