// What `doctor` asks Service Usage: which TPUs the project may hold, and who holds them.
#include <fmt/format.h>

#include <algorithm>

#include "client/doctor_parts.hpp"
#include "client/quota_fit.hpp"
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

/// "v4 spot: 8 of 32 TensorCores"; the zone only where several are looked at.
std::string LimitOfRow(const QuotaRow& row, bool one_zone) {
  const std::string place =
      one_zone || row.limit.location.empty() ? "" : " in " + row.limit.location;
  const std::string name = NameOfQuota(row) + place;
  const std::string held = row.held ? std::to_string(HeldOf(row)) : "?";
  if (row.limit.unlimited) return fmt::format("{}: {} {}, no limit", name, held, UnitOf(row));
  return fmt::format("{}: {} of {} {}", name, held, *row.limit.limit, UnitOf(row));
}

/// The limit of the job's own type and pricing is too small for its slices, whoever holds some.
base::Error NeverEnoughFor(const Examination& about, const QuotaRow& small,
                           const QuotaAnswer& answer) {
  const core::TpuSpec& tpu = about.spec.tpu;
  std::vector<ports::TpuLimit> limits;
  for (const QuotaRow& row : answer.tpus) limits.push_back(row.limit);
  base::Error never{
      .code = base::Code::kResourceExhausted,
      .message = fmt::format("{}; the job's slices take {} {}", LimitOfRow(small, false),
                             NeedFrom(tpu, small), UnitOf(small)),
      .hint = CureForQuota(tpu, small, answer.tpus, limits)};
  never.reason = base::Reason::kQuotaZero;  // waiting does not help
  return never;
}

const QuotaRow* TooSmallFor(const Examination& about, const QuotaAnswer& answer) {
  const bool asks = about.has_job && about.spec.tpu.existing.empty();
  return asks ? FindTooSmall(about.spec.tpu, answer.tpus) : nullptr;
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
  if (const QuotaRow* small = TooSmallFor(about, answer); small != nullptr)
    return HasFailed(name, NeverEnoughFor(about, *small, answer));
  const std::string more_at = AskForQuota(about.spec.tpu.project);
  if (some.empty()) return IsOdd(name, where + ": every limit of TPUs is 0", more_at);
  const std::size_t more = some.size() - std::min(some.size(), kMostTypes);
  some.resize(some.size() - more);
  const std::string rest = more == 0 ? "" : fmt::format(", and {} more (jobman quota)", more);
  const std::string names = HolderNames(answer.tpus);
  const std::string held = names.empty() ? "" : "; held by " + names;
  return IsFine(name, where + ": " + base::Join(some, ", ") + rest + held);
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
