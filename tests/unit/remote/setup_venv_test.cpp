// The step of the section venv and the command in its environment, with real environments and a
// real pip. Only uv and apt-get are played, by scripts that refuse what they do not know.
#include <sys/mount.h>
#include <unistd.h>

#include <array>

#include "tests/unit/remote/environment_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// WHEEL FOLDER VERSION [BYTES]: a package `tiny` that knows its version, with a file of that size.
constexpr const char* kMakeWheel = R"py(
import sys, zipfile
folder, version, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
with zipfile.ZipFile(f"{folder}/tiny-{version}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("tiny.py", f"version = '{version}'\n")
    file.writestr("tiny.bin", bytes(size))
    info = f"tiny-{version}.dist-info/"
    file.writestr(info + "METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n")
    file.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    file.writestr(info + "RECORD", "")
)py";

/// uv as far as the step needs it, made of venv and pip; ~/arguments has its arguments.
constexpr const char* kUv = R"sh(#!/bin/sh
printf '%s\n' "$*" >>"$HOME/arguments"
case "$1 $2 $3 $4" in
  'venv --allow-existing --seed --python')
    [ "python$5" = "$(readlink -f /usr/bin/python3 | sed 's|.*/||')" ] ||
      { echo "error: No interpreter found for Python $5" >&2; exit 2; }
    exec /usr/bin/python3 -I -m venv "$6"
    ;;
  'pip install --python '*)
    [ "$5" = -r ] || { echo "error: unexpected argument '$5' found" >&2; exit 2; }
    exec "$4" -I -m pip install -r "$6"
    ;;
esac
echo "error: unrecognized subcommand '$1'" >&2
exit 2
)sh";

class SetupVenvTest : public EnvironmentTest {
 protected:
  void SetUp() override {
    EnvironmentTest::SetUp();
    if (IsSkipped()) return;
    spec.env_type = core::EnvType::kVenv;
    spec.venv = {.name = "train", .requirements_file = Wheel("1.0"), .python = Python()};
  }
  /// A line of requirements: a wheel of that version.
  std::string Wheel(const std::string& version, int size = 0) {
    Sh("/usr/bin/python3 -I -c '" + base::ReplaceAll(kMakeWheel, "'", "'\\''") + "' " +
       host.home().string() + " " + version + " " + std::to_string(size));
    return InHome("tiny-" + version + "-py3-none-any.whl") + "\n";
  }
  /// ~/train as Python jobman left it: an environment with pip, without a word about what is in it.
  /// A copy of one that was made once, since that takes seconds.
  void CopyEnvironment() {
    static const Template copied;
    const std::string from = copied.folder / "venv", to = InHome("train");
    Sh("cp -a " + from + "/. " + to + "/ && sed -i 's|" + from + "|" + to + "|' " + to +
       "/bin/activate");
  }
  struct Template {
    Template() {
      std::string name = std::filesystem::temp_directory_path() / "jobman-venv-XXXXXX";
      if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "mkdtemp failed";
      folder = name;
      Sh("HOME=" + name + " /usr/bin/python3 -I -m venv " + name + "/venv");
    }
    ~Template() { std::filesystem::remove_all(folder); }
    Template(const Template&) = delete;
    Template& operator=(const Template&) = delete;
    base::Path folder = {};
  };
  std::string Version() { return Command("python -c 'import tiny; print(tiny.version)'").out; }
  base::Path PackageFolder() { return host.home() / "train/lib" / Python() / "site-packages"; }
};

/// The second of two hosts with one home folder.
struct OtherHost {
  explicit OtherHost(LocalHost& first, const std::string& shell) : host(shell, first.home()) {
    host.env = first.env;
    host.env["JOBMAN_BOOT_ID_FILE"] = first.home() / "boot_id_1";
    std::ofstream(first.home() / "boot_id_1") << "boot-of-host-1\n";
  }
  LocalHost host;
};

INSTANTIATE_TEST_SUITE_P(Shells, SetupVenvTest, HostsShell(), ShellName);

class SetupVenvInEveryShell : public SetupVenvTest {};
INSTANTIATE_TEST_SUITE_P(Shells, SetupVenvInEveryShell, EveryShell(), ShellName);

