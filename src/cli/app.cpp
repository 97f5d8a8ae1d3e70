#include "cli/app.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "cli/views/error.hpp"
#include "jobman/base/env.hpp"

namespace jobman::cli {
namespace {

using base::Result;

Result<base::Path> Absolute(const base::Path& path) {
  std::error_code failed;
  base::Path absolute = std::filesystem::absolute(path, failed);
  if (failed) return base::FromErrno(failed.value(), "finding " + path.string());
  return absolute.lexically_normal();
}

base::Error WithHomeHint(base::Error error) {
  // A folder that cannot be made is no missing job: exit code 2, not 3.
  if (error.code == base::Code::kNotFound) error.code = base::Code::kFailedPrecondition;
  if (error.reason == base::Reason::kNotWritable || error.hint.empty())
    error.hint = "set JOBMAN_HOME (or pass --home) to a folder that you may write to";
  return error;
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
                     .hint = "set JOBMAN_HOME (or pass --home) to a folder that you may write to"};
}

App::App(const World& world, const GlobalOptions& options, ui::Terminal& terminal)
    : world_(world), options_(options), terminal_(terminal) {}

OutputMode App::mode() const {
  if (options_.json) return OutputMode::kJson;
  return options_.quiet ? OutputMode::kQuiet : OutputMode::kText;
}

Result<base::StatePaths> App::Paths() {
  JM_ASSIGN_OR_RETURN(base::Path home, FindHome(options_.home));
  return base::StatePaths{.home = std::move(home)};
}

Result<ports::Stores> App::StoresForReading() {
  if (stores_) return *stores_;
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, Paths());
  JM_ASSIGN_OR_RETURN(stores_, world_.open_store(paths, StoreUse::kRead));
  return *stores_;
}

Result<ports::Stores> App::StoresForWriting() {
  if (stores_ && writable_) return *stores_;
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, Paths());
  if (auto made = base::EnsureDir(paths.home); !made.ok())
    return WithHomeHint(std::move(made).error());
  auto opened = world_.open_store(paths, StoreUse::kWrite);
  const bool home_is_no_use = !opened.ok() && opened.error().hint.empty() &&
                              opened.error().reason == base::Reason::kNotWritable;
  if (home_is_no_use) return WithHomeHint(std::move(opened).error());
  if (!opened.ok()) return std::move(opened).error();
  stores_ = std::move(opened).value();
  writable_ = true;
  return *stores_;
}

bool App::Wait(base::Duration duration) {
  terminal_.Flush();
  return terminal_.out_error() == 0 && world_.pause(duration);
}

int App::EndOfWait() const {
  // A failed write has its own exit code, given at the end of the program.
  return terminal_.out_error() == 0 ? kInterrupted : kSuccess;
}

void App::ShowJson(const base::OrderedJson& json) {
  terminal_.Out(DumpJson(json, 2) + "\n");
}

void App::ShowJsonLine(const base::OrderedJson& json) {
  terminal_.Out(DumpJson(json, -1) + "\n");
}

void App::Say(std::string_view line) {
  if (!options_.quiet) terminal_.Err(ui::CleanLines(line));
}

int App::Fail(const base::Error& error) {
  const views::Failure view{.error = error, .exit_code = ExitCodeOf(error)};
  if (mode() == OutputMode::kJson) {
    ShowJson(ToJson(view));
  } else {
    terminal_.Err(RenderText(view, terminal_.err_style()));
  }
  return view.exit_code;
}

}  // namespace jobman::cli
