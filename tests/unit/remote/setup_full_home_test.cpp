// Setup steps on a host whose disk is full: each says so and how to go on, takes nothing away, and
// succeeds when there is room again. The disk is a small tmpfs in a mount namespace of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/setup_script.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/remote/environment_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// What can be used up.
enum class Full { kBytes, kFiles };

/// Runs the step twice in $T/home: on a full disk, and after room was made. Exits with 90 where no
/// disk can be mounted. Of each time $T/NAME has what it printed, its exit code, and the home.
constexpr const char* kStory = R"sh(
mount -t tmpfs -o "$DISK" none "$T/home" || exit 90
export HOME="$T/home"
cd
. "$T/variables"
step() {
  mkdir "$T/$1"
  timeout -k 5 120 $SHELL_OF_STEP "$2" >"$T/$1/said" 2>&1 </dev/null
  echo $? >"$T/$1/code"
  # Only the first is on a full disk.
  rm -rf "$HOME/ballast"
  cp -a "$HOME" "$T/$1/home"
}
[ ! -e "$T/earlier.sh" ] || step earlier "$T/earlier.sh"
. "$T/before"
mkdir ballast
if [ "$FULL" = files ]; then
  i=0
  while touch ballast/$i; do i=$((i + 1)); done
else
  [ "$LEFT" = 0 ] || dd if=/dev/zero of=ballast/room bs=1k count="$LEFT"
  cat /dev/zero >ballast/fill
  rm -f ballast/room
fi 2>/dev/null
step full "$T/step.sh"
step again "$T/step.sh"
)sh";

class SmallHome {
 public:
  explicit SmallHome(std::string shell, Full full = Full::kBytes) : shell_(std::move(shell)) {
    if (shell_ == "/bin/busybox") shell_ += " sh";
    settings_ = {{"T", dir_.path().string()},
                 {"SHELL_OF_STEP", shell_},
                 {"LEFT", "0"},
                 {"FULL", full == Full::kFiles ? "files" : "bytes"},
                 {"DISK", "size=1m,nr_inodes=100,mode=0700"}};
    std::filesystem::create_directory(dir_ / "home");
  }
  /// `kilobytes` of the disk are left.
  void Leave(int megabytes, int kilobytes) {
    settings_["DISK"] = "size=" + std::to_string(megabytes) + "m,mode=0700";
    settings_["LEFT"] = std::to_string(kilobytes);
  }
  /// A variable of the step.
  void Set(const std::string& name, const std::string& value) { variables_[name] = value; }
  /// A step that ran while there was room, and commands after it.
  void Earlier(const core::JobSpec& spec) { Write("earlier.sh", ScriptOf(spec)); }
  void Before(const std::string& commands) { before_ = commands; }
  /// Whether it could be played here.
  bool Play(const core::JobSpec& spec) {
    Write("step.sh", ScriptOf(spec));
    Write("before", before_ + "\n");
    std::string lines;
    for (const auto& [name, value] : variables_)
      lines += "export " + name + "=" + base::ShellQuote(value) + "\n";
    Write("variables", lines);
    Write("story", kStory);
    std::string command;
    for (const auto& [name, value] : settings_)
      command += name + "=" + base::ShellQuote(value) + " ";
    command += std::string("timeout -k 5 300 unshare -m") + (getuid() == 0 ? "" : "r") + " sh " +
               (dir_ / "story").string() + " >" + (dir_ / "story.log").string() + " 2>&1";
    const int status = std::system(command.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    EXPECT_FALSE(std::filesystem::exists(dir_ / "full")) << "the story broke off: " << Log();
    return false;
  }
  std::string Log() const { return Slurp(dir_ / "story.log"); }
  /// Of the steps "earlier", "full" and "again".
  std::string Said(const std::string& step) const { return Slurp(dir_ / step / "said"); }
  int Code(const std::string& step) const { return std::atoi(Slurp(dir_ / step / "code").c_str()); }
  base::Path After(const std::string& step) const { return dir_ / step / "home"; }
  std::string In(const std::string& step, const std::string& file) const {
    return Slurp(After(step) / file);
  }
  std::set<std::string> Files(const std::string& step, const std::string& folder) const {
    std::set<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(After(step) / folder, none))
      names.insert(entry.path().filename());
    return names;
  }
  /// Outside the small disk.
  base::Path path() const { return dir_.path(); }

