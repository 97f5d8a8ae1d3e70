#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "config/names.hpp"
#include "config/resolve.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/built_in.hpp"

namespace jobman::config {
namespace {

/// Paths by name, to find duplicates.
using Names = std::map<std::string, std::string>;

/// `otherwise`: the name of a step that has none.
void NameStep(Reader& reader, const std::string& path, std::string otherwise, core::SetupStep& step,
              Names& seen) {
  if (!reader.Has(path + ".name")) step.name = std::move(otherwise);
  const auto [first, fresh] = seen.emplace(step.name, path);
  if (fresh) return;
  reader.Complain(path + ".name", path + ": there is already a step named \"" + step.name + "\"",
                  first->second + " has that name");
}

void ResolveStep(Reader& reader, const std::string& path, std::size_t number, core::SetupStep& step,
                 Names& seen) {
  if (!reader.Has(path + ".strict")) step.strict = true;
  NameStep(reader, path, "step-" + std::to_string(number), step, seen);
}

/// The scripts of job.queue.prefix, as Python jobman runs them: without set -e, on host 0 unless
/// they say where.
void AddPrefix(Reader& reader, std::vector<core::SetupStep>& setup, Names& seen) {
  const std::string key = "job.queue.prefix";
  for (std::size_t i = 0; i < reader.CountItems(key); ++i) {
    const std::string path = key + "[" + std::to_string(i) + "]";
    const core::HostSet first = {.all = false, .numbers = {0}};
    core::SetupStep step{.name = reader.Text(path + ".name"),
                         .run = reader.Text(path + ".run"),
                         .strict = false,
                         .hosts = reader.Hosts(path + ".workers").value_or(first),
                         .required = reader.Bool(path + ".required").value_or(false)};
    NameStep(reader, path, "prefix-" + std::to_string(i + 1), step, seen);
    const std::string place = "setup[" + std::to_string(setup.size()) + "].";
    for (const char* const part : {"name", "run", "strict", "hosts", "required"}) {
      reader.Note(place + part, path);
    }
    setup.push_back(std::move(step));
  }
}

/// Whether the secret has a valid value now.
base::Status CheckPresent(const Reader& reader, const core::SecretRef& secret) {
  if (secret.file.empty()) {
    if (reader.Env(secret.name)) return base::Ok();
    return base::InvalidArgument("the environment variable " + secret.name + " is not set",
                                 "export it, or write {name: " + secret.name + ", file: ...}");
  }
  // With room for blank lines, which are trimmed.
  const auto value = base::ReadRegularFile(secret.file, 2 * core::kLongestVariable);
  if (!value.ok())
    return base::InvalidArgument(value.error().message,
                                 "name a file that contains only the secret");
  if (value->empty()) return base::InvalidArgument(secret.file + " is empty");
  return CheckVariable(secret.name, base::Trim(*value));
}

/// Else no program would start on the host: "Argument list too long".
void BoundVariables(Reader& reader, const core::JobSpec& spec) {
  std::size_t size = 0;
  for (const auto* variables : {&spec.environment, &spec.command.env}) {
    for (const auto& [name, value] : *variables) size += name.size() + value.size() + 2;
  }
  if (size <= core::kMostVariables) return;
  reader.Complain(spec.environment.empty() ? "command.env" : "job.environment",
                  "the variables of this job have " + std::to_string(size) +
                      " bytes together; the limit is " + std::to_string(core::kMostVariables),
                  "put what is large into a file of code.dir");
}

/// The queue file may come later, unless the job is to be made now.
void CheckQueueFile(Reader& reader, const std::string& file) {
  std::error_code problem;
  if (std::filesystem::is_regular_file(file, problem)) return;
  const std::string message = "job.queue.config: there is no file " + file;
  const std::string hint = "write the queue file, or name another";
  if (reader.request().check_secrets) {
    reader.Complain("job.queue.config", message, hint);
  } else {
    reader.Warn("job.queue.config", message, hint);
  }
}

void ResolveQueue(Reader& reader, std::optional<core::QueueSpec>& queue) {
  if (!queue || !queue->enabled) return queue.reset();
  // Without a file, it works off what task submit has submitted.
  if (queue->config.empty()) return;
  CheckQueueFile(reader, queue->config);
  // A queue is known by its file: two names of one file are one queue.
  queue->config = base::RealPath(queue->config).string();
}

/// Without a command the job holds its slice, which may be a mistake and costs money.
void ResolveCommand(Reader& reader, bool queue, core::CommandSpec& command) {
  if (base::Trim(command.cmd).empty()) command.cmd.clear();
  if (queue) {
    if (!command.cmd.empty()) {
      reader.Warn("command.cmd", "command.cmd is not run: the job works off a task queue",
                  "leave it out, or write job.queue.enabled: false");
    }
    return command.cmd.clear();
  }
  if (!command.cmd.empty()) return;
  reader.Warn(
      "command",
      "there is no command.cmd: the job holds its slice until it is cancelled, and runs nothing",
      "to run one: command: {cmd: ...}");
}

/// The hosts have one variable of each name.
void CompareMatrix(Reader& reader, const core::JobSpec& spec) {
  for (const auto& [name, value] : spec.matrix) {
    for (const auto* variables : {&spec.environment, &spec.command.env}) {
      const auto other = variables->find(name);
      if (other == variables->end() || other->second == value) continue;
      reader.Complain("matrix." + name,
                      "matrix." + name + ": the job sets the variable " + name + " elsewhere, too",
                      "rename one of them, or remove the other");
      break;
    }
  }
}

}  // namespace

void ResolveStages(Reader& reader, core::JobSpec& spec) {
  ResolveQueue(reader, spec.queue);
  ResolveCommand(reader, spec.queue.has_value(), spec.command);
  BoundVariables(reader, spec);
  CompareMatrix(reader, spec);
  Names steps;
  for (const auto& built_in : {core::BuiltInsOf(spec), core::LastBuiltInsOf(spec)}) {
    for (const core::BuiltIn step : built_in) {
      const std::string name(core::BuiltInName(step));
      steps[name] = "the section " + name;
    }
  }
  for (std::size_t i = 0; i < spec.setup.size(); ++i) {
    ResolveStep(reader, "setup[" + std::to_string(i) + "]", i + 1, spec.setup[i], steps);
  }
  if (spec.queue) AddPrefix(reader, spec.setup, steps);
  Names secrets;
  for (std::size_t i = 0; i < spec.command.secrets.size(); ++i) {
    const core::SecretRef& secret = spec.command.secrets[i];
    const std::string path = "command.secrets[" + std::to_string(i) + "]";
    if (secret.name.empty()) continue;  // reported
    if (!secrets.emplace(secret.name, path).second) {
      reader.Complain(path, path + ": the secret " + secret.name + " is listed twice");
    }
    if (reader.request().check_secrets) reader.Complain(path, CheckPresent(reader, secret));
  }
}

}  // namespace jobman::config
