#include "jobman/client/offer_check.hpp"

#include <algorithm>

#include "client/kept_offers.hpp"
#include "client/no_answer.hpp"
#include "client/wrong_key.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/prices.hpp"

namespace jobman::client {
namespace {

using Words = std::vector<std::string>;
using Offered = base::Result<Words>;

/// Why the zone could not be asked, and what to do. Nothing is lost: a request that asks for what
/// the zone does not have is refused later, with the same cure as here.
std::string WithCure(const base::Error& error) {
  const std::string cure = error.hint.empty()
                               ? "if it lasts, see to this machine's network, or look at "
                                 "https://status.cloud.google.com"
                               : error.hint;
  return error.ToString() + "; " + cure;
}

// Before a kept list refuses anything the cloud is asked again: since yesterday the project may
// have been let into a preview, or a runtime may have come out.

base::Task<Offered> TypesOf(KeptOffers* offers, core::TpuSpec tpu) {
  KeptOffers::Question question{.place = {.project = tpu.project, .zone = tpu.zone},
                                .wanted = tpu.accelerator};
  JM_CO_ASSIGN_OR_RETURN(KeptOffer types, co_await offers->Types(std::move(question)));
  co_return std::move(types.words);
}

base::Task<Offered> RuntimesOf(KeptOffers* offers, core::TpuSpec tpu) {
  KeptOffers::Question question{.place = {.project = tpu.project, .zone = tpu.zone},
                                .wanted = tpu.version};
  JM_CO_ASSIGN_OR_RETURN(KeptOffer runtimes, co_await offers->Runtimes(std::move(question)));
  co_return std::move(runtimes.words);
}

base::Status MustContain(const Offered& offered, const std::string& wanted,
                         const std::string& message, base::Reason reason, const std::string& keys,
                         const config::Problem& place) {
  if (!offered.ok()) return offered.error();
  if (offered->empty()) return base::Ok();
  if (std::find(offered->begin(), offered->end(), wanted) != offered->end()) return base::Ok();
  std::string hint = "it offers " + base::Join(*offered, ", ");
  if (offered->size() > 12)
    hint = "set " + keys + " to one of the " + std::to_string(offered->size()) + " that it offers";
  if (const auto near = base::Nearest(wanted, *offered)) hint = "did you mean " + *near + "?";
  return WrongKey(place, message, hint, reason);
}

/// "zones with v4, by the price list: us-central2-b"; empty if none is known.
std::string ZonesHint(const std::string& accelerator) {
  constexpr std::size_t kMost = 8;
  const std::string generation = core::GenerationOf(accelerator);
  Words zones =
      generation.empty() ? Words() : core::ZonesWithPrice(core::BuiltInPrices(), generation);
  if (zones.empty()) return {};
  if (zones.size() > kMost) {
    zones.resize(kMost);
    zones.emplace_back("...");
  }
  return "zones with " + generation + ", by the price list: " + base::Join(zones, ", ");
}

/// The zone is what was changed if a flag gave it, and the file the type.
config::Problem PlaceOfMismatch(const config::Loaded& loaded) {
  const config::Problem type = PlaceOf(loaded, "tpu.accelerator");
  config::Problem zone = PlaceOf(loaded, "tpu.zone");
  const auto from_flag = [](const config::Problem& place) { return place.file.starts_with("--"); };
  return from_flag(zone) && !from_flag(type) ? zone : type;
}

/// Whether the type is right, as far as is known here, but no size of its generation is offered.
bool IsElsewhere(const Words& offered, const std::string& type) {
  const std::string generation = core::GenerationOf(type);
  return core::FindAccelerator(type).ok() && !offered.empty() &&
         std::none_of(offered.begin(), offered.end(), [&](const std::string& other) {
           return core::GenerationOf(other) == generation;
         });
}

base::Status CheckType(const Offered& types, const config::Loaded& loaded) {
  const core::TpuSpec& tpu = loaded.spec.tpu;
  const std::string message = "zone " + tpu.zone + " does not offer " + tpu.accelerator;
  if (types.ok() && IsElsewhere(*types, tpu.accelerator)) {
    return WrongKey(PlaceOfMismatch(loaded), message, ZonesHint(tpu.accelerator),
                    base::Reason::kBadAccelerator);
  }
  return MustContain(types, tpu.accelerator, message, base::Reason::kBadAccelerator,
                     "tpu.accelerator or tpu.zone", PlaceOf(loaded, "tpu.accelerator"));
}

/// A zone that there is not, at its place in the job file.
base::Error UnknownZone(const config::Loaded& loaded, const base::Error& error) {
  const core::TpuSpec& tpu = loaded.spec.tpu;
  const auto near = base::Nearest(tpu.zone, core::ZonesWithPrice(core::BuiltInPrices(), ""));
  std::string hint = near ? "did you mean " + *near + "?" : ZonesHint(tpu.accelerator);
  if (hint.empty()) hint = error.hint;
  return WrongKey(PlaceOf(loaded, "tpu.zone"), "the cloud does not know zone " + tpu.zone,
                  std::move(hint), base::Reason::kBadZone);
}

}  // namespace

base::Task<base::Result<std::string>> CheckOffer(Context context, config::Loaded loaded) {
  if (!loaded.spec.tpu.existing.empty()) co_return std::string{};  // it is there
  KeptOffers offers(context, loaded.spec.cloud);
  const core::TpuSpec& tpu = loaded.spec.tpu;
  const Offered types = co_await TypesOf(&offers, tpu);
  if (!types.ok() && types.error().reason == base::Reason::kBadZone)
    co_return UnknownZone(loaded, types.error());
  auto checked = CheckType(types, loaded);
  if (checked.ok()) {
    const Offered runtimes = co_await RuntimesOf(&offers, tpu);
    checked = MustContain(runtimes, tpu.version,
                          "zone " + tpu.zone + " does not offer the runtime version " + tpu.version,
                          base::Reason::kBadRuntime, "tpu.version", PlaceOf(loaded, "tpu.version"));
  }
  if (checked.ok()) co_return std::string{};
  if (DoesNotAnswer(checked.error())) co_return WithCure(checked.error());
  co_return std::move(checked).error();
}

}  // namespace jobman::client
