#include "config/old_keys.hpp"

#include <algorithm>

#include "config/merge.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

/// nullptr when the map or the member is absent.
Value* MemberOf(Value* map, std::string_view key) {
  return map == nullptr || !map->is_map() ? nullptr : map->Find(key);
}

/// Gives `path` the value too, unless it is written itself. The old key stays, since other values
/// may refer to it.
void Copy(Value& root, const Value* old, std::string_view path, Diagnostics& out) {
  if (old == nullptr || old->is_null()) return;
  const Value* const own = FindAt(root, SplitPath(path));
  if (own != nullptr && !own->is_null()) return;
  Value value = *old;
  SetAt(root, path, std::move(value), out);
}

/// Gives the member its present name, unless that is written with a value.
void Rename(Value* map, std::string_view old, std::string_view present) {
  Value* const member = MemberOf(map, old);
  if (member == nullptr) return;
  const Value* const own = map->Find(present);
  if (own != nullptr && !own->is_null()) return;
  member->key = present;
  std::erase_if(map->children, [&](const Value& one) { return &one == own; });
}

/// The steps of the first job files were the sections themselves.
void TranslateModules(Value& root, Diagnostics& out) {
  Value* const setup = root.Find("setup");
  const Value* const modules = MemberOf(setup, "modules");
  if (modules == nullptr || setup->children.size() != 1) return;
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
    const Value* const other = MemberOf(section, needed);
    const bool sends = other != nullptr && !other->is_null();
    if (!sends) return void(*key = Value{.key = "api_key", .key_pos = key->key_pos});  // no mail
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

}  // namespace

void TranslateOldKeys(Value& root, Diagnostics& out) {
  Rename(root.Find("command"), "run", "cmd");
  Rename(root.Find("docker"), "work_dir", "workdir");
  Value* const tpu = root.Find("tpu");
  Copy(root, MemberOf(tpu, "acceleratorType"), "tpu.accelerator", out);
  Copy(root, root.Find("loop"), "job.loop", out);
  TranslateModules(root, out);
  TranslateKeyOfBrevo(root);
}

}  // namespace jobman::config