TEST_P(SetupVenvInEveryShell, TheCommandSeesWhatTheStepInstalled) {
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made, with " + Python()));
  EXPECT_EQ(Version(), "1.0\n");
  EXPECT_EQ(Command("echo $VIRTUAL_ENV; command -v python pip", false).out,
            base::ReplaceAll("~/train\n~/train/bin/python\n~/train/bin/pip\n", "~",
                             host.home().string()));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupVenvInEveryShell, AnEnvironmentMayLieInAFolderOfTheHome) {
  spec.venv.name = "envs/of-mine/train";
  EXPECT_THAT(Step(), EndedSaying(0, "~/envs/of-mine/train is made, with " + Python()));
  EXPECT_EQ(Version(), "1.0\n");
  EXPECT_EQ(Command("echo $VIRTUAL_ENV").out, InHome("envs/of-mine/train") + "\n");
  EXPECT_THAT(Step(), EndedSaying(0, "~/envs/of-mine/train is up to date"));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupVenvTest, ASecondStepStartsNoPython) {
  CopyEnvironment();
  Step();
  const base::Path tools = HidePython();
  for (const base::Path& program : {tools / Python(), host.home() / "train/bin/python"})
    WriteProgram(program, "#!/bin/sh\necho called >>~/arguments\nexit 1\n");
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is up to date"));
  EXPECT_FALSE(std::filesystem::exists(host.home() / "arguments"));
}

TEST_P(SetupVenvTest, AnEnvironmentOfPythonJobmanIsKept) {
  CopyEnvironment();
  std::ofstream(PackageFolder() / "by_hand.py") << "";
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made"));
  EXPECT_EQ(Version(), "1.0\n");
  EXPECT_EQ(Command("python -c 'import by_hand'; echo $?").out, "0\n");
}

TEST_P(SetupVenvTest, AChangedFileIsInstalledAgainIntoTheSameEnvironment) {
  CopyEnvironment();
  Step();
  std::ofstream(PackageFolder() / "by_hand.py") << "";
  spec.venv.requirements_file = "# another\n" + Wheel("2.0");
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made"));
  EXPECT_EQ(Version(), "2.0\n");
  EXPECT_TRUE(std::filesystem::exists(PackageFolder() / "by_hand.py"));
}

TEST_P(SetupVenvTest, NoFileIsAnEnvironmentWithoutPackages) {
  CopyEnvironment();
  spec.venv.requirements_file = "";
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made"));
}

TEST_P(SetupVenvTest, AWrongFileIsTriedOnceAndShownLast) {
  CopyEnvironment();
  const std::string cure = "cannot be installed, see above: correct the file";
  const std::string hash = " --hash=sha256:" + std::string(64, 'a') + "\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"no-such-package==1.0\n", "No matching distribution found for no-such-package==1.0\n"},
      {"tiny ==== x\n", "Invalid requirement: 'tiny ==== x'"},
      {"-r nothing.txt\n", "Could not open requirements file"},
      {std::string(base::Trim(Wheel("1.0"))) + hash, "DO NOT MATCH THE HASHES"}};
  for (const auto& [text, error] : wrong) {
    spec.venv.requirements_file = text;
    const Ended ended = Step();
    EXPECT_THAT(ended, EndedSaying(1, cure)) << text;
    EXPECT_THAT(ended.out, HasSubstr(error));
    EXPECT_THAT(ended.out, Not(HasSubstr("again in")));
  }
  EXPECT_THAT(Leftovers(), IsEmpty());
  spec.venv.requirements_file = Wheel("1.0");
  const Ended right = Step();
  EXPECT_THAT(right, EndedSaying(0, "~/train is made"));
  EXPECT_THAT(right.out, Not(HasSubstr("anew"))) << "nothing had been changed";
}

