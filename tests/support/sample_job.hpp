#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "jobman/core/job.hpp"

namespace jobman::test {

/// 2026-01-01, for tests that need any time.
inline constexpr core::TimePoint kNow{std::chrono::milliseconds{1'767'225'600'000}};

/// A job as `create` passes it to the store.
inline core::Job SampleJob(const std::string& name) {
  core::Job job{.name = name, .user = "ada"};
  job.spec.name = name;
  job.spec.labels = {{"team", "vision"}};
  job.spec.tpu.accelerator = "v4-32";
  job.spec.tpu.project = "lab";
  job.spec.tpu.zone = "us-central2-b";
  job.spec.tpu.version = "tpu-ubuntu2204-base";
  job.spec.ssh = {.user = "ada", .private_key = "/home/ada/.ssh/id_ed25519"};
  job.spec.setup = {{.name = "install", .run = "pip install jax[tpu]"}};
  job.spec.command.cmd = "python train.py";
  return job;
}

inline core::Slice SampleSlice(const std::string& name) {
  core::Slice slice;
  slice.ref = {.place = {.project = "lab", .zone = "us-central2-b"}, .name = name};
  slice.phase = core::SlicePhase::kCreated;
  slice.nodes = {{.uid = "8123456789", .hosts = 2}};
  slice.hosts = {{.internal = "10.0.0.2", .external = "203.0.113.7"}, {.internal = "10.0.0.3"}};
  slice.generation = 2;
  slice.requests_sent = 2;
  slice.requested_at = base::FromMillis(1'767'225'600'123);
  slice.delete_requested_at = base::FromMillis(1'767'225'600'124);
  slice.omitted_since = base::FromMillis(1'767'225'600'122);
  slice.lacking_since = base::FromMillis(1'767'225'600'121);
  slice.not_found_since = base::FromMillis(1'767'225'600'126);
  slice.last_evidence_at = base::FromMillis(1'767'225'600'125);
  slice.unshown = {name};
  slice.cloud_state = "READY";
  slice.ready = true;
  slice.unhealthy_since = base::FromMillis(1'767'225'600'127);
  slice.notice = core::Notice{.text = "SCHEDULED, PENDING"};
  slice.lent_until = base::FromMillis(1'767'225'600'128);
  slice.setup_done = core::SetupDone{.generation = 2, .epoch = 4};
  slice.lapses = 1;
  return slice;
}

/// The same job in progress: every member differs from its default.
inline core::Job BusyJob(core::Job job) {
  job.wish = core::Wish::kReboot;
  job.state = core::Setup{.step = 3};
  job.since = base::FromMillis(1'767'225'700'001);
  job.attempt = 2;
  job.restart = core::Restart{.cause = core::RestartCause::kWatchdog, .detail = "no_output: none"};
  job.setup_epoch = 4;
  job.task_runs = 5;
  job.revised = job.spec;
  job.revised->command.cmd = "python train2.py";
  job.spent = {.preemption = 1,
               .failure = 2,
               .infra = 3,
               .streak = 4,
               .waited_until = base::FromMillis(1'767'225'699'000)};
  job.search = core::Search{.since = base::FromMillis(1'767'225'600'000), .tries = 2};
  job.slice = SampleSlice(job.name + "-000001-a2");
  job.abandoned = {{.ref = {.place = job.slice->ref.place, .name = job.name + "-000001-a1"},
                    .until = base::FromMillis(1'767'225'900'004)}};
  core::Stage stage{.id = core::SetupStage{3}, .name = "setup-3-install", .generation = 2};
  stage.started_at = base::FromMillis(1'767'225'701'002);
  stage.stop = core::Alarm{.rule = "bad_output",
                           .action = core::WatchdogAction::kNewSlice,
                           .text = "host 1 wrote a line that matches \"x\": x",
                           .host = 1};
  stage.stop_since = base::FromMillis(1'767'225'703'004);
  stage.hosts = {
      {.host = 0, .phase = core::HostPhase::kRunning, .scanned = 4711},
      {.host = 1, .phase = core::HostPhase::kExited, .exit_code = 7},
      {.host = 2,
       .phase = core::HostPhase::kLost,
       .error = base::Error{.code = base::Code::kUnavailable,
                            .message = "connection refused",
                            .reason = base::Reason::kHostRefused,
                            .hint = "wait",
                            .retry_after = std::chrono::seconds{30},
                            .context = {"connecting to host 2", "running setup-3-install"}}}};
  stage.hosts[0].notice =
      core::Notice{.kind = core::Notice::Kind::kPreemption, .imminent = true, .text = "TRUE"};
  stage.told = core::Told{.notice = *stage.hosts[0].notice,
                          .at = base::FromMillis(1'767'225'702'003),
                          .first_failed = 1};
  job.stage = std::move(stage);
  job.why = "step install runs on 3 hosts";
  job.wake_at = base::FromMillis(1'767'225'800'003);
  return job;
}

}  // namespace jobman::test