 private:
  static std::string ScriptOf(const core::JobSpec& spec) {
    return SetupScript(spec, core::SetupStage{});
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name) << text;
  }

  test::TempDir dir_;
  std::string shell_;
  std::string before_;
  std::map<std::string, std::string> settings_ = {};
  std::map<std::string, std::string> variables_ = {{"JOBMAN_JOB_ID", "000042"}};
};

using HomeParam = std::tuple<std::string, Full>;

auto EachWayToFill() {
  return testing::Combine(HostsShell(), testing::Values(Full::kBytes, Full::kFiles));
}
std::string HomeName(const testing::TestParamInfo<HomeParam>& home) {
  return std::get<0>(home.param).substr(5) +
         (std::get<1>(home.param) == Full::kBytes ? "Bytes" : "Files");
}

class FullHomeTest : public testing::TestWithParam<HomeParam> {
 protected:
  void SetUp() override {
    if (access(std::get<0>(GetParam()).c_str(), X_OK) != 0)
      GTEST_SKIP() << std::get<0>(GetParam()) << " is not installed";
  }
  /// The step failed for want of room for this file, said what to do, and succeeded later.
  void ExpectNamedAndCured(const std::string& what) {
    EXPECT_EQ(home_.Code("full"), 1) << home_.Said("full");
    EXPECT_THAT(LastLine(home_.Said("full")),
                AllOf(StartsWith("jobman: cannot " + what + ", the disk is full ("),
                      EndsWith("): free some of it and run the job again (jobman run 000042)")));
    EXPECT_EQ(home_.Code("again"), 0) << home_.Said("again");
  }
  std::string InHome(const std::string& file) { return (home_.path() / "home" / file).string(); }
  /// What the step nfs starts does nothing.
  void PlayServer() {
    const base::Path tools = home_.path() / "tools";
    std::filesystem::create_directory(tools);
    for (const char* tool : {"exportfs", "service", "systemctl"}) {
      std::ofstream(tools / tool) << "#!/bin/sh\n";
      std::filesystem::permissions(tools / tool, std::filesystem::perms::owner_all);
    }
    home_.Set("PATH", tools.string() + ":" + getenv("PATH"));
  }