TEST_P(SetupVenvTest, AnIndexOutOfReachIsTheNetworksFault) {
  CopyEnvironment();
  host.env.erase("PIP_NO_INDEX");
  host.env["PIP_INDEX_URL"] = "http://127.0.0.1:1/simple";
  spec.venv.requirements_file = "tiny\n";
  const Ended ended = Step();
  EXPECT_THAT(ended, EndedSaying(75, "installing the packages of ~/train failed 2 times"));
  EXPECT_THAT(ended.out, HasSubstr("the network is at fault"));
  EXPECT_THAT(ended.out, HasSubstr("Connection refused"));
  EXPECT_THAT(ended.out, HasSubstr("again in 0 s"));
}

/// It answers "404" for a package that it does not have, and that is the file's fault.
TEST_P(SetupVenvTest, AnIndexThatFailsIsTheNetworksFault) {
  CopyEnvironment();
  const LoopbackServer index(
      "class Index(http.server.BaseHTTPRequestHandler):\n"
      "    def do_GET(self):\n"
      "        self.send_error(404 if \"unknown\" in self.path else 503)\n"
      "serve(Index)");
  host.env.erase("PIP_NO_INDEX");
  host.env["PIP_INDEX_URL"] = index.Url() + "/simple";
  spec.venv.requirements_file = "tiny\n";
  EXPECT_THAT(Step(), EndedSaying(75, "failed 2 times"));
  spec.venv.requirements_file = "unknown\n";
  EXPECT_THAT(Step(), EndedSaying(1, "correct the file"));
}

/// A step that is killed while pip is at work, by a package whose build does not end. It leaves an
/// environment that nobody knows the content of, and a lock.
TEST_P(SetupVenvTest, AStepThatWasKilledIsDoneAnew) {
  CopyEnvironment();
  std::filesystem::create_directory(host.home() / "slow");
  std::ofstream(host.home() / "slow/pyproject.toml")
      << "[build-system]\nrequires = []\nbuild-backend = 'slow'\nbackend-path = ['.']\n";
  std::ofstream(host.home() / "slow/slow.py")
      << "import os\nopen(os.path.expanduser('~/builds'), 'w')\nos.read(os.pipe()[0], 1)\n";
  spec.venv.requirements_file = InHome("slow") + "\n";
  const RunOrder order = StepOrder();
  const auto running = host.Start(*RunCall(order, 0));
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(host.home() / "builds"); }));
  host.Stop(order.run_id, 0);
  host.Wait(running);
  std::filesystem::remove_all(PackageFolder() / "pip");
  std::filesystem::remove(host.home() / "train/bin/activate");
  std::ofstream(host.home() / "train/notes") << "mine";
  spec.venv.requirements_file = Wheel("1.0");
  const Ended ended = Step();
  EXPECT_THAT(ended, EndedSaying(0, "~/train is made"));
  EXPECT_THAT(ended.out, HasSubstr("~/train is incomplete"));
  EXPECT_EQ(Version(), "1.0\n");
  EXPECT_EQ(Slurp(host.home() / "train/notes"), "mine");
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupVenvTest, AStoppedStepGivesItsLockBack) {
  CopyEnvironment();
  const LoopbackServer index(
      "class Index(http.server.BaseHTTPRequestHandler):\n"
      "    def do_GET(self):\n"
      "        os.read(os.pipe()[0], 1)\n"
      "serve(Index)");
  host.env.erase("PIP_NO_INDEX");
  host.env["PIP_INDEX_URL"] = index.Url();
  spec.venv.requirements_file = "tiny\n";
  const RunOrder order = StepOrder();
  const auto running = host.Start(*RunCall(order, 0));
  ASSERT_TRUE(Eventually([&] { return !Leftovers().empty(); }));
  EXPECT_EQ(host.Stop(order.run_id, 30).exit_code, 143);
  host.Wait(running);
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupVenvTest, AStepThatIsStoppedAsItTakesItsLockGivesItBack) {
  CopyEnvironment();
  const base::Path tools = host.home() / "tools";
  std::filesystem::create_directories(tools);
  WriteProgram(tools / "mkdir",
               "#!/bin/sh\n/bin/mkdir \"$@\" || exit\n"
               "case $* in */locks/venv-train) kill -TERM 0 ;; esac\n");
  env["PATH"] = tools.string() + ":/usr/bin:/bin";
  EXPECT_THAT(Step().err, HasSubstr("jobman: exited 143\n"));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupVenvTest, AnEnvironmentWithoutPipOrOfAnotherPythonIsMadeAnew) {
  CopyEnvironment();
  WriteProgram(host.home() / "train/bin/python", "#!/bin/sh\necho python3.7\n");
  std::ofstream(host.home() / "train/notes") << "mine";
  const Ended ended = Step();
  EXPECT_THAT(ended.out, HasSubstr("~/train is of python3.7, and " + Python() + " is asked for"));
  EXPECT_THAT(ended, EndedSaying(0, "~/train is made, with " + Python()));
  EXPECT_EQ(Version(), "1.0\n");
  EXPECT_EQ(Slurp(host.home() / "train/notes"), "mine");
}

