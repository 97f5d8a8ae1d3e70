#include "jobman/client/bucket_check.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

std::vector<std::string> BucketsOf(const core::GcsfuseSpec& gcsfuse) {
  std::vector<std::string> buckets;
  const auto add = [&buckets](const std::string& name) {
    const bool known = std::find(buckets.begin(), buckets.end(), name) != buckets.end();
    if (!known && !name.empty()) buckets.push_back(name);
  };
  add(gcsfuse.bucket_name);
  for (const core::BucketMount& mount : gcsfuse.extra_mounts) add(mount.bucket_name);
  return buckets;
}

/// "us-central2" of the zone us-central2-b.
std::string RegionOf(const std::string& zone) {
  return zone.substr(0, zone.rfind('-'));
}

/// Fetched, unless the cache of the store says that it is the right one: a wrong one may have been
/// replaced.
base::Task<base::Result<std::string>> FindLocation(Context context, ports::BucketApi* api,
                                                   std::string bucket, std::string wanted) {
  const std::string key = "bucket:" + bucket;
  const auto kept = co_await context.stores.cache->Cached(key);
  const bool fresh = kept.ok() && *kept && context.Now() - (*kept)->at < kOffersKept;
  if (fresh && (*kept)->value == wanted) co_return wanted;
  JM_CO_ASSIGN_OR_RETURN(std::string found, co_await api->Location(bucket));
  std::string location = base::ToLower(found);
  ports::CachedFact fact{.value = location, .at = context.Now()};
  JM_CO_TRY(co_await context.stores.cache->PutInCache(key, std::move(fact)));
  co_return location;
}

/// An error that points to the zone in the job file.
base::Error Refusal(const config::Loaded& loaded, std::string message, std::string hint) {
  config::Problem place;
  if (const auto zone = loaded.places.find("tpu.zone"); zone != loaded.places.end()) {
    place = zone->second;
  }
  place.message = std::move(message);
  place.hint = std::move(hint);
  return config::ToError({place});
}

/// As Python jobman: only a bucket in the zone's own region is taken.
base::Status CheckLocation(const config::Loaded& loaded, const std::string& bucket,
                           const std::string& location) {
  const std::string& zone = loaded.spec.tpu.zone;
  const std::string region = RegionOf(zone);
  if (location == region) return base::Ok();
  const std::string move = "name a bucket in " + region + " (gcsfuse.bucket_name)";
  if (location.find('-') == std::string::npos) {
    return Refusal(loaded,
                   "the bucket " + bucket + " is in the multi-region " + location +
                       ", not in one region: what hosts in " + zone + " read from it is billed",
                   move);
  }
  return Refusal(loaded,
                 "the bucket " + bucket + " is in " + location + ", but the slice in " + zone +
                     ": what its hosts read would cross regions, which is slow and billed",
                 move + ", or set tpu.zone to a zone of " + location);
}

base::Error NoBucket(const config::Loaded& loaded, const std::string& bucket) {
  return Refusal(loaded, "there is no bucket " + bucket,
                 "correct gcsfuse.bucket_name, or make it: gcloud storage buckets create gs://" +
                     bucket + " --location=" + RegionOf(loaded.spec.tpu.zone));
}

}  // namespace

base::Task<base::Result<std::vector<std::string>>> CheckBuckets(Context context,
                                                                config::Loaded loaded) {
  std::vector<std::string> notes;
  const std::vector<std::string> buckets = BucketsOf(loaded.spec.gcsfuse);
  if (buckets.empty() || !context.open_buckets) co_return notes;
  const std::string& zone = loaded.spec.tpu.zone;
  const auto api = context.open_buckets(context.loop->get_executor(), loaded.spec.cloud);
  if (!api && api.error().code == base::Code::kInvalidArgument) co_return api.error();
  if (api && !*api) co_return notes;
  for (const std::string& bucket : buckets) {
    base::Result<std::string> location =
        api ? std::string() : base::Result<std::string>(api.error());
    if (api) location = co_await FindLocation(context, api->get(), bucket, RegionOf(zone));
    if (location.ok()) {
      JM_CO_TRY(CheckLocation(loaded, bucket, *location));
    } else if (location.error().code == base::Code::kNotFound) {
      co_return NoBucket(loaded, bucket);
    } else {
      notes.push_back("whether the bucket " + bucket + " is in the region of " + zone +
                      " could not be checked: " + location.error().ToString());
    }
  }
  co_return notes;
}

}  // namespace jobman::client
