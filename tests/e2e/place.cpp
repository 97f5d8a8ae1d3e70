#include "tests/e2e/place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "jobman/base/env.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"

extern char** environ;

namespace jobman::test {
namespace {

const std::string kBin = JOBMAN_BIN_DIR;

using TestClock = std::chrono::steady_clock;

/// Growing waits, and four times as long as the look took: conditions that start a program would
/// keep a processor busy otherwise, and hold up what is waited for.
void Nap(int looks, TestClock::duration look) {
  constexpr std::chrono::microseconds kMost = std::chrono::seconds{2};
  const std::chrono::microseconds grown{20'000 * std::min(looks, 10)};
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(4 * look);
  usleep(static_cast<useconds_t>(std::min(kMost, std::max(grown, rest)).count()));
}

/// When the store was last written to: what it says changes with it, and a look at that starts no
/// program.
std::string LastChange(const base::Path& home) {
  std::string times;
  for (const char* name : {"jobman.db", "jobman.db-wal"}) {
    struct stat file = {};
    if (stat((home / "store" / name).c_str(), &file) != 0) continue;
    times += fmt::format("{}.{:09} ", file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  }
  return times;
}

/// Accelerator types by their number of hosts.
std::string TypeOf(int hosts) {
  return "v4-" + std::to_string(hosts * 8);
}

/// By proc(5): whether its state is T.
bool IsStopped(pid_t pid) {
  const auto stat = base::ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return stat.ok() && base::Contains(*stat, ") T ");
}

/// Whether it holds a lock, as SQLite does while it writes.
bool HoldsAWriteLock(pid_t pid) {
  const auto locks = base::ReadFile("/proc/locks");
  return locks.ok() && base::Contains(*locks, " WRITE " + std::to_string(pid) + " ");
}

}  // namespace

namespace {

/// A command ends before a leak matters, and to look for one takes a quarter of its time; a signal
/// that comes meanwhile, as the second one of `timeout`, may hold it for ever. Leaks of commands
/// are looked for by unit_cli, of servers by Start() and StartSim(). That what a command frees is
/// soon used again, and that a report names only the last caller of malloc, saves a third more.
const std::string kSanitizer = "ASAN_OPTIONS";
const std::string kShort = "detect_leaks=0:malloc_context_size=1:quarantine_size_mb=1";

}  // namespace

Ran RunProgram(std::vector<std::string> argv, const std::map<std::string, std::string>& env) {
  std::vector<std::string> words = {"env", kSanitizer + "=" + kShort};
  for (const auto& [name, value] : env) words.push_back(name + "=" + value);
  words.insert(words.end(), argv.begin(), argv.end());
  asio::io_context loop;
  const auto ended = base::RunTask(loop, base::RunProcess(words));
  if (!ended.ok()) return {.code = -1, .err = ended.error().ToString()};
  return {.code = ended->exit_code, .out = ended->out, .err = ended->err};
}

Place::Place(base::Path folder) : home_(folder.empty() ? dir_ / "home" : std::move(folder)) {
  EXPECT_TRUE(base::EnsureDir(home()).ok());
  // The caller's own configuration is neither read nor changed.
  setenv("HOME", (dir_ / "user").c_str(), 1);
  unsetenv("XDG_CONFIG_HOME");
  unsetenv("XDG_STATE_HOME");
}

Place::~Place() {
  while (!started_.empty()) {
    const pid_t pid = *started_.begin();
    kill(pid, SIGKILL);
    EndOf(pid);
  }
  const Ran stopped = Jobman({"controller", "stop"});
  EXPECT_EQ(stopped.code, 0) << stopped.All();
  if (base::FileSize(home() / "sim" / "sim.json")) Sim({"down"});
  if (::testing::Test::HasFailure()) {
    const auto log = base::ReadFile(home() / "controller.log");
    if (log.ok()) std::fprintf(stderr, "controller.log:\n%s\n", log->c_str());
  }
}

Ran Place::Jobman(std::vector<std::string> args) {
  args.insert(args.begin(), {kBin + "/jobman", "--home", home().string()});
  return RunProgram(args);
}

Ran Place::Sim(std::vector<std::string> args) {
  args.insert(args.begin(), {kBin + "/jobman-sim", "--dir", (home() / "sim").string()});
  const bool serves = args.size() > 3 && args[3] == "up";
  if (!serves) return RunProgram(args);
  return RunProgram(args, {{kSanitizer, base::GetEnv(kSanitizer).value_or("")}});
}

void Place::StartSim(std::vector<std::string> args) {
  args.insert(args.begin(), {"up", "--detach"});
  const Ran up = Sim(args);
  ASSERT_EQ(up.code, 0) << up.All();
}

pid_t Place::Start(std::vector<std::string> args) {
  args.insert(args.begin(), {kBin + "/jobman", "--home", home().string()});
  std::vector<char*> argv;
  for (std::string& word : args) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string log = (home() / "controller.log").string();
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t pid = 0;
  EXPECT_EQ(posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&files);
  started_.insert(pid);
  return pid;
}

int Place::EndOf(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1;
  started_.erase(pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t Place::StartController(std::vector<std::string> args) {
  args.insert(args.begin(), {"controller", "run"});
  controller_ = Start(args);
  EXPECT_TRUE(Until("the controller to hold the lease", [this] {
    return Jobman({"controller", "status"}).code == 0;
  }));
  return controller_;
}

bool Place::PutToSleep(pid_t controller) {
  for (bool writes = true; writes;) {
    kill(controller, SIGSTOP);
    if (!Until("the controller to stop", [&] { return IsStopped(controller); })) return false;
    writes = HoldsAWriteLock(controller);
    if (writes) kill(controller, SIGCONT);
  }
  return Until("the sleeper's lease to be over", [this] {
    return Jobman({"controller", "status"}).code != 0;
  });
}

void Place::KillController() {
  if (controller_ == 0) return;
  kill(controller_, SIGKILL);
  EndOf(controller_);
  controller_ = 0;
}

std::string Place::SimEndpoint() const {
  const auto text = base::ReadFile(home() / "sim" / "sim.json");
  if (!text.ok()) return {};
  const auto json = base::ParseJson(*text);
  return json.ok() ? base::GetString(*json, "endpoint") : std::string{};
}

std::string Place::JobFile(const std::string& name, int hosts, const std::string& cmd,
                           const std::string& more) {
  std::string text =
      "job: {name: " + name + "}\ncloud: local\ntpu:\n  accelerator: " + TypeOf(hosts) +
      "\n  zone: us-central2-b\n  pricing: spot\ncommand:\n" + "  grace: 5s\n  cmd: |\n";
  for (std::size_t at = 0; at <= cmd.size();) {
    const std::size_t end = std::min(cmd.find('\n', at), cmd.size());
    text += "    " + cmd.substr(at, end - at) + "\n";
    at = end + 1;
  }
  const base::Path file = path() / (name + ".yaml");
  EXPECT_TRUE(base::WriteFileAtomic(file, text + more).ok());
  return file.string();
}

base::Json Place::Show(const std::string& job) {
  const Ran shown = Jobman({"--json", "show", job});
  const auto json = base::ParseJson(shown.out);
  if (!json.ok()) return base::Json::object();
  const base::Json& jobs = base::GetMember(*json, "jobs");
  return jobs.is_array() && !jobs.empty() ? jobs[0] : *json;
}

std::string Place::StateOf(const std::string& job) {
  return base::GetString(Show(job), "state");
}

bool Place::Until(const std::string& what, const std::function<bool()>& is_so, int seconds) {
  const auto end = TestClock::now() + std::chrono::seconds{seconds};
  for (int looks = 1; TestClock::now() < end; ++looks) {
    const auto began = TestClock::now();
    if (is_so()) return true;
    Nap(looks, TestClock::now() - began);
  }
  ADD_FAILURE() << "waited " << seconds << " s for " << what;
  return false;
}

bool Place::Reaches(const std::string& job, const std::string& state, int seconds) {
  constexpr auto kLookAgain = std::chrono::seconds{5};
  std::string seen;  // of the store, before the last look
  TestClock::time_point looked;
  const auto is_so = [&] {
    const std::string now = LastChange(home());
    const bool same = !now.empty() && now == seen;
    if (same && TestClock::now() - looked < kLookAgain) return false;
    seen = now;
    looked = TestClock::now();
    return StateOf(job) == state;
  };
  const bool reached = Until(job + " to be " + state, is_so, seconds);
  if (!reached) ADD_FAILURE() << Jobman({"why", job}).All() << Jobman({"history", job}).All();
  return reached;
}

std::string Place::Log(int job, int attempt, const std::string& stage, int host) {
  char name[64];
  std::snprintf(name, sizeof name, "jobs/%06d/attempt-%d/", job, attempt);
  char file[32];
  std::snprintf(file, sizeof file, "host-%04d.log", host);
  const auto text = base::ReadFile(home() / name / stage / file);
  return text.ok() ? *text : "(no log)";
}

}  // namespace jobman::test
