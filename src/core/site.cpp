#include "jobman/core/site.hpp"

#include <algorithm>
#include <cstdlib>

#include "jobman/core/reconcile.hpp"

namespace jobman::core {
namespace {

constexpr std::size_t kMostSites = 16;

enum class Machine { kSame, kOther, kUnknown };

/// A cloned machine keeps its id but not its cards; a container may have neither.
Machine Compare(const Site& one, const Site& other) {
  const bool cards = !one.cards.empty() && !other.cards.empty();
  const bool common = std::any_of(one.cards.begin(), one.cards.end(), [&](const auto& card) {
    return std::find(other.cards.begin(), other.cards.end(), card) != other.cards.end();
  });
  if (one.machine != other.machine || (cards && !common)) return Machine::kOther;
  return one.machine.empty() && !common ? Machine::kUnknown : Machine::kSame;
}

bool IsSame(const Site& here, const Site& known) {
  // A copy is another file, wherever it is put.
  if (here.file == 0 || here.file != known.file) return false;
  switch (Compare(here, known)) {
    case Machine::kSame:
      return true;
    case Machine::kUnknown:
      return here.path == known.path;
    case Machine::kOther:
      return here.shared && known.shared;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> FindSite(const Site& here, const std::vector<Site>& known) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Site& one) { return IsSame(here, one); });
  if (found == known.end()) return std::nullopt;
  return static_cast<std::size_t>(found - known.begin());
}

std::vector<Site> WithSite(std::vector<Site> known, const Site& here) {
  std::erase_if(known, [&](const Site& one) {
    return one.machine == here.machine && one.cards == here.cards && one.path == here.path;
  });
  known.push_back(here);
  if (known.size() > kMostSites) known.erase(known.begin());
  return known;
}

std::string SiteText(const Site& site) {
  return site.path + " on " + (site.host.empty() ? "a machine without a name" : site.host);
}

base::Json SitesToJson(const std::vector<Site>& sites) {
  base::Json json = base::Json::array();
  for (const Site& site : sites) {
    json.push_back({{"machine", site.machine},
                    {"cards", site.cards},
                    {"host", site.host},
                    {"path", site.path},
                    {"file", std::to_string(site.file)},
                    {"shared", site.shared}});
  }
  return json;
}

base::Result<std::vector<Site>> SitesFromJson(const base::Json& json) {
  std::vector<Site> sites;
  if (!json.is_array()) return base::InvalidArgument("the store's places are not a list");
  for (const base::Json& one : json) {
    Site site{.machine = base::GetString(one, "machine"),
              .host = base::GetString(one, "host"),
              .path = base::GetString(one, "path"),
              .file = std::strtoull(base::GetString(one, "file").c_str(), nullptr, 10),
              .shared = base::GetMember(one, "shared") == true};
    for (const base::Json& card : base::GetMember(one, "cards")) {
      if (card.is_string()) site.cards.push_back(card.get<std::string>());
    }
    sites.push_back(std::move(site));
  }
  return sites;
}

std::optional<Job> LeftToOriginal(Job job, TimePoint now) {
  if (!NeedsCare(job)) return std::nullopt;
  const std::string slice = job.slice ? ", with slice " + job.slice->ref.name : std::string{};
  job.why = "left to the store that this one is a copy of" + slice;
  if (!IsFinal(job.state)) {
    job.state = Done{.outcome = Outcome::kCancelled};
    job.since = now;
    if (job.attempt > 0 && !job.attempt_end) {
      job.attempt_end = AttemptEnd{.outcome = AttemptOutcome::kCancelled};
    }
  }
  job.wish = Wish::kCancel;
  job.wish_new = false;
  job.slice.reset();
  job.stage.reset();
  job.abandoned.clear();
  job.wake_at.reset();
  return job;
}

}  // namespace jobman::core
