#include <map>

#include "config/build.hpp"
#include "config/names.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

core::SetupStep BuildStep(Reader& reader, const std::string& path, std::size_t number) {
  core::SetupStep step;
  step.name = "step-" + std::to_string(number);
  if (reader.Has(path + ".name")) {
    step.name = reader.Text(path + ".name");
    reader.Complain(path + ".name", CheckStepName(step.name));
  }
  step.run = reader.Required(path + ".run", "run: pip install -r requirements.txt");
  step.hosts = reader.Hosts(path + ".hosts");
  step.required = reader.Bool(path + ".required").value_or(true);
  step.timeout = reader.Duration(path + ".timeout");
  if (step.timeout && step.timeout->count() == 0) {
    reader.Complain(path + ".timeout", path + ".timeout must be longer than nothing",
                    "leave it out where the step may take any time");
  }
  return step;
}

/// Whether the value can be had now. Never reads more of it than that.
base::Status CheckPresent(const Reader& reader, const core::SecretRef& secret) {
  if (secret.file.empty()) {
    if (reader.Env(secret.name)) return base::Ok();
    return base::InvalidArgument("the environment variable " + secret.name + " is not set",
                                 "export it, or write {name: " + secret.name + ", file: ...}");
  }
  // With room for the blank lines that are taken off.
  const auto value = base::ReadRegularFile(secret.file, 2 * core::kLongestVariable);
  if (!value.ok())
    return base::InvalidArgument(value.error().message, "name a file that holds the secret alone");
  if (value->empty()) return base::InvalidArgument(secret.file + " is empty");
  return CheckVariable(secret.name, base::Trim(*value));
}

std::string SecretName(Reader& reader, const std::string& path, const Value& item) {
  if (item.is_scalar()) return item.text;
  for (const Value& member : item.children) {
    if (member.key != "name" && member.key != "file") {
      reader.ComplainOfKey(path, member.key,
                           base::InvalidArgument("unknown key \"" + member.key + "\"",
                                                 "a secret has a name and a file"));
    }
  }
  return reader.Text(path + ".name");
}

std::optional<core::SecretRef> BuildSecret(Reader& reader, const std::string& path) {
  const Value* item = reader.Get(path);
  if (item == nullptr) return std::nullopt;
  if (item->is_list()) {
    reader.Complain(path, path + ": expected a name or {name, file}, found a list");
    return std::nullopt;
  }
  core::SecretRef secret{.name = SecretName(reader, path, *item)};
  if (!base::IsEnvName(secret.name)) {
    reader.Complain(path, path + ": \"" + secret.name + "\" cannot name a variable",
                    "write the variable's name, never its value");
    return std::nullopt;
  }
  if (reader.Has(path + ".file")) {
    secret.file = reader.ResolvePath(path + ".file", reader.Text(path + ".file")).string();
  }
  if (reader.request().check_secrets) reader.Complain(path, CheckPresent(reader, secret));
  return secret;
}

}  // namespace

std::vector<core::SetupStep> BuildSetup(Reader& reader) {
  std::vector<core::SetupStep> steps;
  std::map<std::string, std::string> seen;
  for (std::size_t i = 0; i < reader.Length("setup"); ++i) {
    const std::string path = "setup[" + std::to_string(i) + "]";
    steps.push_back(BuildStep(reader, path, i + 1));
    const std::string& name = steps.back().name;
    const auto [first, fresh] = seen.emplace(name, path);
    if (fresh) continue;
    reader.Complain(path + ".name", path + ": a step of the name \"" + name + "\" exists already",
                    first->second + " has it");
  }
  return steps;
}

core::CommandSpec BuildCommand(Reader& reader) {
  core::CommandSpec command;
  command.cmd = reader.Required("command.cmd", "cmd: python train.py");
  command.workers = reader.Hosts("command.workers");
  command.workdir = reader.Text("command.workdir");
  command.env = reader.TextMap("command.env");
  command.grace = reader.Duration("command.grace").value_or(command.grace);
  core::OnNotice& notice = command.on_notice;
  if (reader.Has("command.on_notice.signal")) {
    notice.signal = reader.Text("command.on_notice.signal");
  }
  notice.grace = reader.Duration("command.on_notice.grace").value_or(notice.grace);
  std::map<std::string, std::string> seen;
  for (std::size_t i = 0; i < reader.Length("command.secrets"); ++i) {
    const std::string path = "command.secrets[" + std::to_string(i) + "]";
    auto secret = BuildSecret(reader, path);
    if (!secret) continue;
    if (!seen.emplace(secret->name, path).second) {
      reader.Complain(path, path + ": the secret " + secret->name + " is named twice");
    }
    command.secrets.push_back(std::move(*secret));
  }
  return command;
}

}  // namespace jobman::config
