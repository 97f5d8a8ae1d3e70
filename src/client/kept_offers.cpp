#include "client/kept_offers.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

/// Whether the other zones would say the same. A zone alone may take too long, if others answer.
bool IsOfTheWholeCloud(const base::Error& error, bool answered) {
  if (error.code == base::Code::kDeadlineExceeded) return !answered;
  return error.code == base::Code::kUnauthenticated || error.reason == base::Reason::kNoToken ||
         error.reason == base::Reason::kUnreachable || error.reason == base::Reason::kApiDisabled;
}

bool Has(const KeptOffer& offer, const std::string& wanted) {
  const auto& words = offer.words;
  return wanted.empty() || std::find(words.begin(), words.end(), wanted) != words.end();
}

}  // namespace

base::Task<std::optional<KeptOffer>> KeptOffers::Find(std::string key, Question question) {
  const auto kept = co_await context_.stores.cache->Cached(std::move(key));
  const bool fresh = kept.ok() && *kept && context_.Now() - (*kept)->at < kOffersKept;
  if (question.anew || !fresh) co_return std::nullopt;
  co_return KeptOffer{.words = base::Split((*kept)->value, '\n'), .at = (*kept)->at};
}

base::Task<base::Status> KeptOffers::Open() {
  const base::Gate::Pass pass = co_await opening_.Enter();
  if (out_of_reach_) co_return *out_of_reach_;
  if (cloud_.catalog) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(cloud_, co_await context_.open_cloud(context_.paths, cloud_spec_));
  co_return base::Ok();
}

base::Task<base::Result<KeptOffers::Words>> KeptOffers::Fetch(Call call, std::string zone) {
  const base::Status opened = co_await Open();
  if (!opened.ok()) {
    out_of_reach_ = opened.error();
    co_return opened.error();
  }
  std::string what = zone.empty() ? "the list of zones" : "zone " + zone;
  auto asked = call(*cloud_.catalog);
  auto words = co_await base::WithTimeout(std::move(asked), kOfferAnswer, std::move(what));
  if (!words.ok() && IsOfTheWholeCloud(words.error(), answered_)) out_of_reach_ = words.error();
  answered_ = answered_ || words.ok();
  co_return words;
}

base::Task<base::Result<KeptOffer>> KeptOffers::Ask(std::string what, Call call,
                                                    Question question) {
  const core::Place place = question.place;
  const std::string key =
      "offers:" + what + ":" + cloud_spec_.endpoint + ":" + place.project + ":" + place.zone;
  auto kept = co_await Find(key, question);
  if (kept && Has(*kept, question.wanted)) co_return *std::move(kept);
  auto words = co_await Fetch(call, place.zone);
  if (!words.ok() && kept) co_return *std::move(kept);
  if (!words.ok()) co_return words.error();
  KeptOffer offer{.words = std::move(words).value(), .at = context_.Now()};
  if (cloud_spec_.endpoint != kLocal && !offer.words.empty()) {
    ports::CachedFact fact{.value = base::Join(offer.words, "\n"), .at = offer.at};
    // If it cannot be kept, the next command asks again.
    [[maybe_unused]] const auto put =
        co_await context_.stores.cache->PutInCache(key, std::move(fact));
  }
  co_return offer;
}

}  // namespace jobman::client