  SmallHome home_{std::get<0>(GetParam()), std::get<1>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Shells, FullHomeTest, EachWayToFill(), HomeName);

constexpr const char* kTheirs =
    "mkdir -p .ssh; printf 'Host own\\n  User me\\n' >.ssh/config\n"
    "printf 'ssh-rsa BBBB login\\n' >.ssh/authorized_keys";
constexpr const char* kConfig = "Host own\n  User me\n";
constexpr const char* kKeys = "ssh-rsa BBBB login\n";

/// What of an identity is there already when the disk gets full.
class FullHomeIdentity : public FullHomeTest {
 protected:
  void SetUp() override {
    FullHomeTest::SetUp();
    home_.Set("JOBMAN_IDENTITY_0", "the private key");
    home_.Set("JOBMAN_IDENTITY_0_PUBLIC", "ssh-ed25519 AAAA ada@laptop");
  }
  static core::JobSpec Spec(bool authorize, const std::string& entry) {
    return {.ssh = {.identities = {{.private_key = "/a/pod_key",
                                    .public_key = "/a/pod_key.pub",
                                    .config_entry = entry,
                                    .authorize = authorize}}}};
  }
  /// Theirs is there as before, and nothing half written.
  void ExpectKept(const std::set<std::string>& files, const std::string& keys) {
    EXPECT_EQ(home_.In("full", ".ssh/config"), kConfig);
    EXPECT_EQ(home_.In("full", ".ssh/authorized_keys"), keys);
    EXPECT_EQ(home_.Files("full", ".ssh"), files);
    EXPECT_THAT(home_.In("again", ".ssh/config"),
                AllOf(HasSubstr("# jobman: begin\nHost 10.*\n"), EndsWith(kConfig)));
    EXPECT_EQ(home_.In("again", ".ssh/authorized_keys"),
              std::string(kKeys) + "ssh-ed25519 AAAA ada@laptop\n");
    EXPECT_EQ(home_.In("again", ".ssh/pod_key"), "the private key\n");
  }
};

INSTANTIATE_TEST_SUITE_P(Shells, FullHomeIdentity, EachWayToFill(), HomeName);

TEST_P(FullHomeIdentity, AKeyIsWhollyThereOrNot) {
  home_.Before(kTheirs);
  if (!home_.Play(Spec(true, "Host 10.*"))) GTEST_SKIP() << "no small disk here: " << home_.Log();
  ExpectNamedAndCured("write " + InHome(".ssh/pod_key"));
  ExpectKept({"authorized_keys", "config"}, kKeys);
}

TEST_P(FullHomeIdentity, AuthorizedKeysAreKept) {
  home_.Earlier(Spec(false, ""));
  home_.Before(kTheirs);
  if (!home_.Play(Spec(true, "Host 10.*"))) GTEST_SKIP() << "no small disk here: " << home_.Log();
  ExpectNamedAndCured("write " + InHome(".ssh/authorized_keys"));
  ExpectKept({"authorized_keys", "config", "pod_key", "pod_key.pub"}, kKeys);
}

TEST_P(FullHomeIdentity, TheConfigIsKept) {
  home_.Earlier(Spec(false, ""));
  home_.Before(std::string(kTheirs) +
               "; echo 'ssh-ed25519 AAAA ada@laptop' >>.ssh/authorized_keys");
  if (!home_.Play(Spec(true, "Host 10.*"))) GTEST_SKIP() << "no small disk here: " << home_.Log();
  ExpectNamedAndCured("write " + InHome(".ssh/config"));
  ExpectKept({"authorized_keys", "config", "pod_key", "pod_key.pub"},
             std::string(kKeys) + "ssh-ed25519 AAAA ada@laptop\n");
}

TEST_P(FullHomeTest, HostToHostKeepsWhatIsThere) {
  const base::Path key = home_.path() / "key";
  ASSERT_EQ(std::system(("ssh-keygen -q -t ed25519 -N '' -C x -f " + key.string()).c_str()), 0);
  home_.Set("JOBMAN_PEERS_KEY", std::string(base::Trim(Slurp(key))));
  home_.Set("JOBMAN_HOSTS", "10.0.0.2,10.0.0.3");
  core::JobSpec spec;
  spec.ssh.host_to_host = true;
  // The key of the job is there; the user has written both files anew since.
  home_.Earlier(spec);
  home_.Before(kTheirs);
  if (!home_.Play(spec)) GTEST_SKIP() << "no small disk here: " << home_.Log();
  ExpectNamedAndCured("write " + InHome(".ssh/authorized_keys"));
  EXPECT_EQ(home_.In("full", ".ssh/config"), kConfig);
  EXPECT_EQ(home_.In("full", ".ssh/authorized_keys"), kKeys);
  EXPECT_EQ(home_.Files("full", ".ssh"),
            (std::set<std::string>{"authorized_keys", "config", "jobman-peers"}));
  EXPECT_THAT(home_.In("again", ".ssh/authorized_keys"),
              AllOf(StartsWith(std::string(kKeys) + "ssh-ed25519 "), EndsWith(" jobman-peers\n")));
  EXPECT_THAT(home_.In("again", ".ssh/config"),
              AllOf(HasSubstr("Host 10.0.0.2 10.0.0.3 127.0.0.1\n"), EndsWith(kConfig)));
  EXPECT_EQ(home_.In("again", "podips.txt"), "10.0.0.3\n");
}

TEST_P(FullHomeTest, ExportsStayAsTheyWere) {
  PlayServer();
  home_.Set("JOBMAN_EXPORTS", InHome("etc/jobman.exports"));
  home_.Set("JOBMAN_HOSTS", "10.0.0.2");
  home_.Before("mkdir etc; echo before >etc/jobman.exports");
  core::JobSpec spec;
  spec.nfs.path = (home_.path() / "shared").string();
  if (!home_.Play(spec)) GTEST_SKIP() << "no small disk here: " << home_.Log();
  ExpectNamedAndCured("write " + InHome("etc/jobman.exports"));
  EXPECT_EQ(home_.In("full", "etc/jobman.exports"), "before\n");
  EXPECT_THAT(home_.Files("full", "etc"), ElementsAre("jobman.exports"));
  EXPECT_THAT(home_.In("again", "etc/jobman.exports"), HasSubstr("10.0.0.2(rw,"));
}

TEST_P(FullHomeTest, TheSharedFolderIsMadeWhenThereIsRoom) {
  if (std::get<1>(GetParam()) == Full::kBytes) GTEST_SKIP() << "a folder takes no bytes on a tmpfs";
  home_.Set("JOBMAN_HOSTS", "10.0.0.2");
  home_.Set("JOBMAN_EXPORTS", (home_.path() / "exports").string());
  PlayServer();
  core::JobSpec spec;
  spec.nfs.path = "~/shared";
  if (!home_.Play(spec)) GTEST_SKIP() << "no small disk here: " << home_.Log();
  ExpectNamedAndCured("create " + InHome("shared"));
}

// --- venv: one shell, since making an environment takes seconds. ---

class FullHomeVenv : public testing::Test {
 protected:
  void SetUp() override {
    version_ = OutputLine(
        "/usr/bin/python3 -I -c 'import ensurepip, venv, sys\n"
        "print(\"python%d.%d\" % sys.version_info[:2])' 2>/dev/null");
    if (version_.empty()) GTEST_SKIP() << "/usr/bin/python3 cannot make environments here";
    spec_.env_type = core::EnvType::kVenv;
    spec_.venv = {.name = "train", .python = version_};
    for (const auto& [name, value] : {std::pair{"PIP_CONFIG_FILE", "/dev/null"},
                                      {"PIP_NO_INDEX", "1"},
                                      {"JOBMAN_NET_TRIES", "2"},
                                      {"JOBMAN_NET_PAUSE_S", "0"}}) {
      home_.Set(name, value);
    }
    home_.Before("mkdir train; echo mine >train/notes");
  }
  static std::string OutputLine(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    std::array<char, 64> line = {};
    const bool read = pipe != nullptr && fgets(line.data(), line.size(), pipe) != nullptr;
    if (pipe != nullptr) pclose(pipe);
    return read ? std::string(base::Trim(line.data())) : std::string();
  }
  void ExpectMadeAgain() {
    EXPECT_EQ(home_.Code("full"), 1) << home_.Said("full");
    EXPECT_THAT(LastLine(home_.Said("full")), HasSubstr("/home is 100% full"));
    EXPECT_THAT(LastLine(home_.Said("full")), HasSubstr("): free some of it"));
    EXPECT_EQ(home_.In("full", "train/notes"), "mine\n");
    EXPECT_THAT(home_.Files("full", ".jobman/locks"), testing::IsEmpty());
    EXPECT_EQ(home_.Code("again"), 0) << home_.Said("again");
    EXPECT_THAT(home_.Said("again"), HasSubstr("~/train is made, with " + version_));
    EXPECT_TRUE(std::filesystem::exists(home_.After("again") / "train/bin/pip"));
    EXPECT_EQ(home_.In("again", "train/notes"), "mine\n");
  }

  SmallHome home_{"/bin/sh"};
  std::string version_;
  core::JobSpec spec_;
};

TEST_F(FullHomeVenv, ADiskWithoutAnyRoom) {
  home_.Leave(80, 0);
  if (!home_.Play(spec_)) GTEST_SKIP() << "no small disk here: " << home_.Log();
  ExpectMadeAgain();
}

TEST_F(FullHomeVenv, ADiskThatGetsFullWhileTheEnvironmentIsMade) {
  home_.Leave(80, 2000);
  if (!home_.Play(spec_)) GTEST_SKIP() << "no small disk here: " << home_.Log();
  ExpectMadeAgain();
}

}  // namespace
}  // namespace jobman::remote
