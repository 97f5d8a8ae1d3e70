// OpenSSH's own client on simulated hosts, in every sandbox mode that this machine supports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "jobman/base/json.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/http/curl_transport.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::test {
namespace {

using base::Json;
using testing::EndsWith;
using testing::HasSubstr;

enum class Mode { kBubblewrapAsRoot, kBubblewrapAsUser, kPlain };

constexpr unsigned kNobody = 65534;
constexpr const char* kNode = "/v2/projects/p/locations/us-central2-b/nodes/n1";

/// Two hosts of one simulator, used through OpenSSH's command-line tools.
class OpenSsh : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    const bool root = geteuid() == 0;
    if (GetParam() == Mode::kBubblewrapAsRoot && !root) GTEST_SKIP() << "this is no root";
    if (GetParam() == Mode::kBubblewrapAsUser && root) BecomeNobody();
    // As in /usr/bin: readable for any user.
    std::filesystem::copy_file(JOBMAN_BIN_DIR "/jobman-sim", sim_);
    std::filesystem::permissions(sim_, std::filesystem::perms{0755});
    const auto made = Run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir_ / "key"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    // Without a sandbox, only a user with an account on this machine can log in.
    if (GetParam() == Mode::kPlain) user_ = getpwuid(geteuid())->pw_name;
    StartSim();
    if (!IsSkipped() && !HasFatalFailure()) CreateNode();
  }

  void StartSim() {
    std::vector<std::string> up = {"up", "--detach", "--delays", "0"};
    if (GetParam() == Mode::kPlain) up.push_back("--no-sandbox");
    const base::ProcessResult started = Sim(up);
    ASSERT_EQ(started.exit_code, 0) << started.err;
    serves_ = true;
    const Json file = Parse(base::ReadFile(state_ / "sim.json").value_or(""));
    endpoint_ = base::GetString(file, "endpoint");
    token_ = base::GetString(file, "token");
    port_ = std::to_string(base::GetInt(file, "ssh_port"));
    const std::string sandbox = base::GetString(file, "sandbox");
    if (GetParam() != Mode::kPlain && sandbox != "bubblewrap") GTEST_SKIP() << started.err;
  }

  void TearDown() override {
    if (!serves_) return;
    EXPECT_EQ(Sim({"down"}).exit_code, 0);
    EXPECT_EQ(Matching(dir_.path().string()), 0) << "processes are left";
  }

  static Json Parse(const std::string& text) { return base::ParseJson(text).value_or(Json()); }

  base::ProcessResult Run(const std::vector<std::string>& words, const std::string& input = "") {
    const auto ended = base::RunTask(loop_, base::RunProcess(words, input));
    return ended.ok() ? *ended : base::ProcessResult{.exit_code = -1, .err = ended.error().message};
  }
  /// Runs jobman-sim as the user of the mode.
  base::ProcessResult Sim(std::vector<std::string> words) {
    words.insert(words.begin(), {sim_.string(), "--dir", state_.string()});
    words.insert(words.begin(), as_user_.begin(), as_user_.end());
    return Run(words);
  }
  void BecomeNobody() {
    const std::string id = std::to_string(kNobody);
    as_user_ = {"setpriv", "--reuid", id, "--regid", id, "--clear-groups"};
    ASSERT_EQ(chown(dir_.path().c_str(), kNobody, kNobody), 0);
  }

  Json Ask(const std::string& method, const std::string& path, const Json& body = {}) {
    auto wire = http::MakeCurlTransport(loop_.get_executor());
    http::Request request{.method = method, .url = endpoint_ + path};
    request.headers = {{"Authorization", "Bearer " + token_}, {"Content-Type", "application/json"}};
    if (!body.is_null()) request.body = body.dump();
    const auto answer = base::RunTask(loop_, (*wire)->Send(request));
    if (answer.ok()) return Parse(answer->body);
    ADD_FAILURE() << answer.error().ToString();
    return {};
  }
  template <class IsSo>
  bool Until(IsSo is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      base::RunTask(loop_, base::Sleep(std::chrono::milliseconds(10)));
    }
    return true;
  }

  void CreateNode() {
    const std::string login = user_ + ":" + base::ReadFile(dir_ / "key.pub").value_or("");
    Ask("POST", "/v2/projects/p/locations/us-central2-b/nodes?nodeId=n1",
        {{"acceleratorType", "v4-16"},
         {"runtimeVersion", "tpu-ubuntu2204-base"},
         {"schedulingConfig", {{"spot", true}}},
         {"metadata", {{"ssh-keys", login}}}});
    Json node;
    ASSERT_TRUE(Until([&] {
      node = Ask("GET", kNode);
      return base::GetString(node, "state") == "READY";
    })) << node.dump(2);
    addresses_.clear();
    internal_.clear();
    for (const Json& endpoint : node["networkEndpoints"]) {
      internal_.push_back(base::GetString(endpoint, "ipAddress"));
      addresses_.push_back(base::GetString(endpoint["accessConfig"], "externalIp"));
    }
    ASSERT_EQ(addresses_.size(), 2U);
    WriteKnownHosts();
  }

  /// Writes the host keys of the guest attributes in OpenSSH's format.
  void WriteKnownHosts() {
    const Json reply = Ask("POST", std::string(kNode) + ":getGuestAttributes",
                           {{"queryPath", "hostkeys/"}, {"workerIds", Json::array()}});
    std::string lines;
    std::size_t host = 0;
    for (const Json& attributes : reply["guestAttributes"]) {
      for (const Json& item : attributes["queryValue"]["items"]) {
        lines += "[" + addresses_.at(host) + "]:" + port_ + " " + base::GetString(item, "key") +
                 " " + base::GetString(item, "value") + "\n";
      }
      ++host;
    }
    ASSERT_EQ(host, 2U) << reply.dump(2);
    ASSERT_TRUE(base::WriteFileAtomic(dir_ / "known_hosts", lines).ok());
  }

  std::vector<std::string> Options(const std::string& key) {
    return {"-F", "none",
            "-o", "BatchMode=yes",
            "-o", "StrictHostKeyChecking=yes",
            "-o", "UserKnownHostsFile=" + (dir_ / "known_hosts").string(),
            "-o", "IdentitiesOnly=yes",
            "-o", "LogLevel=ERROR",
            "-i", (dir_ / key).string()};
  }
  base::ProcessResult Ssh(std::size_t host, const std::string& command,
                          const std::string& input = "", const std::string& key = "key") {
    std::vector<std::string> words = {"ssh", "-p", port_};
    const std::vector<std::string> options = Options(key);
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), impatient_.begin(), impatient_.end());
    words.insert(words.end(), {user_ + "@" + addresses_.at(host), command});
    return Run(words, input);
  }
  std::string Said(std::size_t host, const std::string& command) {
    const base::ProcessResult ran = Ssh(host, command);
    EXPECT_EQ(ran.exit_code, 0) << command << ": " << ran.err;
    return std::string(base::Trim(ran.out));
  }

  /// A command that prints the HTTP status of a request for the metadata of this host.
  std::string Metadata(std::size_t host, const std::string& prefix = "",
                       const std::string& end = "") {
    const Json file = Parse(base::ReadFile(state_ / "sim.json").value_or(""));
    return "curl -s -o /dev/null -w '%{http_code}' -H 'Metadata-Flavor: Google' -H Host:" +
           internal_.at(host) + " -g http://" + prefix + internal_.at(host) + end + ":" +
           std::to_string(base::GetInt(file, "metadata_port")) +
           "/computeMetadata/v1/instance/name";
  }

  /// The result of `act`, while `jobman-sim COMMAND` runs a second after its start.
  template <class Act>
  base::ProcessResult During(const std::string& command, Act act) {
    std::vector<std::string> words = {"sh", "-c", "sleep 1; exec \"$0\" \"$@\""};
    words.insert(words.end(), as_user_.begin(), as_user_.end());
    words.insert(words.end(), {sim_.string(), "--dir", (dir_ / "state").string()});
    for (const std::string& word : base::Split(command, ' ')) words.push_back(word);
    std::thread later([words] {
      asio::io_context loop;
      const auto ended = base::RunTask(loop, base::RunProcess(words));
      EXPECT_TRUE(ended.ok() && ended->exit_code == 0) << ended->err;
    });
    base::ProcessResult result = act();
    later.join();
    return result;
  }

  /// The number of processes on this machine with `text` in their command line, sandboxed ones too.
  static int Matching(const std::string& text) {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
      const auto words = base::ReadFile(entry.path() / "cmdline");
      if (words.ok() && base::Contains(*words, text)) ++count;
    }
    return count;
  }

  TempDir dir_;
  const base::Path sim_ = dir_ / "jobman-sim";
  base::Path state_ = dir_ / "state";
  std::vector<std::string> as_user_ = {};
  std::string user_ = "me";
  bool serves_ = false;
  asio::io_context loop_;
  std::string endpoint_ = {};
  std::string token_ = {};
  std::string port_ = {};
  std::vector<std::string> addresses_ = {};
  std::vector<std::string> internal_ = {};
  std::vector<std::string> impatient_ = {};  ///< additional options of ssh
};

