#include "jobman/client/compute_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/kept_project.hpp"
#include "client/no_answer.hpp"
#include "jobman/core/regions.hpp"

namespace jobman::client {
namespace {

constexpr const char* kTurnedOff =
    "the project asks for OS Login, under which hosts ignore the job's key: the slice gets "
    "enable-oslogin: FALSE";

/// "the slice needs 16 external addresses in us-central2"
std::string NeedText(const core::TpuSpec& tpu) {
  const int needed = AddressesFor(tpu);
  return fmt::format("{} {} external {} in {}",
                     tpu.num_slices > 1 ? "the slices need" : "the slice needs", needed,
                     needed == 1 ? "address" : "addresses", core::RegionOf(tpu.zone));
}

base::Error NeverEnough(const config::Loaded& loaded, const ports::RegionQuota& quota) {
  const auto place = loaded.places.find("tpu.accelerator");
  config::Problem problem = place == loaded.places.end() ? config::Problem() : place->second;
  problem.message = fmt::format("{}, and the project's limit {} is {:.0f} ({:.0f} in use)",
                                NeedText(loaded.spec.tpu), quota.metric, quota.limit, quota.usage);
  problem.hint =
      "ask for more at https://console.cloud.google.com/iam-admin/quotas?project=" +
      loaded.spec.tpu.project +
      ", take a smaller accelerator type, or, if this machine is in the slice's network, set "
      "tpu.external_ips: false";
  base::Error error = config::ToError({problem});
  error.reason = base::Reason::kQuotaZero;
  return error;
}

/// An error, a note, or an empty text.
base::Result<std::string> JudgeNeed(const config::Loaded& loaded,
                                    const std::optional<ports::RegionQuota>& quota) {
  const int needed = AddressesFor(loaded.spec.tpu);
  if (!quota || needed == 0 || quota->limit - quota->usage >= needed) return std::string();
  if (quota->limit < needed) return NeverEnough(loaded, *quota);
  return fmt::format("{}, and {:.0f} of the project's {:.0f} are in use: others have to end first",
                     NeedText(loaded.spec.tpu), quota->usage, quota->limit);
}

base::Result<ComputeVerdict> VerdictOn(const config::Loaded& loaded, const ProjectView& view) {
  ComputeVerdict verdict;
  verdict.turn_os_login_off = view.os_login && !loaded.spec.tpu.metadata.contains(kEnableOsLogin);
  if (verdict.turn_os_login_off) verdict.notes.emplace_back(kTurnedOff);
  JM_ASSIGN_OR_RETURN(std::string note, JudgeNeed(loaded, view.addresses));
  if (!note.empty()) verdict.notes.push_back(std::move(note));
  return verdict;
}

}  // namespace

bool UserIsChosen(const config::Loaded& loaded) {
  return std::any_of(loaded.origins.begin(), loaded.origins.end(), [](const auto& origin) {
    return origin.path == "ssh.user" && origin.where != "default" &&
           origin.where != "your login name";
  });
}

base::Status CheckOsLoginWish(const config::Loaded& loaded) {
  const bool wished = IsTrueIn(loaded.spec.tpu.metadata, kEnableOsLogin);
  if (!wished || UserIsChosen(loaded) || loaded.spec.ssh.os_login) return base::Ok();
  return base::InvalidArgument(
      "tpu.metadata asks for OS Login (enable-oslogin: " +
          loaded.spec.tpu.metadata.at(kEnableOsLogin) +
          "), under which hosts ignore the job's key: jobman could not log in",
      "leave it out; or, where your organisation requires it: ssh.os_login: true");
}

base::Task<base::Result<ComputeVerdict>> CheckCompute(Context context, config::Loaded loaded) {
  ComputeVerdict verdict;
  const core::JobSpec& spec = loaded.spec;
  if (!spec.tpu.existing.empty() || !context.open_projects) co_return verdict;
  const auto api = context.open_projects(context.loop->get_executor(), spec.cloud);
  if (!api && api.error().code == base::Code::kInvalidArgument) co_return api.error();
  if (!api || !*api) co_return verdict;
  const auto view = co_await LookAtProject(context, *api, spec);
  if (view.ok()) co_return VerdictOn(loaded, *view);
  if (DoesNotAnswer(view.error())) {
    verdict.answered = false;
    verdict.notes.push_back("OS Login and the addresses of project " + spec.tpu.project +
                            " could not be checked: " + view.error().ToString());
  }
  co_return verdict;
}

base::Task<ComputeVerdict> PreviewCompute(Context context, config::Loaded loaded) {
  ComputeVerdict verdict;
  const core::JobSpec& spec = loaded.spec;
  const bool says_it = spec.tpu.metadata.contains(kEnableOsLogin);
  if (says_it || !spec.tpu.existing.empty() || !context.open_projects) co_return verdict;
  const auto api = context.open_projects(context.loop->get_executor(), spec.cloud);
  if (!api || !*api) co_return verdict;
  const auto view = co_await KeptView(context, spec);
  verdict.turn_os_login_off = view && view->os_login;
  if (verdict.turn_os_login_off) verdict.notes.emplace_back(kTurnedOff);
  if (!view) {
    verdict.notes.push_back("create first asks whether project " + spec.tpu.project +
                            " wants OS Login; if so, the slice gets enable-oslogin: FALSE, too");
  }
  co_return verdict;
}

}  // namespace jobman::client
