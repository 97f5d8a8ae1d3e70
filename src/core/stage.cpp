#include "jobman/core/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "core/json_fields.hpp"
#include "core/overloaded.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// The cause with the higher rank decides what follows.
int Rank(const StopCause& cause) {
  return std::visit(Overloaded{
                        [](const HostFailed&) { return 0; },
                        [](const NoticeGraceOver&) { return 1; },
                        [](const StepTimedOut&) { return 2; },
                        // Whatever ended there, nothing runs on the new machines.
                        [](const MachinesReplaced&) { return 3; },
                        // The user asked for this rule by name, so it beats the causes above.
                        [](const Alarm&) { return 4; },
                        [](const NodeLost&) { return 5; },
                        [](const StoppedByUser&) { return 6; },
                    },
                    cause);
}

constexpr std::string_view kSetup = "setup-";

/// The name of a setup stage, parsed.
struct SetupName {
  std::optional<std::int64_t> number = {};
  std::string_view step = {};
};
std::optional<SetupName> ParseSetupName(std::string_view name) {
  if (!name.starts_with(kSetup)) return std::nullopt;
  name.remove_prefix(kSetup.size());
  const std::size_t end = std::min(name.find('-'), name.size());
  return SetupName{.number = base::ParseNumber(name.substr(0, end)),
                   .step = name.substr(std::min(end + 1, name.size()))};
}

/// The number of the setup step of that name; the command and tasks come after them all.
std::int64_t PlaceInOrder(const std::string& name) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  const auto setup = ParseSetupName(name);
  return setup ? setup->number.value_or(kLast - 1) : kLast;
}

/// Built-in steps run on all hosts, and a host without one would fail the command.
const SetupStep& StepFor(BuiltIn built_in) {
  static const std::map<BuiltIn, SetupStep> kSteps = [] {
    std::map<BuiltIn, SetupStep> steps;
    for (const BuiltIn one :
         {BuiltIn::kCode, BuiltIn::kIdentities, BuiltIn::kPeers, BuiltIn::kGcsfuse, BuiltIn::kNfs,
          BuiltIn::kDocker, BuiltIn::kConda, BuiltIn::kVenv, BuiltIn::kChecks}) {
      steps[one] = {.name = std::string(BuiltInName(one))};
    }
    return steps;
  }();
  return kSteps.at(built_in);
}

bool EndsJob(const StopCause& cause) {
  const auto* const alarm = std::get_if<Alarm>(&cause);
  return alarm != nullptr && alarm->action == WatchdogAction::kFail;
}

}  // namespace

bool Outranks(const StopCause& later, const StopCause& earlier) {
  // A job that must end gets no other try because its slice is lost too.
  if (EndsJob(earlier)) return std::holds_alternative<StoppedByUser>(later);
  return Rank(later) > Rank(earlier);
}

bool IsCommand(const StageId& id) {
  return std::holds_alternative<CommandStage>(id);
}

bool IsTask(const StageId& id) {
  return std::holds_alternative<TaskStage>(id);
}

bool IsSetup(const StageId& id) {
  return std::holds_alternative<SetupStage>(id);
}

std::string WhatRuns(const StageId& id) {
  return IsTask(id) ? "the task" : "the command";
}

const SetupStep* StepOf(const JobSpec& spec, const StageId& id) {
  const auto* const setup = std::get_if<SetupStage>(&id);
  if (setup == nullptr) return nullptr;
  if (const auto built_in = BuiltInOf(spec, id)) return &StepFor(*built_in);
  return &spec.setup.at(static_cast<std::size_t>(setup->index) - BuiltInsOf(spec).size());
}

std::optional<BuiltIn> BuiltInOf(const JobSpec& spec, const StageId& id) {
  const auto* const setup = std::get_if<SetupStage>(&id);
  if (setup == nullptr) return std::nullopt;
  const std::vector<BuiltIn> first = BuiltInsOf(spec);
  const std::vector<BuiltIn> last = LastBuiltInsOf(spec);
  const auto index = static_cast<std::size_t>(setup->index);
  if (index < first.size()) return first[index];
  const std::size_t before = first.size() + spec.setup.size();
  return index < before ? std::nullopt : std::optional(last.at(index - before));
}

int CountSteps(const JobSpec& spec) {
  return static_cast<int>(BuiltInsOf(spec).size() + spec.setup.size() +
                          LastBuiltInsOf(spec).size());
}

