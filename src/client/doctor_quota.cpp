// What `doctor` asks Service Usage: which TPUs the project may hold, and who holds them.
#include <fmt/format.h>

#include <algorithm>

#include "client/doctor_parts.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/quota.hpp"

namespace jobman::client {
namespace {

/// More types would not be read in one line.
constexpr std::size_t kMostTypes = 6;
constexpr const char* kMayLookAtLimits =
    "jobman works without this; to see it: the role roles/serviceusage.serviceUsageViewer, and the "
    "Service Usage API enabled";

std::string NoQuotaAsked(const Checkup& checkup) {
  if (!*checkup.logged_in) return "there is no access token, see credentials";
  if (checkup.about.spec.tpu.project.empty()) return "there is no project";
  return checkup.probes.open_quotas ? "" : "Service Usage is not asked";
}

bool GivesSome(const QuotaRow& row) {
  return row.limit.unlimited || row.limit.limit.value_or(0) > 0;
}

/// "v4 spot: 8 of 32"; the zone only where several are looked at.
std::string LimitOfRow(const QuotaRow& row, bool one_zone) {
  const std::string what =
      core::TextOf(*row.counts) + " " + std::string(core::PricingName(row.counts->pricing));
  const std::string place =
      one_zone || row.limit.location.empty() ? "" : " in " + row.limit.location;
  const std::string limit = row.limit.unlimited ? "no limit" : std::to_string(*row.limit.limit);
  const std::string held = row.held ? std::to_string(*row.held) : "?";
  return fmt::format("{}{}: {} of {}", what, place, held, limit);
}

/// " (by 000042, bobs)" of all rows; empty if nothing is held.
std::string HolderNames(const std::vector<QuotaRow>& rows) {
  std::vector<std::string> names;
  for (const QuotaRow& row : rows) {
    for (const QuotaHolder& holder : row.holders) {
      std::string name = holder.job ? core::FormatJobId(*holder.job) : holder.node;
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(std::move(name));
    }
  }
  if (names.size() > kMostTypes) {
    const std::size_t more = names.size() - kMostTypes;
    names.resize(kMostTypes);
    names.push_back(fmt::format("{} more", more));
  }
  return names.empty() ? "" : "; held by " + base::Join(names, ", ");
}

/// The limit of the job's own type and pricing, if it is too small for its slices.
std::string TooSmall(const Examination& about, const std::vector<QuotaRow>& rows) {
  const core::TpuSpec& tpu = about.spec.tpu;
  const auto type = core::FindAccelerator(tpu.accelerator);
  if (!about.has_job || !type.ok() || !tpu.existing.empty()) return {};
  for (const QuotaRow& row : rows) {
    if (!row.counts || !row.limit.limit) continue;
    const std::int64_t needed =
        std::int64_t{core::UnitsOf(*row.counts, *type, tpu.pricing)} * std::max(tpu.num_slices, 1);
    if (needed > *row.limit.limit)
      return fmt::format("{}; the job's slices take {}", LimitOfRow(row, false), needed);
  }
  return {};
}

std::string AskForMore(const Examination& about) {
  return "ask for more (service: Cloud TPU API) at "
         "https://console.cloud.google.com/iam-admin/quotas?project=" +
         about.spec.tpu.project;
}

Finding JudgeQuota(const std::string& name, const Examination& about, const QuotaAnswer& answer) {
  if (answer.no_limits && answer.no_limits->code == base::Code::kUnimplemented)
    return IsSkipped(name, answer.no_limits->message);
  if (answer.no_limits)
    return IsOdd(name, "cannot be looked at: " + answer.no_limits->ToString(), kMayLookAtLimits);
  std::vector<std::string> some;
  bool told = false;
  for (const QuotaRow& row : answer.tpus) {
    if (!row.counts || row.limit.metric.empty()) continue;
    told = told || row.limit.limit || row.limit.unlimited;
    if (GivesSome(row)) some.push_back(LimitOfRow(row, about.zone_known));
  }
  const std::string where = about.zone_known ? about.spec.tpu.zone : about.spec.tpu.project;
  if (some.empty() && !told) return IsSkipped(name, where + ": no limit of TPUs is told");
  if (some.empty()) return IsOdd(name, where + ": every limit of TPUs is 0", AskForMore(about));
  if (const std::string small = TooSmall(about, answer.tpus); !small.empty())
    return IsOdd(name, where + ": " + small, AskForMore(about));
  const std::size_t more = some.size() - std::min(some.size(), kMostTypes);
  some.resize(some.size() - more);
  const std::string rest = more == 0 ? "" : fmt::format(", and {} more (jobman quota)", more);
  return IsFine(name, where + ": " + base::Join(some, ", ") + rest + HolderNames(answer.tpus));
}

}  // namespace

base::Task<Finding> CheckQuota(CheckupPtr checkup, std::string name) {
  [[maybe_unused]] const bool logged_in = co_await AwaitLogin(checkup);
  if (const std::string why = NoQuotaAsked(*checkup); !why.empty()) co_return IsSkipped(name, why);
  const Examination& about = checkup->about;
  Context context = checkup->context;
  context.open_quotas = checkup->probes.open_quotas;
  QuotaQuery query{.cloud = about.spec.cloud, .project = about.spec.tpu.project};
  query.addresses = false;  // another check's
  query.all = true;
  if (about.zone_known) query.zones = {about.spec.tpu.zone};
  const QuotaAnswer answer = co_await AskQuota(std::move(context), std::move(query));
  co_return JudgeQuota(name, about, answer);
}

}  // namespace jobman::client
