#include "jobman/core/describe.hpp"

#include <fmt/format.h>

#include "core/overloaded.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

std::string OfAttempt(const StageId& stage, int attempt) {
  return fmt::format("{} of attempt {}", StageWord(stage), attempt);
}

std::string ErrorText(const base::Error& error) {
  const std::string reason = error.reason == base::Reason::kNone
                                 ? std::string{}
                                 : fmt::format(" ({})", base::ReasonName(error.reason));
  return fmt::format(" {}{}: {}", base::CodeName(error.code), reason, error.message);
}

std::string NoticeText(const Notice& notice) {
  return fmt::format("{}{}", notice.imminent ? "imminent " : "", NoticeKindName(notice.kind));
}

std::string NodeText(const NodeSeen& node) {
  std::string text = node.raw_state;
  if (!node.health.empty() && node.health != "HEALTHY") text += " " + node.health;
  if (!node.hosts.empty()) {
    text += " on " + base::Plural(static_cast<std::int64_t>(node.hosts.size()), "host");
  }
  if (node.notice) text += ", " + NoticeText(*node.notice);
  return text;
}

std::string LookText(const SliceSeen& seen) {
  std::vector<std::string> parts;
  if (seen.foreign) parts.emplace_back("somebody else's");
  if (seen.queued) parts.push_back("queued resource " + seen.queued->raw_state);
  for (const NodeSeen& node : seen.nodes) parts.push_back("node " + NodeText(node));
  if (!seen.foreign && !seen.taken.empty())
    parts.push_back("taken: " + base::Join(seen.taken, ", "));
  if (parts.empty()) parts.emplace_back("not there");
  return fmt::format("{}{}: {}", seen.slice, seen.by_name ? " by name" : "",
                     base::Join(parts, "; "));
}

std::string RunText(const HostRun& run) {
  std::string text = fmt::format("host {} {}", run.host, HostPhaseName(run.phase));
  if (run.phase == HostPhase::kExited) text += fmt::format(" {}", run.exit_code);
  if (run.settled) text += ", settled";
  if (run.notice) text += ", " + NoticeText(*run.notice);
  if (run.error) text += ErrorText(*run.error);
  return text;
}

}  // namespace

std::string Describe(const Observation& seen) {
  return std::visit(
      Overloaded{
          [](const Tick&) -> std::string { return "Tick"; },
          [](const SliceSeen& look) { return "SliceSeen " + LookText(look); },
          [](const LookFailed& look) {
            return "LookFailed " + look.slice + ":" + ErrorText(look.error);
          },
          [](const CreateAnswered& answer) {
            return "CreateAnswered " + answer.slice + ":" +
                   (answer.error ? ErrorText(*answer.error) : " accepted");
          },
          [](const OperationFailed& failed) {
            return "OperationFailed " + failed.slice + ":" + ErrorText(failed.error);
          },
          [](const DeleteAnswered& answer) {
            return "DeleteAnswered " + answer.slice + ":" +
                   (answer.error  ? ErrorText(*answer.error)
                    : answer.gone ? " not found"
                                  : " accepted");
          },
          [](const HostReport& report) {
            return fmt::format("HostReport {}: {}", OfAttempt(report.stage, report.attempt),
                               RunText(report.run));
          },
          [](const Silence& silence) {
            return fmt::format("Silence of attempt {} since {}", silence.attempt,
                               base::FormatDateTime(silence.since));
          },
          [](const BadOutput& bad) {
            return fmt::format("BadOutput of attempt {}, host {}, rule {}: {}", bad.attempt,
                               bad.host, bad.rule, bad.line);
          },
          [](const KeyPinned& pinned) {
            return fmt::format("KeyPinned of attempt {}, host {}: {}", pinned.attempt, pinned.host,
                               pinned.key);
          },
          [](const TaskOutput& output) {
            const std::string says =
                output.rule ? fmt::format("rule {}", *output.rule) : "commit " + output.commit;
            return fmt::format("TaskOutput {}: {}", OfAttempt(output.stage, output.attempt), says);
          },
          [](const TaskOffered& offer) { return "TaskOffered " + offer.task.definition.id; },
      },
      seen);
}

std::string_view EffectName(const Effect& effect) {
  using Name = std::string_view;
  return std::visit(Overloaded{[](const CreateSlice&) -> Name { return "CreateSlice"; },
                               [](const DeleteSlice&) -> Name { return "DeleteSlice"; },
                               [](const LookUpSlice&) -> Name { return "LookUpSlice"; },
                               [](const AddLogin&) -> Name { return "AddLogin"; },
                               [](const RunStage&) -> Name { return "RunStage"; },
                               [](const StopStage&) -> Name { return "StopStage"; },
                               [](const PassNotice&) -> Name { return "PassNotice"; },
                               [](const AbandonStage&) -> Name { return "AbandonStage"; },
                               [](const TellHooks&) -> Name { return "TellHooks"; }},
                    effect);
}

std::string EffectObject(const Effect& effect) {
  return std::visit(
      Overloaded{
          [](const CreateSlice& create) { return create.request.ref.name; },
          [](const DeleteSlice& remove) { return remove.slice.name; },
          [](const LookUpSlice& look) { return look.slice.name; },
          [](const AddLogin& add) { return add.slice.name; },
          [](const RunStage& run) { return OfAttempt(run.stage, run.attempt); },
          [](const StopStage& stop) { return OfAttempt(stop.stage, stop.attempt); },
          [](const PassNotice& pass) {
            return fmt::format("{} to attempt {}, signal {}", NoticeText(pass.notice), pass.attempt,
                               pass.signal);
          },
          [](const AbandonStage& abandon) { return OfAttempt(abandon.stage, abandon.attempt); },
          [](const TellHooks& tell) {
            const std::string task = tell.task.empty() ? "" : " of task " + tell.task;
            return fmt::format("{}{} of attempt {}", HookEventName(tell.event), task, tell.attempt);
          },
      },
      effect);
}

std::string Describe(const Effect& effect) {
  return fmt::format("{} {}", EffectName(effect), EffectObject(effect));
}

std::string Describe(const Job& before, const Step& step) {
  const std::string_view from = StateName(before.state);
  const std::string_view to = StateName(step.job.state);
  std::string text = from == to ? std::string(to) : fmt::format("{} -> {}", from, to);
  for (const Effect& effect : step.effects) text += "; " + Describe(effect);
  return text + (step.settled ? "; " : "; NOT SETTLED; ") + step.why;
}

}  // namespace jobman::core