TEST_P(SetupVenvTest, AFolderThatIsNoEnvironmentKeepsItsFiles) {
  std::filesystem::create_directories(host.home() / "train/lib/of_the_user");
  std::ofstream(host.home() / "train/train.py") << "mine";
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made"));
  EXPECT_EQ(Slurp(host.home() / "train/train.py"), "mine");
  EXPECT_TRUE(std::filesystem::exists(host.home() / "train/lib/of_the_user"));
  EXPECT_EQ(Version(), "1.0\n");
}

// --- A Python that is not there. ---

TEST_P(SetupVenvTest, AMissingPythonIsNamedWithTheCure) {
  HidePython();
  EXPECT_THAT(Step(),
              EndedSaying(1, Python() + " (with its module venv) is not on this host, and "
                                        "there is neither uv nor apt-get: set venv.python"));
}

/// Plays apt-get: "installs" the machine's own Python, unless it is asked for another package.
TEST_P(SetupVenvTest, AptInstallsAMissingPythonIfItHasIt) {
  const base::Path tools = HidePython();
  WriteProgram(tools / "sudo", "#!/bin/sh\n[ \"$1\" = -n ] && shift && exec \"$@\"\n");
  WriteProgram(tools / "apt-cache", "#!/bin/sh\n[ \"$*\" = 'show " + Python() + "-venv' ]\n");
  WriteProgram(tools / "apt-get",
               "#!/bin/sh\ncase $* in\n  *' update') ;;\n  *' install '*' " + Python() + " " +
                   Python() + "-venv') ln -s /usr/bin/python3 " + (tools / Python()).string() +
                   " ;;\n  *) exit 100 ;;\nesac\n");
  spec.venv.python = "python3.99";
  EXPECT_THAT(Step(), EndedSaying(1, "apt knows no package python3.99-venv: set venv.python"));
  spec.venv.python = Python();
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made, with " + Python()));
}

TEST_P(SetupVenvTest, APackageManagerThatIsInUseIsWaitedForAndItsUserNamed) {
  const base::Path tools = HidePython();
  WriteProgram(tools / "sudo", "#!/bin/sh\n[ \"$1\" = -n ] && shift && exec \"$@\"\n");
  WriteProgram(tools / "apt-cache", "#!/bin/sh\n[ \"$*\" = 'show " + Python() + "-venv' ]\n");
  WriteProgram(tools / "apt-get", "#!/bin/sh\ncase $* in *' install '*) ln -s /usr/bin/python3 " +
                                      (tools / Python()).string() + " ;; esac\n");
  const std::string lock = InHome("lock");
  const std::string hold =
      "exec /usr/bin/python3 -I -c 'import fcntl, os, sys, time; f = open(\"" + lock +
      "\", \"w\"); fcntl.lockf(f, fcntl.LOCK_EX); print(os.getpid(), flush=True); "
      "time.sleep(600)'";
  FILE* const holder = popen(hold.c_str(), "r");
  int pid = 0;
  ASSERT_EQ(fscanf(holder, "%d", &pid), 1);
  env["JOBMAN_APT_LOCKS"] = lock;
  env["JOBMAN_APT_WAIT_S"] = "1";
  const Ended waited = Step();
  EXPECT_THAT(waited, EndedSaying(75, "the package manager is still in use after 1 s, by python3"));
  EXPECT_THAT(waited.out, HasSubstr("waiting for the package manager, in use by python3"));
  EXPECT_THAT(waited.out, HasSubstr("(" + std::to_string(pid) + ")"));
  kill(pid, SIGKILL);
  pclose(holder);
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made, with " + Python()));
}

