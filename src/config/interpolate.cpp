#include "config/interpolate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/check.hpp"
#include "config/merge.hpp"
#include "config/names.hpp"
#include "config/yaml_reader.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/late_names.hpp"

namespace jobman::config {
namespace {

using Path = std::vector<std::string>;

/// Longest chain of references; each takes stack.
constexpr std::size_t kLongestChain = 40;
/// ${${${...}}} in one text, and along a chain of references.
constexpr int kDeepestExpression = 60;
constexpr std::size_t kNone = std::string_view::npos;

/// The index after the "}" that closes the "${" at the start of the text; kNone if there is none.
std::size_t EndOfExpression(std::string_view text) {
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if ((c == '\'' || c == '"') && depth > 0) {
      quote = c;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return kNone;
}

/// The first `sign` outside of nested expressions and quotes.
std::size_t FindOutside(std::string_view text, char sign) {
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
      continue;
    }
    if (c == sign && depth == 0) return i;
    if (c == '\'' || c == '"') quote = c;
    if (c == '{') ++depth;
    if (c == '}') --depth;
  }
  return kNone;
}

std::string_view Unquote(std::string_view text) {
  text = base::Trim(text);
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// What runs on the hosts may name the slice, which is not known before: see core::IsLateName.
bool RunsOnHosts(const Path& path) {
  const std::string name = JoinPath(path);
  return name == "command.cmd" || name.starts_with("command.env.") ||
         name.starts_with("job.environment.") || name.starts_with("docker.env_vars[") ||
         name.starts_with("docker.flags[") || name.starts_with("docker.mount_dirs[") ||
         name == "docker.workdir" || name == "command.workdir" ||
         (name.starts_with("gcsfuse.") && name.ends_with("mount_path")) ||
         (name.starts_with("gcsfuse.") && name.ends_with("cache.prefix")) ||
         (name.starts_with("gcsfuse.") && name.ends_with("cache.dir")) || name == "nfs.path" ||
         (name.starts_with("ssh.identities[") && path.back() == "config_entry") ||
         (name.starts_with("setup[") && path.back() == "run");
}

bool IsNullText(std::string_view text) {
  return text == "null" || text == "~" || text == "None";
}

class Interpolator {
 public:
  Interpolator(Value& root, const EnvLookup& env, Diagnostics& out, Produced& produced)
      : root_(root), env_(env), out_(out), produced_(produced) {
    const Value* const number = FindAt(root, {"job", "worker_num"});
    numbered_later_ = !IsSnapshot(root) && number != nullptr && number->is_scalar() &&
                      number->text == kFreeNumber;
  }

  void Resolve(Value& value, const Path& path) {
    if (value.is_scalar()) return ResolveScalar(value, path);
    for (std::size_t i = 0; i < value.children.size(); ++i) {
      Path child_path = path;
      child_path.push_back(value.is_map() ? value.children[i].key : std::to_string(i));
      Resolve(value.children[i], child_path);
    }
  }

 private:
  /// The scalar being resolved: its path for relative names, its position for messages.
  struct Site {
    const Path& path;
    Position pos;
  };

  void ResolveScalar(Value& value, const Path& path) {
    if (value.progress == Value::Progress::kDone) return;
    if (value.progress == Value::Progress::kBusy) return ReportCycle(value, path);
    if (!base::Contains(value.text, "${")) {
      value.progress = Value::Progress::kDone;
      return;
    }
    if (busy_.size() >= kLongestChain) return Break(value, TooLong());
    value.progress = Value::Progress::kBusy;
    busy_.push_back(JoinPath(path));
    Value result = Expand(value.text, {path, value.pos});
    busy_.pop_back();
    if (value.progress != Value::Progress::kBusy) return;  // a cycle led back to it
    Replace(value, std::move(result));
  }

  void Replace(Value& value, Value result) {
    produced_.bytes += result.text.size();
    for (const Value& child : result.children) Count(child);
    if (produced_.bytes > produced_.most)
      return Break(value, "interpolation makes the file too large");
    result.key = std::move(value.key);
    result.key_pos = value.key_pos;
    result.pos = value.pos;
    result.progress = Value::Progress::kDone;
    value = std::move(result);
  }

  void Count(const Value& value) {
    produced_.bytes += value.text.size() + value.key.size() + sizeof(Value) / 4;
    for (const Value& child : value.children) Count(child);
  }

  void Break(Value& value, std::string message, std::string hint = {}) {
    out_.Report(value.pos, std::move(message), std::move(hint));
    value.kind = Value::Kind::kBroken;
    value.progress = Value::Progress::kDone;
  }

  static std::string TooLong() {
    return "a chain of more than " + std::to_string(kLongestChain) + " interpolations";
  }

  void ReportCycle(Value& value, const Path& path) {
    const std::string name = JoinPath(path);
    if (busy_.size() >= kLongestChain) return Break(value, TooLong());
    const auto first = std::find(busy_.begin(), busy_.end(), name);
    const std::vector<std::string> round(first, busy_.end());
    Break(value, "interpolation cycle: " + base::Join(round, " -> ") + " -> " + name,
          "write one of these values without a reference");
  }

  Value Broken(const Site& site, std::string_view part, std::string message,
               std::string hint = {}) {
    out_.Report(out_.Locate(site.pos, part), std::move(message), std::move(hint));
    return BrokenValue();
  }
  static Value Text(std::string_view text, Position pos) {
    Value value = Scalar(std::string(text), pos);
    value.quoted = true;
    return value;
  }
  static Value BrokenValue() {
    Value value;
    value.kind = Value::Kind::kBroken;
    return value;
  }

  /// The value of a text: that of its expression if it is a single one, else the text with all
  /// expressions replaced.
  Value Expand(std::string_view text, const Site& site) {
    if (IsOneExpression(text)) {
      return Evaluate(text.substr(2, text.size() - 3), site);
    }
    std::string result;
    bool broken = false;
    while (!text.empty()) {
      const std::size_t at = text.find("${");
      const std::size_t slashes = CountSlashesBefore(text, at);
      result += text.substr(0, at == kNone ? kNone : at - slashes + slashes / 2);
      if (at == kNone) break;
      text.remove_prefix(at);
      if (slashes % 2 == 1) {
        result += "${";
        text.remove_prefix(2);
        continue;
      }
      const std::size_t end = EndOfExpression(text);
      if (end == kNone) {
        return Broken(site, text.substr(0, 12), "\"${\" without \"}\"",
                      "for a literal \"${\" write \\${");
      }
      broken = !AppendExpression(text.substr(0, end), site, result) || broken;
      text.remove_prefix(end);
    }
    if (broken) return BrokenValue();
    return Text(result, site.pos);
  }

  static std::size_t CountSlashesBefore(std::string_view text, std::size_t at) {
    std::size_t slashes = 0;
    while (at != kNone && slashes < at && text[at - slashes - 1] == '\\') ++slashes;
    return slashes;
  }

  /// An expression inside a text must be a scalar.
  bool AppendExpression(std::string_view expression, const Site& site, std::string& out) {
    const Value value = Evaluate(expression.substr(2, expression.size() - 3), site);
    if (value.kind == Value::Kind::kBroken) return false;
    if (!value.is_scalar()) {
      const std::string kind = value.is_null() ? "empty" : std::string(KindText(value));
      Broken(site, expression,
             std::string(expression) + " is " + kind + ", which cannot be part of a text");
      return false;
    }
    out += value.text;
    if (out.size() <= produced_.most) return true;
    Broken(site, expression, "interpolation makes the file too large");
    return false;
  }

  Value Evaluate(std::string_view expression, const Site& site) {
    if (nesting_ >= kDeepestExpression) {
      return Broken(site, "${${", "interpolations are nested too deeply");
    }
    ++nesting_;
    Value value = EvaluateNested(expression, site);
    --nesting_;
    return value;
  }

  Value EvaluateNested(std::string_view expression, const Site& site) {
    const std::size_t colon = FindOutside(expression, ':');
    if (colon != kNone) {
      return Call(base::Trim(expression.substr(0, colon)), expression.substr(colon + 1), site);
    }
    const Value name = Expand(base::Trim(expression), site);
    if (!name.is_scalar()) return name.is_null() ? BrokenValue() : name;
    return LookUp(name.text, site, nullptr);
  }

  Value Call(std::string_view resolver, std::string_view arguments, const Site& site) {
    const std::size_t comma = FindOutside(arguments, ',');
    const std::string_view first = Unquote(arguments.substr(0, comma));
    std::optional<std::string_view> second;
    if (comma != kNone) second = arguments.substr(comma + 1);
    if (resolver == "oc.env" || resolver == "env") return Environment(first, second, site);
    if (resolver == "oc.select") return Select(first, second, site);
    if (resolver == "oc.decode") return Decode(first, site);
    const std::string whole = "${" + std::string(resolver) + ":" + std::string(arguments) + "}";
    return Broken(site, whole, "unknown resolver \"" + std::string(resolver) + "\"",
                  base::IsEnvName(resolver) && base::ToLower(resolver) != resolver
                      ? "write \\" + whole + " for the shell's own"
                      : "the resolvers are oc.env, env, oc.select and oc.decode");
  }

  /// The value of an argument; quotes make it text.
  Value Argument(std::string_view text, const Site& site) {
    const std::string_view bare = base::Trim(text);
    const std::string_view unquoted = Unquote(text);
    Value value = Expand(unquoted, site);
    if (value.is_scalar() && !base::Contains(bare, "${")) {
      value.quoted = unquoted.size() != bare.size();
      if (!value.quoted && IsNullText(value.text)) return Value{};
    }
    return value;
  }

  /// The value would be stored with the job, and shown by whatever shows the job.
  void WarnOfSecret(const std::string& name, std::string_view expression, const Site& site) {
    if (!LooksSecret(name)) return;
    out_.Warn(out_.Locate(site.pos, expression),
              name + " looks like a secret, and its value becomes part of the job's record",
              "to keep it out of there: command.secrets: [" + name + "]");
  }

  Value Environment(std::string_view argument, std::optional<std::string_view> fallback,
                    const Site& site) {
    const Value name = Expand(argument, site);
    if (!name.is_scalar()) return BrokenValue();
    const auto found = env_ ? env_(name.text) : std::nullopt;
    if (found) {
      WarnOfSecret(name.text, argument, site);
      return Scalar(*found, site.pos);
    }
    if (fallback) return Argument(*fallback, site);
    return Broken(site, argument, "the environment variable " + name.text + " is not set",
                  "set it, or write ${oc.env:" + name.text + ",default}");
  }

  Value Select(std::string_view argument, std::optional<std::string_view> fallback,
               const Site& site) {
    const Value name = Expand(argument, site);
    if (!name.is_scalar()) return BrokenValue();
    bool absent = false;
    Value value = LookUp(name.text, site, &absent);
    return (absent || value.is_null()) && fallback ? Argument(*fallback, site) : value;
  }

  Value Decode(std::string_view argument, const Site& site) {
    Value value = Expand(argument, site);
    if (!value.is_scalar()) return value;
    value.quoted = false;
    return IsNullText(value.text) ? Value{} : value;
  }

  /// A copy of the value that `name` refers to. With `absent`, an unknown name is not reported.
  Value LookUp(const std::string& name, const Site& site, bool* absent) {
    Path path;
    std::string_view rest = name;
    if (rest.starts_with('.') && !StartRelative(rest, site, path)) {
      return Broken(site, name, "\"" + name + "\" points outside the file");
    }
    for (std::string& part : SplitPath(rest)) path.push_back(std::move(part));
    const std::string key = JoinPath(path);
    if (key == "tpu.ips" || key.starts_with("tpu.ips[") || key.starts_with("tpu.ips.")) {
      return Broken(
          site, name, "${" + name + "} is the address of an earlier slice",
          "on the hosts $JOBMAN_HOSTS has the addresses, and $JOBMAN_HEAD that of host 0");
    }
    if (IsLate(key) && RunsOnHosts(site.path)) return Text("${" + key + "}", site.pos);
    Value* found = Walk(path);
    if (found != nullptr && found->kind == Value::Kind::kBroken) return BrokenValue();
    if (found != nullptr) return CopyOf(*found, path);
    if (absent != nullptr) {
      *absent = true;
      return Value{};
    }
    return Broken(site, name, "${" + name + "} is not a key of this file", HintFor(name, path));
  }

  bool IsLate(std::string_view key) const {
    return core::IsLateName(key) || (numbered_later_ && core::IsNumberedName(key));
  }

  /// "." is the map or list around the value, each further dot one level up.
  static bool StartRelative(std::string_view& rest, const Site& site, Path& path) {
    path = site.path;
    while (rest.starts_with('.')) {
      if (path.empty()) return false;
      path.pop_back();
      rest.remove_prefix(1);
    }
    return true;
  }

  /// Follows the path, resolving scalars on the way.
  Value* Walk(const Path& path) {
    Value* value = &root_;
    Path here;
    for (const std::string& part : path) {
      if (value->is_scalar()) ResolveScalar(*value, here);
      if (value->kind == Value::Kind::kBroken) return value;
      value = const_cast<Value*>(FindAt(std::as_const(*value), {part}));
      if (value == nullptr) return nullptr;
      here.push_back(part);
    }
    return value;
  }

  Value CopyOf(Value& value, const Path& path) {
    if (value.is_scalar()) {
      ResolveScalar(value, path);
      return value;
    }
    const std::string name = JoinPath(path);
    // A list or map that refers to itself.
    if (std::find(busy_.begin(), busy_.end(), name) != busy_.end() ||
        busy_.size() >= kLongestChain) {
      ReportCycle(value, path);
      return BrokenValue();
    }
    busy_.push_back(name);
    Resolve(value, path);
    busy_.pop_back();
    Value copy = value;
    return copy;
  }

  std::string HintFor(const std::string& name, const Path& path) const {
    if (core::IsLateName(JoinPath(path)))
      return "it is known on the hosts only: in the command, setup steps and variables of these";
    Path parent = path;
    parent.pop_back();
    const Value* around = FindAt(root_, parent);
    std::vector<std::string> names;
    for (const Value& child : around != nullptr ? around->children : std::vector<Value>{}) {
      names.push_back(child.key);
    }
    if (const auto nearest = base::Nearest(path.back(), names)) {
      parent.push_back(*nearest);
      return "did you mean ${" + JoinPath(parent) + "}?";
    }
    if (!base::IsEnvName(name)) return {};
    return "a shell variable is $" + name + " or \\${" + name +
           "}, one of this machine is ${oc.env:" + name + "}";
  }

  Value& root_;
  const EnvLookup& env_;
  Diagnostics& out_;
  Produced& produced_;
  std::vector<std::string> busy_ = {};
  int nesting_ = 0;
  bool numbered_later_ = false;
};

}  // namespace

void Interpolate(Value& root, const EnvLookup& env, Diagnostics& out) {
  Produced produced;
  Interpolator interpolator(root, env, out, produced);
  // First what says which sections are used: in the others nothing has to have a meaning.
  Value* const job = root.Find("job");
  Value* const type = job == nullptr ? nullptr : job->Find("env_type");
  if (type != nullptr) interpolator.Resolve(*type, {"job", "env_type"});
  for (Value& section : root.children) {
    if (!IsUnusedSection(root, section.key)) interpolator.Resolve(section, {section.key});
  }
}

void InterpolatePart(Value& root, const std::vector<std::string>& path, const EnvLookup& env,
                     Diagnostics& out, Produced& produced) {
  Value* const part = const_cast<Value*>(FindAt(std::as_const(root), path));
  if (part != nullptr) Interpolator(root, env, out, produced).Resolve(*part, path);
}

bool IsOneExpression(std::string_view text) {
  return text.starts_with("${") && EndOfExpression(text) == text.size();
}

std::string EscapeInterpolation(std::string_view text) {
  std::string escaped;
  std::size_t slashes = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("${")) escaped.append(slashes + 1, '\\');
    slashes = text[i] == '\\' ? slashes + 1 : 0;
    escaped += text[i];
  }
  return escaped;
}

}  // namespace jobman::config
