#include "jobman/core/task_end.hpp"

#include <array>
#include <utility>
#include <vector>

#include "core/name_table.hpp"
#include "jobman/base/check.hpp"
#include "jobman/base/regex.hpp"

namespace jobman::core {
namespace {

constexpr std::array<std::pair<TaskEndKind, std::string_view>, 4> kEndNames = {{
    {TaskEndKind::kSucceeded, "succeeded"},
    {TaskEndKind::kFailed, "failed"},
    {TaskEndKind::kInterrupted, "interrupted"},
    {TaskEndKind::kStopped, "stopped"},
}};

constexpr std::array<TaskOutputRule, 8> kOutputRules = {{
    {"Main command completed successfully", TaskEndKind::kSucceeded},
    {"Multihost runner finished successfully", TaskEndKind::kSucceeded},
    {"Main command failed", TaskEndKind::kFailed},
    {"Main command finished with errors", TaskEndKind::kFailed},
    {"failed with error code", TaskEndKind::kFailed},
    {"TPU .* PREEMPTED", TaskEndKind::kInterrupted},
    {"going through a maintenance event", TaskEndKind::kInterrupted},
    {"TPU is being preempted", TaskEndKind::kInterrupted},
}};

const std::vector<base::Regex>& CompiledRules() {
  static const std::vector<base::Regex> kCompiled = [] {
    std::vector<base::Regex> compiled;
    for (const TaskOutputRule& rule : kOutputRules) {
      auto regex = base::Regex::Compile(std::string(rule.match));
      JM_CHECK(regex.ok(), "a rule of the table is a regular expression");
      compiled.push_back(*std::move(regex));
    }
    return compiled;
  }();
  return kCompiled;
}

/// Of a process that was told to end (128 + SIGTERM), and of ssh when its connection broke.
bool IsInterruption(int exit_code) {
  return exit_code == 143 || exit_code == 255;
}

}  // namespace

std::string_view TaskEndName(TaskEndKind kind) {
  return NameIn(kEndNames, kind);
}

std::optional<TaskEndKind> TaskEndFromName(std::string_view name) {
  return ValueIn<TaskEndKind>(kEndNames, name);
}

std::span<const TaskOutputRule> TaskOutputRules() {
  return kOutputRules;
}

std::optional<std::size_t> RuleForLine(std::string_view line) {
  const auto& rules = CompiledRules();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].Matches(line)) return i;
  }
  return std::nullopt;
}

TaskEnd JudgeTaskRun(const TaskRunFacts& facts) {
  const TaskOutputRule* const rule = facts.rule ? &kOutputRules.at(*facts.rule) : nullptr;
  const std::string printed =
      rule == nullptr ? "" : "it printed \"" + std::string(rule->match) + "\"";
  if (rule != nullptr && rule->means == TaskEndKind::kSucceeded) {
    return {.kind = rule->means, .why = printed};
  }
  if (facts.lost) {
    return {.kind = TaskEndKind::kInterrupted, .slice_lost = true, .why = *facts.lost};
  }
  if (rule != nullptr) return {.kind = rule->means, .why = printed};
  if (facts.exit_code == 0) return {.kind = TaskEndKind::kSucceeded, .why = "exit code 0"};
  return {
      .kind = IsInterruption(facts.exit_code) ? TaskEndKind::kInterrupted : TaskEndKind::kFailed,
      .why = "exit code " + std::to_string(facts.exit_code) + " on host " +
             std::to_string(facts.host)};
}

}  // namespace jobman::core