TEST_P(SetupVenvTest, AnAptThatHangsIsEndedAndTriedAnotherTime) {
  const base::Path tools = HidePython();
  WriteProgram(tools / "sudo", "#!/bin/sh\n[ \"$1\" = -n ] && shift && exec \"$@\"\n");
  WriteProgram(tools / "apt-cache", "#!/bin/sh\nexit 1\n");
  WriteProgram(tools / "apt-get", "#!/bin/sh\nexec sleep 600\n");
  env["JOBMAN_APT_LIMIT_S"] = "1";
  spec.venv.python = "python3.99";
  EXPECT_THAT(Step(), EndedSaying(75, "apt-get update failed"));
}

TEST_P(SetupVenvTest, AListOfPackagesThatCannotBeHadIsTriedAnotherTime) {
  const base::Path tools = HidePython();
  WriteProgram(tools / "sudo", "#!/bin/sh\n[ \"$1\" = -n ] && shift && exec \"$@\"\n");
  WriteProgram(tools / "apt-cache", "#!/bin/sh\n[ \"$*\" = 'show " + Python() + "-venv' ]\n");
  WriteProgram(tools / "apt-get", "#!/bin/sh\ncase $* in *' install '*) ln -s /usr/bin/python3 " +
                                      (tools / Python()).string() + " ;; *) exit 100 ;; esac\n");
  spec.venv.python = "python3.99";
  EXPECT_THAT(Step(), EndedSaying(75, "apt-get update failed"));
  spec.venv.python = Python();
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made, with " + Python())) << "another list has it";
}

TEST_P(SetupVenvTest, UvIsUsedWhereItIs) {
  WriteProgram(HidePython() / "uv", kUv);
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made"));
  EXPECT_EQ(Slurp(host.home() / "arguments"),
            "venv --allow-existing --seed --python " + Python().substr(6) + " " + InHome("train") +
                "\npip install --python " + InHome("train/bin/python") + " -r " +
                InHome(".jobman-requirements-train.txt") + "\n");
  EXPECT_EQ(Version(), "1.0\n");
  spec.venv.requirements_file = "no-such-package\n";
  EXPECT_THAT(Step(), EndedSaying(1, "correct the file"));
}

// --- Hosts that share a home folder. ---

