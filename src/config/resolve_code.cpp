// The section code: files that travel with the job. `create` takes them.
#include <filesystem>

#include "config/forms.hpp"
#include "config/resolve.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

std::string WithoutLastSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// A path rather than a URL or HOST:PATH.
bool IsLocalRepository(const std::string& git) {
  return git.starts_with('/') || git.starts_with("./") || git.starts_with("../") ||
         git.starts_with("~/");
}

/// "proj" of "/home/ada/proj", "ssh://host/x/proj.git" and "host:proj.git".
std::string BaseName(std::string text) {
  text = WithoutLastSlash(std::move(text));
  if (text.ends_with(".git")) text.resize(text.size() - 4);
  text = WithoutLastSlash(std::move(text));
  return text.substr(text.find_last_of("/:") + 1);
}

void RefuseTogether(Reader& reader, const core::CodeSpec& code) {
  if (!code.dir.empty() && !code.git.empty()) {
    reader.Complain("code.git", "code.dir and code.git cannot be used together",
                    "remove one of them");
  }
  const auto only = [&reader](const std::string& key, const std::string& with) {
    if (reader.Has(key)) reader.Complain(key, key + " has no meaning without " + with);
  };
  if (code.git.empty()) only("code.ref", "code.git");
  if (code.git.empty() && code.submodules) only("code.submodules", "code.git");
  if (code.dir.empty()) only("code.exclude", "code.dir");
}

void ResolveDir(Reader& reader, std::string& dir) {
  if (dir.empty()) return;
  dir = WithoutLastSlash(base::Path(dir).lexically_normal().string());
  std::error_code problem;
  if (std::filesystem::is_directory(dir, problem)) return;
  const bool exists = std::filesystem::exists(dir, problem);
  reader.Complain("code.dir", "code.dir: " + dir + (exists ? " is no folder" : " does not exist"),
                  "name a folder of this machine");
}

void ResolveHostPath(Reader& reader, core::CodeSpec& code) {
  if (!reader.Has("code.path")) {
    const std::string source = code.dir.empty() ? "code.git" : "code.dir";
    code.path = "~/" + BaseName(code.dir.empty() ? code.git : code.dir);
    reader.Note("code.path", source);
    if (!CheckForm("code.path", code.path).ok()) {
      reader.Complain(source, source + ": a folder on the hosts cannot have its name",
                      "write code.path, for example ~/code");
    }
  }
  code.path = WithoutLastSlash(code.path);
}

}  // namespace

void ResolveCode(Reader& reader, core::CodeSpec& code) {
  if (code.empty()) {
    const bool broken = reader.IsWritten("code.dir") || reader.IsWritten("code.git");
    if (code != core::CodeSpec{} && !broken) {
      reader.Complain("code", "code names no files", "write code.dir or code.git");
    }
    code = {};
    return;
  }
  RefuseTogether(reader, code);
  ResolveDir(reader, code.dir);
  if (IsLocalRepository(code.git)) {
    code.git = ResolvePath(reader.defaults(), reader.FolderOf("code.git"), code.git);
  }
  ResolveHostPath(reader, code);
}

}  // namespace jobman::config
