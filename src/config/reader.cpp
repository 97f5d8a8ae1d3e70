#include "config/reader.hpp"

#include <filesystem>
#include <system_error>

namespace jobman::config {
namespace {

bool Exists(const base::Path& path) {
  std::error_code problem;
  return std::filesystem::exists(path, problem);
}

/// The root of the Git checkout around the folder; empty if there is none.
base::Path CheckoutAround(base::Path folder) {
  while (!Exists(folder / ".git")) {
    if (!folder.has_relative_path()) return {};
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

std::string ResolvePath(const Defaults& defaults, const base::Path& folder,
                        const std::string& text) {
  if (text == "~") return defaults.home.string();
  if (text.starts_with("~/")) return (defaults.home / text.substr(2)).string();
  const base::Path beside = folder / text;
  if (base::Path(text).is_absolute() || text.empty() || Exists(beside)) return beside.string();
  const base::Path& here = defaults.working_dir;
  for (const base::Path& other : {here, here.empty() ? base::Path{} : CheckoutAround(here)}) {
    if (!other.empty() && Exists(other / text)) return (other / text).string();
  }
  return beside.string();
}

std::optional<std::string> Reader::Env(const std::string& name) const {
  return defaults().env ? defaults().env(name) : std::nullopt;
}

const Value* Reader::Get(std::string_view path) const {
  const Value* value = FindAt(root_, SplitPath(path));
  const bool absent = value == nullptr || value->is_null() || value->kind == Value::Kind::kBroken;
  return absent ? nullptr : value;
}

bool Reader::IsWritten(std::string_view path) const {
  const Value* value = FindAt(root_, SplitPath(path));
  return value != nullptr && !value->is_null();
}

std::string Reader::Text(std::string_view path) const {
  const Value* value = Get(path);
  return value != nullptr && value->is_scalar() ? value->text : std::string();
}

std::optional<bool> Reader::Bool(std::string_view path) const {
  const Value* value = Get(path);
  return value == nullptr ? std::nullopt : std::optional(IsTrueText(value->text));
}

std::optional<core::HostSet> Reader::Hosts(std::string_view path) const {
  const Value* value = Get(path);
  if (value == nullptr) return std::nullopt;
  std::string text = value->text;
  for (const Value& item : value->children) text += (text.empty() ? "" : ",") + item.text;
  const auto hosts = core::ParseHostSet(text);
  return hosts.ok() ? std::optional(*hosts) : std::nullopt;
}

std::size_t Reader::CountItems(std::string_view path) const {
  const Value* value = Get(path);
  return value == nullptr || !value->is_list() ? 0 : value->children.size();
}

base::Path Reader::FolderOf(std::string_view path) const {
  const Value* value = Get(path);
  return value == nullptr || value->pos.source < 0 ? base::Path{}
                                                   : out_.source(value->pos.source).folder;
}

std::string Reader::Name(std::string_view path) const {
  std::vector<std::string> shown;
  std::vector<std::string> parts;
  for (std::string& part : SplitPath(path)) {
    parts.push_back(part);
    const Value* value = FindAt(root_, parts);
    if (value == nullptr || !value->implied) shown.push_back(std::move(part));
  }
  return JoinPath(shown);
}

void Reader::Complain(std::string_view path, std::string message, std::string hint,
                      base::Reason reason) {
  if (!IsBroken(path)) out_.Report(At(path), std::move(message), std::move(hint), reason);
}

void Reader::Warn(std::string_view path, std::string message, std::string hint) {
  if (!IsBroken(path)) out_.Warn(At(path), std::move(message), std::move(hint));
}

void Reader::ComplainOfKey(std::string_view path, std::string message, std::string hint) {
  const Value* value = FindAt(root_, SplitPath(path));
  out_.Report(value == nullptr ? At(path) : value->key_pos, std::move(message), std::move(hint));
}

void Reader::Complain(std::string_view path, const base::Status& status) {
  if (status.ok()) return;
  const base::Error& error = status.error();
  Complain(path, Name(path) + ": " + error.message, error.hint, error.reason);
}

bool Reader::IsBroken(std::string_view path) const {
  std::vector<std::string> parts;
  for (std::string& part : SplitPath(path)) {
    parts.push_back(std::move(part));
    const Value* value = FindAt(root_, parts);
    if (value == nullptr) return false;
    if (value->kind == Value::Kind::kBroken) return true;
  }
  return false;
}

Position Reader::At(std::string_view path) const {
  std::vector<std::string> parts = SplitPath(path);
  if (const Value* value = FindAt(root_, parts)) {
    return value->is_null() || value->pos.line == 0 ? value->key_pos : value->pos;
  }
  while (parts.size() > 1) {
    parts.pop_back();
    const Value* value = FindAt(root_, parts);
    if (value == nullptr) continue;
    return value->key_pos.line > 0 ? value->key_pos : value->pos;
  }
  return {.source = 0};
}

}  // namespace jobman::config
