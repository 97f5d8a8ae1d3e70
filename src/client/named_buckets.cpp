#include "client/named_buckets.hpp"

#include <asio/this_coro.hpp>
#include <utility>

#include "jobman/base/waiters.hpp"

namespace jobman::client {
namespace {

/// Requests for named buckets under way at a time.
constexpr int kNamedAtOnce = 8;

std::string BucketNameIn(std::string word) {
  constexpr std::string_view kScheme = "gs://";
  if (word.starts_with(kScheme)) word.erase(0, kScheme.size());
  return word.substr(0, word.find('/'));
}

/// What the coroutines that look at named buckets share.
struct NamedBuckets {
  NamedBuckets(std::shared_ptr<ports::BucketList> asked, const StorageQuery& query)
      : list(std::move(asked)), project(query.project) {
    for (const std::string& word : query.buckets) rows.push_back({.name = BucketNameIn(word)});
    left = rows.size();
  }
  void End() {
    if (--left == 0) done.WakeAll();
  }
  std::shared_ptr<ports::BucketList> list;
  std::string project;
  std::vector<BucketRow> rows = {};
  std::size_t left = 0;
  base::Gate gate{kNamedAtOnce};
  base::Waiters done = {};
};
using NamedBucketsPtr = std::shared_ptr<NamedBuckets>;

base::Error WithCureOfBucket(base::Error error, const std::string& project) {
  if (error.hint.empty() && error.code == base::Code::kNotFound)
    error.hint = "check the name: gcloud storage buckets list";
  return WithBucketRole(std::move(error), "roles/storage.bucketViewer", "storage.googleapis.com",
                        project);
}

base::Task<void> LookAtNamed(NamedBucketsPtr named, std::size_t row) {
  const auto pass = co_await named->gate.Enter();
  auto seen = co_await named->list->One(named->rows[row].name);
  if (seen.ok()) named->rows[row].seen = *std::move(seen);
  if (!seen.ok()) named->rows[row].refused = WithCureOfBucket(seen.error(), named->project);
}

base::Task<base::Status> AwaitNamed(NamedBucketsPtr named) {
  while (named->left > 0) co_await named->done.Wait();
  co_return base::Ok();
}

}  // namespace

base::Error WithBucketRole(base::Error error, const std::string& role, const std::string& service,
                           const std::string& project) {
  if (!error.hint.empty() || error.code != base::Code::kPermissionDenied) return error;
  error.hint = "to see it: the role " + role +
               ", and the API enabled: https://console.cloud.google.com/apis/library/" + service +
               "?project=" + project;
  return error;
}

base::Task<std::vector<BucketRow>> FetchNamedBuckets(std::shared_ptr<ports::BucketList> list,
                                                     StorageQuery query) {
  const auto named = std::make_shared<NamedBuckets>(list, query);
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  const std::size_t count = named->rows.size();
  for (std::size_t row = 0; row < count; ++row) {
    base::Spawn(executor, scope, LookAtNamed(named, row),
                [named](bool /*cancelled*/) { named->End(); });
  }
  auto all = AwaitNamed(named);
  std::string what = "Cloud Storage";
  const auto seen = co_await base::WithTimeout(std::move(all), query.limit, std::move(what));
  const base::Error unseen = seen.ok() ? base::Internal("not looked at") : seen.error();
  std::vector<BucketRow> rows = named->rows;
  for (BucketRow& row : rows)
    if (!row.seen && !row.refused) row.refused = unseen;
  co_return rows;
}

}  // namespace jobman::client