TEST_P(OpenSsh, ReachesEachHostAsAMachineOfItsOwn) {
  // Without a sandbox, the kernel's host name is that of the machine.
  const std::string name = GetParam() == Mode::kPlain ? "echo $JOBMAN_SIM_HOST" : "hostname";
  EXPECT_EQ(Said(0, name), "t1v-n-n1-w-0");
  EXPECT_EQ(Said(1, name), "t1v-n-n1-w-1");
  EXPECT_EQ(Said(0, "id -un"), user_);
  EXPECT_EQ(Said(0, "pwd"), Said(0, "echo $HOME"));
  EXPECT_THAT(Said(0, "echo $HOME"), EndsWith("/" + user_));
  EXPECT_EQ(Said(0, "echo mine > ~/file; cat ~/file"), "mine");
  EXPECT_EQ(Ssh(1, "cat ~/file").exit_code, 1);
}

TEST_P(OpenSsh, BashIsTheShellAlsoAfterAHang) {
  if (GetParam() == Mode::kPlain) GTEST_SKIP() << "the shell is that of this machine's user";
  EXPECT_EQ(Said(0, "echo $SHELL $0"), "/bin/bash bash");
  ASSERT_EQ(Sim({"host", "n1/0", "hang"}).exit_code, 0);
  const auto waited = During("host n1/0 mend", [this] { return Ssh(0, "echo $SHELL"); });
  EXPECT_EQ(waited.out, "/bin/bash\n") << waited.err;
  EXPECT_EQ(Said(0, "echo $SHELL $0"), "/bin/bash bash");
}

