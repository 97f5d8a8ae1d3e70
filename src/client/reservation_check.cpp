#include "jobman/client/reservation_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "client/wrong_key.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::client {
namespace {

using Reservation = core::ReservationSeen;
using Reservations = std::vector<Reservation>;

struct NamedReservation {
  core::Place place = {};
  std::string id = {};
};

/// tpu.reservation: an id in the job's own place, or projects/P/locations/Z/reservations/ID.
NamedReservation ReservationOf(const core::TpuSpec& tpu) {
  const std::vector<std::string> parts = base::Split(tpu.reservation, '/');
  if (parts.size() == 6) {
    return {.place = {.project = parts[1], .zone = parts[3]}, .id = parts[5]};
  }
  return {.place = {.project = tpu.project, .zone = tpu.zone}, .id = tpu.reservation};
}

bool HasEnded(const Reservation& reservation) {
  constexpr std::array<std::string_view, 3> kEnded = {"DEPROVISIONING", "EXPIRED", "FAILED"};
  return std::find(kEnded.begin(), kEnded.end(), reservation.state) != kEnded.end();
}

std::string_view UnitWord(Reservation::Unit unit) {
  return unit == Reservation::Unit::kCores ? "cores" : "chips";
}

/// What the job's slices take of it, in its unit; 0 if that is not known.
std::int64_t NeedOf(const core::TpuSpec& tpu, Reservation::Unit unit) {
  const auto type = core::FindAccelerator(tpu.accelerator);
  if (!type.ok() || unit == Reservation::Unit::kUnknown) return 0;
  const int each = unit == Reservation::Unit::kCores ? type->cores : type->chips;
  return std::int64_t{each} * tpu.num_slices;
}

bool IsTooSmall(const core::TpuSpec& tpu, const Reservation& reservation) {
  return reservation.size > 0 && reservation.size < NeedOf(tpu, reservation.unit);
}

/// Names that would do instead.
std::vector<std::string> UsableOf(const core::TpuSpec& tpu, const Reservations& all) {
  std::vector<std::string> names;
  for (const Reservation& one : all) {
    if (!HasEnded(one) && !IsTooSmall(tpu, one)) names.push_back(one.id);
  }
  return names;
}

std::string UsableHint(const std::vector<std::string>& usable) {
  if (usable.empty()) return "set tpu.pricing to spot or ondemand; no other reservation would do";
  return "reservations that would do: " + base::Join(usable, ", ");
}

/// "reservation mine in zone us-central2-b"
std::string ReservationText(const NamedReservation& named) {
  return "reservation " + named.id + " in zone " + named.place.zone;
}

/// The list does not have it. Reservations of Compute Engine, as those in calendar mode, may be
/// missing there: only who has others in the list and is not bound to one is refused.
base::Result<std::string> JudgeMissing(const config::Loaded& loaded, const Reservations& all) {
  const core::TpuSpec& tpu = loaded.spec.tpu;
  const NamedReservation named = ReservationOf(tpu);
  if (all.empty() || tpu.pricing == core::Pricing::kReservationBound) {
    return ReservationText(named) + " of project " + named.place.project +
           " is not in the list of the Cloud TPU API: it may be one of Compute Engine, which was "
           "not asked, or there is none";
  }
  const std::vector<std::string> usable = UsableOf(tpu, all);
  const auto near = base::Nearest(named.id, usable);
  return WrongKey(PlaceOf(loaded, "tpu.reservation"),
                  "project " + named.place.project + " has no " + ReservationText(named),
                  near ? "did you mean " + *near + "?" : UsableHint(usable),
                  base::Reason::kReservation);
}

/// "reservation mine in zone us-central2-b has 64 chips, and the slice takes 128"
std::string SizesText(const core::TpuSpec& tpu, const Reservation& reservation) {
  return fmt::format("{} has {} {}, and the {} {}", ReservationText(ReservationOf(tpu)),
                     reservation.size, UnitWord(reservation.unit),
                     tpu.num_slices > 1 ? "slices take" : "slice takes",
                     NeedOf(tpu, reservation.unit));
}

/// An error, a note, or an empty text.
base::Result<std::string> JudgeFound(const config::Loaded& loaded, const Reservations& all,
                                     const Reservation& found) {
  const core::TpuSpec& tpu = loaded.spec.tpu;
  std::string message;
  if (IsTooSmall(tpu, found)) message = SizesText(tpu, found);
  if (HasEnded(found)) message = ReservationText(ReservationOf(tpu)) + " is " + found.state;
  if (!message.empty()) {
    return WrongKey(PlaceOf(loaded, "tpu.reservation"), std::move(message),
                    UsableHint(UsableOf(tpu, all)), base::Reason::kReservation);
  }
  const std::int64_t free = found.size - found.used;
  if (found.size == 0 || free >= NeedOf(tpu, found.unit)) return std::string();
  return fmt::format("{}; {} are in use: others have to end first", SizesText(tpu, found),
                     found.used);
}

base::Task<base::Result<Reservations>> ListFor(Context context, config::Loaded loaded) {
  JM_CO_ASSIGN_OR_RETURN(const CloudClient cloud,
                         co_await context.open_cloud(context.paths, loaded.spec.cloud));
  const NamedReservation named = ReservationOf(loaded.spec.tpu);
  co_return co_await cloud.catalog->Reservations(named.place);
}

}  // namespace

base::Task<base::Result<ReservationVerdict>> CheckReservation(Context context,
                                                              config::Loaded loaded) {
  const core::TpuSpec& tpu = loaded.spec.tpu;
  if (tpu.reservation.empty() || !tpu.existing.empty()) co_return ReservationVerdict();
  const NamedReservation named = ReservationOf(tpu);
  auto list = ListFor(std::move(context), loaded);
  std::string what = "the reservations of zone " + named.place.zone;
  const auto all = co_await base::WithTimeout(std::move(list), kOfferAnswer, std::move(what));
  // Many may create slices who may not list reservations, and an alpha version may go.
  if (!all.ok()) {
    ReservationVerdict unasked{.asked = false};
    unasked.note = "whether there is " + ReservationText(named) +
                   " could not be checked: " + all.error().ToString();
    co_return unasked;
  }
  const auto found = std::find_if(all->begin(), all->end(),
                                  [&named](const Reservation& one) { return one.id == named.id; });
  auto judged = found == all->end() ? JudgeMissing(loaded, *all) : JudgeFound(loaded, *all, *found);
  if (!judged.ok()) co_return std::move(judged).error();
  ReservationVerdict verdict{.note = *std::move(judged)};
  co_return verdict;
}

bool AsksForSameReservation(const core::JobSpec& one, const core::JobSpec& other) {
  const core::TpuSpec& a = one.tpu;
  const core::TpuSpec& b = other.tpu;
  return one.cloud == other.cloud && a.project == b.project && a.zone == b.zone &&
         a.pricing == b.pricing && a.reservation == b.reservation &&
         a.accelerator == b.accelerator && a.num_slices == b.num_slices;
}

}  // namespace jobman::client
