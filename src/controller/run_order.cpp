#include "controller/run_order.hpp"

#include <fmt/format.h>

#include "controller/task_order.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/controller/command_environment.hpp"
#include "jobman/core/late_names.hpp"
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

/// Room on this machine's disk is waited for. A file that is there and is no key stays one.
base::Error NoKeyOfJob(const core::Job& job, const base::Path& file) {
  if (base::FileSize(file)) {
    return {.code = base::Code::kFailedPrecondition,
            .message = file.string() + ", the key of the job (ssh.host_to_host), cannot be read",
            .hint = "delete it, and run: jobman run " + core::FormatJobId(job.id) + " --force"};
  }
  return {.code = base::Code::kUnavailable,
          .message = "the key of the job (ssh.host_to_host) cannot be written on this machine",
          .reason = base::Reason::kNotWritable,
          .hint = "free space below JOBMAN_HOME; the log of the controller says more"};
}

/// JAX starts on all hosts or on none, so that a host which did this step before must do it again.
bool RunsOnAllAtOnce(const core::JobSpec& spec, const core::StageId& stage) {
  return core::BuiltInOf(spec, stage) == core::BuiltIn::kChecks && spec.checks.jax;
}

/// The user's own steps start in the folder of the code; those of sections need none.
std::string FolderOf(const core::JobSpec& spec, const core::StageId& stage) {
  if (core::BuiltInOf(spec, stage)) return {};
  if (core::IsCommand(stage) && spec.command.cmd.empty()) return {};
  return core::IsCommand(stage) ? CommandFolder(spec) : spec.code.path;
}

bool InstallsKeys(const core::JobSpec& spec, const core::StageId& stage) {
  return core::BuiltInOf(spec, stage) == core::BuiltIn::kIdentities;
}

core::SetupRun SetupRunOf(const core::Job& job, core::SetupStage step, const KeyDigest& keys) {
  std::string content = remote::SetupScript(job.spec, step);
  if (!job.spec.array.value.empty()) content += '\0' + job.spec.array.value;
  for (const auto& [name, value] : job.spec.matrix) content += '\0' + name + '=' + value;
  for (const auto& [name, value] : job.spec.environment) content += '\0' + name + '=' + value;
  if (const std::string folder = FolderOf(job.spec, step); !folder.empty())
    content += '\0' + folder;
  if (keys && InstallsKeys(job.spec, step)) content += '\0' + *keys;
  if (RunsOnAllAtOnce(job.spec, step)) content += '\0' + std::to_string(job.attempt);
  return {.step = step.index,
          .content = base::Sha256Hex(content).substr(0, 12),
          .generation = job.stage->generation,
          .epoch = job.setup_epoch};
}

core::SetupRun SetupRunOf(const core::Job& job, core::SetupStage step, const KeyDigest& keys,
                          const StepRuns& steps) {
  return steps ? steps->at(static_cast<std::size_t>(step.index)) : SetupRunOf(job, step, keys);
}

/// The setup runs that the stage needs on this host: those of the steps before it that had to
/// succeed. While a key cannot be read here, the hosts keep those that they have.
std::vector<std::string> SetupRuns(const core::Job& job, const core::JobOnHost& on, int host,
                                   const OrderSources& here) {
  const auto* const setup = std::get_if<core::SetupStage>(&job.stage->id);
  const int steps = setup == nullptr ? core::CountSteps(job.spec) : setup->index;
  std::vector<std::string> ids;
  for (int i = 0; i < steps; ++i) {
    const core::SetupStage id{i};
    const core::SetupStep& step = *core::StepOf(job.spec, id);
    const bool known = here.keys || !InstallsKeys(job.spec, id);
    const bool needed =
        known && step.required && step.hosts.Contains(host) && !RunsOnAllAtOnce(job.spec, id);
    if (!needed) continue;
    const core::SetupRun run = SetupRunOf(job, id, here.keys, here.steps);
    ids.push_back(core::FormatRunId({.on = on, .what = run}));
  }
  return ids;
}

}  // namespace

KeyDigest DigestKeys(const core::Job& job, const SecretReader& secret) {
  const core::JobSpec& spec = job.spec;
  const bool vouched = job.slice && job.slice->setup_done && job.slice->setup_done->vouched;
  if (vouched && job.stage && !InstallsKeys(spec, job.stage->id)) return {};  // nobody asks
  std::string content;
  for (int step = 0; step < core::CountSteps(spec); ++step) {
    for (const remote::StageFile& file : remote::FilesOf(spec, core::SetupStage{step})) {
      const auto key = secret({.name = file.variable, .file = file.file});
      if (!key) return {};
      content += file.variable + '=' + base::Sha256Hex(*key) + '\0';
    }
  }
  return base::Sha256Hex(content);
}

StepRuns StepRunsOf(const core::Job& job, const KeyDigest& keys) {
  auto runs = std::make_shared<std::vector<core::SetupRun>>();
  for (int step = 0; step < core::CountSteps(job.spec); ++step) {
    runs->push_back(SetupRunOf(job, core::SetupStage{step}, keys));
  }
  return runs;
}

