// The line of the user's own ssh_config(5).
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/ssh_config.hpp"

namespace jobman::client {
namespace {

using base::Path;
using base::Result;
using base::Status;

/// Longer than any that a person writes.
constexpr std::size_t kMostOfConfig = std::size_t{4} << 20;

/// What Include takes is a pattern, and newer clients replace tokens and variables in it.
Result<std::string> IncludeLine(const Path& included) {
  const std::string& path = included.native();
  const bool plain = path.find_first_of("\"'\\*?[]{}%$~#\n\r\t") == std::string::npos;
  if (plain && included.is_absolute()) return "Include \"" + path + "\"";
  return base::InvalidArgument(
      "OpenSSH cannot include a file called " + path,
      "choose a state folder without quotes, tabs and \\ * ? [ ] { } % $ ~ "
      "#: --home, JOBMAN_HOME");
}

/// The keyword of a line and what follows it: ssh_config(5) allows blanks or one "=" between them.
std::pair<std::string, std::string> Parts(std::string_view line) {
  line = base::Trim(line);
  const std::size_t end = std::min(line.find_first_of(" \t="), line.size());
  std::string_view rest = base::Trim(line.substr(end));
  if (rest.starts_with('=')) rest = base::Trim(rest.substr(1));
  return {base::ToLower(line.substr(0, end)), std::string(rest)};
}

bool Includes(std::string_view line, const Path& included) {
  auto [keyword, value] = Parts(line);
  if (keyword != "include") return false;
  if (value.size() > 1 && value.starts_with('"') && value.ends_with('"'))
    value = value.substr(1, value.size() - 2);
  return base::ExpandHome(value) == included;
}

/// Whether a line at the top level includes it: below a Host or Match it is about some hosts only.
bool IsIncluded(const std::vector<std::string>& lines, const Path& included) {
  for (const std::string& line : lines) {
    const std::string keyword = Parts(line).first;
    if (keyword == "host" || keyword == "match") return false;
    if (Includes(line, included)) return true;
  }
  return false;
}

/// The text as it is now; empty if there is no file.
Result<std::string> ReadConfig(IncludePlan& plan) {
  struct stat info = {};
  if (::stat(plan.file.c_str(), &info) == 0) {
    plan.mode = info.st_mode & 07777;
    return base::ReadRegularFile(plan.target, kMostOfConfig);
  }
  if (errno != ENOENT) return base::FromErrno(errno, "looking at " + plan.file.string());
  if (::lstat(plan.file.c_str(), &info) == 0)
    return base::InvalidArgument(plan.file.string() + " is a link to a file that is not there",
                                 "make that file, or remove the link");
  return std::string();
}

Status CheckWritable(const IncludePlan& plan) {
  const std::string hint = "change it yourself: the first line is to be " + plan.line;
  struct stat info = {};
  const bool there = ::stat(plan.target.c_str(), &info) == 0;
  if (there && info.st_uid != ::geteuid())
    return base::Error{.code = base::Code::kPermissionDenied,
                       .message = plan.target.string() + " belongs to another user",
                       .hint = hint};
  const Path folder = plan.target.parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return base::Ok();
  base::Error error = base::FromErrno(errno, "writing in the folder " + folder.string());
  error.hint = hint;
  return error;
}

}  // namespace

Result<IncludePlan> PlanInclude(const Path& file, const Path& included, bool remove) {
  IncludePlan plan{.file = file, .target = base::RealPath(file)};
  JM_ASSIGN_OR_RETURN(plan.line, IncludeLine(included));
  JM_ASSIGN_OR_RETURN(const std::string before, ReadConfig(plan));
  std::vector<std::string> lines = base::Split(before, '\n');
  if (remove) {
    std::erase_if(lines, [&](const std::string& line) { return Includes(line, included); });
    plan.text = base::Join(lines, "\n");
  } else {
    plan.text = IsIncluded(lines, included) ? before : plan.line + "\n" + before;
  }
  plan.changes = plan.text != before;
  return plan;
}

Status CarryOut(const IncludePlan& plan) {
  if (!plan.changes) return base::Ok();
  JM_TRY(base::EnsureDir(plan.target.parent_path()));
  JM_TRY(CheckWritable(plan));
  return base::WriteFileAtomic(plan.target, plan.text, plan.mode);
}

}  // namespace jobman::client
