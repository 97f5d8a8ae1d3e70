#include "config/convert/script.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "jobman/base/strings.hpp"

namespace jobman::config::convert {
namespace {

bool IsNameByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool IsAmong(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether lines of shell can be put into the script: csh and fish have another language.
bool IsForShell(std::string_view script) {
  if (!script.starts_with("#!")) return true;
  const std::string_view line = base::Trim(script.substr(0, script.find('\n')));
  for (const std::string& word : base::Split(line, ' ')) {
    const std::string name = std::filesystem::path(word).filename();
    for (const std::string_view shell : {"sh", "bash", "dash", "ksh", "zsh"}) {
      if (name == shell) return true;
    }
  }
  return false;
}

/// The script with these lines before its first one, but after "#!".
std::string WithHead(const std::string& script, const std::string& lines) {
  if (lines.empty() || !script.starts_with("#!")) return lines + script;
  const std::size_t end = script.find('\n');
  if (end == std::string::npos) return script + "\n" + lines;
  return script.substr(0, end + 1) + lines + script.substr(end + 1);
}

}  // namespace

std::vector<std::string> NamesIn(std::string_view script, std::string_view prefix) {
  std::vector<std::string> names;
  for (std::size_t at = script.find(prefix); at != std::string_view::npos;
       at = script.find(prefix, at + 1)) {
    if (at > 0 && IsNameByte(script[at - 1])) continue;
    std::size_t end = at;
    while (end < script.size() && IsNameByte(script[end])) ++end;
    std::string name(script.substr(at, end - at));
    if (!IsAmong(names, name)) names.push_back(std::move(name));
  }
  return names;
}

std::string WithShellLines(const std::string& script, const std::string& lines) {
  return IsForShell(script) ? WithHead(script, lines) : script;
}

std::string WithTheirVariables(const Script& script, std::string_view prefix,
                               std::span<const TheirVariable> known,
                               const std::vector<std::string>& given, const Diagnostics& places,
                               Reports& reports) {
  std::string lines;
  for (const std::string& name : NamesIn(script.text, prefix)) {
    if (IsAmong(given, name)) continue;
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const TheirVariable& one) { return one.name == name; });
    const Position at = places.Locate(script.pos, name);
    if (found == known.end()) {
      reports.Refuse(at, name + " is not set on the hosts of a job",
                     "leave it out; the guide reference.md lists the variables of a run");
    } else if (found->value.empty()) {
      reports.Refuse(at, name + " is not set on the hosts of a job", std::string(found->cure));
    } else if (!IsForShell(script.text)) {
      reports.Refuse(at, name + " would be set by a line of shell, and this is no script for one",
                     "read what it is made of: " + std::string(found->value));
    } else {
      lines += "export " + name + "=" + std::string(found->value) + "\n";
    }
  }
  return WithHead(script.text, lines);
}

}  // namespace jobman::config::convert
