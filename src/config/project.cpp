#include "config/project.hpp"

#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

/// Its own variable comes before its file.
std::optional<FoundText> FromGcloud(const Defaults& defaults) {
  constexpr const char* kVariable = "CLOUDSDK_CORE_PROJECT";
  if (const auto project = defaults.env(kVariable)) return FoundText{*project, kVariable};
  const auto named_folder = defaults.env("CLOUDSDK_CONFIG");
  const base::Path folder =
      named_folder ? base::Path(*named_folder) : defaults.home / ".config" / "gcloud";
  std::string active = "default";
  if (const auto name = base::ReadRegularFile(folder / "active_config"); name.ok()) {
    active = base::Trim(*name);
  }
  if (const auto name = defaults.env("CLOUDSDK_ACTIVE_CONFIG_NAME")) active = *name;
  const base::Path file = folder / "configurations" / ("config_" + active);
  const auto text = base::ReadRegularFile(file);
  if (!text.ok()) return std::nullopt;
  const auto project = IniValue(*text, "core", "project");
  if (!project || project->empty()) return std::nullopt;
  return FoundText{*project, "gcloud configuration " + active};
}

/// The key of a service account says whose it is. `named_by`: what names the file.
std::optional<FoundText> FromKey(const std::string& file, const std::string& named_by) {
  const auto text = file.empty() ? base::NotFound("") : base::ReadRegularFile(file);
  if (!text.ok()) return std::nullopt;
  const auto json = base::ParseJson(*text);
  if (!json.ok() || base::GetString(*json, "type") != "service_account") return std::nullopt;
  std::string project = base::GetString(*json, "project_id");
  if (project.empty()) return std::nullopt;
  return FoundText{std::move(project), "the key in " + named_by};
}

}  // namespace

std::optional<std::string> IniValue(std::string_view text, std::string_view section,
                                    std::string_view key) {
  bool inside = false;
  for (const std::string& raw : base::Split(text, '\n')) {
    const std::string_view line = base::Trim(raw);
    if (line.starts_with('[') && line.ends_with(']')) {
      inside = base::Trim(line.substr(1, line.size() - 2)) == section;
    }
    const std::size_t equals = line.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    if (base::Trim(line.substr(0, equals)) == key) {
      return std::string(base::Trim(line.substr(equals + 1)));
    }
  }
  return std::nullopt;
}

std::optional<FoundText> DefaultProject(const Defaults& defaults,
                                        const std::string& credentials_file) {
  if (!defaults.env) return std::nullopt;
  for (const std::string name : {"GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"}) {
    if (const auto project = defaults.env(name)) return FoundText{*project, name};
  }
  if (const auto project = FromKey(credentials_file, "cloud.credentials_file")) return project;
  constexpr const char* kVariable = "GOOGLE_APPLICATION_CREDENTIALS";
  const std::string file = defaults.env(kVariable).value_or("");
  if (const auto project = FromKey(file, kVariable)) return project;
  if (const auto project = FromGcloud(defaults)) return project;
  const auto project = defaults.machine_project ? defaults.machine_project() : std::nullopt;
  if (!project) return std::nullopt;
  return FoundText{*project, "the metadata server of this machine"};
}

}  // namespace jobman::config
