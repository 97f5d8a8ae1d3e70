#include "jobman/core/spec_json.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "core/json_fields.hpp"

namespace jobman::core {
namespace {

using base::GetMember;
using base::Json;
using base::OrderedJson;

constexpr const char* kUnlimited = "unlimited";

// --- Writing ---

OrderedJson Encode(const std::string& text) {
  return text;
}
OrderedJson Encode(bool flag) {
  return flag;
}
OrderedJson Encode(int number) {
  return number;
}
OrderedJson Encode(std::int64_t number) {
  return number;
}
OrderedJson Encode(Duration duration) {
  return base::FormatExactDuration(duration);
}
OrderedJson Encode(TimePoint time) {
  return base::FormatRfc3339(time);
}
OrderedJson Encode(const HostSet& hosts) {
  return HostSetText(hosts);
}
OrderedJson Encode(const std::map<std::string, std::string>& map) {
  return map;
}
template <class Enum>
requires std::is_enum_v<Enum> OrderedJson Encode(Enum value) {
  return WordOf(value);
}
OrderedJson Encode(const HasFields auto& object);
template <class T>
OrderedJson Encode(const std::optional<T>& value) {
  return Encode(*value);
}
template <class T>
OrderedJson Encode(const std::vector<T>& list) {
  OrderedJson json = OrderedJson::array();
  for (const T& item : list) json.push_back(Encode(item));
  return json;
}
/// Grouped by event.
OrderedJson Encode(const std::vector<HookSpec>& hooks) {
  OrderedJson json = OrderedJson::object();
  for (const HookSpec& hook : hooks) json[std::string(WordOf(hook.event))].push_back(Encode(hook));
  return json;
}

template <class T>
bool IsEmpty(const T& value) {
  if constexpr (requires { value.empty(); }) return value.empty();
  return false;
}
template <class T>
bool IsEmpty(const std::optional<T>& value) {
  return !value;
}

/// Writes the fields of a struct.
template <class T>
class Encoder {
 public:
  Encoder(const T& object, OrderedJson& json) : object_(object), json_(json) {}

  template <class Value>
  void operator()(std::string_view key, Value T::*member) {
    if (!IsEmpty(object_.*member)) Put(key, Encode(object_.*member));
  }
  template <class Member>
  void operator()(std::string_view key, OrUnlimited<Member> limit) {
    const auto& number = object_.*limit.member;
    Put(key, number ? Encode(*number) : kUnlimited);
  }
  template <class First, class Second>
  void operator()(std::string_view key, OneOf<First, Second> either) {
    (*this)(key, either.first);
    (*this)(key, either.second);
  }
  template <class Member, class Needed>
  void operator()(std::string_view key, With<Member, Needed> with) {
    if (!IsEmpty(object_.*with.needed)) (*this)(key, with.member);
  }

 private:
  void Put(std::string_view key, OrderedJson value) {
    if (value.is_object() && value.empty()) return;
    const std::size_t dot = key.find('.');
    OrderedJson& place =
        dot == std::string_view::npos ? json_ : json_[std::string(key.substr(0, dot))];
    place[std::string(key.substr(dot + 1))] = std::move(value);
  }

  const T& object_;
  OrderedJson& json_;
};

OrderedJson Encode(const HasFields auto& object) {
  OrderedJson json = OrderedJson::object();
  std::remove_cvref_t<decltype(object)>::Fields(Encoder(object, json));
  return json;
}

// --- Reading: whether the value is one of the type ---

/// The keys of a struct; "job." for "job.name", which is within a map.
template <HasFields T>
const std::set<std::string, std::less<>>& KeysOf() {
  static const auto kKeys = [] {
    std::set<std::string, std::less<>> keys;
    T::Fields([&keys](std::string_view key, auto) {
      keys.emplace(key);
      if (const auto dot = key.find('.'); dot != key.npos) keys.emplace(key.substr(0, dot + 1));
    });
    return keys;
  }();
  return kKeys;
}

/// Reads JSON into a struct; stops at the first unknown key or value.
class Decoder {
 public:
  /// The error for the unknown key or value.
  base::Error Problem() const {
    return bad_value_ ? UnknownWord("value of " + bad_key_, *bad_value_)
                      : UnknownWord("key", bad_key_);
  }

  bool Read(const Json& json, HasFields auto& object) {
    using Struct = std::remove_cvref_t<decltype(object)>;
    if (!json.is_object()) return false;
    bool fine = true;
    std::size_t known = 0;  // members of `json` itself
    Struct::Fields([&](std::string_view key, auto member) {
      const std::size_t dot = key.find('.');
      const bool own = dot == std::string_view::npos;
      const Json& value = GetMember(own ? json : GetMember(json, key.substr(0, dot)),
                                    own ? key : key.substr(dot + 1));
      if (value.is_null()) return;
      if (own) ++known;
      if (fine) fine = ReadMember(value, object, member) || Bad(key, &value);
    });
    return fine && (known == json.size() || KnowsKeys<Struct>(json));
  }

