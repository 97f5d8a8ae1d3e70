#include "cli/views/host_matrix.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace jobman::cli::views {
namespace {

ui::Cell ExitCell(int exit_code) {
  return {std::to_string(exit_code), exit_code == 0 ? ui::Tone::kGood : ui::Tone::kBad};
}

ui::Cell RunCell(const core::HostRun& run) {
  switch (run.phase) {
    case core::HostPhase::kPending:
      return {run.error ? "connecting" : "pending", ui::Tone::kBusy};
    case core::HostPhase::kRunning:
      return {"running", ui::Tone::kBusy};
    case core::HostPhase::kExited:
      return ExitCell(run.exit_code);
    case core::HostPhase::kLost:
      return {"lost", ui::Tone::kBad};
  }
  return {""};
}

/// Of a worker, which runs hundreds of tasks, only the one in hand or the last one is shown: the
/// others are in `task show`.
bool IsPastTask(const core::Job& job, const std::vector<ports::ExitRecord>& exits,
                const std::string& stage) {
  constexpr std::string_view kTask = "task-";
  if (!job.spec.queue || !stage.starts_with(kTask)) return false;
  if (job.stage && job.stage->task) return stage != job.stage->name;
  const ports::ExitRecord* last = nullptr;
  for (const ports::ExitRecord& exit : exits) {
    const bool of_task = exit.attempt == job.attempt && exit.stage.starts_with(kTask);
    if (of_task && (last == nullptr || exit.at >= last->at)) last = &exit;
  }
  return last != nullptr && stage != last->stage;
}

using Cells = std::map<std::pair<int, std::string>, ui::Cell>;

Cells Collect(const core::Job& job, const std::vector<ports::ExitRecord>& exits) {
  Cells cells;
  for (const ports::ExitRecord& exit : exits) {
    if (exit.attempt != job.attempt) continue;
    const ui::Cell cell =
        exit.error.empty() ? ExitCell(exit.exit_code) : ui::Cell("lost", ui::Tone::kBad);
    cells.insert_or_assign({exit.host, exit.stage}, cell);
  }
  // The current stage is newer than what is recorded: a stage may run again.
  if (job.stage)
    for (const core::HostRun& run : job.stage->hosts)
      cells.insert_or_assign({run.host, job.stage->name}, RunCell(run));
  return cells;
}

}  // namespace

HostMatrix MakeHostMatrix(const core::Job& job, const std::vector<ports::ExitRecord>& exits) {
  const Cells cells = Collect(job, exits);
  std::set<int> hosts;
  std::set<std::string> stages;
  for (const auto& [key, cell] : cells) {
    hosts.insert(key.first);
    if (!IsPastTask(job, exits, key.second)) stages.insert(key.second);
  }
  const std::vector<core::HostAddress> none;
  const auto& addresses = job.slice ? job.slice->hosts : none;
  for (std::size_t i = 0; i < addresses.size(); ++i) hosts.insert(static_cast<int>(i));

  HostMatrix matrix{.stages = {stages.begin(), stages.end()}};
  std::sort(matrix.stages.begin(), matrix.stages.end(), core::RunsBefore);
  for (const int number : hosts) {
    HostMatrix::Host host{.number = number};
    if (static_cast<std::size_t>(number) < addresses.size())
      host.address = addresses[static_cast<std::size_t>(number)];
    for (const std::string& stage : matrix.stages) {
      const auto cell = cells.find({number, stage});
      host.stages.push_back(cell == cells.end() ? ui::Cell("") : cell->second);
    }
    matrix.hosts.push_back(std::move(host));
  }
  return matrix;
}

}  // namespace jobman::cli::views
