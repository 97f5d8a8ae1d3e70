#include "tests/property/queue_case.hpp"

#include <algorithm>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/config/queue_file.hpp"
#include "jobman/core/task_list.hpp"

namespace jobman::test {
namespace {

constexpr const char* kTypes[] = {"v4-8", "v4-32"};
constexpr const char* kZones[] = {"us-central2-b", "europe-west4-a"};
constexpr int kThemes = 10;  ///< those without a meaning below are of no kind
constexpr int kSecondRuns = 0;
constexpr int kPreemptions = 1;
constexpr int kNoRetries = 2;
constexpr int kParked = 3;
constexpr int kPauses = 4;
constexpr int kKeys = 5;
constexpr int kEvents = 26;
constexpr int kAskingJob = 99;

std::string LevelYaml(const CaseLevel& level, const std::string& before) {
  std::string text;
  if (level.zone) text += before + "zone: " + *level.zone;
  if (level.max_jobs) text += before + "max_jobs: " + std::to_string(*level.max_jobs);
  if (level.max_retries) text += before + "max_retries: " + std::to_string(*level.max_retries);
  return text;
}

/// The first rule of output with this meaning.
std::optional<std::size_t> OutputThatMeans(core::TaskEndKind kind) {
  const auto rules = core::TaskOutputRules();
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const auto& rule) { return rule.means == kind; });
  return static_cast<std::size_t>(found - rules.begin());
}

/// What jobman sees of such an end.
core::TaskRunFacts FactsOf(CaseEnd end) {
  switch (end) {
    case CaseEnd::kSucceeds:
      return {};
    case CaseEnd::kSaysSuccess:
      return {.exit_code = 1, .rule = OutputThatMeans(core::TaskEndKind::kSucceeded)};
    case CaseEnd::kFails:
      return {.exit_code = 3};
    case CaseEnd::kIsTerminated:
      return {.exit_code = 143};
    case CaseEnd::kIsPreempted:
      return {.exit_code = 255, .lost = "slice S was preempted"};
    case CaseEnd::kFailsAsItIsPreempted:
      return {.exit_code = 255,
              .lost = "slice S was preempted",
              .rule = OutputThatMeans(core::TaskEndKind::kFailed)};
  }
  return {};
}

char LetterOf(CaseEnd end) {
  return "SOFTPX"[static_cast<std::size_t>(end)];
}

core::TaskWorker CoreWorker(const CaseWorker& worker) {
  return {.job = core::JobId{worker.job},
          .attempt = 1,
          .accelerator = worker.accelerator,
          .zone = worker.zone};
}

}  // namespace

QueueCase::QueueCase(int seed)
    : theme_(seed % kThemes),
      random_(static_cast<std::uint64_t>(seed)),
      now_(base::FromMillis(1'767'225'600'000)) {
  MakeFile();
  ReadFile(false);
  PythonQueue python(file_);
  for (int i = 0; i < kEvents && broken_.empty(); ++i) Happen(python);
  MarkTasks();
  ReadFile(true);
  asks_ = MakeCaseWorker(kAskingJob);
}

void QueueCase::MakeFile() {
  file_.defaults.zone = random_.Percent(85) ? std::optional<std::string>(kZones[0]) : std::nullopt;
  if (random_.Percent(20)) file_.defaults.max_retries = random_.Below(3);
  for (const char* const type : kTypes) {
    CaseLevel& level = file_.accelerators[type];
    if (random_.Percent(theme_ == kKeys ? 70 : 3)) level.zone = kZones[1];
    if (random_.Percent(20)) level.max_jobs = 2;
    if (random_.Percent(10)) level.max_retries = 1 + random_.Below(3);
  }
  const int tasks = 3 + random_.Below(4);
  for (int i = 0; i < tasks; ++i) file_.tasks.push_back(MakeCaseTask(i));
  std::stable_sort(file_.tasks.begin(), file_.tasks.end(), [](const auto& one, const auto& other) {
    return (one.accelerator == kTypes[0]) > (other.accelerator == kTypes[0]);
  });
}

