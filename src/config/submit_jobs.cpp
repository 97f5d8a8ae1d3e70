#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "config/convert/script.hpp"
#include "config/queue_format.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/submit.hpp"

namespace jobman::config {
namespace {

/// What a task has of a job file; `cloud` is no part of it, but an option of every command may set
/// it.
constexpr std::array<std::string_view, 13> kOfTasks = {
    "array",        "matrix",          "job.name",   "job.group",  "job.environment",
    "job.env_type", "tpu.accelerator", "tpu.zone",   "conda.name", "venv.name",
    "command.cmd",  "command.workers", "command.env"};

struct Cure {
  std::string_view key;
  std::string_view text;
};
constexpr const char* kWorkersOwn =
    "leave it out: it is the worker's, and belongs into its job file: jobman worker start -f FILE";
constexpr Cure kCures[] = {
    {"code", "leave it out, and let the script fetch the code; a task of a queue file has repo"},
    {"retries", "leave it out; --max-retries says how often a task may fail"},
    {"job.queue", "leave it out: a worker serves a queue, and a task is run by one"},
    {"job.labels", "leave it out: tasks have no labels, but their names"},
    {"job.max_running", "leave it out: as many run at a time as there are workers"},
    {"command.workdir", "leave it out, and let the script change to it: a task has a folder"},
};

bool IsBelow(std::string_view path, std::string_view key) {
  if (!path.starts_with(key)) return false;
  return path.size() == key.size() || path[key.size()] == '.' || path[key.size()] == '[';
}

bool IsOfTasks(std::string_view path) {
  return std::any_of(kOfTasks.begin(), kOfTasks.end(),
                     [&](std::string_view key) { return IsBelow(path, key); });
}

/// "on.failed" of "on.failed[0].run", "tpu.labels" of "tpu.labels.team".
std::string KeyOf(std::string_view path) {
  const std::size_t second = path.find('.', path.find('.') + 1);
  return std::string(path.substr(0, std::min(path.find('['), second)));
}

std::string CureOf(std::string_view path) {
  const Cure* const found = std::find_if(std::begin(kCures), std::end(kCures),
                                         [&](const Cure& cure) { return IsBelow(path, cure.key); });
  return std::string(found == std::end(kCures) ? kWorkersOwn : found->text);
}

/// Whether the file or an option for it says the value.
bool IsSaid(const Origin& origin, const std::string& file) {
  const bool by_option = origin.where.starts_with("--") && origin.where != "--endpoint";
  return by_option || origin.where.starts_with(file + ":");
}

/// What the file says besides.
std::vector<Problem> RefusedKeys(const std::string& file, const Loaded& loaded) {
  std::vector<Problem> problems;
  std::set<std::string> told;
  for (const Origin& origin : loaded.origins) {
    if (IsOfTasks(origin.path) || !IsSaid(origin, file)) continue;
    const std::string key = KeyOf(origin.path);
    if (!told.insert(key).second) continue;
    problems.push_back({.file = origin.where,
                        .message = key + " has no meaning for a task",
                        .hint = CureOf(origin.path),
                        .reason = base::Reason::kNotSupported});
  }
  return problems;
}

/// Those that a run of the job would have, apart from what every run of a worker has.
std::map<std::string, std::string> VariablesOf(const core::JobSpec& spec) {
  std::map<std::string, std::string> variables = spec.matrix;
  if (const core::ArraySpec& array = spec.array; !array.empty()) {
    variables["JOBMAN_ARRAY_INDEX"] = std::to_string(array.index);
    variables["JOBMAN_ARRAY_SIZE"] = std::to_string(array.size);
    variables["JOBMAN_ARRAY_VALUE"] = array.value;
  }
  for (const auto& [name, value] : spec.environment) variables[name] = value;
  for (const auto& [name, value] : spec.command.env) variables[name] = value;
  return variables;
}

std::string ExportLines(const core::JobSpec& spec) {
  std::string lines;
  for (const auto& [name, value] : VariablesOf(spec))
    lines += "export " + name + "=" + base::ShellQuote(value) + "\n";
  return lines;
}

/// The conda or venv environment.
std::string EnvironmentOf(const core::JobSpec& spec) {
  if (spec.env_type == core::EnvType::kConda) return spec.conda.name;
  if (spec.env_type == core::EnvType::kVenv) return spec.venv.name;
  return {};
}

class JobTasks {
 public:
  JobTasks(const std::string& file, const SubmitOptions& options)
      : file_(file), options_(options) {}

  Submission Run(const std::vector<Loaded>& jobs) {
    if (!jobs.empty()) result_.problems = RefusedKeys(file_, jobs.front());
    for (const Loaded& job : jobs) Add(job.spec);
    if (!result_.problems.empty()) result_.tasks.clear();
    return std::move(result_);
  }

 private:
  /// All jobs of a file have the same problems, as a rule.
  void Report(std::string message, std::string hint) {
    Problem problem{.file = file_, .message = std::move(message), .hint = std::move(hint)};
    const bool known =
        std::any_of(result_.problems.begin(), result_.problems.end(),
                    [&](const Problem& other) { return other.message == problem.message; });
    if (!known) result_.problems.push_back(std::move(problem));
  }
  void Report(const base::Status& status) {
    if (!status.ok()) Report(status.error().message, status.error().hint);
  }

  void Add(const core::JobSpec& spec) {
    Report(CheckTaskId(spec.name));
    if (spec.command.cmd.empty()) {
      Report("command.cmd is missing", "a task runs a command: command: {cmd: ...}");
    }
    if (spec.env_type == core::EnvType::kDocker) {
      Report("job.env_type: docker has no meaning for a task", "let the script call docker run");
    }
    core::TaskDefinition task{.id = spec.name,
                              .accelerator = spec.tpu.accelerator,
                              .zone = spec.tpu.zone,
                              .run = ScriptOf(spec),
                              .env = EnvironmentOf(spec),
                              .workers = spec.command.workers};
    if (!options_.max_retries.empty()) SetRetries(task);
    result_.tasks.push_back(std::move(task));
  }

  std::string ScriptOf(const core::JobSpec& spec) {
    const std::string lines = ExportLines(spec);
    std::string script = convert::WithShellLines(spec.command.cmd, lines);
    if (!lines.empty() && script == spec.command.cmd) {
      Report("command.cmd is no script for a shell, so it cannot be given the job's variables",
             "call it from a script for a shell");
    }
    if (script.size() > kLongestTaskScript) {
      Report("command.cmd and the job's variables are longer than 256 KiB",
             "put what is large into files that the script fetches");
    }
    return script;
  }

  void SetRetries(core::TaskDefinition& task) {
    const base::Status status = CheckMaxRetries(options_.max_retries);
    if (!status.ok()) return Report("--max-retries: " + status.error().message, "");
    task.max_retries = static_cast<int>(*base::ParseNumber(options_.max_retries));
  }

  const std::string& file_;
  const SubmitOptions& options_;
  Submission result_ = {};
};

}  // namespace

Submission TasksOfJobs(const std::string& file, const std::vector<Loaded>& jobs,
                       const SubmitOptions& options) {
  return JobTasks(file, options).Run(jobs);
}

}  // namespace jobman::config