TEST_P(OpenSsh, AHostReadsItsOwnMetadata) {
  const auto ask = [this](std::size_t host, const std::string& key) {
    return Said(host,
                "curl -s -H 'Metadata-Flavor: Google' "
                "\"http://$GCE_METADATA_HOST/computeMetadata/v1/instance/" +
                    key + "\"");
  };
  EXPECT_EQ(ask(1, "attributes/agent-worker-number"), "1");
  EXPECT_EQ(ask(0, "attributes/agent-worker-number"), "0");
  EXPECT_EQ(ask(0, "preempted"), "FALSE");
  EXPECT_EQ(ask(0, "preempted?wait_for_change=true&last_etag=0"), "FALSE");
  EXPECT_EQ(ask(0, "preempted?wait_for_change=true&timeout_sec=0"), "FALSE");
  EXPECT_EQ(Said(0,
                 "curl -s -o /dev/null -w '%{http_code}' http://$GCE_METADATA_HOST/"
                 "computeMetadata/v1/instance/preempted"),
            "403");
}

TEST_P(OpenSsh, AHostsMetadataIsForItsOwnProcesses) {
  const std::string of_another = Metadata(1);
  if (GetParam() != Mode::kPlain) {
    EXPECT_EQ(Said(1, of_another), "200");
    EXPECT_EQ(Said(0, of_another), "403") << "another host";
    const auto outside = Run({"sh", "-c", of_another});
    EXPECT_EQ(outside.out, "403") << "no host: " << outside.err;
  }
  if (geteuid() == 0) {
    const auto stranger = Run({"setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups",
                               "sh", "-c", of_another});
    EXPECT_EQ(stranger.out, "403") << "another user: " << stranger.err;
  }
  EXPECT_EQ(Said(1, Metadata(1, "[::ffff:", "]")), "200") << "by a socket of IPv6";
}