std::vector<std::string> StepNames(const JobSpec& spec) {
  std::vector<std::string> names;
  for (int i = 0; i < CountSteps(spec); ++i) names.push_back(StepOf(spec, SetupStage{i})->name);
  return names;
}

std::string StageWord(const StageId& id) {
  return std::visit(
      Overloaded{
          [](const SetupStage& setup) { return fmt::format("{}{}", kSetup, setup.index); },
          [](const CommandStage&) -> std::string { return "run"; },
          [](const TaskStage& task) { return fmt::format("task-{}-{}", task.task, task.run); },
      },
      id);
}

std::string StageName(const JobSpec& spec, const StageId& id) {
  const SetupStep* const step = StepOf(spec, id);
  return step == nullptr ? StageWord(id) : StageWord(id) + "-" + step->name;
}

bool RunsBefore(const std::string& a, const std::string& b) {
  return std::make_tuple(PlaceInOrder(a), a) < std::make_tuple(PlaceInOrder(b), b);
}

bool IsStageCalled(std::string_view name, std::string_view word) {
  const auto setup = ParseSetupName(name);
  return name == word || (setup && !setup->step.empty() && setup->step == word);
}

bool IsUnreachable(const base::Error& error) {
  return error.reason == base::Reason::kHostRefused || error.reason == base::Reason::kHostTimeout ||
         error.reason == base::Reason::kConnectionBroke ||
         error.reason == base::Reason::kHostHangs || error.reason == base::Reason::kAgentSilent ||
         error.reason == base::Reason::kUnreachable;
}

bool Ended(const HostRun& run) {
  return run.phase == HostPhase::kExited || run.phase == HostPhase::kLost;
}

bool Failed(const HostRun& run) {
  return run.phase == HostPhase::kLost || (run.phase == HostPhase::kExited && run.exit_code != 0);
}

bool DidNotAnswer(const HostRun& run) {
  return Ended(run) && run.error && IsUnreachable(*run.error);
}

std::string HostNames(const std::vector<int>& sorted_numbers) {
  constexpr std::size_t kMostNumbers = 60;  // characters
  return (sorted_numbers.size() == 1 ? "host " : "hosts ") +
         base::ShortRanges(sorted_numbers, kMostNumbers);
}

bool Stage::Over() const {
  return std::all_of(hosts.begin(), hosts.end(),
                     [this](const HostRun& run) { return Ended(run) && (run.settled || !stop); });
}

bool Stage::AnyRuns() const {
  return !std::all_of(hosts.begin(), hosts.end(), Ended);
}

bool Stage::AllSucceeded() const {
  return AnyRuns() ? false : std::none_of(hosts.begin(), hosts.end(), Failed);
}

const Alarm* Stage::alarm() const {
  return stop ? std::get_if<Alarm>(&*stop) : nullptr;
}

std::string ExitText(int host, const std::string& stage, int exit_code) {
  return fmt::format("{} ended with exit code {} on host {}", stage, exit_code, host);
}

const HostRun* Culprit(const Stage& stage) {
  std::optional<int> first;
  if (stage.stop) {
    if (const auto* const failed = std::get_if<HostFailed>(&*stage.stop)) first = failed->host;
  }
  if (stage.told && stage.told->first_failed) first = stage.told->first_failed;
  const auto culprit =
      std::find_if(stage.hosts.begin(), stage.hosts.end(),
                   [&](const HostRun& run) { return first ? run.host == *first : Failed(run); });
  return culprit == stage.hosts.end() ? nullptr : &*culprit;
}

bool IsDeadHost(const Stage& stage, const HostRun& host) {
  if (!DidNotAnswer(host)) return false;
  return host.error->reason == base::Reason::kHostHangs ||
         std::any_of(stage.hosts.begin(), stage.hosts.end(), [](const HostRun& run) {
           return run.phase == HostPhase::kExited && !DidNotAnswer(run);
         });
}

std::string_view HostPhaseName(HostPhase phase) {
  switch (phase) {
    case HostPhase::kPending:
      return "pending";
    case HostPhase::kRunning:
      return "running";
    case HostPhase::kExited:
      return "exited";
    case HostPhase::kLost:
      return "lost";
  }
  JM_CHECK(false, "a HostPhase out of range");
  return {};
}

std::optional<HostPhase> HostPhaseFromName(std::string_view name) {
  return FindName(
      &HostPhaseName,
      std::array{HostPhase::kPending, HostPhase::kRunning, HostPhase::kExited, HostPhase::kLost},
      name);
}

}  // namespace jobman::core
