#include "client/quota_rows.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "jobman/core/regions.hpp"

namespace jobman::client {
namespace {

using ports::TpuLimit;
using Scope = TpuLimit::Scope;

/// The place of a zone, as limits of that scope name it.
std::string PlaceIn(Scope scope, const std::string& zone) {
  if (scope == Scope::kProject) return {};
  return scope == Scope::kRegion ? core::RegionOf(zone) : zone;
}

bool HasPlace(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

int UnitsFor(const std::optional<core::TpuMetric>& counts, const QuotaHolder& holder) {
  const auto type = core::FindAccelerator(holder.type);
  return counts && type.ok() ? core::UnitsOf(*counts, *type, holder.pricing) : 0;
}

/// The rows of all limits; then those that are of use to the query.
class RowMaker {
 public:
  RowMaker(const QuotaSeen& seen, const QuotaQuery& query) : seen_(seen), query_(query) {
    for (const TpuLimit& limit : seen.limits) {
      if (!limit.location.empty()) own_.emplace(limit.metric, limit.scope, limit.location);
    }
  }
  QuotaRows Make() && {
    for (const TpuLimit& limit : seen_.limits) AddLimit(limit);
    AddUnlimited();
    std::stable_sort(made_.rows.begin(), made_.rows.end(),
                     [](const auto& a, const auto& b) { return KeyOf(a) < KeyOf(b); });
    return std::move(made_);
  }

 private:
  using Key = std::tuple<std::string, core::Pricing, std::string>;
  static Key KeyOf(const QuotaRow& row) {
    const std::string what = row.counts ? core::TextOf(*row.counts) : row.limit.metric;
    const auto pricing = row.counts ? row.counts->pricing : core::Pricing::kOnDemand;
    return {what, pricing, row.limit.location};
  }

  void AddLimit(const TpuLimit& limit) {
    const bool general = limit.location.empty() && limit.scope != Scope::kProject;
    if (!general) return Add(limit);
    const std::set<std::string> places = PlacesOf(limit);
    for (const std::string& place : places) {
      TpuLimit there = limit;
      there.location = place;
      there.locations = {};
      Add(there);
    }
    if (query_.zones.empty()) AddRest(limit, places);
  }
  /// The places that have no row of their own.
  void AddRest(TpuLimit limit, const std::set<std::string>& places) {
    const bool listed = !limit.locations.empty();
    std::erase_if(limit.locations, [&](const std::string& place) {
      return places.contains(place) || own_.contains({limit.metric, limit.scope, place});
    });
    if (!listed || !limit.locations.empty()) Add(limit);
  }
  /// Where a limit without a location counts, of what is asked for or held.
  std::set<std::string> PlacesOf(const TpuLimit& limit) const {
    std::set<std::string> places;
    const auto counts = core::ReadTpuMetric(limit.metric);
    const auto add = [&](const std::string& zone) {
      const std::string place = PlaceIn(limit.scope, zone);
      const bool covered = limit.locations.empty() || HasPlace(limit.locations, place);
      const bool own = own_.contains({limit.metric, limit.scope, place});
      if (covered && !own) places.insert(place);
    };
    for (const std::string& zone : query_.zones) add(zone);
    if (!query_.zones.empty() || !seen_.holders) return places;
    for (const QuotaHolder& holder : *seen_.holders) {
      if (UnitsFor(counts, holder) > 0) add(holder.zone);
    }
    return places;
  }
  bool IsAskedFor(const TpuLimit& limit) const {
    if (query_.zones.empty() || limit.scope == Scope::kProject) return true;
    return std::any_of(query_.zones.begin(), query_.zones.end(), [&](const std::string& zone) {
      return limit.location == PlaceIn(limit.scope, zone);
    });
  }
  bool IsOfUse(const QuotaRow& row) const {
    if (query_.all) return true;
    const bool named = !query_.zones.empty();
    if (row.limit.unlimited) {
      return row.limit.scope == Scope::kZone && (named || row.held.value_or(0) > 0);
    }
    return row.held.value_or(0) > 0 || row.limit.limit.value_or(0) > 0 ||
           (named && row.limit.limit.has_value());
  }
  void Add(const TpuLimit& limit) {
    if (!IsAskedFor(limit)) return;
    QuotaRow row{.limit = limit, .counts = core::ReadTpuMetric(limit.metric)};
    const bool general = limit.location.empty() && limit.scope != Scope::kProject;
    if (row.counts && seen_.holders && !general) TakeHolders(row);
    if (!IsOfUse(row)) {
      ++made_.left_out;
      return;
    }
    for (const QuotaHolder& holder : row.holders) shown_.insert({holder.zone, holder.node});
    made_.rows.push_back(std::move(row));
  }
  void TakeHolders(QuotaRow& row) const {
    row.held = 0;
    for (QuotaHolder holder : *seen_.holders) {
      if (PlaceIn(row.limit.scope, holder.zone) != row.limit.location) continue;
      holder.units = UnitsFor(row.counts, holder);
      if (holder.units == 0) continue;
      *row.held += holder.units;
      row.holders.push_back(std::move(holder));
    }
  }

  /// Rows for what is held and in no other row, by type, pricing and zone.
  void AddUnlimited() {
    if (!seen_.holders) return;
    std::map<Key, QuotaRow> rows;
    for (const QuotaHolder& holder : *seen_.holders) {
      const bool asked = query_.zones.empty() || HasPlace(query_.zones, holder.zone);
      if (!asked || shown_.contains({holder.zone, holder.node})) continue;
      AddHolder(holder, rows);
    }
    for (auto& [key, row] : rows) made_.rows.push_back(std::move(row));
  }
  static void AddHolder(QuotaHolder holder, std::map<Key, QuotaRow>& rows) {
    const auto type = core::FindAccelerator(holder.type);
    holder.units = type.ok() ? type->cores : 0;
    const core::Pricing pricing = core::Counted(holder.pricing);
    QuotaRow& row = rows[{type.ok() ? type->generation : holder.type, pricing, holder.zone}];
    row.limit.scope = Scope::kZone;
    row.limit.location = holder.zone;
    row.counts = core::TpuMetric{.generation = type.ok() ? type->generation : holder.type,
                                 .pricing = pricing};
    if (type.ok()) row.held = row.held.value_or(0) + holder.units;
    row.holders.push_back(std::move(holder));
  }

  const QuotaSeen& seen_;
  const QuotaQuery& query_;
  QuotaRows made_ = {};
  std::set<std::tuple<std::string, Scope, std::string>> own_ = {};  ///< limits of one place
  std::set<std::pair<std::string, std::string>> shown_ = {};        ///< zone, node
};

}  // namespace

QuotaRows MakeQuotaRows(const QuotaSeen& seen, const QuotaQuery& query) {
  return RowMaker(seen, query).Make();
}

}  // namespace jobman::client