TEST_P(OpenSsh, AStartupScriptSeesNoFileThatIsNotItsHosts) {
  if (GetParam() == Mode::kPlain) GTEST_SKIP() << "there is no sandbox";
  const std::string dir = state_.string();
  std::string script =
      "#!/bin/sh\n"
      "for f in /etc/shadow /etc/gshadow /etc/ssh/ssh_host_ed25519_key /etc/fstab /boot /root/.ssh "
      "/sys/kernel " +
      dir + " " + dir + "/sim.json " + dir + "/token " + dir + "/hosts/t1v-n-n1-w-0/etc/host_key " +
      (dir_ / "key").string() +
      " " JOBMAN_BIN_DIR
      " /usr/local/etc/*"
      "; do\n"
      "  if ls -d $f >/dev/null 2>&1; then echo \"sees $f\"; fi\n"
      "done\n"
      "for f in / /etc /usr /bin /lib /run/jobman-sim /etc/passwd; do\n"
      "  if [ -w $f ]; then echo \"may write $f\"; fi\n"
      "done\n"
      "find /proc/[a-z]* -maxdepth 3 -type f -writable 2>/dev/null | "
      "grep -v -e '^/proc/self/' -e '^/proc/thread-self/' -e '^/proc/pressure/'\n"
      "grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status && echo 'has capabilities'\n"
      "echo mine >/tmp/mine && cat /tmp/mine\n"
      "getent hosts $(hostname) | grep -c $(hostname)\n"
      "echo end\n";
  Ask("POST", "/v2/projects/p/locations/us-central2-b/nodes?nodeId=n2",
      {{"acceleratorType", "v4-8"},
       {"runtimeVersion", "tpu-ubuntu2204-base"},
       {"metadata", {{"startup-script", script}}}});
  const base::Path log = state_ / "hosts/t1v-n-n2-w-0/state/startup.log";
  std::string said;
  EXPECT_TRUE(Until([&] {
    said = base::ReadFile(log).value_or("");
    return said.ends_with("end\n");
  }));
  EXPECT_EQ(said, "mine\n1\nend\n");
}

TEST_P(OpenSsh, AHostCannotMakeTheSimulatorWriteOutsideIt) {
  if (GetParam() == Mode::kPlain) GTEST_SKIP() << "there is no sandbox";
  const base::Path victim = dir_ / "victim";
  Said(0, "for f in bwrap.log startup.log; do ln -sf " + victim.string() +
              " /run/jobman-sim/state/$f; done");
  const std::string boot = Said(0, "cat /proc/sys/kernel/random/boot_id");
  EXPECT_EQ(Sim({"reboot", "n1"}).exit_code, 0);
  EXPECT_TRUE(Until([&] {
    const auto now = Ssh(0, "cat /proc/sys/kernel/random/boot_id");
    return now.exit_code == 0 && base::Trim(now.out) != boot;
  }));
  EXPECT_FALSE(std::filesystem::exists(victim)) << base::ReadFile(victim).value_or("");
}

