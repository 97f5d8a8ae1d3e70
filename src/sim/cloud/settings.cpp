#include "sim/cloud/settings.hpp"

#include <fmt/format.h>

#include <functional>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

using base::InvalidArgument;
using base::Status;

namespace {

/// One setting: how to write and read it.
struct Field {
  std::function<Json()> get;
  std::function<Status(const Json&)> set;
};
using Fields = std::map<std::string, Field>;

Status Wrong(const std::string& expected, const Json& got) {
  return InvalidArgument(fmt::format("{} is expected, not {}", expected, got.dump()));
}

bool IsCount(const Json& json) {
  return json.is_number_integer() && json.get<std::int64_t>() >= 0;
}

std::string DurationText(Duration duration) {
  return fmt::format("{}ms", duration.count());
}

Field Of(Duration& value) {
  return {[&value] { return Json(DurationText(value)); },
          [&value](const Json& json) -> Status {
            const std::string text = json.is_string() ? json.get<std::string>() : json.dump();
            JM_ASSIGN_OR_RETURN(value, base::ParseDuration(text));
            return base::Ok();
          }};
}

Field Of(bool& value) {
  return {[&value] { return Json(value); },
          [&value](const Json& json) -> Status {
            if (!json.is_boolean()) return Wrong("true or false", json);
            value = json.get<bool>();
            return base::Ok();
          }};
}

Field Of(std::int64_t& value) {
  return {[&value] { return Json(value); },
          [&value](const Json& json) -> Status {
            if (!IsCount(json)) return Wrong("a number from 0", json);
            value = json.get<std::int64_t>();
            return base::Ok();
          }};
}

Field Of(std::string& value) {
  return {[&value] { return Json(value); },
          [&value](const Json& json) -> Status {
            value = json.is_string() ? json.get<std::string>() : json.dump();
            return base::Ok();
          }};
}

Field Of(std::map<std::string, std::int64_t>& value) {
  const auto set = [&value](const Json& json) -> Status {
    if (!json.is_object()) return Wrong("an object like {\"us-central2-b/v4\": 64}", json);
    for (const auto& [key, limit] : json.items()) {
      if (limit.is_null()) {
        value.erase(key);
      } else if (!IsCount(limit) || !base::Contains(key, "/")) {
        return InvalidArgument(fmt::format("{}={} is not NAME/NAME=NUMBER", key, limit.dump()));
      } else {
        value[key] = limit.get<std::int64_t>();
      }
    }
    return base::Ok();
  };
  return {[&value] { return Json(value); }, set};
}

Field Of(std::set<std::string>& value) {
  return {[&value] { return Json(value); },
          [&value](const Json& json) -> Status {
            if (!json.is_array()) return Wrong("a list", json);
            value.clear();
            for (const Json& item : json)
              value.insert(item.is_string() ? item.get<std::string>() : item.dump());
            return base::Ok();
          }};
}

Json Write(const Fields& fields) {
  Json object = Json::object();
  for (const auto& [name, field] : fields) object[name] = field.get();
  return object;
}

Status Read(const Fields& fields, const Json& patch) {
  if (!patch.is_object()) return Wrong("an object", patch);
  for (const auto& [name, value] : patch.items()) {
    const auto found = fields.find(name);
    if (found == fields.end()) {
      std::vector<std::string> known;
      for (const auto& [field, unused] : fields) known.push_back(field);
      return InvalidArgument("there is no setting " + name,
                             "known here: " + base::Join(known, ", "));
    }
    if (auto set = found->second.set(value); !set.ok()) return std::move(set).error().With(name);
  }
  return base::Ok();
}

Fields FieldsOf(Delays& d) {
  return {{"accept", Of(d.accept)},
          {"queue", Of(d.queue)},
          {"provision", Of(d.provision)},
          {"create", Of(d.create)},
          {"delete", Of(d.remove)},
          {"suspend", Of(d.suspend)},
          {"start", Of(d.start)},
          {"stop", Of(d.stop)},
          {"update", Of(d.update)},
          {"reset", Of(d.reset)},
          {"maintenance", Of(d.maintenance)}};
}

Fields FieldsOf(Guesses& g) {
  return {{"queue_state", Of(g.queue_state)},
          {"suspended_keeps_nodes", Of(g.suspended_keeps_nodes)},
          {"waiting_holds_quota", Of(g.waiting_holds_quota)},
          {"request_id_deduplicates", Of(g.request_id_deduplicates)},
          {"queued_zone_wildcard", Of(g.queued_zone_wildcard)},
          {"operation_metadata", Of(g.operation_metadata)},
          {"create_visible_after", Of(g.create_visible_after)},
          {"force_needed", Of(g.force_needed)},
          {"stop_refused", Of(g.stop_refused)},
          {"spot_stop_refused", Of(g.spot_stop_refused)}};
}

/// A group of fields as one field. A single value sets all of them: "delays": "0".
Field Group(Fields fields) {
  return {[fields] { return Write(fields); },
          [fields](const Json& json) -> Status {
            if (json.is_object()) return Read(fields, json);
            for (const auto& [name, field] : fields) JM_TRY(field.set(json));
            return base::Ok();
          }};
}

Fields FieldsOf(Settings& s) {
  return {{"delays", Group(FieldsOf(s.delays))},
          {"guesses", Group(FieldsOf(s.guesses))},
          {"quota", Of(s.quota)},
          {"stock", Of(s.stock)},
          {"requests_per_minute", Of(s.requests_per_minute)},
          {"reservations", Of(s.reservations)},
          {"types", Of(s.types)},
          {"addresses", Of(s.addresses)},
          {"disk_gb", Of(s.disk_gb)},
          {"denied_zones", Of(s.denied_zones)},
          {"page_size", Of(s.pages.usual)},
          {"max_page_size", Of(s.pages.most)},
          {"loose", Of(s.loose)}};
}

}  // namespace

Json ToJson(const Settings& settings) {
  Settings copy = settings;
  return Write(FieldsOf(copy));
}

Status ApplySettings(Settings& settings, const Json& patch) {
  Settings changed = settings;
  JM_TRY(Read(FieldsOf(changed), patch));
  settings = std::move(changed);
  return base::Ok();
}

base::Result<Json> SettingPatch(const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return InvalidArgument("\"" + assignment + "\" is not KEY=VALUE",
                           "for example delays.create=2s");
  }
  const std::string value = assignment.substr(equals + 1);
  Json patch = ParseJson(value).value_or(Json(value));
  std::vector<std::string> keys = base::Split(assignment.substr(0, equals), '.');
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) patch = Json{{*key, std::move(patch)}};
  return patch;
}

}  // namespace jobman::sim
