#include "controller/run_order.hpp"

#include <fmt/format.h>

#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/setup_script.hpp"

namespace jobman::controller {
namespace {

base::Error UnknownSecret(const core::Job& job, const std::string& name) {
  return {.code = base::Code::kFailedPrecondition,
          .message = fmt::format("the secret {} has no value", name),
          .hint = fmt::format("export {0} and run: jobman resume {1}; or name a file: "
                              "secrets: [{{name: {0}, file: PATH}}]",
                              name, core::FormatJobId(job.id))};
}

base::Error MissingFile(const core::Job& job, const std::string& file) {
  return {.code = base::Code::kFailedPrecondition,
          .message = file + ", which the hosts need, cannot be read",
          .hint = "put it back and run: jobman resume " + core::FormatJobId(job.id)};
}

/// With the name of the slice, which the job file could not know.
std::string Bind(const core::Job& job, const std::string& text) {
  return base::ReplaceAll(text, core::kNameOfSlice, job.slice ? job.slice->ref.name : "");
}

}  // namespace

core::RunId RunOn(const core::Job& job, const std::string& store_id, int host) {
  core::RunId run{.on = core::OnHost(store_id, job, host),
                  .what = core::CommandRun{.attempt = job.attempt}};
  const core::SetupStep* const step = core::StepOf(job.spec, job.stage->id);
  if (step == nullptr) return run;
  std::string content = remote::SetupScript(job.spec, job.stage->id);
  for (const auto& [name, value] : job.spec.environment) content += '\0' + name + '=' + value;
  run.what = core::SetupRun{.step = std::get<core::SetupStage>(job.stage->id).index,
                            .content = base::Sha256Hex(content).substr(0, 12),
                            .generation = job.stage->generation,
                            .epoch = job.setup_epoch};
  return run;
}

std::string CommandRunOn(const core::Job& job, const std::string& store_id, int host) {
  return core::FormatRunId(
      {.on = core::OnHost(store_id, job, host), .what = core::CommandRun{.attempt = job.attempt}});
}

base::Result<remote::RunOrder> OrderFor(const core::Job& job, const std::string& store_id, int host,
                                        const SecretValue& secret) {
  const core::SetupStep* const step = core::StepOf(job.spec, job.stage->id);
  const core::CommandSpec& spec = job.spec.command;
  remote::RunOrder order;
  const core::RunId run = RunOn(job, store_id, host);
  order.run_id = core::FormatRunId(run);
  if (job.attempt > 1) order.replaces = CommandRunOn(job, store_id, host);
  order.grace = spec.grace;
  order.log_limit = job.spec.logs.max_bytes;
  order.script = Bind(job, step == nullptr ? remote::CommandScript(job.spec)
                                           : remote::SetupScript(job.spec, job.stage->id));
  order.env = remote::RunEnvironment(job, host, run);
  for (const auto& [name, value] : job.spec.environment) order.env[name] = Bind(job, value);
  for (const remote::StageFile& needed : remote::FilesOf(job.spec, job.stage->id)) {
    const auto content = secret({.name = needed.variable, .file = needed.file});
    if (!content) return MissingFile(job, needed.file);
    order.secrets[needed.variable] = *content;
  }
  if (step != nullptr || spec.cmd.empty()) return order;
  order.chips_of = core::RunIdPrefix(run.on);
  order.notice_signal = spec.on_notice.signal;
  order.workdir = spec.workdir;
  for (const auto& [name, value] : spec.env) order.env[name] = Bind(job, value);
  for (const core::SecretRef& one : spec.secrets) {
    const auto value = secret(one);
    if (!value) return UnknownSecret(job, one.name);
    order.secrets[one.name] = *value;
  }
  return order;
}

}  // namespace jobman::controller
