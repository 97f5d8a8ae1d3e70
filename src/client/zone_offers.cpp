#include "jobman/client/zone_offers.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "client/kept_offers.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/prices.hpp"

namespace jobman::client {
namespace {

constexpr int kZonesAtOnce = 8;

struct Asking {
  Asking(Context with, const ZonesQuery& query)
      : project(query.project), anew(query.anew), offers(std::move(with), query.cloud) {
    for (const std::string& zone : query.zones) answer.zones.push_back({.zone = zone});
  }

  std::string project;
  bool anew;
  KeptOffers offers;
  ZonesAnswer answer = {};
  std::size_t next = 0;  ///< the first zone that nobody asks yet
  int askers = 0;
  base::Waiters ended = {};
};

base::Task<base::Result<ZoneOffers>> AskZone(std::shared_ptr<Asking> all, std::string zone) {
  const KeptOffers::Question question{.place = {.project = all->project, .zone = zone},
                                      .anew = all->anew};
  JM_CO_ASSIGN_OR_RETURN(KeptOffer types, co_await all->offers.Types(question));
  JM_CO_ASSIGN_OR_RETURN(KeptOffer runtimes, co_await all->offers.Runtimes(question));
  ZoneOffers offers{.zone = std::move(zone),
                    .types = std::move(types.words),
                    .runtimes = std::move(runtimes.words),
                    .asked_at = std::min(types.at, runtimes.at)};
  co_return offers;
}

base::Task<void> AskInTurn(std::shared_ptr<Asking> all) {
  while (all->next < all->answer.zones.size()) {
    const std::size_t row = all->next++;
    auto offers = co_await AskZone(all, all->answer.zones[row].zone);
    if (offers.ok()) {
      all->answer.zones[row] = *std::move(offers);
    } else {
      all->answer.zones[row].refused = offers.error();
    }
  }
  --all->askers;
  all->ended.WakeAll();
}

/// Without the project's list the zones of the query are answered for all the same.
base::Task<void> AskOthers(std::shared_ptr<Asking> all, std::vector<std::string> known) {
  const KeptOffers::Question question{.place = {.project = all->project}, .anew = all->anew};
  const auto zones = co_await all->offers.Zones(question);
  if (zones.ok()) {
    for (const std::string& zone : zones->words) {
      if (std::find(known.begin(), known.end(), zone) == known.end())
        all->answer.zones.push_back({.zone = zone});
    }
  }
  co_await AskInTurn(std::move(all));
}

}  // namespace

base::Task<ZonesAnswer> AskZones(Context context, ZonesQuery query) {
  const auto executor = context.loop->get_executor();
  const auto all = std::make_shared<Asking>(std::move(context), query);
  const base::CancelScope scope;
  all->askers = kZonesAtOnce;
  for (int i = 0; i < kZonesAtOnce; ++i) {
    const bool lists = i == 0 && query.and_not_in.has_value();
    base::Spawn(executor, scope, lists ? AskOthers(all, *query.and_not_in) : AskInTurn(all));
  }
  while (all->askers > 0) co_await all->ended.Wait();
  all->answer.out_of_reach = all->offers.out_of_reach();
  co_return std::move(all->answer);
}

ZoneOffers BuiltInOffers(std::string zone) {
  ZoneOffers offers{.zone = std::move(zone)};
  std::set<std::string> runtimes;
  for (std::string& type : core::AcceleratorTypes()) {
    const std::string generation = core::GenerationOf(type);
    if (core::ChipPrices(core::BuiltInPrices(), generation, offers.zone) == core::HourPrices{})
      continue;
    offers.types.push_back(std::move(type));
    runtimes.insert(core::DefaultRuntime(generation));
  }
  offers.runtimes = {runtimes.begin(), runtimes.end()};
  if (offers.types.empty()) offers.refused = base::NotFound("not in the built-in list");
  return offers;
}

}  // namespace jobman::client