TEST_P(OpenSsh, CarriesExitCodesInputAndOutput) {
  EXPECT_EQ(Ssh(0, "exit 7").exit_code, 7);
  const std::string input(200'000, 'x');
  EXPECT_EQ(Ssh(0, "cat", input).out, input);
  const base::ProcessResult both = Ssh(1, "echo out; echo err >&2");
  EXPECT_EQ(both.out, "out\n");
  EXPECT_EQ(both.err, "err\n");
}

TEST_P(OpenSsh, CopiesFilesBothWays) {
  const std::string text(100'000, 'y');
  ASSERT_TRUE(base::WriteFileAtomic(dir_ / "there", text).ok());
  const std::string remote = user_ + "@" + addresses_.at(0) + ":";
  std::vector<std::string> words = {"scp", "-q", "-P", port_};
  const std::vector<std::string> options = Options("key");
  words.insert(words.end(), options.begin(), options.end());
  std::vector<std::string> back = words;
  words.insert(words.end(), {(dir_ / "there").string(), remote + "copied"});
  EXPECT_EQ(Run(words).exit_code, 0);
  EXPECT_EQ(Said(0, "wc -c < ~/copied"), "100000");
  back.insert(back.end(), {remote + "copied", (dir_ / "back").string()});
  EXPECT_EQ(Run(back).exit_code, 0);
  EXPECT_EQ(base::ReadFile(dir_ / "back").value_or(""), text);
}

TEST_P(OpenSsh, RefusesAnUnknownKeyAndDetectsAWrongHost) {
  const auto made = Run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir_ / "stranger"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const base::ProcessResult stranger = Ssh(0, "true", "", "stranger");
  EXPECT_EQ(stranger.exit_code, 255);
  EXPECT_THAT(stranger.err, HasSubstr("Permission denied (publickey)"));
  std::swap(addresses_[0], addresses_[1]);
  WriteKnownHosts();  // each host's key under the other's address
  const base::ProcessResult changed = Ssh(0, "true");
  EXPECT_EQ(changed.exit_code, 255);
  EXPECT_THAT(changed.err, HasSubstr("Host key verification failed"));
}

TEST_P(OpenSsh, APreemptionEndsEveryProcessOfTheNode) {
  const std::string token = "jobman-openssh-" + dir_.path().filename().string();
  for (const std::size_t host : {0U, 1U}) {
    // Outside the session's process group, orphaned, and ignoring HUP, INT and TERM.
    const std::string stay = "trap '' HUP INT TERM; while :; do sleep 0.1; done; : " + token;
    Said(host, "setsid sh -c \"" + stay + "\" >/dev/null 2>&1 </dev/null & echo started");
  }
  ASSERT_TRUE(Until([&] { return Matching(token) >= 2; }));
  const base::ProcessResult preempted = Sim({"preempt", "n1"});
  EXPECT_EQ(preempted.exit_code, 0) << preempted.err;
  EXPECT_TRUE(Until([&] { return Matching(token) == 0; })) << "still run: " << Matching(token);
  EXPECT_EQ(base::GetString(Ask("GET", kNode), "state"), "PREEMPTED");
  const base::ProcessResult refused = Ssh(0, "true");
  EXPECT_EQ(refused.exit_code, 255);
  EXPECT_THAT(refused.err, HasSubstr("Connection refused"));
}

TEST_P(OpenSsh, APreemptionLeavesTheHostsOfAnotherSimulatorAlone) {
  const std::string token = "jobman-openssh-" + dir_.path().filename().string();
  Said(0, "setsid sh -c 'while :; do sleep 0.1; done; : " + token +
              "' >/dev/null 2>&1 </dev/null & echo started");
  ASSERT_TRUE(Until([&] { return Matching(token) >= 1; }));
  state_ = dir_ / "other";
  StartSim();
  CreateNode();  // of the same name
  EXPECT_EQ(Sim({"preempt", "n1"}).exit_code, 0);
  EXPECT_EQ(Sim({"down"}).exit_code, 0);
  state_ = dir_ / "state";
  EXPECT_GE(Matching(token), 1);
}

TEST_P(OpenSsh, AHostThatIsCutOffTimesOutAndKeepsRunning) {
  // bash, which waits and tries again if a machine under load cannot fork.
  Said(0,
       "setsid bash -c 'while :; do echo x >> ~/alive; sleep 0.1; done' >/dev/null 2>~/errors "
       "</dev/null & echo started");
  // In a session of its own: a process of the SSH connection would be cut off with it.
  ASSERT_TRUE(Until([this] { return Ssh(0, "test -s ~/alive").exit_code == 0; }));
  const base::ProcessResult cut = Sim({"host", "n1/0", "cut"});
  ASSERT_EQ(cut.exit_code, 0) << cut.err;
  impatient_ = {"-o", "ConnectTimeout=2"};
  ASSERT_TRUE(Until([&] { return Ssh(0, "true").exit_code != 0; }));
  const base::ProcessResult silent = Ssh(0, "true");
  EXPECT_EQ(silent.exit_code, 255);
  EXPECT_THAT(silent.err, HasSubstr("timed out"));
  impatient_.clear();
  EXPECT_EQ(Ssh(1, "true").exit_code, 0);
  const base::ProcessResult mended = Sim({"host", "n1/0", "mend"});
  EXPECT_EQ(mended.exit_code, 0) << mended.err;
  const std::string before = Said(0, "wc -l < ~/alive");
  EXPECT_TRUE(Until([&] { return Said(0, "wc -l < ~/alive") != before; }))
      << Said(0, "cat ~/errors; ls -l ~; df -h ~; ps -eo pid,ppid,sid,stat,wchan:20,args")
             .substr(0, 20000);
}

TEST_P(OpenSsh, AHangupEndsConnectionsButNotTheHost) {
  // Repeated if there was no connection yet after a second.
  EXPECT_TRUE(Until([this] {
    return During("host n1/0 hangup", [this] { return Ssh(0, "sleep 5"); }).exit_code == 255;
  }));
  EXPECT_EQ(Ssh(0, "true").exit_code, 0);
}

TEST_P(OpenSsh, AHostFailsAsItIsTold) {
  if (GetParam() != Mode::kPlain) {
    const base::ProcessResult refused = Sim({"host", "n1/0", "reset"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("hosts without a sandbox"));
    return;
  }
  impatient_ = {"-o", "ConnectTimeout=5",     "-o", "ServerAliveInterval=2",
                "-o", "ServerAliveCountMax=2"};
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"refuse", "refused"},   {"reset", ""},        {"hang-handshake", "timed"},
      {"hang-after-auth", ""}, {"reset-middle", ""}, {"wrong-key", "IDENTIFICATION HAS CHANGED"}};
  for (const auto& fault : faults) {
    const base::ProcessResult told = Sim({"host", "n1/0", fault.first});
    ASSERT_EQ(told.exit_code, 0) << told.err;
    base::ProcessResult failed;
    EXPECT_TRUE(Until([&] {
      failed = Ssh(0, "true");
      return failed.exit_code == 255 && base::Contains(failed.err, fault.second);
    })) << fault.first
        << ": " << failed.err;
    EXPECT_EQ(Ssh(1, "true").exit_code, 0) << "the other host, " << fault.first;
  }
  EXPECT_EQ(Sim({"host", "n1/0", "slow", "--by", "20ms"}).exit_code, 0);
  EXPECT_TRUE(Until([&] { return Ssh(0, "true").exit_code == 0; })) << "late, but well";
  EXPECT_EQ(Sim({"host", "n1/0", "mend"}).exit_code, 0);
  EXPECT_TRUE(Until([&] { return Ssh(0, "true").exit_code == 0; }));
}

TEST_P(OpenSsh, AHostWithoutASandboxCanHaveAFullDisk) {
  if (GetParam() != Mode::kPlain) GTEST_SKIP() << "no sandbox bounds a host's disk";
  Said(0, "echo kept > ~/file");
  const base::ProcessResult told = Sim({"host", "n1/0", "full"});
  if (base::Contains(told.err, "no full disk here")) GTEST_SKIP() << told.err;
  ASSERT_EQ(told.exit_code, 0) << told.err;
  base::ProcessResult copied;
  EXPECT_TRUE(Until([&] {
    copied = Ssh(0, "cp /bin/sh ~/copy");
    return copied.exit_code != 0;
  }));
  EXPECT_THAT(copied.err, HasSubstr("No space left on device"));
  EXPECT_EQ(Said(0, "cat ~/file; id -un"), "kept\n" + user_);
  EXPECT_EQ(Ssh(1, "cp /bin/sh ~/copy").exit_code, 0) << "the other host";
  EXPECT_EQ(Sim({"host", "n1/0", "mend"}).exit_code, 0);
  EXPECT_TRUE(Until([&] { return Ssh(0, "cp /bin/sh ~/copy").exit_code == 0; }));
  EXPECT_EQ(Said(0, "ls -A ~ | grep -c other-users-files || true"), "0") << "nothing is left";
}

TEST_P(OpenSsh, AKilledHostBootsAgain) {
  Said(0, "echo kept > ~/file");
  EXPECT_EQ(Sim({"host", "n1/0", "kill"}).exit_code, 0);
  EXPECT_TRUE(Until([&] { return Ssh(0, "true").exit_code == 255; }));
  EXPECT_EQ(Sim({"host", "n1/0", "boot"}).exit_code, 0);
  EXPECT_TRUE(Until([&] { return Ssh(0, "true").exit_code == 0; }));
  EXPECT_EQ(Said(0, "cat ~/file"), "kept");
}

TEST_P(OpenSsh, AHostCanWaitForItsPreemptionNotice) {
  const std::string get =
      "curl -s -D ~/headers -H 'Metadata-Flavor: Google' "
      "\"http://$GCE_METADATA_HOST/computeMetadata/v1/instance/preempted";
  EXPECT_EQ(Said(0, get + "\""), "FALSE");
  // With the last ETag it saw, so that a change from before the call counts.
  const std::string wait = get +
                           "?wait_for_change=true&last_etag=$(tr -d '\\r' <~/headers | "
                           "sed -n 's/^[Ee][Tt]ag: *//p')\"";
  const base::ProcessResult told = During("preempt n1 --notice 60s", [&] { return Ssh(0, wait); });
  EXPECT_EQ(told.out, "TRUE");
  EXPECT_EQ(base::GetString(Ask("GET", kNode), "state"), "READY");
}

TEST_P(OpenSsh, AnUnpluggedApiRefusesConnectionsForATime) {
  EXPECT_EQ(Sim({"unplug", "--for", "8s"}).exit_code, 0);
  EXPECT_TRUE(Until([&] { return Sim({"status"}).exit_code != 0; }));
  EXPECT_EQ(Ssh(0, "true").exit_code, 0);
  EXPECT_TRUE(Until([&] { return Sim({"status"}).exit_code == 0; }));
}

TEST_P(OpenSsh, AStormIsFollowedByCalm) {
  const base::ProcessResult storm = Sim({"storm", "--seed", "5", "--rate", "600", "--for", "4s",
                                         "--only", "kill,cut,hangup,error,drop_reply"});
  EXPECT_EQ(storm.exit_code, 0) << storm.err;
  EXPECT_THAT(storm.out, HasSubstr("ms host projects/p/locations/us-central2-b/nodes/n1/"));
  EXPECT_THAT(storm.out, HasSubstr("all is calm again"));
  for (const std::size_t host : {0U, 1U}) {
    EXPECT_TRUE(Until([&] { return Ssh(host, "true").exit_code == 0; })) << storm.out;
  }
  EXPECT_EQ(base::GetString(Ask("GET", kNode), "state"), "READY");
}

TEST_P(OpenSsh, AScriptOfFaultsIsPlayed) {
  const std::string script = (dir_ / "script").string();
  const auto write = [&](const std::string& text) {
    return base::WriteFileAtomic(script, text, 0644).ok();  // readable for any user
  };
  ASSERT_TRUE(write("0s host n1/1 kill\n200ms host n1/1 boot\n300ms preempt nobody\n"));
  const base::ProcessResult played = Sim({"script", script});
  EXPECT_EQ(played.exit_code, 1);
  EXPECT_THAT(played.out, testing::StartsWith("0s host n1/1 kill\n200ms host n1/1 boot\n300ms "));
  EXPECT_THAT(played.out, HasSubstr("there is no node nobody"));
  ASSERT_TRUE(write("\n0s hots n1/1 kill\n"));
  EXPECT_THAT(Sim({"script", script}).err, HasSubstr("script:2: "));
}

INSTANTIATE_TEST_SUITE_P(Every, OpenSsh,
                         testing::Values(Mode::kBubblewrapAsRoot, Mode::kBubblewrapAsUser,
                                         Mode::kPlain),
                         [](const auto& kind) {
                           switch (kind.param) {
                             case Mode::kBubblewrapAsRoot:
                               return "BubblewrapAsRoot";
                             case Mode::kBubblewrapAsUser:
                               return "BubblewrapAsUser";
                             case Mode::kPlain:
                               return "Plain";
                           }
                           return "";
                         });

}  // namespace
}  // namespace jobman::test
