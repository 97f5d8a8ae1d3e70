// What `doctor` asks Compute Engine: what a project says of logins, and how many addresses and how
// much disk it may use.
#include <fmt/format.h>

#include <algorithm>
#include <asio/this_coro.hpp>

#include "client/doctor_parts.hpp"
#include "client/kept_project.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/regions.hpp"

namespace jobman::client {
namespace {

using Metadata = std::map<std::string, std::string>;
using Quotas = std::vector<ports::RegionQuota>;
using ProjectsPtr = std::shared_ptr<ports::ProjectApi>;

constexpr const char* kServer = "compute.googleapis.com";
constexpr const char* kMayLook =
    "jobman works without this; to see it: the role roles/compute.viewer, and the Compute Engine "
    "API enabled";

constexpr const char* kOwnLogin = "ssh.os_login: true";

/// Why nothing can be asked; empty if it can.
std::string WhyUnasked(const Checkup& checkup) {
  if (!*checkup.logged_in) return "there is no access token, see credentials";
  if (checkup.about.spec.tpu.project.empty()) return "there is no project";
  return checkup.probes.open_projects ? "" : "Compute Engine is not asked";
}

base::Result<ProjectsPtr> OpenProjects(const Checkup& checkup,
                                       const asio::any_io_executor& executor) {
  return checkup.probes.open_projects(executor, checkup.about.spec.cloud);
}

base::Task<base::Result<Metadata>> AskMetadata(ProjectsPtr projects, std::string project) {
  co_return co_await projects->Metadata(std::move(project));
}

base::Task<base::Result<Quotas>> AskQuotas(ProjectsPtr projects, std::string project,
                                           std::string region) {
  co_return co_await projects->Quotas(std::move(project), std::move(region));
}

/// What is not known is no reason why jobman cannot work.
Finding NotSeen(const std::string& name, const base::Error& error) {
  return IsOdd(name, "cannot be looked at: " + error.ToString(), kMayLook);
}

/// Of a project that asks for OS Login, for a job that does not say otherwise.
Finding TurnedOff(const std::string& name) {
  return IsOdd(name,
               "on, by the project's metadata; create turns it off for its slices "
               "(enable-oslogin: FALSE), so that their hosts take jobman's SSH key",
               std::string("where your organisation forbids that, ") + kOwnLogin);
}

Finding JudgeOsLogin(const std::string& name, const Examination& about, const Metadata& project) {
  const Metadata& own = about.spec.tpu.metadata;
  const bool common = IsTrueIn(project, kEnableOsLogin);
  if (!own.contains(kEnableOsLogin) && common) return TurnedOff(name);
  const bool on = IsTrueIn(own, kEnableOsLogin);
  if (on && about.spec.ssh.os_login)
    return IsFine(name, "on, by ssh.os_login: create adds the job's key to the account's profile");
  if (!on && common) return IsFine(name, "off for this job, by tpu.metadata");
  if (!on && IsTrueIn(project, "block-project-ssh-keys"))
    return IsFine(name, "off; the project's SSH keys are blocked, jobman's are the node's own");
  if (!on) return IsFine(name, "off");
  const std::string found =
      "on, by tpu.metadata: hosts do not take the SSH key that jobman puts into a node's metadata";
  const std::string cure =
      std::string(
          "where your organisation allows it, tpu.metadata: {enable-oslogin: 'FALSE'}; "
          "else ") +
      kOwnLogin;
  if (about.own_user) return IsOdd(name, found, cure);
  base::Error error{.code = base::Code::kUnauthenticated, .message = found, .hint = cure};
  error.reason = base::Reason::kHostAuth;
  return HasFailed(name, std::move(error));
}

/// Of the job; one if its size is not known.
int HostsOf(const Examination& about) {
  return about.has_job ? std::max(HostsFor(about.spec.tpu), 1) : 1;
}

const ports::RegionQuota* FindQuota(const Quotas& quotas, std::string_view metric) {
  const auto found = std::find_if(quotas.begin(), quotas.end(), [&](const auto& one) {
    return one.metric == metric && one.limit >= 0;
  });
  return found == quotas.end() ? nullptr : &*found;
}

std::string MoreOf(const std::string& quota, const Examination& about) {
  return "ask for more (" + quota +
         ") at https://console.cloud.google.com/iam-admin/quotas?project=" + about.spec.tpu.project;
}

Finding JudgeAddresses(const std::string& name, const Examination& about, const Quotas& quotas) {
  const ports::RegionQuota* const quota = FindQuota(quotas, "IN_USE_ADDRESSES");
  const std::string region = core::RegionOf(about.spec.tpu.zone);
  if (quota == nullptr) return IsSkipped(name, region + " has no quota of addresses");
  const int needed = HostsOf(about);
  const std::string found = fmt::format("{}: {:.0f} of {:.0f} external addresses are used", region,
                                        quota->usage, quota->limit);
  if (quota->limit - quota->usage >= needed) return IsFine(name, found);
  const std::string text = fmt::format("{}; each host takes one, {} in all", found, needed);
  const std::string cure =
      "set tpu.external_ips: false, or " + MoreOf("In-use IP addresses", about);
  if (quota->limit >= needed) return IsOdd(name, text, cure);
  base::Error never{.code = base::Code::kResourceExhausted, .message = text, .hint = cure};
  never.reason = base::Reason::kQuotaZero;  // waiting does not help
  return HasFailed(name, std::move(never));
}

/// Of each host (https://cloud.google.com/tpu/docs/setup-persistent-disk).
constexpr int kBootDiskGb = 100;

/// The quota that Compute Engine counts disks of this kind in. Boot disks are Hyperdisk Balanced of
/// v6e, and Balanced Persistent Disk of those before it (the same page).
const char* DiskMetric(const core::TpuSpec& tpu) {
  return core::GenerationOf(tpu.accelerator) == "v6e" ? "HDB_TOTAL_GB" : "SSD_TOTAL_GB";
}

/// Never a failure: no page says whether the boot disks of TPU VMs count in the project's quota.
Finding JudgeDisks(const std::string& name, const Examination& about, const Quotas& quotas) {
  const char* const metric = DiskMetric(about.spec.tpu);
  const ports::RegionQuota* const quota = FindQuota(quotas, metric);
  const std::string region = core::RegionOf(about.spec.tpu.zone);
  if (quota == nullptr) return IsSkipped(name, fmt::format("{} has no quota {}", region, metric));
  const int needed = kBootDiskGb * HostsOf(about);
  const std::string found = fmt::format("{}: {:.0f} of {:.0f} GB are used ({})", region,
                                        quota->usage, quota->limit, metric);
  if (quota->limit - quota->usage >= needed) return IsFine(name, found);
  return IsOdd(name, fmt::format("{}; the hosts' boot disks have {} GB in all", found, needed),
               "if a slice is refused for that, " + MoreOf(metric, about));
}

using Judge = Finding (*)(const std::string&, const Examination&, const Quotas&);

base::Task<Finding> JudgeRegion(CheckupPtr checkup, std::string name, Judge judge) {
  const Examination& about = checkup->about;
  [[maybe_unused]] const bool logged_in = co_await AwaitLogin(checkup);
  if (const std::string why = WhyUnasked(*checkup); !why.empty()) co_return IsSkipped(name, why);
  if (!about.zone_known) co_return IsSkipped(name, "no zone is named: --zone, or a job file");
  const auto executor = co_await asio::this_coro::executor;
  auto projects = OpenProjects(*checkup, executor);
  if (!projects.ok()) co_return NotSeen(name, projects.error());
  if (!*projects) co_return IsSkipped(name, "this cloud has no Compute Engine");
  auto asked = AskQuotas(*projects, about.spec.tpu.project, core::RegionOf(about.spec.tpu.zone));
  std::string what = kServer;
  const auto quotas = co_await base::WithTimeout(std::move(asked), kCheckLimit, std::move(what));
  if (!quotas.ok()) co_return NotSeen(name, quotas.error());
  co_return judge(name, about, *quotas);
}

}  // namespace

base::Task<Finding> CheckOsLogin(CheckupPtr checkup, std::string name) {
  [[maybe_unused]] const bool logged_in = co_await AwaitLogin(checkup);
  if (const std::string why = WhyUnasked(*checkup); !why.empty()) co_return IsSkipped(name, why);
  const auto executor = co_await asio::this_coro::executor;
  auto projects = OpenProjects(*checkup, executor);
  if (!projects.ok()) co_return NotSeen(name, projects.error());
  if (!*projects) co_return IsSkipped(name, "this cloud has no Compute Engine");
  auto asked = AskMetadata(*projects, checkup->about.spec.tpu.project);
  std::string what = kServer;
  const auto metadata = co_await base::WithTimeout(std::move(asked), kCheckLimit, std::move(what));
  if (!metadata.ok()) co_return NotSeen(name, metadata.error());
  co_return JudgeOsLogin(name, checkup->about, *metadata);
}

base::Task<Finding> CheckAddresses(CheckupPtr checkup, std::string name) {
  if (!checkup->about.spec.tpu.external_ips)
    co_return IsFine(name, "none are used: tpu.external_ips");
  co_return co_await JudgeRegion(std::move(checkup), std::move(name), JudgeAddresses);
}

base::Task<Finding> CheckDisks(CheckupPtr checkup, std::string name) {
  co_return co_await JudgeRegion(std::move(checkup), std::move(name), JudgeDisks);
}

}  // namespace jobman::client
