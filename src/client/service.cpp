#include "jobman/client/service.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "jobman/base/env.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/context.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

using base::Error;
using base::Path;
using base::ProcessResult;
using base::Result;
using base::Status;
using base::Task;
using Words = std::vector<std::string>;

constexpr const char* kScript = "controller-start.sh";

/// Runs a program that may hang: a user manager does when its bus is gone, cron's when NFS is.
Task<Result<ProcessResult>> Ask(Words argv, std::string input = {}) {
  const std::string what = base::Join(argv, " ");
  co_return co_await base::WithTimeout(base::RunProcess(std::move(argv), std::move(input)),
                                       kServiceAnswer, what);
}

/// A step that must succeed.
Task<Status> Do(Words argv, std::string input = {}) {
  const std::string what = base::Join(argv, " ");
  JM_CO_ASSIGN_OR_RETURN(const auto ended, co_await Ask(std::move(argv), std::move(input)));
  if (ended.exit_code == 0) co_return base::Ok();
  const std::string said(base::Trim(ended.err.empty() ? ended.out : ended.err));
  Error error{.code = base::Code::kFailedPrecondition,
              .message = fmt::format("{} ended with exit code {}{}", what, ended.exit_code,
                                     said.empty() ? "" : ": " + said)};
  co_return error;
}

Words Systemctl(Words more) {
  Words argv = {"systemctl", "--user"};
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

/// Whether the program runs and says yes. A silent or missing one says no.
Task<bool> Agrees(Words argv) {
  const auto ended = co_await Ask(std::move(argv));
  co_return ended.ok() && ended->exit_code == 0;
}

Task<bool> SystemdAnswers() {
  Words argv = Systemctl({"show", "--property=Version"});
  co_return co_await Agrees(std::move(argv));
}

Path UnitFolder() {
  const auto config = base::GetEnv("XDG_CONFIG_HOME");
  return (config ? Path(*config) : base::HomeDir() / ".config") / "systemd" / "user";
}

/// The home folder when nothing names another one.
Path UsualHome() {
  return base::HomeDir() / ".local" / "state" / "jobman";
}

Path UnitFile(const Path& home) {
  return UnitFolder() / ServiceName(home, UsualHome());
}

/// The user's crontab; empty if there is none yet. Only what was surely read may be replaced.
Task<Result<std::string>> ReadCrontab() {
  Words argv = {"crontab", "-l"};
  JM_CO_ASSIGN_OR_RETURN(const auto ended, co_await Ask(std::move(argv)));
  if (ended.exit_code == 0) co_return ended.out;
  // Vixie's and cronie's words, and busybox's.
  const std::string said = base::ToLower(ended.err);
  const bool none = base::Contains(said, "no crontab for") || base::Contains(said, "no such file");
  if (none) co_return std::string{};
  Error error{.code = base::Code::kFailedPrecondition,
              .message = fmt::format("crontab -l ended with exit code {}: {}", ended.exit_code,
                                     base::Trim(ended.err))};
  co_return error;
}

Error NoService(Error cron) {
  Error error{.code = base::Code::kFailedPrecondition,
              .message =
                  "there is no service to start the controller: systemd's user manager does "
                  "not answer, and " +
                  cron.ToString(),
              .hint =
                  "commands start a controller when they need one; after a reboot, run: jobman "
                  "controller start"};
  return error;
}

Error OtherKind(std::string_view kind, const Path& where) {
  return {.code = base::Code::kFailedPrecondition,
          .message =
              fmt::format("the controller is installed with {} already: {}", kind, where.string()),
          .hint = "jobman controller uninstall, then install it again"};
}

bool HasControls(const Path& path) {
  const std::string& text = path.native();
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
}

Error OddPath() {
  return base::InvalidArgument("a path with a line break cannot be in a unit or a crontab",
                               "move jobman, or its home folder");
}

Task<Result<ServicePlan>> PlanUnit(ServiceOrder order) {
  const std::string name = ServiceName(order.home, UsualHome());
  ServicePlan plan{.kind = ServiceKind::kSystemd,
                   .name = name,
                   .file = UnitFile(order.home),
                   .text = UnitText(order)};
  const auto present = base::ReadRegularFile(plan.file);
  Words argv = Systemctl({"is-enabled", "--quiet", name});
  const bool enabled = co_await Agrees(std::move(argv));
  plan.installed = enabled && present.ok() && *present == plan.text;
  co_return plan;
}

Task<Result<ServicePlan>> PlanCron(ServiceOrder order) {
  auto crontab = co_await ReadCrontab();
  if (!crontab.ok()) co_return NoService(std::move(crontab).error());
  ServicePlan plan{
      .kind = ServiceKind::kCron, .file = order.home / kScript, .text = ScriptText(order)};
  plan.lines = CronLines(plan.file, order.home);
  const auto present = base::ReadRegularFile(plan.file);
  plan.installed = *crontab == WithCronLines(*crontab, plan.file, order.home) && present.ok() &&
                   *present == plan.text;
  co_return plan;
}

Task<Status> InstallUnit(ServicePlan plan) {
  JM_CO_TRY(base::EnsureDir(plan.file.parent_path()));
  JM_CO_TRY(base::WriteFileAtomic(plan.file, plan.text));
  const std::vector<Words> steps = {
      {"daemon-reload"}, {"enable", plan.name}, {"start", "--no-block", plan.name}};
  for (const Words& step : steps) {
    Words argv = Systemctl(step);
    JM_CO_TRY(co_await Do(std::move(argv)));
  }
  co_return base::Ok();
}

Task<Status> WriteCrontab(std::string crontab) {
  // An empty one would stay behind as a file.
  Words argv = {"crontab", crontab.empty() ? "-r" : "-"};
  co_return co_await Do(std::move(argv), std::move(crontab));
}

/// Reads the crontab again: the user may have changed it while he was asked.
Task<Status> AddCronLines(Path script) {
  JM_CO_ASSIGN_OR_RETURN(const std::string crontab, co_await ReadCrontab());
  std::string more = WithCronLines(crontab, script, script.parent_path());
  co_return co_await WriteCrontab(std::move(more));
}

Task<Status> InstallCron(ServicePlan plan) {
  const bool is_new = access(plan.file.c_str(), F_OK) != 0;
  JM_CO_TRY(base::WriteFileAtomic(plan.file, plan.text, 0700));
  Status added = co_await AddCronLines(plan.file);
  // A script without its lines would count as installed.
  if (!added.ok() && is_new) static_cast<void>(base::RemoveAll(plan.file));
  co_return added;
}

Task<Result<bool>> RemoveUnit(Path home) {
  const Path file = UnitFile(home);
  if (access(file.c_str(), F_OK) != 0) co_return false;
  // Where the manager does not answer there is nothing to stop, and the file goes all the same.
  const bool answers = co_await SystemdAnswers();
  if (answers) {
    Words argv = Systemctl({"disable", "--now", "--no-block", ServiceName(home, UsualHome())});
    JM_CO_TRY(co_await Do(std::move(argv)));
  }
  // What `enable` made; without a manager nobody else removes it.
  JM_CO_TRY(base::RemoveAll(file.parent_path() / "default.target.wants" / file.filename()));
  JM_CO_TRY(base::RemoveAll(file));
  Words reload = Systemctl({"daemon-reload"});
  (void)co_await Agrees(std::move(reload));
  co_return true;
}

Task<Result<bool>> RemoveCron(Path home) {
  const Path script = home / kScript;
  const bool has_script = access(script.c_str(), F_OK) == 0;
  const auto crontab = co_await ReadCrontab();
  // The lines never come without their script.
  if (!crontab.ok() && has_script) co_return crontab.error();
  const std::string before = crontab.ok() ? *crontab : "";
  std::string after = WithoutCronLines(before, home);
  if (after == before && !has_script) co_return false;
  if (after != before) {
    JM_CO_TRY(co_await WriteCrontab(std::move(after)));
  }
  JM_CO_TRY(base::RemoveAll(script));
  co_return true;
}

}  // namespace

