#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobman/core/task_board.hpp"
#include "tests/property/python_queue.hpp"
#include "tests/property/random.hpp"

namespace jobman::test {

/// A random queue file, what happened to its tasks, and a worker that asks for one.
class QueueCase {
 public:
  explicit QueueCase(int seed);

  /// What jobman takes, by its own reader and its own rules; nothing if there is no task.
  std::optional<std::string> Ours() const;
  /// What Python jobman takes, or would with these differences.
  std::optional<std::string> Python(const Differences& adopted) const;

  /// The file as text. `edited`: as it is when the worker asks.
  std::string Yaml(bool edited) const;
  /// The tasks and what happened to them, in one cell of the table.
  std::string TasksText() const;
  std::string WorkerText() const;
  const std::string& broken() const { return broken_; }

 private:
  enum class Act { kBegin, kEnd, kPrioritize, kPause };
  struct Event {
    Act act = Act::kBegin;
    std::string task = {};
    int job = 0;
    CaseEnd end = CaseEnd::kSucceeds;
    base::TimePoint at = {};
  };
  struct Running {
    std::string task = {};
    core::TaskClaim claim = {};
  };

  void MakeFile();
  CaseTask MakeCaseTask(int number);
  CaseWorker MakeCaseWorker(int job);
  /// The records of jobman after the file, as it is now, was read.
  void ReadFile(bool edited);
  void Happen(PythonQueue& python);
  void Begin(PythonQueue& python);
  void EndOne(PythonQueue& python);
  void MarkTasks();
  CaseEnd AnyCaseEnd();
  std::string HistoryOf(const CaseTask& task) const;

  int theme_ = 0;  ///< which difference is looked for; by most of them none
  Random random_;
  CaseFile file_ = {};
  CaseWorker asks_ = {};
  core::TaskBoard board_;
  std::vector<Event> events_ = {};
  std::vector<Running> running_ = {};
  base::TimePoint now_;
  std::string broken_ = {};
};

}  // namespace jobman::test
