#include "jobman/core/spec_json.hpp"

#include "core/hook_spec_json.hpp"

namespace jobman::core {
namespace {

using base::Json;

// --- Writing ---

Json ToJson(const std::optional<int>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json CloudToJson(const CloudSpec& cloud) {
  return {{"endpoint", cloud.endpoint},
          {"token_file", cloud.token_file},
          {"token_command", cloud.token_command}};
}

Json TpuToJson(const TpuSpec& tpu) {
  Json json = {{"allocation_mode", AllocationModeName(tpu.allocation_mode)},
               {"pricing", PricingName(tpu.pricing)},
               {"accelerator", tpu.accelerator},
               {"num_slices", tpu.num_slices},
               {"name", tpu.name},
               {"project", tpu.project},
               {"zone", tpu.zone},
               {"version", tpu.version},
               {"reservation", tpu.reservation},
               {"network", tpu.network},
               {"subnetwork", tpu.subnetwork},
               {"external_ips", tpu.external_ips},
               {"service_account", tpu.service_account},
               {"tags", tpu.tags},
               {"labels", tpu.labels},
               {"metadata", tpu.metadata},
               {"startup_script", tpu.startup_script}};
  if (tpu.valid_for) json["valid_for_ms"] = tpu.valid_for->count();
  if (tpu.valid_until) json["valid_until_ms"] = base::ToMillis(*tpu.valid_until);
  return json;
}

Json StepToJson(const SetupStep& step) {
  Json json = {{"name", step.name},
               {"run", step.run},
               {"hosts", HostSetText(step.hosts)},
               {"required", step.required}};
  if (step.timeout) json["timeout_ms"] = step.timeout->count();
  return json;
}

Json CommandToJson(const CommandSpec& command) {
  Json secrets = Json::array();
  for (const SecretRef& secret : command.secrets) {
    secrets.push_back({{"name", secret.name}, {"file", secret.file}});
  }
  return {{"cmd", command.cmd},
          {"workers", HostSetText(command.workers)},
          {"workdir", command.workdir},
          {"env", command.env},
          {"secrets", secrets},
          {"grace_ms", command.grace.count()},
          {"on_notice",
           {{"signal", command.on_notice.signal}, {"grace_ms", command.on_notice.grace.count()}}}};
}

Json RetriesToJson(const RetrySpec& retries) {
  return {{"preemption", ToJson(retries.preemption)},
          {"failure", ToJson(retries.failure)},
          {"infra", ToJson(retries.infra)},
          {"backoff_ms", retries.backoff.count()},
          {"backoff_cap_ms", retries.backoff_cap.count()}};
}

Json WatchdogToJson(const WatchdogSpec& watchdog) {
  Json rules = Json::array();
  for (const OutputRule& rule : watchdog.bad_output) {
    rules.push_back({{"match", rule.match}, {"do", WatchdogActionName(rule.action)}});
  }
  Json json = {{"bad_output", rules},
               {"on_no_output", WatchdogActionName(watchdog.on_no_output)},
               {"on_max_duration", WatchdogActionName(watchdog.on_max_duration)}};
  if (watchdog.no_output) json["no_output_ms"] = watchdog.no_output->count();
  if (watchdog.max_duration) json["max_duration_ms"] = watchdog.max_duration->count();
  return json;
}

// --- Reading: a member that is absent or of another type leaves the default as it is ---

void Read(const Json& object, std::string_view key, std::string& out) {
  if (const Json& member = base::GetMember(object, key); member.is_string()) {
    out = member.get_ref<const std::string&>();
  }
}

void Read(const Json& object, std::string_view key, bool& out) {
  if (const Json& member = base::GetMember(object, key); member.is_boolean()) {
    out = member.get<bool>();
  }
}

void Read(const Json& object, std::string_view key, int& out) {
  if (base::GetMember(object, key).is_number_integer()) {
    out = static_cast<int>(base::GetInt(object, key));
  }
}

/// Null is "without limit", absence the default.
void Read(const Json& object, std::string_view key, std::optional<int>& out) {
  if (!object.is_object() || !object.contains(key)) return;
  out.reset();
  if (int number = 0; base::GetMember(object, key).is_number_integer()) {
    Read(object, key, number);
    out = number;
  }
}

void Read(const Json& object, std::string_view key, Duration& out) {
  if (base::GetMember(object, key).is_number_integer()) out = Duration{base::GetInt(object, key)};
}

/// Absent is none.
void Read(const Json& object, std::string_view key, std::optional<Duration>& out) {
  if (Duration limit{-1}; Read(object, key, limit), limit.count() >= 0) out = limit;
}

void Read(const Json& object, std::string_view key, std::map<std::string, std::string>& out) {
  const Json& member = base::GetMember(object, key);
  if (!member.is_object()) return;
  for (const auto& [name, value] : member.items()) {
    if (value.is_string()) out[name] = value.get_ref<const std::string&>();
  }
}

void Read(const Json& object, std::string_view key, std::vector<std::string>& out) {
  for (const Json& value : base::GetMember(object, key)) {
    if (value.is_string()) out.push_back(value.get_ref<const std::string&>());
  }
}

base::Status Read(const Json& object, std::string_view key, HostSet& out) {
  const Json& member = base::GetMember(object, key);
  if (!member.is_string()) return base::Ok();
  JM_ASSIGN_OR_RETURN(out, ParseHostSet(member.get_ref<const std::string&>()));
  return base::Ok();
}

/// The enumerator of a word; a word of a newer jobman is an error, never a guess.
template <class Enum>
base::Status ReadWord(const Json& object, std::string_view section, std::string_view key,
                      std::optional<Enum> (*from_name)(std::string_view), Enum& out) {
  const Json& member = base::GetMember(object, key);
  if (!member.is_string()) return base::Ok();
  const auto& word = member.get_ref<const std::string&>();
  const std::optional<Enum> value = from_name(word);
  if (!value) {
    return base::InvalidArgument("\"" + word + "\" is not a value of " + std::string(section) +
                                 "." + std::string(key));
  }
  out = *value;
  return base::Ok();
}

CloudSpec CloudFromJson(const Json& json) {
  CloudSpec cloud;
  Read(json, "endpoint", cloud.endpoint);
  Read(json, "token_file", cloud.token_file);
  Read(json, "token_command", cloud.token_command);
  return cloud;
}

base::Result<TpuSpec> TpuFromJson(const Json& json) {
  TpuSpec tpu;
  JM_TRY(ReadWord(json, "tpu", "allocation_mode", &AllocationModeFromName, tpu.allocation_mode));
  JM_TRY(ReadWord(json, "tpu", "pricing", &PricingFromName, tpu.pricing));
  Read(json, "accelerator", tpu.accelerator);
  Read(json, "num_slices", tpu.num_slices);
  Read(json, "name", tpu.name);
  Read(json, "project", tpu.project);
  Read(json, "zone", tpu.zone);
  Read(json, "version", tpu.version);
  Read(json, "reservation", tpu.reservation);
  Read(json, "network", tpu.network);
  Read(json, "subnetwork", tpu.subnetwork);
  Read(json, "external_ips", tpu.external_ips);
  Read(json, "service_account", tpu.service_account);
  Read(json, "tags", tpu.tags);
  Read(json, "labels", tpu.labels);
  Read(json, "metadata", tpu.metadata);
  Read(json, "startup_script", tpu.startup_script);
  Read(json, "valid_for_ms", tpu.valid_for);
  if (std::optional<Duration> until; Read(json, "valid_until_ms", until), until) {
    tpu.valid_until = TimePoint{*until};
  }
  return tpu;
}

SshSpec SshFromJson(const Json& json) {
  SshSpec ssh;
  Read(json, "user", ssh.user);
  Read(json, "private_key", ssh.private_key);
  Read(json, "port", ssh.port);
  return ssh;
}

base::Result<std::vector<SetupStep>> SetupFromJson(const Json& json) {
  std::vector<SetupStep> steps;
  if (!json.is_array()) return steps;
  for (const Json& item : json) {
    SetupStep step;
    Read(item, "name", step.name);
    Read(item, "run", step.run);
    Read(item, "required", step.required);
    JM_TRY(Read(item, "hosts", step.hosts));
    Read(item, "timeout_ms", step.timeout);
    steps.push_back(std::move(step));
  }
  return steps;
}

base::Result<CommandSpec> CommandFromJson(const Json& json) {
  CommandSpec command;
  Read(json, "cmd", command.cmd);
  JM_TRY(Read(json, "workers", command.workers));
  Read(json, "workdir", command.workdir);
  Read(json, "env", command.env);
  Read(json, "grace_ms", command.grace);
  const Json& on_notice = base::GetMember(json, "on_notice");
  Read(on_notice, "signal", command.on_notice.signal);
  Read(on_notice, "grace_ms", command.on_notice.grace);
  for (const Json& item : base::GetMember(json, "secrets")) {
    SecretRef secret;
    Read(item, "name", secret.name);
    Read(item, "file", secret.file);
    command.secrets.push_back(std::move(secret));
  }
  return command;
}

RetrySpec RetriesFromJson(const Json& json) {
  RetrySpec retries;
  Read(json, "preemption", retries.preemption);
  Read(json, "failure", retries.failure);
  Read(json, "infra", retries.infra);
  Read(json, "backoff_ms", retries.backoff);
  Read(json, "backoff_cap_ms", retries.backoff_cap);
  return retries;
}

base::Result<WatchdogSpec> WatchdogFromJson(const Json& json) {
  WatchdogSpec watchdog;
  Read(json, "no_output_ms", watchdog.no_output);
  Read(json, "max_duration_ms", watchdog.max_duration);
  JM_TRY(
      ReadWord(json, "watchdog", "on_no_output", &WatchdogActionFromName, watchdog.on_no_output));
  JM_TRY(ReadWord(json, "watchdog", "on_max_duration", &WatchdogActionFromName,
                  watchdog.on_max_duration));
  for (const Json& item : base::GetMember(json, "bad_output")) {
    OutputRule rule;
    Read(item, "match", rule.match);
    JM_TRY(ReadWord(item, "watchdog.bad_output", "do", &WatchdogActionFromName, rule.action));
    watchdog.bad_output.push_back(std::move(rule));
  }
  return watchdog;
}

}  // namespace

Json SpecToJson(const JobSpec& spec) {
  Json setup = Json::array();
  for (const SetupStep& step : spec.setup) setup.push_back(StepToJson(step));
  return {
      {"name", spec.name},
      {"labels", spec.labels},
      {"environment", spec.environment},
      {"worker_num", ToJson(spec.worker_num)},
      {"cloud", CloudToJson(spec.cloud)},
      {"tpu", TpuToJson(spec.tpu)},
      {"ssh",
       {{"user", spec.ssh.user}, {"private_key", spec.ssh.private_key}, {"port", spec.ssh.port}}},
      {"setup", setup},
      {"command", CommandToJson(spec.command)},
      {"retries", RetriesToJson(spec.retries)},
      {"watchdog", WatchdogToJson(spec.watchdog)},
      {"hooks", HooksToJson(spec.hooks)},
      {"smtp", SmtpToJson(spec.smtp)}};
}

base::Result<JobSpec> SpecFromJson(const Json& json) {
  if (!json.is_object()) return base::InvalidArgument("a job spec is a JSON object");
  JobSpec spec;
  Read(json, "name", spec.name);
  Read(json, "labels", spec.labels);
  Read(json, "environment", spec.environment);
  Read(json, "worker_num", spec.worker_num);
  spec.cloud = CloudFromJson(base::GetMember(json, "cloud"));
  JM_ASSIGN_OR_RETURN(spec.tpu, TpuFromJson(base::GetMember(json, "tpu")));
  spec.ssh = SshFromJson(base::GetMember(json, "ssh"));
  JM_ASSIGN_OR_RETURN(spec.setup, SetupFromJson(base::GetMember(json, "setup")));
  JM_ASSIGN_OR_RETURN(spec.command, CommandFromJson(base::GetMember(json, "command")));
  spec.retries = RetriesFromJson(base::GetMember(json, "retries"));
  JM_ASSIGN_OR_RETURN(spec.watchdog, WatchdogFromJson(base::GetMember(json, "watchdog")));
  JM_ASSIGN_OR_RETURN(spec.hooks, HooksFromJson(base::GetMember(json, "hooks")));
  JM_ASSIGN_OR_RETURN(spec.smtp, SmtpFromJson(base::GetMember(json, "smtp")));
  return spec;
}

}  // namespace jobman::core
