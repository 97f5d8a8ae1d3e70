#include "jobman/client/create_jobs.hpp"

#include <set>

#include "jobman/base/env.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/bucket_check.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/client/offer_check.hpp"
#include "jobman/client/set_wishes.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::client {

namespace {

/// job.worker_num: auto. The smallest positive number that no stored job of this name has becomes
/// the suffix of its names.
base::Task<base::Result<core::JobSpec>> WithNumber(ports::JobStore* jobs, core::JobSpec spec) {
  if (spec.worker_num.empty()) co_return spec;
  const ports::JobFilter all{.with_deleted = true};
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await jobs->List(all));
  std::set<std::string> names;
  for (const ports::JobSummary& job : known) names.insert(job.name);
  int number = 1;
  while (names.contains(spec.name + "_" + std::to_string(number))) ++number;
  spec.name += "_" + std::to_string(number);
  if (!spec.tpu.name.empty()) spec.tpu.name += "-" + std::to_string(number);
  spec.worker_num.clear();
  co_return spec;
}

}  // namespace

core::Job NewJob(core::JobSpec spec, base::TimePoint now) {
  core::Job job;
  job.name = spec.name;
  job.user = base::UserName();
  job.spec = std::move(spec);
  job.created_at = now;
  job.since = now;
  job.wake_at = now;
  job.why = "created";
  return job;
}

base::Task<base::Result<CheckedFile>> CheckBeforeCreate(Context context, config::Loaded loaded) {
  CheckedFile checked{.loaded = std::move(loaded)};
  core::JobSpec& spec = checked.loaded.spec;
  JM_CO_TRY(ssh::EnsureKey(spec.ssh.private_key));
  JM_CO_TRY(ssh::CheckUsable(spec.ssh.private_key, ssh::EnvironmentPassphrase()));
  JM_CO_ASSIGN_OR_RETURN(const std::string unasked, co_await CheckOffer(context, checked.loaded));
  if (!unasked.empty()) {
    checked.notes.push_back("what zone " + spec.tpu.zone +
                            " offers could not be checked: " + unasked);
  }
  JM_CO_ASSIGN_OR_RETURN(const auto unseen, co_await CheckBuckets(context, checked.loaded));
  checked.notes.insert(checked.notes.end(), unseen.begin(), unseen.end());
  if (spec.ssh.agent_forwarding && !base::GetEnv("SSH_AUTH_SOCK")) {
    checked.notes.push_back(
        "ssh.agent_forwarding: no SSH agent is known here (SSH_AUTH_SOCK is not set), so the hosts "
        "may get none");
  }
  if (spec.cloud.endpoint != kLocal) co_return checked;
  const auto local = FindLocalCloud(context.paths);
  if (!local || local->user.empty() || spec.ssh.user == local->user) co_return checked;
  checked.notes.push_back("the simulated hosts run without a sandbox here and have no user " +
                          spec.ssh.user + "; logging in as " + local->user);
  spec.ssh.user = local->user;
  co_return checked;
}

base::Task<base::Result<std::vector<core::Job>>> CreateJobs(Context context,
                                                            std::vector<config::Loaded> files) {
  controller::Nudge nudge;
  std::vector<core::Job> jobs;
  for (config::Loaded& file : files) {
    JM_CO_ASSIGN_OR_RETURN(file.spec,
                           co_await WithNumber(context.stores.jobs, std::move(file.spec)));
    core::Job job = NewJob(file.spec, context.Now());
    JM_CO_ASSIGN_OR_RETURN(job.id,
                           co_await context.stores.jobs->Create(job, file.source, context.Now()));
    auto secrets = SecretValues(job.spec);
    if (!secrets.empty()) nudge.secrets[job.id.value] = std::move(secrets);
    jobs.push_back(std::move(job));
  }
  JM_CO_TRY(co_await WakeController(context, std::move(nudge)));
  co_return jobs;
}

}  // namespace jobman::client
