#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/time.hpp"

namespace jobman::test {

// Which task a worker of Python jobman (version 3) takes next: its documented rules, written down
// once more without any code of core or config, for comparison.

/// What a level of a queue file says, or a task: nothing where it says nothing.
struct CaseLevel {
  std::optional<std::string> zone = {};
  std::optional<int> max_jobs = {};
  std::optional<int> max_retries = {};
};
struct CaseTask {
  std::string id = {};
  std::string accelerator = {};
  CaseLevel own = {};
  std::vector<std::string> needs = {};
  bool removed = false;  ///< the file does not have it any more when the worker asks
};
struct CaseFile {
  CaseLevel defaults = {};
  std::map<std::string, CaseLevel> accelerators = {};
  std::vector<CaseTask> tasks = {};  ///< in the order of the file, grouped by accelerator
};

/// Who asks for a task.
struct CaseWorker {
  int job = 0;
  std::string accelerator = {};
  std::string zone = {};
};

/// How a run ends.
enum class CaseEnd {
  kSucceeds,
  kSaysSuccess,          ///< the output does; the exit code is 1
  kFails,                ///< with 3
  kIsTerminated,         ///< exit code 143, on a slice that is still there
  kIsPreempted,          ///< with its slice; the connection's exit code is 255
  kFailsAsItIsPreempted  ///< the same, and the output says failure
};

/// The rows of the table of differences in docs/adr/0023-task-queue.md.
enum class Difference {
  kDoneStays,
  kLossBeatsOutput,
  kZeroRetries,
  kParkedIsNotDone,
  kPauses,
  kMoreKeys,
};
using Differences = std::set<Difference>;
inline constexpr Difference kAllDifferences[] = {
    Difference::kDoneStays,       Difference::kLossBeatsOutput, Difference::kZeroRetries,
    Difference::kParkedIsNotDone, Difference::kPauses,          Difference::kMoreKeys,
};
/// The first cell of its row.
std::string DifferenceName(Difference difference);

/// A queue of Python jobman. With `adopted`, it does as jobman does in these respects.
class PythonQueue {
 public:
  explicit PythonQueue(CaseFile file, Differences adopted = {});

  bool MayTake(const CaseTask& task, const CaseWorker& worker, base::TimePoint now) const;
  /// The id of the task that the worker takes; nothing if there is none for it.
  std::optional<std::string> Next(const CaseWorker& worker, base::TimePoint now) const;
  void Begin(const std::string& id) { ++state_[id].running; }
  void End(const std::string& id, CaseEnd end, base::TimePoint now);
  void Prioritize(const std::string& id) { state_[id].prioritized = true; }
  void Pause(const std::string& id) { state_[id].paused = true; }
  /// Tasks that the case removes are not in the file any more.
  void Edit() { edited_ = true; }

 private:
  enum class Status { kNone, kDone, kFailed, kInterrupted };
  /// What it keeps of a task in its state file.
  struct State {
    bool done = false;    ///< not to be run again: it succeeded, or failed too often
    bool parked = false;  ///< it failed too often
    int running = 0;
    int failures = 0;
    bool prioritized = false;
    Status last = Status::kNone;
    // What only jobman keeps.
    bool paused = false;
    int streak = 0;
    base::TimePoint not_before = {};
  };

  bool Has(Difference difference) const { return adopted_.contains(difference); }
  const State& StateOf(const std::string& id) const;
  std::optional<std::string> ZoneOf(const CaseTask& task) const;
  int MostJobs(const CaseTask& task) const;
  int MostFailures(const CaseTask& task) const;
  bool IsSatisfied(const std::string& needed) const;
  Status Judge(CaseEnd end) const;
  void Fail(const std::string& id);
  void Interrupt(State& state, bool slice_lost, base::TimePoint now) const;

  CaseFile file_;
  Differences adopted_;
  std::map<std::string, State> state_ = {};
  bool edited_ = false;
};

}  // namespace jobman::test
