#include "config/resolved.hpp"

#include <fmt/format.h>

namespace jobman::config {
namespace {

using base::OrderedJson;

/// Exact, unlike base::FormatDuration().
std::string DurationText(base::Duration duration) {
  const auto millis = duration.count();
  return millis % 1000 == 0 ? fmt::format("{}s", millis / 1000) : fmt::format("{}ms", millis);
}

OrderedJson CountOf(const std::optional<int>& count) {
  return count ? OrderedJson(*count) : OrderedJson("unlimited");
}

void PutText(OrderedJson& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

template <class Container>
void PutAll(OrderedJson& object, const char* key, const Container& container) {
  if (!container.empty()) object[key] = container;
}

OrderedJson JobOf(const core::JobSpec& spec) {
  OrderedJson job = {{"name", spec.name}};
  if (spec.worker_num) job["worker_num"] = *spec.worker_num;
  PutAll(job, "environment", spec.environment);
  PutAll(job, "labels", spec.labels);
  return job;
}

OrderedJson CloudOf(const core::CloudSpec& spec) {
  OrderedJson cloud = {{"endpoint", spec.endpoint}};
  PutText(cloud, "token_file", spec.token_file);
  PutText(cloud, "token_command", spec.token_command);
  return cloud;
}

OrderedJson TpuOf(const core::TpuSpec& spec) {
  OrderedJson tpu;
  tpu["allocation_mode"] = core::AllocationModeName(spec.allocation_mode);
  tpu["accelerator"] = spec.accelerator;
  if (spec.num_slices != 1) tpu["num_slices"] = spec.num_slices;
  PutText(tpu, "name", spec.name);
  tpu["zone"] = spec.zone;
  tpu["version"] = spec.version;
  tpu["pricing"] = core::PricingName(spec.pricing);
  PutText(tpu, "reservation", spec.reservation);
  PutText(tpu, "network", spec.network);
  PutText(tpu, "subnetwork", spec.subnetwork);
  tpu["external_ips"] = spec.external_ips;
  PutText(tpu, "service_account", spec.service_account);
  PutAll(tpu, "tags", spec.tags);
  PutAll(tpu, "labels", spec.labels);
  PutAll(tpu, "metadata", spec.metadata);
  PutText(tpu, "startup_script", spec.startup_script);
  if (spec.valid_for) tpu["valid_until"] = DurationText(*spec.valid_for);
  if (spec.valid_until) tpu["valid_until"] = base::FormatRfc3339(*spec.valid_until);
  tpu["project"] = spec.project;
  return tpu;
}

OrderedJson SetupOf(const std::vector<core::SetupStep>& steps) {
  OrderedJson setup = OrderedJson::array();
  for (const core::SetupStep& step : steps) {
    OrderedJson json;
    json["name"] = step.name;
    json["run"] = step.run;
    json["hosts"] = core::HostSetText(step.hosts);
    json["required"] = step.required;
    if (step.timeout) json["timeout"] = DurationText(*step.timeout);
    setup.push_back(std::move(json));
  }
  return setup;
}

OrderedJson CommandOf(const core::CommandSpec& spec) {
  OrderedJson command;
  command["cmd"] = spec.cmd;
  command["workers"] = core::HostSetText(spec.workers);
  PutText(command, "workdir", spec.workdir);
  PutAll(command, "env", spec.env);
  for (const core::SecretRef& secret : spec.secrets) {
    OrderedJson json = secret.name;
    if (!secret.file.empty()) json = {{"name", secret.name}, {"file", secret.file}};
    command["secrets"].push_back(std::move(json));
  }
  command["grace"] = DurationText(spec.grace);
  command["on_notice"] = {{"signal", spec.on_notice.signal},
                          {"grace", DurationText(spec.on_notice.grace)}};
  return command;
}

OrderedJson RetriesOf(const core::RetrySpec& spec) {
  OrderedJson retries;
  retries["preemption"] = CountOf(spec.preemption);
  retries["failure"] = CountOf(spec.failure);
  retries["infra"] = CountOf(spec.infra);
  retries["backoff"] = DurationText(spec.backoff);
  return retries;
}

/// In the short form where it says all.
OrderedJson LimitOf(base::Duration after, core::WatchdogAction action, core::WatchdogAction usual) {
  if (action == usual) return DurationText(after);
  return {{"after", DurationText(after)}, {"do", core::WatchdogActionName(action)}};
}

OrderedJson WatchdogOf(const core::WatchdogSpec& spec) {
  const core::WatchdogSpec usual;
  OrderedJson watchdog;
  if (spec.no_output) {
    watchdog["no_output"] = LimitOf(*spec.no_output, spec.on_no_output, usual.on_no_output);
  }
  for (const core::OutputRule& rule : spec.bad_output) {
    OrderedJson json = rule.match;
    if (rule.action != core::OutputRule{}.action) {
      json = {{"match", rule.match}, {"do", core::WatchdogActionName(rule.action)}};
    }
    watchdog["bad_output"].push_back(std::move(json));
  }
  if (spec.max_duration) {
    watchdog["max_duration"] =
        LimitOf(*spec.max_duration, spec.on_max_duration, usual.on_max_duration);
  }
  return watchdog;
}

OrderedJson SourceOf(const core::SecretRef& source) {
  if (!source.file.empty()) return {{"file", source.file}};
  return {{"env", source.name}};
}

OrderedJson HookOf(const core::HookSpec& hook) {
  OrderedJson json;
  if (hook.kind == core::HookKind::kCommand) json["run"] = hook.command;
  if (hook.kind == core::HookKind::kMail) json["mail"] = hook.mail_to;
  if (hook.kind == core::HookKind::kWebhook) {
    json["post"] = hook.url.empty() ? SourceOf(hook.url_from) : OrderedJson(hook.url);
  }
  if (!hook.token.empty()) json["token"] = SourceOf(hook.token);
  json["timeout"] = DurationText(hook.timeout);
  return json;
}

OrderedJson SmtpOf(const core::SmtpSpec& spec) {
  OrderedJson smtp = {{"host", spec.host},
                      {"port", spec.port},
                      {"tls", core::SmtpTlsName(spec.tls)},
                      {"from", spec.from}};
  PutText(smtp, "user", spec.user);
  if (!spec.password.empty()) smtp["password"] = SourceOf(spec.password);
  return smtp;
}

/// Walks the leaves of the resolved job and names their origins.
class OriginFinder {
 public:
  OriginFinder(const Value& root, const std::map<std::string, std::string>& notes,
               const Diagnostics& sources)
      : root_(root), notes_(notes), sources_(sources) {}

  void Visit(const OrderedJson& json, const std::string& path, std::vector<Origin>& out) const {
    if (!json.is_structured()) {
      out.push_back({.path = path, .where = WhereIs(path)});
      return;
    }
    std::size_t index = 0;
    for (const auto& item : json.items()) {
      const std::string child = json.is_array() ? fmt::format("{}[{}]", path, index++)
                                : path.empty()  ? item.key()
                                                : path + "." + item.key();
      Visit(item.value(), child, out);
    }
  }

 private:
  std::string WhereIs(const std::string& path) const {
    const Value* value = FindAt(root_, SplitPath(path));
    const bool given = value != nullptr && !value->is_null();
    if (given) return sources_.Where(value->pos.line > 0 ? value->pos : value->key_pos);
    const auto note = notes_.find(path);
    return note == notes_.end() ? "default" : note->second;
  }

  const Value& root_;
  const std::map<std::string, std::string>& notes_;
  const Diagnostics& sources_;
};

}  // namespace

base::OrderedJson ToJobFile(const core::JobSpec& spec) {
  OrderedJson file;
  file["job"] = JobOf(spec);
  file["cloud"] = CloudOf(spec.cloud);
  file["tpu"] = TpuOf(spec.tpu);
  file["ssh"] = {
      {"user", spec.ssh.user}, {"private_key", spec.ssh.private_key}, {"port", spec.ssh.port}};
  if (!spec.setup.empty()) file["setup"] = SetupOf(spec.setup);
  file["command"] = CommandOf(spec.command);
  file["retries"] = RetriesOf(spec.retries);
  if (!(spec.watchdog == core::WatchdogSpec{})) file["watchdog"] = WatchdogOf(spec.watchdog);
  for (const core::HookSpec& hook : spec.hooks) {
    file["on"][std::string(core::HookEventName(hook.event))].push_back(HookOf(hook));
  }
  if (!spec.smtp.host.empty()) file["smtp"] = SmtpOf(spec.smtp);
  return file;
}

std::vector<Origin> OriginsOf(const base::OrderedJson& resolved, const Value& root,
                              const std::map<std::string, std::string>& notes,
                              const Diagnostics& sources) {
  std::vector<Origin> origins;
  OriginFinder(root, notes, sources).Visit(resolved, "", origins);
  return origins;
}

}  // namespace jobman::config
