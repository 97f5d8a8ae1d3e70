#include "jobman/client/create_jobs.hpp"

#include "jobman/base/env.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/client/offer_check.hpp"
#include "jobman/client/set_wishes.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::client {

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
  for (const config::Loaded& file : files) {
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
