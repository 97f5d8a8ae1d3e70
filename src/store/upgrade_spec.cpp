#include "store/upgrade_spec.hpp"

#include <iterator>
#include <string>
#include <utility>

#include "jobman/base/time.hpp"

namespace jobman::store {
namespace {

using base::GetMember;
using base::GetString;
using base::Json;

bool IsEmpty(const Json& value) {
  return value.is_null() || value == "" || (value.is_structured() && value.empty());
}

/// Maps with keys chosen by the user.
bool IsUsersMap(std::string_view key) {
  return key == "labels" || key == "environment" || key == "env" || key == "metadata";
}

/// Drops empty members; milliseconds become text: "grace_ms": 1500 is "grace": "1s500ms".
Json Compact(const Json& old) {
  constexpr std::string_view kMillis = "_ms";
  if (!old.is_structured()) return old;
  Json compact = old.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : old.items()) {
    if (old.is_array()) {
      compact.push_back(Compact(value));
    } else if (key.ends_with(kMillis) && value.is_number_integer()) {
      const base::Duration duration{value.get<std::int64_t>()};
      compact[key.substr(0, key.size() - kMillis.size())] = base::FormatExactDuration(duration);
    } else if (Json inner = IsUsersMap(key) ? value : Compact(value); !IsEmpty(inner)) {
      compact[key] = std::move(inner);
    }
  }
  return compact;
}

void Move(Json& object, const char* from, Json& to, const char* key) {
  if (!object.is_object() || !object.contains(from)) return;
  Json value = std::move(object[from]);
  object.erase(from);
  to[key] = std::move(value);
}

/// {name, file}, of which `file` took precedence, becomes {env} or {file}.
void UpgradeSource(Json& holder, const char* key) {
  if (!GetMember(holder, key).is_object()) return;
  Json& source = holder[key];
  Move(source, "name", source, "env");
  if (source.contains("file")) source.erase("env");
}

void UpgradeTpu(const Json& old, Json& tpu) {
  Move(tpu, "valid_for", tpu, "valid_until");
  if (!GetMember(old, "valid_until_ms").is_number_integer()) return;
  const std::int64_t millis = base::GetInt(old, "valid_until_ms");
  tpu["valid_until"] = base::FormatRfc3339(base::FromMillis(millis));
}

void UpgradeWatchdog(Json& spec) {
  Json& watchdog = spec["watchdog"];
  for (const std::string limit : {"no_output", "max_duration"}) {
    Json map = Json::object();
    Move(watchdog, limit.c_str(), map, "after");
    Move(watchdog, ("on_" + limit).c_str(), map, "do");
    if (map.contains("after")) watchdog[limit] = std::move(map);
  }
  if (watchdog.empty()) spec.erase("watchdog");
}

void UpgradeHooks(Json& spec) {
  const Json hooks = std::move(spec["hooks"]);
  spec.erase("hooks");
  for (Json hook : hooks) {
    if (!hook.is_object()) continue;
    const std::string event = GetString(hook, "event");
    hook.erase("kind");
    hook.erase("event");
    Move(hook, "command", hook, "run");
    Move(hook, "folder", hook, "workdir");
    Move(hook, "mail_to", hook, "mail");
    UpgradeSource(hook, "token");
    UpgradeSource(hook, "url_from");
    Move(hook, hook.contains("url") ? "url" : "url_from", hook, "post");
    hook.erase("url_from");
    spec["on"][event].push_back(std::move(hook));
  }
}

}  // namespace

Json UpgradeSpec(const Json& old) {
  if (!old.is_object()) return old;
  Json spec = Compact(old);
  spec.erase("worker_num");  // it was the number of hosts that were expected
  spec["job"] = Json::object();
  for (const char* key : {"name", "environment", "labels"}) {
    Move(spec, key, spec["job"], key);
  }
  UpgradeTpu(GetMember(old, "tpu"), spec["tpu"]);
  for (const char* key : {"preemption", "failure", "infra"}) {
    const Json& retries = GetMember(old, "retries");
    if (retries.contains(key) && retries[key].is_null()) spec["retries"][key] = "unlimited";
  }
  UpgradeWatchdog(spec);
  UpgradeHooks(spec);
  if (GetString(GetMember(spec, "smtp"), "host").empty()) spec.erase("smtp");
  UpgradeSource(spec["smtp"], "password");
  for (auto member = spec.begin(); member != spec.end();) {
    member = IsEmpty(*member) ? spec.erase(member) : std::next(member);
  }
  return spec;
}

}  // namespace jobman::store
