#include "tests/conformance/discovery.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <ostream>
#include <regex>

#include "jobman/base/check.hpp"
#include "tests/conformance/partial_reply.hpp"

namespace jobman::conformance {

namespace {

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool Fits(const std::string& text, const std::string& pattern) {
  static std::map<std::string, std::regex> compiled;
  return std::regex_match(text, compiled.try_emplace(pattern, pattern).first->second);
}

std::string WordIn(const Json& spec, const char* key) {
  return spec.contains(key) ? spec[key].get<std::string>() : std::string();
}

bool IsSet(const Json& spec, const char* key) {
  return spec.contains(key) && spec[key] == true;
}

/// What proto3 JSON leaves out.
bool IsDefault(const Json& spec, const Json& value) {
  if (spec.contains("enum") && value == spec["enum"][0]) return true;
  if (WordIn(spec, "format") == "int64" && value == "0") return true;
  return value == false || value == 0 || value == "" || (value.is_array() && value.empty());
}

/// Whether an integer fits into the format, of 32 bits.
bool IsInteger(const Json& value, const std::string& format) {
  if (!value.is_number_integer()) return false;
  const auto number = value.get<std::int64_t>();
  if (format == "uint32") return number >= 0 && number <= std::numeric_limits<std::uint32_t>::max();
  return number >= std::numeric_limits<std::int32_t>::min() &&
         number <= std::numeric_limits<std::int32_t>::max();
}

/// What text of a format looks like; empty for one that is not known.
std::string PatternOf(const std::string& format) {
  static const std::string kTime =
      "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]([.][0-9]{1,9})?";
  static const std::map<std::string, std::string> kPatterns = {
      {"int64", "-?[0-9]{1,19}"},
      {"uint64", "[0-9]{1,20}"},
      {"byte", "([A-Za-z0-9+/_-]{4})*([A-Za-z0-9+/_-]{2}==|[A-Za-z0-9+/_-]{3}=)?"},
      {"google-datetime", kTime + "Z"},
      {"date-time", kTime + "(Z|[+-][0-2][0-9]:[0-5][0-9])"},
      {"date", "[0-9]{4}-[01][0-9]-[0-3][0-9]"},
      {"google-duration", "-?[0-9]{1,12}([.][0-9]{1,9})?s"}};
  const auto found = kPatterns.find(format);
  return found == kPatterns.end() ? std::string() : found->second;
}

/// Looks at one message, in one direction.
class Judge {
 public:
  Judge(const std::string& version, bool request)
      : version_(version),
        messages_(Document(version)["messages"]),
        request_(request),
        shows_defaults_(IsSet(Document(version), "shows_defaults")) {}

  void Message(const std::string& at, const std::string& name, const Json& value);
  void Value(const std::string& at, const Json& spec, const Json& value);
  /// A query parameter, percent-decoded. `message`: of the body, to which a field mask applies.
  void Parameter(const std::string& at, const Json& spec, const std::string& text,
                 const std::string& message);
  void Say(std::string at, std::string what) {
    faults.push_back({.at = std::move(at), .what = std::move(what)});
  }

  Faults faults = {};

 private:
  void Any(const std::string& at, Json value);
  void String(const std::string& at, const Json& spec, const std::string& text);
  void Mask(const std::string& at, const std::string& text, const std::string& message);

