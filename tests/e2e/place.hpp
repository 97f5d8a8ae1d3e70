#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::test {

/// The result of a program.
struct Ran {
  int code = 0;
  std::string out = {};
  std::string err = {};
  std::string All() const { return out + err; }
};

/// The environment of one test: a home folder with store, controller and simulator. Ends everything
/// that it started.
class Place {
 public:
  /// `folder` is jobman's home, one in path() when empty.
  explicit Place(base::Path folder = {});
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// Runs `jobman ARGS` to its end.
  Ran Jobman(std::vector<std::string> args);
  /// Runs `jobman-sim ARGS` to its end, on this place's simulator.
  Ran Sim(std::vector<std::string> args);
  /// Starts the simulator with these arguments of `up`.
  void StartSim(std::vector<std::string> args);
  /// Starts `jobman ARGS` in the background; its output goes to the controller's log. The
  /// destructor kills it.
  pid_t Start(std::vector<std::string> args);
  /// Waits for its end; its exit code, or 128 and the signal.
  int EndOf(pid_t pid);
  /// Starts a controller in the foreground, and waits until it holds the lease.
  pid_t StartController(std::vector<std::string> args = {});
  /// Suspends a controller, as a closed laptop does, until its lease has expired. Not during a
  /// transaction, when nobody else could write. False, and a test failure, if that cannot be.
  bool PutToSleep(pid_t controller);
  /// Kills a controller started here, and waits for its end.
  void KillController();

  /// Writes a job file of `hosts` hosts that runs `cmd`; `more` is YAML on the top level.
  std::string JobFile(const std::string& name, int hosts, const std::string& cmd,
                      const std::string& more = {});
  /// `show --json` of a job.
  base::Json Show(const std::string& job);
  std::string StateOf(const std::string& job);
  /// --host-limit for lost hosts: long enough for a slow test machine.
  static constexpr const char* kHostLimit = "12";
  /// How long a test waits for what must happen, with room for slow machines.
  static constexpr int kPatience = 180;
  /// Waits until the condition holds; after a timeout, false and a test failure with the last
  /// output.
  bool Until(const std::string& what, const std::function<bool()>& is_so, int seconds = kPatience);
  bool Reaches(const std::string& job, const std::string& state, int seconds = kPatience);
  /// A host's log, as stored here.
  std::string Log(int job, int attempt, const std::string& stage, int host);

  /// The API of this place's simulator, without a slash at the end.
  std::string SimEndpoint() const;
  /// The file with the token that its API wants.
  base::Path SimTokenFile() const { return home() / "sim" / "token"; }

  base::Path home() const { return home_; }
  base::Path path() const { return dir_.path(); }

 private:
  TempDir dir_;
  base::Path home_;
  pid_t controller_ = 0;
  std::set<pid_t> started_ = {};
};

/// Runs a program to its end with these additional variables.
Ran RunProgram(std::vector<std::string> argv, const std::map<std::string, std::string>& env = {});

}  // namespace jobman::test