/// It may depend on earlier ones only; circles are refused by one tool and never end in the other.
CaseTask QueueCase::MakeCaseTask(int number) {
  CaseTask task{.id = "t" + std::to_string(number),
                .accelerator = kTypes[random_.Percent(20) ? 1 : 0]};
  if (random_.Percent(10)) task.own.zone = kZones[random_.Below(2)];
  if (random_.Percent(theme_ == kSecondRuns ? 70 : 15)) task.own.max_jobs = 2;
  const bool few = theme_ == kParked || theme_ == kNoRetries;
  if (random_.Percent(few ? 80 : 25)) task.own.max_retries = 1 + random_.Below(3);
  if (theme_ == kNoRetries && random_.Percent(70)) task.own.max_retries = 0;
  if (theme_ == kPreemptions) task.own.max_retries = 1;
  const bool needs = number > 0 && random_.Percent(40);
  if (needs) task.needs = {"t" + std::to_string(random_.Below(number))};
  if (needs && random_.Percent(5)) task.needs.emplace_back("nowhere");
  task.removed = random_.Percent(8);
  return task;
}

/// Most come for the kind of the first task.
CaseWorker QueueCase::MakeCaseWorker(int job) {
  const int other_type = random_.Percent(15) ? 1 : 0;
  const bool other_zone = random_.Percent(theme_ == kKeys ? 50 : 8);
  return {.job = job, .accelerator = kTypes[other_type], .zone = kZones[other_zone ? 1 : 0]};
}

void QueueCase::ReadFile(bool edited) {
  const auto read = config::ReadQueueFile(
      {.file = "/q/tasks.yaml",
       .text = Yaml(edited),
       .defaults = {.env = [](const std::string& /*name*/) -> std::optional<std::string> {
         return std::nullopt;
       }}});
  if (!read.list || !read.problems.empty()) {
    broken_ = "the file is refused";
    for (const auto& problem : read.problems) broken_ += "\n" + problem.message;
    return;
  }
  for (core::Task& task : core::SyncTasks(*read.list, board_, core::QueueId{1}, now_)) {
    board_.Put(std::move(task));
  }
}

void QueueCase::Happen(PythonQueue& python) {
  now_ += std::chrono::seconds{random_.Percent(20) ? 3600 : 1 + random_.Below(20)};
  if (random_.Percent(50)) {
    Begin(python);
  } else if (!running_.empty()) {
    EndOne(python);
  }
}

/// A worker begins a run that both tools allow; which one they would prefer is not asked here.
void QueueCase::Begin(PythonQueue& python) {
  const auto index = random_.Below(static_cast<int>(file_.tasks.size()));
  const CaseTask& task = file_.tasks[static_cast<std::size_t>(index)];
  CaseWorker worker = MakeCaseWorker(static_cast<int>(events_.size()) + 1);
  worker.accelerator = task.accelerator;
  const core::Task* const record = board_.Find(task.id);
  auto claimed = core::ClaimTask(*record, CoreWorker(worker), now_);
  const bool both =
      claimed && board_.MissingFor(*record) == nullptr && python.MayTake(task, worker, now_);
  if (!both) return;
  running_.push_back({.task = task.id, .claim = claimed->task.claims.back()});
  python.Begin(task.id);
  board_.Put(std::move(claimed->task));
  events_.push_back({.act = Act::kBegin, .task = task.id, .job = worker.job, .at = now_});
}

void QueueCase::EndOne(PythonQueue& python) {
  const auto index = random_.Below(static_cast<int>(running_.size()));
  const Running run = running_[static_cast<std::size_t>(index)];
  running_.erase(running_.begin() + index);
  const CaseEnd end = AnyCaseEnd();
  const core::TaskEnd judged = core::JudgeTaskRun(FactsOf(end));
  auto released = core::ReleaseTask(*board_.Find(run.task), run.claim, judged, now_);
  if (!released) {
    broken_ = "a run cannot end";
    return;
  }
  board_.Put(std::move(released->task));
  python.End(run.task, end, now_);
  events_.push_back({.act = Act::kEnd,
                     .task = run.task,
                     .job = static_cast<int>(run.claim.job.value),
                     .end = end,
                     .at = now_});
}

