#include "jobman/client/garbage_places.hpp"

#include <algorithm>
#include <set>

#include "jobman/config/places.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::client {
namespace {

bool IsSame(const CloudPlace& a, const CloudPlace& b) {
  return a.cloud.endpoint == b.cloud.endpoint && a.place == b.place;
}

void Add(std::vector<CloudPlace>& places, const CloudPlace& one) {
  const bool known = std::any_of(places.begin(), places.end(),
                                 [&](const CloudPlace& other) { return IsSame(one, other); });
  if (!known && !one.place.zone.empty() && !one.place.project.empty()) places.push_back(one);
}

/// Newest job first: its credentials are the most likely to be valid.
base::Task<base::Result<std::vector<CloudPlace>>> PlacesOfJobs(ports::JobStore* jobs) {
  const ports::JobFilter all{.with_deleted = true};
  JM_CO_ASSIGN_OR_RETURN(auto rows, co_await jobs->List(all));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return b.id < a.id; });
  std::vector<CloudPlace> places;
  for (const ports::JobSummary& row : rows) {
    const auto job = co_await jobs->Get(row.id);
    const bool cleaned = !job.ok() && job.error().code == base::Code::kNotFound;
    const bool unusable = !job.ok() && ports::IsUnusable(job.error());
    if (cleaned || unusable) continue;
    if (!job.ok()) co_return job.error();
    const core::TpuSpec& tpu = job->spec.tpu;
    Add(places, {job->spec.cloud, {.project = tpu.project, .zone = tpu.zone}});
    if (job->slice) Add(places, {job->spec.cloud, job->slice->ref.place});
  }
  co_return places;
}

/// The given values or, if there are none, those of the known places.
template <class Member>
std::vector<std::string> GivenOrKnown(const std::vector<std::string>& given,
                                      const std::vector<CloudPlace>& known, Member member) {
  if (!given.empty()) return given;
  std::set<std::string> words;
  for (const CloudPlace& one : known) words.insert(member(one));
  return {words.begin(), words.end()};
}

/// The clouds to search: all known ones, or the named endpoint with the credentials that a job has
/// for it.
std::vector<core::CloudSpec> Clouds(const std::string& endpoint,
                                    const std::vector<CloudPlace>& known) {
  std::vector<core::CloudSpec> clouds;
  for (const CloudPlace& one : known) {
    const bool wanted = endpoint.empty() || one.cloud.endpoint == endpoint;
    const bool seen = std::any_of(clouds.begin(), clouds.end(), [&](const core::CloudSpec& other) {
      return other.endpoint == one.cloud.endpoint;
    });
    if (wanted && !seen) clouds.push_back(one.cloud);
  }
  if (clouds.empty() && !endpoint.empty()) clouds.push_back({.endpoint = endpoint});
  if (clouds.empty()) clouds.push_back({.endpoint = core::kDefaultEndpoint});
  return clouds;
}

}  // namespace

base::Status CheckPlaces(const PlaceWish& wish) {
  const auto named = [](base::Status checked, const char* option) -> base::Status {
    if (checked.ok()) return checked;
    return std::move(checked).error().With(option);
  };
  for (const std::string& zone : wish.zones) JM_TRY(named(config::CheckZone(zone), "--zone"));
  for (const std::string& project : wish.projects) {
    JM_TRY(named(config::CheckProject(project), "--project"));
  }
  return base::Ok();
}

base::Task<base::Result<std::vector<CloudPlace>>> PlacesToSearch(ports::JobStore* jobs,
                                                                 PlaceWish wish) {
  JM_CO_ASSIGN_OR_RETURN(std::vector<CloudPlace> known, co_await PlacesOfJobs(jobs));
  const bool more = !wish.endpoint.empty() || !wish.projects.empty() || !wish.zones.empty();
  if (!more && wish.only) {
    co_return base::InvalidArgument("--only says nothing by itself",
                                    "say where: --zone, --project or --endpoint");
  }
  if (!more) co_return known;
  const auto projects =
      GivenOrKnown(wish.projects, known, [](const CloudPlace& one) { return one.place.project; });
  const auto zones =
      GivenOrKnown(wish.zones, known, [](const CloudPlace& one) { return one.place.zone; });
  if (projects.empty() || zones.empty()) {
    const std::string missing = projects.empty() ? "project" : "zone";
    co_return base::InvalidArgument("no job tells which " + missing + " to look in",
                                    "name it with --" + missing);
  }
  std::vector<CloudPlace> places = wish.only ? std::vector<CloudPlace>{} : known;
  for (const core::CloudSpec& cloud : Clouds(wish.endpoint, known)) {
    for (const std::string& project : projects) {
      for (const std::string& zone : zones)
        Add(places, {cloud, {.project = project, .zone = zone}});
    }
  }
  co_return places;
}

}  // namespace jobman::client
