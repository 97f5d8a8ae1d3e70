// The sections that prepare the hosts. Each of them is a setup step, rendered when it runs.
#include <algorithm>

#include "config/named_text.hpp"
#include "config/resolve.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/late_names.hpp"

namespace jobman::config {
namespace {

/// What a list of Python packages may hold; it is stored with the job.
constexpr std::size_t kLongestList = std::size_t{256} << 10;

void ResolveMounts(Reader& reader, core::GcsfuseSpec& gcsfuse) {
  std::vector<std::string> folders = {gcsfuse.mount_path};
  for (std::size_t i = 0; i < gcsfuse.extra_mounts.size(); ++i) {
    core::BucketMount& mount = gcsfuse.extra_mounts[i];
    const std::string path = "gcsfuse.extra_mounts[" + std::to_string(i) + "]";
    if (mount.bucket_name.empty()) {
      mount.bucket_name = gcsfuse.bucket_name;
      reader.Note(path + ".bucket_name", "gcsfuse.bucket_name");
    }
    const bool taken = std::find(folders.begin(), folders.end(), mount.mount_path) != folders.end();
    if (taken && !mount.mount_path.empty()) {
      reader.Complain(path + ".mount_path", path + ".mount_path: " + mount.mount_path +
                                                " is the folder of another mount too");
    }
    folders.push_back(mount.mount_path);
  }
}

/// "3.10" means "python3.10".
void ResolvePython(std::string& python) {
  if (python.empty()) python = "python3.10";
  if (!python.starts_with("python")) python.insert(0, "python");
}

/// The section that job.env_type names must be there.
void RequireSection(Reader& reader, core::EnvType type) {
  const std::string name(core::EnvTypeName(type));
  if (type == core::EnvType::kNone || reader.IsWritten(name)) return;
  reader.Complain("job.env_type", "job.env_type is " + name + ", but there is no section " + name,
                  "write the section, or leave job.env_type out");
}

/// The text without ${tpu.name} and other names that are known when a run begins.
std::string WithoutLateNames(std::string text) {
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at)) {
    const std::size_t end = text.find('}', at);
    const std::string name = end == std::string::npos ? "" : text.substr(at + 2, end - at - 2);
    const bool late = core::IsLateName(name) || core::IsNumberedName(name);
    if (late) {
      text.erase(at, end + 1 - at);
    } else {
      at += 2;
    }
  }
  return text;
}

/// Python jobman gave the flags to a shell of the hosts; here they are split at blanks alone.
void WarnOfShellSyntax(Reader& reader, const core::DockerSpec& docker) {
  for (std::size_t i = 0; i < docker.flags.size(); ++i) {
    if (WithoutLateNames(docker.flags[i]).find_first_of("$`\"'\\") == std::string::npos) continue;
    const std::string path = "docker.flags[" + std::to_string(i) + "]";
    reader.Warn(path,
                reader.Name(path) + ": no shell reads " + docker.flags[i] +
                    ": it is split at blanks, and $, quotes and \\ stay in it",
                "write the value itself; docker.mount_dirs takes folders, ~/data too, and "
                "docker.env_vars variables");
  }
}

}  // namespace

void ResolveSetup(Reader& reader, core::JobSpec& spec) {
  ResolveMounts(reader, spec.gcsfuse);
  const core::EnvType type = spec.env_type.value_or(core::EnvType::kNone);
  RequireSection(reader, type);
  if (type == core::EnvType::kDocker) WarnOfShellSyntax(reader, spec.docker);
  const std::string hint = "name a file, or write its text in several lines (|)";
  if (type == core::EnvType::kVenv) {
    ResolvePython(spec.venv.python);
    if (!spec.venv.requirements_file.empty()) {
      spec.venv.requirements_file =
          ReadNamedText(reader, "venv.requirements_file", spec.venv.requirements_file, kLongestList,
                        hint, Missing::kMayCome);
    }
  }
  if (type == core::EnvType::kConda && !spec.conda.config_file.empty()) {
    spec.conda.config_file = ReadNamedText(reader, "conda.config_file", spec.conda.config_file,
                                           kLongestList, hint, Missing::kMayCome);
  }
}

}  // namespace jobman::config