TEST_P(SetupVenvTest, OfTwoHostsWithOneHomeOneInstallsAndOneWaits) {
  OtherHost other(host, GetParam());
  std::vector<LocalHost::Running> calls = {host.Start(*RunCall(StepOrder(), 0)),
                                           other.host.Start(*RunCall(StepOrder(), 0))};
  std::string said;
  for (const auto& call : calls) said += host.Wait(call).out;
  EXPECT_THAT(said, HasSubstr("~/train is made"));
  EXPECT_THAT(said, HasSubstr("~/train is up to date"));
  EXPECT_THAT(said, HasSubstr("is at work on it; waiting"));
  EXPECT_EQ(Version(), "1.0\n");
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupVenvTest, TheLockOfAHostThatIsGoneIsBroken) {
  CopyEnvironment();
  const base::Path lock = host.home() / ".jobman/locks/venv-train";
  std::filesystem::create_directories(lock);
  std::ofstream(lock / "1,2,boot-of-another,3,gone") << "..";
  host.env["JOBMAN_LOCK_WAIT_S"] = "1";
  EXPECT_THAT(Step(), EndedSaying(75, "another setup step (process 1 on gone) is still at work"));
  host.env.erase("JOBMAN_LOCK_WAIT_S");
  host.env["JOBMAN_LOCK_STALE_S"] = "1";
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made"));
  std::filesystem::remove(host.home() / "train/.jobman-made");
  std::filesystem::create_directories(lock);
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made")) << "one without an owner, too";
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupVenvTest, TheLockOfAHostThatWasRestartedIsBrokenAtOnce) {
  CopyEnvironment();
  const base::Path lock = host.home() / ".jobman/locks/venv-train";
  std::filesystem::create_directories(lock);
  std::array<char, 256> name = {};
  ASSERT_EQ(gethostname(name.data(), name.size() - 1), 0);
  host.env["JOBMAN_LOCK_WAIT_S"] = "1";
  // This test itself has the number of the owner, and began at another time.
  std::ofstream(lock / (std::to_string(getpid()) + ",2,boot-before,3," + name.data())) << "..";
  EXPECT_THAT(Step(), EndedSaying(0, "~/train is made"));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

// --- A full disk. ---

TEST_P(SetupVenvTest, AFullDiskIsNamed) {
  std::filesystem::create_directory(host.home() / "train");
  if (getuid() != 0 || mount("tmpfs", InHome("train").c_str(), "tmpfs", 0, "size=48m") != 0)
    GTEST_SKIP() << "this user cannot mount a small disk";
  CopyEnvironment();
  spec.venv.requirements_file = Wheel("1.0", 64 << 20);
  const Ended ended = Step();
  umount2(InHome("train").c_str(), MNT_DETACH);
  EXPECT_THAT(ended, EndedSaying(1, "a disk of this host is full ("));
  EXPECT_THAT(ended.out, Not(HasSubstr("again in")));
}

// --- The command. ---

TEST_P(SetupVenvTest, ACommandWithoutItsEnvironmentFailsWithTheCure) {
  EXPECT_THAT(Command("echo ran"),
              EndedSaying(1,
                          "the environment ~/train is not there: was it removed, or is this "
                          "another home folder? To make it again: jobman reboot --force 000042"));
}

TEST_P(SetupVenvTest, TheCommandEndsAsItWouldAlone) {
  CopyEnvironment();
  const std::string on_term =
      "trap 'echo term; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
  for (const bool own_shell : {true, false}) {
    EXPECT_THAT(Command("exit 3", own_shell).err, HasSubstr("jobman: exited 3\n"));
    const RunOrder slow = CommandOrder(on_term, own_shell);
    const auto running = host.Start(*RunCall(slow, 0));
    ASSERT_TRUE(Eventually([&] { return running.Out() == "ready\n"; }));
    EXPECT_EQ(host.Stop(slow.run_id, 30).exit_code, 7);
    // Between them bash may say that it terminated the sleep.
    EXPECT_THAT(host.Wait(running).out, AllOf(StartsWith("ready\n"), EndsWith("term\n")));
  }
  const RunOrder replaced = CommandOrder("exec sleep 60");
  const auto running = StartRunning(replaced);
  EXPECT_EQ(host.Stop(replaced.run_id, 30).exit_code, 143);
  host.Wait(running);
}

TEST_P(SetupVenvTest, ACommandMayNameItsInterpreter) {
  CopyEnvironment();
  const std::string script =
      "#!/usr/bin/env python\nimport os, signal, sys\nprint('it\\'s', sys.prefix, flush=True)\n";
  const Ended ended = Command(script + "sys.exit(5)");
  EXPECT_EQ(ended.out, "it's " + InHome("train") + "\n");
  EXPECT_THAT(ended.err, HasSubstr("jobman: exited 5\n"));
  const RunOrder slow = CommandOrder(script +
                                         "signal.signal(signal.SIGTERM, lambda *_: os._exit(6))\n"
                                         "print('ready', flush=True)\nwhile True: signal.pause()\n",
                                     false);
  const auto running = host.Start(*RunCall(slow, 0));
  ASSERT_TRUE(Eventually([&] { return running.Out().ends_with("ready\n"); }));
  EXPECT_EQ(host.Stop(slow.run_id, 30).exit_code, 6);
  host.Wait(running);
}

TEST_P(SetupVenvTest, TheLogShowsTheCommandAlone) {
  CopyEnvironment();
  for (const char* cmd : {"set -xv\necho here", "echo here\necho )", "no-such-program"}) {
    const std::string out = Command(cmd, false).out;
    EXPECT_THAT(out, Not(HasSubstr("activate"))) << out;
    EXPECT_THAT(out, Not(HasSubstr("jobman: "))) << out;
  }
}

}  // namespace
}  // namespace jobman::remote