Task<Result<ServicePlan>> PlanService(ServiceOrder order, bool cron) {
  const Path unit = UnitFile(order.home);
  const Path script = order.home / kScript;
  if (HasControls(order.program) || HasControls(order.home)) co_return OddPath();
  bool by_systemd = false;
  if (!cron) by_systemd = co_await SystemdAnswers();
  if (by_systemd) {
    if (access(script.c_str(), F_OK) == 0) co_return OtherKind("cron", script);
    co_return co_await PlanUnit(std::move(order));
  }
  if (access(unit.c_str(), F_OK) == 0) co_return OtherKind("systemd", unit);
  co_return co_await PlanCron(std::move(order));
}

Task<Status> InstallService(ServicePlan plan) {
  if (plan.installed) co_return base::Ok();
  if (plan.kind == ServiceKind::kSystemd) co_return co_await InstallUnit(std::move(plan));
  co_return co_await InstallCron(std::move(plan));
}

Task<Result<Words>> RemoveService(Path home) {
  Words removed;
  JM_CO_ASSIGN_OR_RETURN(const bool unit, co_await RemoveUnit(home));
  if (unit) removed.push_back(UnitFile(home).string());
  JM_CO_ASSIGN_OR_RETURN(const bool cron, co_await RemoveCron(home));
  if (cron) removed.push_back("the lines of the crontab");
  co_return removed;
}

Task<bool> Lingers() {
  Words argv = {"loginctl", "show-user", base::UserName(), "--property=Linger"};
  const auto ended = co_await Ask(std::move(argv));
  co_return !ended.ok() || !base::Contains(ended->out, "Linger=no");
}

}  // namespace jobman::client