CaseEnd QueueCase::AnyCaseEnd() {
  const int dice = random_.Below(100);
  if (theme_ == kPreemptions && dice < 40) return CaseEnd::kFailsAsItIsPreempted;
  if (theme_ == kPauses && dice < 80) return CaseEnd::kIsTerminated;
  if (theme_ == kSecondRuns) return dice < 50 ? CaseEnd::kSucceeds : CaseEnd::kFails;
  const bool fails = theme_ == kNoRetries || theme_ == kParked;
  if (dice < (fails ? 75 : 25)) return CaseEnd::kFails;
  if (dice < 80) return random_.Percent(80) ? CaseEnd::kSucceeds : CaseEnd::kSaysSuccess;
  return dice < 90 ? CaseEnd::kIsTerminated : CaseEnd::kIsPreempted;
}

/// What users say last.
void QueueCase::MarkTasks() {
  for (const CaseTask& task : file_.tasks) {
    if (random_.Percent(10)) {
      board_.Put(core::PrioritizeTask(*board_.Find(task.id), true));
      events_.push_back({.act = Act::kPrioritize, .task = task.id, .at = now_});
    }
    if (random_.Percent(theme_ == kKeys ? 25 : 2)) {
      board_.Put(core::PauseTask(*board_.Find(task.id), true, now_));
      events_.push_back({.act = Act::kPause, .task = task.id, .at = now_});
    }
  }
}

std::optional<std::string> QueueCase::Ours() const {
  const core::Task* const next = board_.Next(CoreWorker(asks_), now_);
  return next == nullptr ? std::nullopt : std::optional(next->definition.id);
}

std::optional<std::string> QueueCase::Python(const Differences& adopted) const {
  PythonQueue python(file_, adopted);
  for (const Event& event : events_) {
    if (event.act == Act::kBegin) python.Begin(event.task);
    if (event.act == Act::kEnd) python.End(event.task, event.end, event.at);
    if (event.act == Act::kPrioritize) python.Prioritize(event.task);
    if (event.act == Act::kPause) python.Pause(event.task);
  }
  python.Edit();
  return python.Next(asks_, now_);
}

std::string QueueCase::Yaml(bool edited) const {
  std::string text = "defaults:\n  env: base" + LevelYaml(file_.defaults, "\n  ") + "\n";
  text += "accelerators:\n";
  for (const char* const type : kTypes) {
    text += "  " + std::string(type) + ":\n    branch: main" +
            LevelYaml(file_.accelerators.at(type), "\n    ") + "\n    tasks:\n";
    for (const CaseTask& task : file_.tasks) {
      if (task.accelerator != type || (edited && task.removed)) continue;
      text += "      - id: " + task.id + "\n        run: python " + task.id + ".py" +
              LevelYaml(task.own, "\n        ") + "\n";
      if (!task.needs.empty())
        text += "        depends_on: [" + base::Join(task.needs, ", ") + "]\n";
    }
  }
  return text;
}

std::string QueueCase::HistoryOf(const CaseTask& task) const {
  std::string history;
  std::string marks;
  for (const Event& event : events_) {
    if (event.task != task.id) continue;
    if (event.act == Act::kEnd) history += LetterOf(event.end);
    if (event.act == Act::kPrioritize) marks += " first";
    if (event.act == Act::kPause) marks += " paused";
  }
  for (const Running& run : running_) history += run.task == task.id ? "r" : "";
  return (history.empty() ? "" : " " + history) + marks + (task.removed ? " removed" : "");
}

std::string QueueCase::TasksText() const {
  std::vector<std::string> cells;
  for (const CaseTask& task : file_.tasks) {
    const core::TaskDefinition& says = board_.Find(task.id)->definition;
    std::string cell = "**" + task.id + "**";
    if (!task.needs.empty()) cell += " <" + base::Join(task.needs, ",");
    if (says.accelerator != asks_.accelerator) cell += " " + says.accelerator;
    if (says.zone != asks_.zone) cell += says.zone.empty() ? " no-zone" : " " + says.zone;
    if (says.max_jobs != 1) cell += " x" + std::to_string(says.max_jobs);
    if (says.max_retries != 3) cell += " retries=" + std::to_string(says.max_retries);
    cells.push_back(cell + HistoryOf(task));
  }
  return base::Join(cells, "; ");
}

std::string QueueCase::WorkerText() const {
  return asks_.accelerator + " " + asks_.zone;
}

}  // namespace jobman::test
