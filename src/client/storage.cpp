#include "jobman/client/storage.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "client/named_buckets.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/regions.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using Buckets = std::vector<BucketRow>;
using Sizes = std::map<std::string, std::int64_t>;
using BucketListPtr = std::shared_ptr<ports::BucketList>;

base::Error LacksService(const std::string& what) {
  return {.code = base::Code::kUnimplemented, .message = "this cloud has no " + what};
}

Task<Result<Buckets>> FetchAllBuckets(BucketListPtr list, std::string project) {
  auto seen = co_await list->OfProject(project);
  if (!seen.ok())
    co_return WithBucketRole(seen.error(), "roles/storage.bucketViewer", "storage.googleapis.com",
                             project);
  Buckets rows;
  for (ports::BucketSeen& bucket : *seen) {
    rows.push_back({.name = bucket.name});
    rows.back().seen = std::move(bucket);
  }
  co_return rows;
}

Task<Result<Buckets>> FetchBuckets(Context context, StorageQuery query) {
  if (!context.open_bucket_list) co_return LacksService("Cloud Storage");
  JM_CO_ASSIGN_OR_RETURN(const BucketListPtr list,
                         context.open_bucket_list(context.loop->get_executor(), query.cloud));
  if (!list) co_return LacksService("Cloud Storage");
  if (query.buckets.empty()) co_return co_await FetchAllBuckets(list, query.project);
  co_return co_await FetchNamedBuckets(list, query);
}

Task<Result<Sizes>> FetchSizes(Context context, StorageQuery query) {
  if (!context.open_bucket_sizes) co_return LacksService("Cloud Monitoring");
  JM_CO_ASSIGN_OR_RETURN(const auto api,
                         context.open_bucket_sizes(context.loop->get_executor(), query.cloud));
  if (!api) co_return LacksService("Cloud Monitoring");
  auto sizes = co_await api->OfProject(query.project, context.Now());
  if (sizes.ok()) co_return sizes;
  co_return WithBucketRole(sizes.error(), "roles/monitoring.viewer", "monitoring.googleapis.com",
                           query.project);
}

/// Where jobs are that need their data near.
Task<std::set<std::string>> RegionsOfJobs(Context context) {
  std::set<std::string> regions;
  if (context.stores.jobs == nullptr) co_return regions;
  const ports::JobFilter all;
  const auto rows = co_await context.stores.jobs->List(all);
  if (!rows.ok()) co_return regions;
  const std::set<std::string> over = {"SUCCEEDED", "FAILED", "CANCELLED", "DELETED"};
  for (const ports::JobSummary& row : *rows) {
    if (!over.contains(row.state) && !row.zone.empty()) regions.insert(core::RegionOf(row.zone));
  }
  co_return regions;
}

/// Of a multi-region no single region is known to have the data, or not to have it.
bool IsFarFromJobs(const BucketRow& row, const std::set<std::string>& regions) {
  if (!row.seen || regions.empty()) return false;
  const auto has = core::RegionsOf(row.seen->location);
  return !has.empty() && std::none_of(has.begin(), has.end(), [&](const std::string& region) {
    return regions.contains(region);
  });
}

}  // namespace

Task<StorageAnswer> AskStorage(Context context, StorageQuery query) {
  using namespace asio::experimental::awaitable_operators;
  std::string storage = "Cloud Storage";
  std::string monitoring = "Cloud Monitoring";
  auto fetching = FetchBuckets(context, query);
  auto measuring = FetchSizes(context, query);
  auto asked = base::WithTimeout(std::move(fetching), kStorageAnswer, std::move(storage));
  auto measured = base::WithTimeout(std::move(measuring), kStorageAnswer, std::move(monitoring));
  const auto both = co_await (std::move(asked) && std::move(measured));
  const auto& buckets = std::get<0>(both);
  const auto& sizes = std::get<1>(both);
  StorageAnswer answer;
  answer.regions = co_await RegionsOfJobs(context);
  if (!buckets.ok()) answer.no_list = buckets.error();
  if (!sizes.ok()) answer.no_sizes = sizes.error();
  if (buckets.ok()) answer.rows = *buckets;
  for (BucketRow& row : answer.rows) {
    row.elsewhere = IsFarFromJobs(row, answer.regions);
    if (sizes.ok() && sizes->contains(row.name)) row.bytes = sizes->at(row.name);
  }
  co_return answer;
}

}  // namespace jobman::client
