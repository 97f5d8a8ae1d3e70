#include "jobman/core/task_end.hpp"

#include <array>
#include <utility>

#include "core/name_table.hpp"

namespace jobman::core {
namespace {

constexpr std::array<std::pair<TaskEndKind, std::string_view>, 4> kEndNames = {{
    {TaskEndKind::kSucceeded, "succeeded"},
    {TaskEndKind::kFailed, "failed"},
    {TaskEndKind::kInterrupted, "interrupted"},
    {TaskEndKind::kStopped, "stopped"},
}};

constexpr std::array<TaskOutputRule, 8> kOutputRules = {{
    {.match = "Main command completed successfully", .means = TaskEndKind::kSucceeded},
    {.match = "Multihost runner finished successfully", .means = TaskEndKind::kSucceeded},
    {.match = "Main command failed", .means = TaskEndKind::kFailed},
    {.match = "Main command finished with errors", .means = TaskEndKind::kFailed},
    {.match = "failed with error code", .means = TaskEndKind::kFailed},
    {.match = "TPU ", .then = " PREEMPTED", .means = TaskEndKind::kInterrupted},
    {.match = "going through a maintenance event", .means = TaskEndKind::kInterrupted},
    {.match = "TPU is being preempted", .means = TaskEndKind::kInterrupted},
}};

bool Matches(const TaskOutputRule& rule, std::string_view line) {
  const std::size_t at = line.find(rule.match);
  return at != std::string_view::npos &&
         line.find(rule.then, at + rule.match.size()) != std::string_view::npos;
}

std::string Shown(const TaskOutputRule& rule) {
  return std::string(rule.match) + (rule.then.empty() ? "" : "..." + std::string(rule.then));
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
  for (std::size_t i = 0; i < kOutputRules.size(); ++i) {
    if (Matches(kOutputRules.at(i), line)) return i;
  }
  return std::nullopt;
}

std::string CommitInLine(std::string_view line) {
  constexpr std::string_view kBegin = "jobman: ";
  constexpr std::string_view kBefore = ", commit ";
  const std::size_t at = line.rfind(kBefore);
  if (!line.starts_with(kBegin) || at == std::string_view::npos) return {};
  const std::string_view commit = line.substr(at + kBefore.size());
  const bool is_hash = commit.size() == 40 || commit.size() == 64;  // SHA-1, SHA-256
  const bool is_hex = commit.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_hash && is_hex ? std::string(commit) : std::string();
}

TaskEnd JudgeTaskRun(const TaskRunFacts& facts) {
  const TaskOutputRule* const rule = facts.rule ? &kOutputRules.at(*facts.rule) : nullptr;
  const std::string printed = rule == nullptr ? "" : "it printed \"" + Shown(*rule) + "\"";
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
