#include "config/old_keys.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "config/interpolate.hpp"
#include "config/merge.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

/// nullptr when the map or the member is absent.
Value* MemberOf(Value* map, std::string_view key) {
  return map == nullptr || !map->is_map() ? nullptr : map->Find(key);
}

/// Null, or the empty text that some files have for it.
bool SaysNothing(const Value* value) {
  return value == nullptr || value->is_null() ||
         (value->is_scalar() && base::Trim(value->text).empty());
}

/// Gives `path` the value too, unless it is written itself. The old key stays, since other values
/// may refer to it.
void Copy(Value& root, const Value* old, std::string_view path, Diagnostics& out) {
  if (SaysNothing(old) || !SaysNothing(FindAt(root, SplitPath(path)))) return;
  Value value = *old;
  SetAt(root, path, std::move(value), out);
}

void Drop(Value& map, std::string_view key) {
  std::erase_if(map.children, [&](const Value& one) { return one.key == key; });
}

/// Gives the member its present name. Returns whether that is written with another value.
bool Rename(Value* map, std::string_view old, std::string_view present) {
  Value* const member = MemberOf(map, old);
  if (member == nullptr) return false;
  const Value* const own = map->Find(present);
  if (SaysNothing(own)) {
    Drop(*map, present);
    map->Find(old)->key = present;
    return false;
  }
  const bool same = own->is_scalar() && member->is_scalar() && own->text == member->text;
  if (!same && !SaysNothing(member)) return true;
  Drop(*map, old);
  return false;
}

/// The command was named `run` once.
void TranslateRun(Value& root, Diagnostics& out) {
  Value* const command = root.Find("command");
  if (!Rename(command, "run", "cmd")) return;
  out.Warn(command->Find("run")->key_pos,
           "command.run, the old name of command.cmd, is ignored: the two differ",
           "keep one of them");
  Drop(*command, "run");
}

/// What stands beside `modules`.
void RefuseOthers(const Value& setup, Diagnostics& out) {
  for (const Value& other : setup.children) {
    if (other.key == "modules" || SaysNothing(&other)) continue;
    out.Report(other.key_pos, "unknown key \"setup." + other.key + "\"",
               "leave it out: beside modules there is no other key; steps of your own are a list: "
               "setup: [{run: COMMAND}]");
  }
}

/// The steps of the first job files were the sections themselves.
void TranslateModules(Value& root, Diagnostics& out) {
  Value* const setup = root.Find("setup");
  const Value* const modules = MemberOf(setup, "modules");
  if (modules == nullptr) return;
  RefuseOthers(*setup, out);
  const auto is_environment = [](const Value& module) {
    return module.text == "docker" || module.text == "conda" || module.text == "venv";
  };
  const auto named =
      std::find_if(modules->children.begin(), modules->children.end(), is_environment);
  const Value type = named == modules->children.end() ? Value{} : *named;
  setup->children.clear();
  setup->kind = Value::Kind::kNull;
  Copy(root, &type, "job.env_type", out);
}

/// "${oc.env:NAME}" as the key of Brevo: the variable is named instead, so that its value is not
/// part of the job.
void TranslateKeyOfBrevo(Value& root) {
  Value* const section = root.Find("brevo_email");
  Value* const key = MemberOf(section, "api_key");
  if (key == nullptr || !key->is_scalar()) return;
  for (const char* const needed : {"sender", "receiver"}) {
    if (!SaysNothing(MemberOf(section, needed))) continue;
    *key = Value{.key = "api_key", .key_pos = key->key_pos};  // no mail is sent
    return;
  }
  std::string_view name = base::Trim(key->text);
  for (const std::string_view resolver : {"${oc.env:", "${env:"}) {
    if (!name.starts_with(resolver) || !name.ends_with('}')) continue;
    name = base::Trim(name.substr(resolver.size(), name.size() - resolver.size() - 1));
    if (!base::IsEnvName(name)) return;
    Value variable = Scalar(std::string(name), key->pos);
    variable.quoted = true;
    variable.key = "env";
    variable.key_pos = key->pos;
    key->kind = Value::Kind::kMap;
    key->text.clear();
    key->children = {std::move(variable)};
    return;
  }
}

/// One text for a list of one.
void WrapText(Value* map, std::string_view key) {
  Value* const value = MemberOf(map, key);
  if (value == nullptr || !value->is_scalar() || SaysNothing(value)) return;
  if (IsOneExpression(base::Trim(value->text))) return;  // of a list, as a whole
  Value item = *value;
  item.key.clear();
  item.implied = true;
  value->kind = Value::Kind::kList;
  value->text.clear();
  value->children = {std::move(item)};
}

/// {NAME: VALUE} for a list of NAME=VALUE; without a value it is NAME.
void ListVariables(Value* docker) {
  Value* const map = MemberOf(docker, "env_vars");
  if (map == nullptr || !map->is_map()) return;
  const auto is_one = [](const Value& one) { return one.is_scalar() || one.is_null(); };
  if (!std::all_of(map->children.begin(), map->children.end(), is_one)) return;
  for (Value& one : map->children) {
    one.text = one.is_null() ? one.key : one.key + "=" + one.text;
    one.kind = Value::Kind::kScalar;
    one.quoted = true;
    one.key.clear();
  }
  map->kind = Value::Kind::kList;
}

}  // namespace

void TranslateOldKeys(Value& root, Diagnostics& out) {
  TranslateRun(root, out);
  Rename(root.Find("docker"), "work_dir", "workdir");
  Value* const tpu = root.Find("tpu");
  Copy(root, MemberOf(tpu, "acceleratorType"), "tpu.accelerator", out);
  Copy(root, root.Find("loop"), "job.loop", out);
  TranslateModules(root, out);
  TranslateKeyOfBrevo(root);
}

void ExpandLists(Value& root) {
  Value* const docker = root.Find("docker");
  for (const char* const key : {"flags", "env_vars", "mount_dirs"}) WrapText(docker, key);
  WrapText(root.Find("tpu"), "tags");
  ListVariables(docker);
}

}  // namespace jobman::config
