#include "controller/hook_events.hpp"

#include <fmt/format.h>

#include "jobman/base/hash.hpp"
#include "jobman/core/job_json.hpp"

namespace jobman::controller {
namespace {

using base::Json;

/// See docs/guide/hooks.md. Contains no more of the job file than `list` shows: no environment, no
/// commands.
Json EventOf(const core::Job& job, const core::TellHooks& notify, const std::string& id,
             core::TimePoint now) {
  Json event = {{"version", 1},
                {"id", id},
                {"event", core::HookEventName(notify.event)},
                {"at", base::FormatRfc3339(now)},
                {"job", job.id.value},
                {"name", job.name},
                {"user", job.user},
                {"labels", job.spec.labels},
                {"accelerator", job.spec.tpu.accelerator},
                {"zone", job.spec.tpu.zone},
                {"attempt", notify.attempt},
                {"slice", notify.slice},
                {"state", core::StateName(job.state)},
                {"why", notify.why}};
  if (!notify.task.empty()) {
    event["task"] = notify.task;
    event["task_run"] = notify.task_run;
  }
  const auto* done = std::get_if<core::Done>(&job.state);
  if (done == nullptr) return event;
  event["exit_code"] = done->exit_code;
  if (done->error) event["error"] = core::ErrorToJson(*done->error);
  return event;
}

/// Decisions that are recorded together share a version, but never tell the same event of the same
/// attempt; of tasks, never of the same run.
std::string EventId(const core::Job& before, const core::TellHooks& notify,
                    const std::string& store_id) {
  std::string id = fmt::format("{}-{}-v{}-a{}-{}", store_id, core::FormatJobId(before.id),
                               before.version, notify.attempt, core::HookEventName(notify.event));
  if (notify.task.empty()) return id;
  return id + fmt::format("-t{}-{}", base::Sha256Hex(notify.task).substr(0, 12), notify.task_run);
}

}  // namespace

void AddDeliveries(const core::Job& before, const core::Step& step, core::TimePoint now,
                   const std::string& store_id, ports::Turn& turn) {
  const core::Job& job = step.job;
  for (const core::Effect& effect : step.effects) {
    const auto* notify = std::get_if<core::TellHooks>(&effect);
    if (notify == nullptr) continue;
    const std::string id = EventId(before, *notify, store_id);
    const std::string body =
        EventOf(job, *notify, id, now).dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto& hooks = job.spec.hooks;
    for (std::size_t hook = 0; hook < hooks.size(); ++hook) {
      if (hooks[hook].event != notify->event) continue;
      turn.deliveries.push_back({.job = job.id,
                                 .attempt = notify->attempt,
                                 .event_id = id,
                                 .event = std::string(core::HookEventName(notify->event)),
                                 .hook = static_cast<int>(hook),
                                 .target = core::HookTarget(hooks[hook]),
                                 .body = body,
                                 .at = now,
                                 .next_try = now});
    }
  }
}

}  // namespace jobman::controller
