#include "jobman/client/context.hpp"

#include <filesystem>
#include <system_error>

#include "jobman/base/env.hpp"
#include "jobman/base/trusted.hpp"

namespace jobman::client {
namespace {

using base::Result;

constexpr const char* kHomeOfOwn = "set JOBMAN_HOME (or pass --home) to a folder of your own";
constexpr const char* kHomeHint =
    "set JOBMAN_HOME (or pass --home) to a folder that you may write to";

Result<base::Path> Absolute(const base::Path& path) {
  std::error_code failed;
  base::Path absolute = std::filesystem::absolute(path, failed);
  if (failed) return base::FromErrno(failed.value(), "finding " + path.string());
  return absolute.lexically_normal();
}

base::Error WithHomeHint(base::Error error) {
  // A folder that cannot be created must not look like a missing job: exit code 2, not 3.
  if (error.code == base::Code::kNotFound) error.code = base::Code::kFailedPrecondition;
  if (error.reason == base::Reason::kNotWritable || error.hint.empty()) error.hint = kHomeHint;
  return error;
}

/// Who else could write there could have commands of theirs run as this user: in records, as hooks.
base::Status CheckHome(const base::StatePaths& paths) {
  const base::TrustedUse use{.what = "jobman's home folder", .instead = kHomeOfOwn};
  JM_TRY(base::CheckTrusted(paths.home, use));
  return base::CheckTrusted(paths.StoreFile(), use);
}

}  // namespace

Result<base::Path> FindHome(const std::string& option) {
  if (!option.empty()) return Absolute(base::ExpandHome(option));
  if (const auto home = base::GetEnv("JOBMAN_HOME")) return Absolute(base::ExpandHome(*home));
  if (const auto state = base::GetEnv("XDG_STATE_HOME"))
    return Absolute(base::Path(*state) / "jobman");
  const base::Path user_home = base::HomeDir();
  if (!user_home.empty()) return Absolute(user_home / ".local" / "state" / "jobman");
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message =
                         "no place for jobman's files: $HOME is not set, and this user has "
                         "no home folder",
                     .hint = kHomeHint};
}

Result<ports::Stores> OpenStores(const base::StatePaths& paths, StoreUse use,
                                 const StoreOpener& open) {
  if (use == StoreUse::kRead) {
    JM_TRY(CheckHome(paths));
    return open(paths, use);
  }
  if (auto made = base::EnsureDir(paths.home); !made.ok())
    return WithHomeHint(std::move(made).error());
  JM_TRY(CheckHome(paths));
  auto opened = open(paths, use);
  const bool home_is_no_use = !opened.ok() && opened.error().hint.empty() &&
                              opened.error().reason == base::Reason::kNotWritable;
  if (home_is_no_use) return WithHomeHint(std::move(opened).error());
  return opened;
}

}  // namespace jobman::client
