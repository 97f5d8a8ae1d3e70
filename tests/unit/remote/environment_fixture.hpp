#pragma once

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "jobman/base/strings.hpp"
#include "jobman/remote/setup_script.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {

/// A server on the loopback interface, until the object goes. `program` is Python that ends with
/// `serve(HANDLER)`.
class LoopbackServer {
 public:
  explicit LoopbackServer(const std::string& program) {
    const std::string prelude =
        "import http.server, os\n"
        "def serve(handler):\n"
        "    server = http.server.ThreadingHTTPServer((\"127.0.0.1\", 0), handler)\n"
        "    print(os.getpid(), server.server_port, flush=True)\n"
        "    server.serve_forever()\n";
    pipe_ =
        popen(("exec /usr/bin/python3 -I -c '" + prelude + program + "' 2>/dev/null").c_str(), "r");
    if (pipe_ == nullptr || fscanf(pipe_, "%d %d", &pid_, &port_) != 2) {
      ADD_FAILURE() << "the server did not start";
    }
  }
  ~LoopbackServer() {
    if (pid_ > 0) kill(pid_, SIGTERM);
    if (pipe_ != nullptr) pclose(pipe_);
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  FILE* pipe_ = nullptr;
  pid_t pid_ = -1;
  int port_ = 0;
};

/// Steps that make environments for Python, and commands in them. Nothing is fetched from outside:
/// pip has no index but the one that a test names.
class EnvironmentTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    if (IsSkipped()) return;
    if (Python().empty()) GTEST_SKIP() << "/usr/bin/python3 cannot make environments here";
    host.env["PIP_CONFIG_FILE"] = "/dev/null";
    host.env["PIP_NO_INDEX"] = "1";
    host.env["PIP_RETRIES"] = "0";
    host.env["JOBMAN_NET_TRIES"] = "2";
    host.env["JOBMAN_NET_PAUSE_S"] = "0";
    host.env["JOBMAN_LOCK_PAUSE_S"] = "1";
    host.env["JOBMAN_APT_WAIT_S"] = "50";
  }
  /// "python3.11", whatever this machine has; empty if it has none with the module venv.
  static const std::string& Python() {
    static const std::string version = [] {
      FILE* const pipe = popen(
          "/usr/bin/python3 -I -c 'import ensurepip, venv, sys\n"
          "print(\"python%d.%d\" % sys.version_info[:2])' 2>/dev/null",
          "r");
      std::array<char, 64> line = {};
      const bool read = pipe != nullptr && fgets(line.data(), line.size(), pipe) != nullptr;
      if (pipe != nullptr) pclose(pipe);
      return read ? std::string(base::Trim(line.data())) : std::string();
    }();
    return version;
  }
  static void Sh(const std::string& command) { EXPECT_EQ(std::system(command.c_str()), 0); }

  /// Runs the step in the shell of this test.
  RunOrder StepOrder() {
    return {.run_id = "s" + std::to_string(++runs_),
            .script = Interpreter() + SetupScript(spec, core::SetupStage{}),
            .env = env};
  }
  Ended Step() { return host.Run(StepOrder()); }
  /// Runs the command in its environment: as jobman does, in a login shell, or for `own_shell` in
  /// the shell of this test.
  RunOrder CommandOrder(const std::string& cmd, bool own_shell = true) {
    spec.command.cmd = cmd;
    return {.run_id = "c" + std::to_string(++runs_),
            .script = (own_shell ? Interpreter() : "") + CommandScript(spec),
            .env = {{"JOBMAN_JOB_ID", "000042"}}};
  }
  Ended Command(const std::string& cmd, bool own_shell = true) {
    return host.Run(CommandOrder(cmd, own_shell));
  }
  /// A folder of every program of this machine but Python, and what finds or installs one. It is
  /// the PATH of the steps from now on.
  base::Path HidePython() {
    base::Path tools = host.home() / "tools";
    std::filesystem::create_directories(tools);
    for (const auto& program : std::filesystem::directory_iterator("/usr/bin")) {
      const std::string name = program.path().filename();
      if (name.starts_with("python") || name.starts_with("apt") || name == "sudo" || name == "uv")
        continue;
      std::filesystem::create_symlink(program.path(), tools / name);
    }
    env["PATH"] = tools;
    return tools;
  }
  static void WriteProgram(const base::Path& file, const std::string& text) {
    std::filesystem::remove(file);
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  std::string InHome(const std::string& name) { return (host.home() / name).string(); }
  /// What a step may have left behind: requirements, locks.
  std::vector<std::string> Leftovers() {
    std::vector<std::string> left;
    std::error_code none;
    for (const base::Path& folder : {host.home(), host.home() / ".jobman/locks"}) {
      for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename();
        if (name.starts_with(".jobman-") || folder != host.home()) left.push_back(name);
      }
    }
    return left;
  }

  core::JobSpec spec = {};
  std::map<std::string, std::string> env = {};  ///< of steps

 private:
  std::string Interpreter() const {
    return "#!" + GetParam() + (GetParam() == "/bin/busybox" ? " sh\n" : "\n");
  }
  int runs_ = 0;
};

inline std::string LastLine(const std::string& text) {
  return base::Split(base::Trim(text), '\n').back();
}
/// That a run ended so, with this in its last line.
inline testing::Matcher<const Ended&> EndedSaying(int code, const std::string& words) {
  using testing::HasSubstr;
  return testing::AllOf(
      testing::Field(&Ended::err, HasSubstr("jobman: exited " + std::to_string(code) + "\n")),
      testing::Field(&Ended::out, testing::ResultOf(&LastLine, HasSubstr(words))));
}

}  // namespace jobman::remote