  std::string version_;
  const Json& messages_;
  bool request_;
  bool shows_defaults_;
};

void Judge::Message(const std::string& at, const std::string& name, const Json& value) {
  if (!value.is_object()) return Say(at, "is not an object, but " + value.dump());
  const Json& fields = messages_.at(name);
  for (const auto& [key, member] : value.items()) {
    const std::string inner = at + "." + key;
    if (!fields.contains(key)) {
      Say(inner, name + " has no such field in " + version_);
      continue;
    }
    if (request_ && IsSet(fields[key], "readOnly")) Say(inner, "only the service sets it");
    if (!request_ && !shows_defaults_ && IsDefault(fields[key], member))
      Say(inner, "a default is shown: " + member.dump());
    Value(inner, fields[key], member);
  }
}

void Judge::Value(const std::string& at, const Json& spec, const Json& value) {
  if (spec.contains("$ref")) return Message(at, WordIn(spec, "$ref"), value);
  const std::string type = WordIn(spec, "type");
  const auto wrong = [&] { Say(at, "is not of type " + type + ", but " + value.dump()); };
  if (type == "array") {
    if (!value.is_array()) return wrong();
    std::size_t index = 0;
    for (const Json& item : value) {
      Value(at + "[" + std::to_string(index++) + "]", spec["items"], item);
    }
  } else if (type == "object") {
    if (!value.is_object()) return wrong();
    if (!spec.contains("additionalProperties")) return;  // its fields are not in the data
    const Json& values = spec["additionalProperties"];
    if (WordIn(values, "type") == "any") return Any(at, value);
    for (const auto& [key, member] : value.items()) Value(at + "." + key, values, member);
  } else if (type == "boolean") {
    if (!value.is_boolean()) wrong();
  } else if (type == "integer") {
    if (!IsInteger(value, WordIn(spec, "format"))) wrong();
  } else if (type == "number") {
    if (!value.is_number()) wrong();
  } else if (type == "string") {
    if (!value.is_string()) return wrong();
    String(at, spec, value.get<std::string>());
  } else if (type != "any") {
    Say(at, "the judge does not know the type " + type);
  }
}

void Judge::String(const std::string& at, const Json& spec, const std::string& text) {
  if (spec.contains("enum")) {
    const Json& words = spec["enum"];
    const bool known = std::find(words.begin(), words.end(), Json(text)) != words.end();
    if (!known) Say(at, "\"" + text + "\" is not of " + spec.dump());
    return;
  }
  const std::string format = WordIn(spec, "format");
  if (format.empty() || format == "google-fieldmask") return;
  const std::string pattern = PatternOf(format);
  if (pattern.empty()) return Say(at, "the judge does not know the format " + format);
  if (!Fits(text, pattern)) Say(at, "\"" + text + "\" is not of " + spec.dump());
}

/// A message in a google.protobuf.Any. Those of google.rpc are not in the documents.
void Judge::Any(const std::string& at, Json value) {
  const std::string prefix = "type.googleapis.com/";
  const std::string ours = prefix + "google.cloud.tpu." + version_ + ".";
  const bool typed = value.contains("@type") && value["@type"].is_string();
  const std::string type = typed ? value["@type"].get<std::string>() : std::string();
  value.erase("@type");
  if (type.starts_with(ours) && messages_.contains(type.substr(ours.size()))) {
    Message(at, type.substr(ours.size()), value);
  } else if (type == prefix + "google.cloud.common.OperationMetadata") {
    Message(at, "OperationMetadata", value);
  } else if (type == prefix + "google.protobuf.Empty") {
    Message(at, "Empty", value);
  } else if (!type.starts_with(prefix + "google.rpc.")) {
    Say(at, "\"" + type + "\" is no @type of " + version_);
  }
}

void Judge::Mask(const std::string& at, const std::string& text, const std::string& message) {
  for (const std::string& path : SplitAt(text, ',')) {
    std::string inside = message;
    for (const std::string& name : SplitAt(path, '.')) {
      const std::string field = CamelCase(name);
      if (inside.empty() || !messages_.at(inside).contains(field)) {
        Say(at, "there is no field " + path + " in " + message);
        break;
      }
      const Json& spec = messages_.at(inside).at(field);
      if (IsSet(spec, "readOnly")) Say(at, "only the service sets " + path);
      inside = WordIn(spec, "$ref");
    }
  }
}

void Judge::Parameter(const std::string& at, const Json& spec, const std::string& text,
                      const std::string& message) {
  const std::string type = WordIn(spec, "type");
  if (type == "boolean") {
    if (text != "true" && text != "false") Say(at, "\"" + text + "\" is neither true nor false");
  } else if (type == "integer") {
    if (!Fits(text, "-?[0-9]{1,10}")) Say(at, "\"" + text + "\" is not a number");
  } else if (WordIn(spec, "format") == "google-fieldmask") {
    Mask(at, text, message);
  } else {
    String(at, spec, text);
  }
}

/// Whether a part of a path is as "{nodesId}:start" says; a value has no colon, which begins a
/// verb.
bool PartFits(const std::string& part, const std::string& wanted) {
  if (!wanted.starts_with('{')) return part == wanted;
  const std::string verb = wanted.substr(wanted.find('}') + 1);
  if (part.size() <= verb.size() || !part.ends_with(verb)) return false;
  return part.substr(0, part.size() - verb.size()).find(':') == std::string::npos;
}

bool PathFits(const std::string& path, const std::string& wanted) {
  const std::vector<std::string> parts = SplitAt(path, '/');
  const std::vector<std::string> all = SplitAt(wanted, '/');
  return std::equal(parts.begin(), parts.end(), all.begin(), all.end(), PartFits);
}

/// The method of a request, as an entry of `methods`.
std::string MethodOf(const Json& methods, const std::string& http, const std::string& path) {
  for (const auto& [id, method] : methods.items()) {
    if (method["http"] != http) continue;
    if (PathFits(path, method["path"].get<std::string>())) return id;
  }
  return {};
}

void JudgeQuery(Judge& judge, const Json& document, const Json& method, const std::string& query) {
  for (const std::string& pair : SplitAt(query, '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = PercentDecoded(pair.substr(0, equals));
    const std::string value = equals < pair.size() ? PercentDecoded(pair.substr(equals + 1)) : "";
    const Json& own = method["query"];
    const Json& known = own.contains(name) ? own : document["parameters"];
    const std::string at = "query." + name;
    if (!known.contains(name)) {
      judge.Say(at, "there is no such parameter");
      continue;
    }
    judge.Parameter(at, known[name], value, method["request"].get<std::string>());
    if (name != "fields") continue;
    const Json& messages = document["messages"];
    const std::string wrong = WrongSelection(messages, method["response"], value);
    if (!wrong.empty()) judge.Say(at, wrong);
  }
}

void JudgeBody(Judge& judge, const Json& method, const std::string& text) {
  const std::string message = method["request"].get<std::string>();
  if (message.empty()) {
    if (!text.empty()) judge.Say("body", "there is none in this method");
    return;
  }
  const Json body = Json::parse(text, nullptr, false);
  if (body.is_discarded()) return judge.Say("body", "is not JSON");
  judge.Message("body", message, body);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.at << ": " << fault.what;
}

Json ReadData(const std::string& name) {
  std::ifstream file(std::string(JOBMAN_SOURCE_DIR) + "/tests/conformance/data/" + name);
  Json data = Json::parse(file, nullptr, false);
  JM_CHECK(!data.is_discarded(), "the data of the test is JSON");
  return data;
}

const Json& Document(const std::string& version) {
  static const Json kDocuments = [] {
    Json all = ReadData("discovery.json");
    all.update(ReadData("side_services.json"));
    return all;
  }();
  return kDocuments.at(version);
}

std::string CamelCase(const std::string& name) {
  std::string camel;
  for (const std::string& part : SplitAt(name, '_')) {
    const std::size_t begin = camel.size();
    camel += part;
    if (begin == 0 || part.empty() || part[0] < 'a' || part[0] > 'z') continue;
    camel[begin] = static_cast<char>(part[0] - 'a' + 'A');
  }
  return camel;
}

std::string PercentDecoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
    i += 2;
  }
  return plain;
}

Verdict JudgeRequest(const Sent& sent) {
  return JudgeRequest(sent.target.starts_with("/v2alpha1/") ? "v2alpha1" : "v2", sent);
}

Verdict JudgeRequest(const std::string& version, const Sent& sent) {
  const std::size_t question = std::min(sent.target.find('?'), sent.target.size());
  const std::string path = sent.target.substr(0, question);
  const Json& document = Document(version);
  const std::string id = MethodOf(document["methods"], sent.method, path);
  if (id.empty()) {
    return {.faults = {{.at = "path", .what = "no method is " + sent.method + " " + path}}};
  }
  const Json& method = document["methods"][id];
  Judge judge(version, true);
  if (question < sent.target.size()) {
    JudgeQuery(judge, document, method, sent.target.substr(question + 1));
  }
  JudgeBody(judge, method, sent.body);
  return {.id = id, .faults = std::move(judge.faults)};
}

Faults JudgeReply(const std::string& version, const std::string& message, const Json& body) {
  Judge judge(version, false);
  judge.Message("reply", message, body);
  return std::move(judge.faults);
}

Faults JudgeError(int status, const Json& body) {
  Faults faults;
  const auto say = [&](const char* at, const std::string& what) {
    faults.push_back({.at = at, .what = what});
  };
  if (!body.is_object() || body.size() != 1 || !body.contains("error")) {
    say("reply", "is not {\"error\": ..}: " + body.dump());
    return faults;
  }
  const Json& error = body["error"];
  if (!error.is_object()) say("reply.error", "is not an object");
  if (!error.contains("code") || error["code"] != status) say("reply.error.code", "is not HTTP's");
  for (const char* text : {"message", "status"}) {
    const bool good = error.contains(text) && error[text].is_string() && error[text] != "";
    if (!good) say("reply.error", std::string("lacks the text of ") + text);
  }
  if (error.contains("details")) {
    for (const Json& detail : error["details"]) {
      if (!detail.contains("@type")) say("reply.error.details", "a detail lacks its @type");
    }
  }
  return faults;
}

Faults JudgeOlderError(int status, const Json& body) {
  Json known = body;
  const bool is_error = known.is_object() && known.contains("error") && known["error"].is_object();
  if (!is_error) return JudgeError(status, body);
  Json& error = known["error"];
  const Json entries = error.value("errors", Json());
  error.erase("errors");
  if (!error.contains("status")) error["status"] = "-";  // most do without
  Faults faults = JudgeError(status, known);
  for (const auto& [name, value] : error.items()) {
    if (name != "code" && name != "message" && name != "status" && name != "details")
      faults.push_back({.at = "reply.error." + name, .what = "is not known"});
  }
  const bool listed = entries.is_array() && !entries.empty();
  if (!listed) faults.push_back({.at = "reply.error.errors", .what = "is no list of errors"});
  for (const Json& entry : listed ? entries : Json::array()) {
    for (const char* text : {"domain", "message", "reason"}) {
      if (entry.contains(text) && entry[text].is_string()) continue;
      faults.push_back({.at = "reply.error.errors", .what = std::string("lacks ") + text});
    }
  }
  return faults;
}

}  // namespace jobman::conformance
