#include "jobman/client/quota_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/kept_limits.hpp"
#include "client/no_answer.hpp"
#include "client/quota_fit.hpp"
#include "client/quota_holders.hpp"
#include "client/quota_rows.hpp"
#include "client/wrong_key.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::client {
namespace {

/// The limits that count for a job.
struct QuotaView {
  KeptLimits all = {};                 ///< of its generation, everywhere
  std::vector<QuotaRow> zone = {};     ///< of its generation, in its zone
  const core::TpuSpec* tpu = nullptr;  ///< the job's
  /// Nothing: not known, or nothing is to be compared with it.
  std::optional<std::vector<QuotaHolder>> holders = {};
};

/// What is left of the time for one check.
class TimeForCheck {
 public:
  /// For one service.
  base::Duration Left() const {
    const auto left = std::chrono::duration_cast<base::Duration>(end_ - Clock::now());
    return std::clamp(left, base::Duration{0}, kLimitsAnswer);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_ = Clock::now() + kQuotaCheckLimit;
};

/// What is known before a look.
struct LookBefore {
  bool anew = false;  ///< the limits are asked for again
  std::optional<std::vector<QuotaHolder>> holders = {};
};

/// The row of which others hold too much now; null if there is none.
const QuotaRow* FindFull(const QuotaView& view) {
  for (const QuotaRow& row : view.zone) {
    const std::int64_t need = NeedFrom(*view.tpu, row);
    if (need > 0 && *row.limit.limit - HeldOf(row) < need) return &row;
  }
  return nullptr;
}

bool IsLimited(const QuotaView& view) {
  return std::any_of(view.zone.begin(), view.zone.end(),
                     [&view](const QuotaRow& row) { return NeedFrom(*view.tpu, row) > 0; });
}

/// "the slices take 64 TensorCores of v4 spot in us-central2-b"; without the place for a limit on
/// the whole project.
std::string TakeText(const core::TpuSpec& tpu, const QuotaRow& row) {
  const std::string place = row.limit.location.empty() ? "" : " in " + row.limit.location;
  return fmt::format("{} {} {} of {}{}", tpu.num_slices > 1 ? "the slices take" : "the slice takes",
                     NeedFrom(tpu, row), UnitOf(row), NameOfQuota(row), place);
}

std::string SmallText(const core::TpuSpec& tpu, const QuotaRow& small, const char* is) {
  return fmt::format("{}, and the project's limit {} {} {}", TakeText(tpu, small),
                     small.limit.metric, is, *small.limit.limit);
}

base::Error NeverFits(const config::Loaded& loaded, const QuotaView& view, const QuotaRow& small) {
  const core::TpuSpec& tpu = loaded.spec.tpu;
  return WrongKey(PlaceOf(loaded, "tpu.accelerator"), SmallText(tpu, small, "is"),
                  CureForQuota(tpu, small, view.zone, view.all.limits), base::Reason::kQuotaZero);
}

/// Of a limit that could not be asked for again.
std::string OnceTooSmall(const core::TpuSpec& tpu, const QuotaRow& small) {
  return SmallText(tpu, small, "was") +
         " when it was last told; Service Usage does not answer now, and more may have been "
         "granted";
}

std::string FullText(const core::TpuSpec& tpu, const QuotaRow& full) {
  return fmt::format("{}, and {} of the project's {} are held, by {}: others have to end first",
                     TakeText(tpu, full), HeldOf(full), *full.limit.limit, HolderNames({full}));
}

/// The limits, and what is held of them if they are not too small anyway.
base::Task<base::Result<QuotaView>> LookAtQuota(Context context,
                                                std::shared_ptr<ports::QuotaApi> api,
                                                const core::JobSpec* spec, LookBefore before,
                                                TimeForCheck time) {
  const core::TpuSpec& tpu = spec->tpu;
  LimitQuestion question{.cloud = spec->cloud, .project = tpu.project};
  question.generation = core::GenerationOf(tpu.accelerator);
  question.anew = before.anew;
  question.within = time.Left();
  QuotaView view{.tpu = &tpu};
  JM_CO_ASSIGN_OR_RETURN(view.all, co_await LimitsOf(context, std::move(api), std::move(question)));
  QuotaQuery query{.cloud = spec->cloud, .project = tpu.project, .zones = {tpu.zone}, .all = true};
  QuotaSeen seen{.limits = view.all.limits};
  view.zone = MakeQuotaRows(seen, query).rows;
  if (!IsLimited(view) || FindTooSmall(tpu, view.zone) != nullptr) co_return view;
  view.holders = std::move(before.holders);
  if (!view.holders) {
    auto listing = FetchHolders(std::move(context), query);
    std::string what = "the Cloud TPU API";
    auto holders = co_await base::WithTimeout(std::move(listing), time.Left(), std::move(what));
    // Without them it is not known what is free; that the cloud does not answer, others say.
    if (!holders.ok()) co_return view;
    view.holders = *std::move(holders);
  }
  seen.holders = view.holders;
  view.zone = MakeQuotaRows(seen, query).rows;
  co_return view;
}

QuotaVerdict Unanswered(const std::string& project, const base::Error& error) {
  if (!DoesNotAnswer(error)) return {};  // who may not ask learns it from `doctor`
  QuotaVerdict verdict{.answered = false};
  verdict.note =
      "the quota of TPUs of project " + project + " could not be checked: " + error.ToString();
  return verdict;
}

}  // namespace

base::Task<base::Result<QuotaVerdict>> CheckTpuQuota(Context context, config::Loaded loaded) {
  const core::JobSpec& spec = loaded.spec;
  const bool known = core::FindAccelerator(spec.tpu.accelerator).ok();
  if (!known || !spec.tpu.existing.empty() || !context.open_quotas) co_return QuotaVerdict();
  const auto api = context.open_quotas(context.loop->get_executor(), spec.cloud);
  if (!api && api.error().code == base::Code::kInvalidArgument) co_return api.error();
  if (!api || !*api) co_return QuotaVerdict();
  const TimeForCheck time;
  LookBefore before;
  auto view = co_await LookAtQuota(context, *api, &spec, before, time);
  // More may have been granted since.
  const bool doubt = view.ok() && view->all.kept &&
                     (FindTooSmall(spec.tpu, view->zone) != nullptr || FindFull(*view) != nullptr);
  if (doubt) {
    before = {.anew = true, .holders = std::move(view->holders)};
    view = co_await LookAtQuota(context, *api, &spec, std::move(before), time);
  }
  if (!view.ok()) co_return Unanswered(spec.tpu.project, view.error());
  const QuotaRow* small = FindTooSmall(spec.tpu, view->zone);
  if (small != nullptr && !view->all.kept) co_return NeverFits(loaded, *view, *small);
  QuotaVerdict verdict;
  if (small != nullptr) {
    verdict.note = OnceTooSmall(spec.tpu, *small);
    co_return verdict;
  }
  const QuotaRow* full = FindFull(*view);
  if (full != nullptr) verdict.note = FullText(spec.tpu, *full);
  co_return verdict;
}

bool AsksForSameQuota(const core::JobSpec& one, const core::JobSpec& other) {
  const core::TpuSpec& a = one.tpu;
  const core::TpuSpec& b = other.tpu;
  if (!a.existing.empty() || !b.existing.empty()) return false;  // nothing is asked about such
  return one.cloud == other.cloud && a.project == b.project && a.zone == b.zone &&
         a.pricing == b.pricing && a.accelerator == b.accelerator && a.num_slices == b.num_slices;
}

}  // namespace jobman::client
