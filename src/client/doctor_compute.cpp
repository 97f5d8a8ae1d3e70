// What `doctor` asks Compute Engine: what a project says of logins, and how many addresses it may
// use.
#include <fmt/format.h>

#include <algorithm>
#include <asio/this_coro.hpp>

#include "client/doctor_parts.hpp"
#include "client/kept_project.hpp"
#include "jobman/client/times.hpp"
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

/// How many external addresses the job takes; one if its size is not known.
int AddressesOf(const Examination& about) {
  return about.has_job ? std::max(AddressesFor(about.spec.tpu), 1) : 1;
}

Finding JudgeAddresses(const std::string& name, const Examination& about, const Quotas& quotas) {
  const auto quota = std::find_if(quotas.begin(), quotas.end(), [](const auto& one) {
    return one.metric == "IN_USE_ADDRESSES" && one.limit >= 0;
  });
  const std::string region = core::RegionOf(about.spec.tpu.zone);
  if (quota == quotas.end()) return IsSkipped(name, region + " has no quota of addresses");
  const int needed = AddressesOf(about);
  const std::string found = fmt::format("{}: {:.0f} of {:.0f} external addresses are used", region,
                                        quota->usage, quota->limit);
  if (quota->limit - quota->usage >= needed) return IsFine(name, found);
  const std::string text = fmt::format("{}; each host takes one, {} in all", found, needed);
  const std::string cure =
      "set tpu.external_ips: false, or ask for more (In-use IP addresses) at "
      "https://console.cloud.google.com/iam-admin/quotas?project=" +
      about.spec.tpu.project;
  if (quota->limit >= needed) return IsOdd(name, text, cure);
  base::Error never{.code = base::Code::kResourceExhausted, .message = text, .hint = cure};
  never.reason = base::Reason::kQuotaZero;  // waiting does not help
  return HasFailed(name, std::move(never));
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
  const Examination& about = checkup->about;
  if (!about.spec.tpu.external_ips) co_return IsFine(name, "none are used: tpu.external_ips");
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
  co_return JudgeAddresses(name, about, *quotas);
}

}  // namespace jobman::client
