#include "jobman/client/offer_check.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::client {
namespace {

using Words = std::vector<std::string>;
using Offered = base::Result<Words>;

bool CannotTell(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded ||
         error.code == base::Code::kInternal || error.reason == base::Reason::kRateLimit;
}

using Call = base::Task<Offered> (ports::Catalog::*)(core::Place);

/// What the zone offers, cached in the store.
class Offers {
 public:
  Offers(Context context, const core::JobSpec& spec)
      : context_(std::move(context)),
        cloud_spec_(spec.cloud),
        place_{.project = spec.tpu.project, .zone = spec.tpu.zone} {}

  /// For a type that is not known here, a kept list without it may be too old.
  base::Task<Offered> Types(std::string wanted) {
    if (core::FindAccelerator(wanted).ok()) wanted.clear();
    return Ask("types", &ports::Catalog::AcceleratorTypes, std::move(wanted));
  }
  base::Task<Offered> Runtimes() { return Ask("runtimes", &ports::Catalog::RuntimeVersions, {}); }

 private:
  base::Task<Offered> Ask(std::string what, Call call, std::string wanted) {
    ports::Cache& cache = *context_.stores.cache;
    const std::string key =
        "offers:" + what + ":" + cloud_spec_.endpoint + ":" + place_.project + ":" + place_.zone;
    const auto kept = co_await cache.Cached(key);
    if (kept.ok() && *kept && context_.Now() - (*kept)->at < kOffersKept) {
      Words words = base::Split((*kept)->value, '\n');
      const bool has_it = std::find(words.begin(), words.end(), wanted) != words.end();
      if (wanted.empty() || has_it) co_return words;
    }
    if (!cloud_.catalog) {
      JM_CO_ASSIGN_OR_RETURN(cloud_, co_await context_.open_cloud(context_.paths, cloud_spec_));
    }
    JM_CO_ASSIGN_OR_RETURN(Words words, co_await (cloud_.catalog.get()->*call)(place_));
    const bool lasting = cloud_spec_.endpoint != kLocal;  // a new one may offer something else
    if (lasting && !words.empty()) {
      ports::CachedFact fact{.value = base::Join(words, "\n"), .at = context_.Now()};
      JM_CO_TRY(co_await cache.PutInCache(key, std::move(fact)));
    }
    co_return words;
  }

  Context context_;
  core::CloudSpec cloud_spec_;
  core::Place place_;
  CloudClient cloud_ = {};
};

/// An error that points to the key's place in the job file.
base::Error WrongKey(config::Problem place, std::string message, std::string hint,
                     base::Reason reason) {
  place.message = std::move(message);
  place.hint = std::move(hint);
  base::Error error = config::ToError({place});
  error.reason = reason;
  return error;
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

}  // namespace

base::Task<base::Result<std::string>> CheckOffer(Context context, config::Loaded loaded) {
  if (!loaded.spec.tpu.existing.empty()) co_return std::string{};  // it is there
  Offers offers(context, loaded.spec);
  const core::TpuSpec& tpu = loaded.spec.tpu;
  const std::string in_zone = "zone " + tpu.zone + " does not offer ";
  const Offered types = co_await offers.Types(tpu.accelerator);
  auto checked =
      MustContain(types, tpu.accelerator, in_zone + tpu.accelerator, base::Reason::kBadAccelerator,
                  "tpu.accelerator or tpu.zone", loaded.places.at("tpu.accelerator"));
  if (checked.ok()) {
    const Offered runtimes = co_await offers.Runtimes();
    checked =
        MustContain(runtimes, tpu.version, in_zone + "the runtime version " + tpu.version,
                    base::Reason::kBadRuntime, "tpu.version", loaded.places.at("tpu.version"));
  }
  if (checked.ok()) co_return std::string{};
  if (CannotTell(checked.error())) co_return checked.error().ToString();
  co_return std::move(checked).error();
}

}  // namespace jobman::client