 private:
  template <class T, class Value>
  bool ReadMember(const Json& json, T& object, Value T::*member) {
    return Read(json, object.*member);
  }
  template <class T, class First, class Second>
  bool ReadMember(const Json& json, T& object, OneOf<First, Second> either) {
    return Read(json, object.*either.first) || Read(json, object.*either.second);
  }
  template <class T, class Member, class Needed>
  bool ReadMember(const Json& json, T& object, With<Member, Needed> with) {
    return Read(json, object.*with.member);
  }
  template <class T, class Member>
  bool ReadMember(const Json& json, T& object, OrUnlimited<Member> limit) {
    auto& number = object.*limit.member;
    number.reset();
    return json == kUnlimited || Read(json, number.emplace());
  }

  template <class T>
  bool KnowsKeys(const Json& json) {
    const auto& keys = KeysOf<T>();
    for (const auto& [key, value] : json.items()) {
      if (keys.contains(key)) continue;
      if (!keys.contains(key + ".")) return Bad(key);
      if (!value.is_object()) return Bad(key, &value);
      for (const auto& [inner, ignored] : value.items()) {
        if (!keys.contains(key + "." + inner)) return Bad(key + "." + inner);
      }
    }
    return true;
  }

  static const std::string* TextOf(const Json& json) { return json.get_ptr<const std::string*>(); }
  template <class T>
  static bool Take(const base::Result<T>& parsed, T& value) {
    if (parsed.ok()) value = *parsed;
    return parsed.ok();
  }

  bool Read(const Json& json, std::string& text) {
    if (json.is_string()) text = *TextOf(json);
    return json.is_string();
  }
  bool Read(const Json& json, bool& flag) {
    if (json.is_boolean()) flag = json.get<bool>();
    return json.is_boolean();
  }
  bool Read(const Json& json, int& number) {
    if (!json.is_number_integer()) return false;
    const auto whole = json.get<std::int64_t>();
    number = static_cast<int>(whole);
    return number == whole;
  }
  bool Read(const Json& json, std::int64_t& number) {
    if (json.is_number_integer()) number = json.get<std::int64_t>();
    return json.is_number_integer();
  }
  bool Read(const Json& json, Duration& duration) {
    return json.is_string() && Take(base::ParseDuration(*TextOf(json)), duration);
  }
  bool Read(const Json& json, TimePoint& time) {
    return json.is_string() && Take(base::ParseRfc3339(*TextOf(json)), time);
  }
  bool Read(const Json& json, HostSet& hosts) {
    return json.is_string() && Take(ParseHostSet(*TextOf(json)), hosts);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  bool Read(const Json& json, Enum& value) {
    const auto known = json.is_string() ? FromWord<Enum>(*TextOf(json)) : std::nullopt;
    value = known.value_or(value);
    return known.has_value();
  }
  template <class T>
  bool Read(const Json& json, std::optional<T>& value) {
    T read = {};
    const bool fine = Read(json, read);
    if (fine) value = std::move(read);
    return fine;
  }
  bool Read(const Json& json, std::map<std::string, std::string>& map) {
    if (!json.is_object()) return false;
    for (const auto& [name, value] : json.items()) {
      if (!Read(value, map[name])) return Bad(name, &value);
    }
    return true;
  }
  template <class T>
  bool Read(const Json& json, std::vector<T>& list) {
    if (!json.is_array()) return false;
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (!Read(json[i], list.emplace_back())) return Bad("[" + std::to_string(i) + "]", &json[i]);
    }
    return true;
  }
  bool Read(const Json& json, std::vector<HookSpec>& hooks) {
    if (!json.is_object()) return false;
    for (const auto& [word, list] : json.items()) {
      const auto event = FromWord<HookEvent>(word);
      if (!event) return Bad(word);
      std::vector<HookSpec> told;
      if (!Read<HookSpec>(list, told)) return Bad(word, &list);
      for (HookSpec& hook : told) hook.event = *event;
      hooks.insert(hooks.end(), told.begin(), told.end());
    }
    std::stable_sort(hooks.begin(), hooks.end(),
                     [](const HookSpec& a, const HookSpec& b) { return a.event < b.event; });
    return true;
  }

  /// Returns false. Records the bad value and, on the way out, the keys around it.
  bool Bad(const std::string_view key, const Json* value = nullptr) {
    if (bad_key_.empty() && value != nullptr) {
      constexpr auto kReplace = Json::error_handler_t::replace;
      bad_value_ = value->is_string() ? *TextOf(*value) : value->dump(-1, ' ', false, kReplace);
    }
    const bool joined = bad_key_.empty() || bad_key_.starts_with('[');
    bad_key_ = std::string(key) + (joined ? "" : ".") + bad_key_;
    return false;
  }

  std::string bad_key_ = {};
  std::optional<std::string> bad_value_ = {};
};

}  // namespace

base::OrderedJson SpecToJson(const JobSpec& spec) {
  return Encode(spec);
}

base::Result<JobSpec> SpecFromJson(const Json& json) {
  JobSpec spec;
  Decoder decoder;
  if (!json.is_object()) return base::InvalidArgument("a job spec is a JSON object");
  if (!decoder.Read(json, spec)) return decoder.Problem();
  return spec;
}

base::OrderedJson TaskDefinitionToJson(const TaskDefinition& definition) {
  return Encode(definition);
}

base::Result<TaskDefinition> TaskDefinitionFromJson(const Json& json) {
  TaskDefinition definition;
  Decoder decoder;
  if (!json.is_object()) return base::InvalidArgument("a task is a JSON object");
  if (!decoder.Read(json, definition)) return decoder.Problem();
  return definition;
}

}  // namespace jobman::core