core::RunId RunOn(const core::Job& job, const std::string& store_id, int host,
                  const KeyDigest& keys, const StepRuns& steps) {
  core::RunId run{.on = core::OnHost(store_id, job, host),
                  .what = core::CommandRun{.attempt = job.attempt}};
  const auto* const step = std::get_if<core::SetupStage>(&job.stage->id);
  if (step != nullptr) run.what = SetupRunOf(job, *step, keys, steps);
  return run;
}

std::string CommandRunOn(const core::Job& job, const std::string& store_id, int host) {
  return core::FormatRunId(
      {.on = core::OnHost(store_id, job, host), .what = core::CommandRun{.attempt = job.attempt}});
}

std::string StageRunOn(const core::Job& job, const std::string& store_id, int host,
                       const KeyDigest& keys, const StepRuns& steps) {
  if (job.stage->task) return TaskRunOn(job, store_id, host);
  return core::FormatRunId(RunOn(job, store_id, host, keys, steps));
}

std::string OlderRunsOn(const core::Job& job, const std::string& store_id, int host) {
  return job.spec.queue ? TaskRunOn(job, store_id, host) : CommandRunOn(job, store_id, host);
}

std::string CodeFileOf(const core::Job& job, const std::string& store_id, int host) {
  return remote::CodeFileName(core::OnHost(store_id, job, host), job.spec.code.snapshot.sha256);
}

void AddVariables(const core::Job& job, const core::JobSpec& bound, const core::RunId& run,
                  int host, remote::RunOrder& order) {
  order.env = remote::RunEnvironment(job, host, run);
  for (const auto& [name, value] : bound.environment) order.env[name] = value;
}

remote::RunOrder BareOrder(const core::Job& job, const core::JobSpec& bound, const core::RunId& run,
                           int host, const OrderSources& here) {
  remote::RunOrder order;
  order.run_id = core::FormatRunId(run);
  order.grace = bound.command.grace;
  order.log_limit = job.spec.logs.max_bytes;
  order.uses_agent = job.spec.ssh.agent_forwarding;
  AddVariables(job, bound, run, host, order);
  const auto& done = job.slice->setup_done;
  if (!done || !done->vouched) order.setup = SetupRuns(job, run.on, host, here);
  return order;
}

base::Status AddWork(const core::Job& job, const core::JobSpec& bound, const core::JobOnHost& on,
                     const SecretReader& secret, remote::RunOrder& order) {
  order.chips_of = core::RunIdPrefix(on);
  order.notice_signal = bound.command.on_notice.signal;
  for (const auto& [name, value] : bound.command.env) order.env[name] = value;
  for (const core::SecretRef& one : bound.command.secrets) {
    const auto value = secret(one);
    if (!value) return UnknownSecret(job, one.name);
    order.secrets[one.name] = *value;
  }
  return base::Ok();
}

base::Result<remote::RunOrder> OrderFor(const core::Job& job, int host, const OrderSources& here) {
  if (const auto* const task = std::get_if<core::TaskStage>(&job.stage->id)) {
    return TaskOrderFor(job, job.stage->task->definition, task->run, host, here);
  }
  const core::JobSpec bound = core::BindLateNames(job, here.job_dir);
  const core::SetupStep* const step = core::StepOf(job.spec, job.stage->id);
  const core::RunId run = RunOn(job, here.store_id, host, here.keys, here.steps);
  remote::RunOrder order = BareOrder(job, bound, run, host, here);
  if (job.attempt > 1) order.replaces = OlderRunsOn(job, here.store_id, host);
  order.script =
      step == nullptr ? remote::CommandScript(bound) : remote::SetupScript(bound, job.stage->id);
  for (const remote::StageFile& needed : remote::FilesOf(job.spec, job.stage->id)) {
    const auto content = here.secret({.name = needed.variable, .file = needed.file});
    if (!content) return MissingFile(job, needed.file);
    order.secrets[needed.variable] = *content;
  }
  order.workdir = FolderOf(bound, job.stage->id);
  const auto built_in = core::BuiltInOf(job.spec, job.stage->id);
  if (built_in == core::BuiltIn::kCode) {
    order.env[remote::kCodeFile] = remote::kHostFiles + CodeFileOf(job, here.store_id, host);
  }
  if (built_in == core::BuiltIn::kPeers) {
    const auto key = here.secret({.name = remote::kPeersKey});
    if (!key) return NoKeyOfJob(job, base::Path(here.job_dir) / remote::kPeersKeyFile);
    order.secrets[remote::kPeersKey] = *key;
  }
  if (built_in == core::BuiltIn::kChecks) {  // in the environment of the command
    for (const auto& [name, value] : bound.command.env) order.env[name] = value;
  }
  if (step != nullptr || bound.command.cmd.empty()) return order;
  JM_TRY(AddWork(job, bound, run.on, here.secret, order));
  return order;
}

}  // namespace jobman::controller
