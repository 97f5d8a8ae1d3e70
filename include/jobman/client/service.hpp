#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"

/// The controller as a service of the user, which comes back after a reboot: a unit of systemd's
/// user manager (systemd.service(5)), else lines of the crontab (crontab(5)). Root is not needed.
namespace jobman::client {

enum class ServiceKind { kSystemd, kCron };

/// What the service starts.
struct ServiceOrder {
  base::Path program = {};  ///< an absolute path that stays when jobman is upgraded
  base::Path home = {};     ///< jobman's state folder, absolute
  /// Variables that it gets: neither of the two passes on those of the shell.
  std::vector<std::pair<std::string, std::string>> environment = {};
  /// The only machine where the unit may start it, since several see the same home; empty: any.
  std::string only_host = {};
};

/// The variables of this process that a service needs: where the programs, the settings and the
/// proxy are. No secret is among them, and no proxy with a password.
std::vector<std::pair<std::string, std::string>> ServiceEnvironment();

/// "jobman.service" for the home folder `usual`, another for any other one.
std::string ServiceName(const base::Path& home, const base::Path& usual);
std::string UnitText(const ServiceOrder& order);
/// The script that cron runs: it starts a controller in the background, unless one lives.
std::string ScriptText(const ServiceOrder& order);
/// The lines of the crontab between their marks, which name the home folder.
std::string CronLines(const base::Path& script, const base::Path& home);
/// The crontab with these lines at its end, or in place of earlier ones for the same home.
std::string WithCronLines(const std::string& crontab, const base::Path& script,
                          const base::Path& home);
/// The crontab without the lines for that home. All other bytes stay.
std::string WithoutCronLines(const std::string& crontab, const base::Path& home);

/// What InstallService() would do.
struct ServicePlan {
  ServiceKind kind = ServiceKind::kSystemd;
  std::string name = {};   ///< of the unit
  base::Path file = {};    ///< the unit, or the script
  std::string text = {};   ///< of the file
  std::string lines = {};  ///< cron: to be added to the crontab
  bool installed = false;  ///< already so: nothing is to be done
};

/// Asks whether systemd's user manager answers (`cron` true: does not ask), reads the crontab, and
/// changes nothing. kFailedPrecondition if there is neither, or if the other kind is installed.
/// Each program that it runs is given up after ten seconds.
base::Task<base::Result<ServicePlan>> PlanService(ServiceOrder order, bool cron);
/// Does it, to the crontab as it is then; safe to repeat. What fails says which step, and what the
/// program said.
base::Task<base::Status> InstallService(ServicePlan plan);
/// Removes both kinds for this home folder. Returns what was removed; empty if nothing was there.
base::Task<base::Result<std::vector<std::string>>> RemoveService(base::Path home);
/// Whether systemd keeps the user's services while he is not logged in. True if it cannot be asked.
base::Task<bool> Lingers();

}  // namespace jobman::client
