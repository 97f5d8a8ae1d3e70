#include "client/bucket_looks.hpp"

#include <asio/this_coro.hpp>
#include <optional>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

using FoundLocation = base::Result<core::BucketLocation>;

/// Requests under way at a time.
constexpr int kBucketsAtOnce = 8;

/// "us,us-central1,us-east1": the location, and the regions of a dual-region.
std::string TextOf(const core::BucketLocation& location) {
  std::vector<std::string> parts = location.regions;
  parts.insert(parts.begin(), location.name);
  return base::Join(parts, ",");
}

core::BucketLocation LocationOf(const std::string& text) {
  std::vector<std::string> parts = base::Split(text, ',');
  core::BucketLocation location{.name = parts.front()};
  location.regions.assign(parts.begin() + 1, parts.end());
  return location;
}

/// What the coroutines of one call share.
struct Looks {
  Looks(Context opened, std::shared_ptr<ports::BucketApi> asked, BucketQuestion what)
      : context(std::move(opened)),
        api(std::move(asked)),
        question(std::move(what)),
        left(question.buckets.size()),
        found(left) {}
  void End() {
    if (--left == 0) done.WakeAll();
  }
  Context context;
  std::shared_ptr<ports::BucketApi> api;
  BucketQuestion question;
  std::size_t left;
  std::vector<std::optional<FoundLocation>> found;
  base::Gate gate{kBucketsAtOnce};
  base::Waiters done = {};
};

/// A fault that may be over in a moment. No answer in time is not: the time is the user's.
bool IsPassingFault(const FoundLocation& found) {
  if (found.ok()) return false;
  return found.error().code == base::Code::kUnavailable ||
         found.error().code == base::Code::kInternal;
}

/// Three tries: without an answer nothing can be created.
base::Task<FoundLocation> AskForLocation(std::shared_ptr<Looks> looks, std::string bucket) {
  constexpr int kTries = 3;
  constexpr base::Duration kPause{250};
  FoundLocation found = co_await looks->api->Location(bucket);
  for (int attempt = 1; attempt < kTries && IsPassingFault(found); ++attempt) {
    co_await base::Sleep(kPause * attempt);
    found = co_await looks->api->Location(bucket);
  }
  co_return found;
}

/// Fetched, unless the cache has one that will do: a wrong one may have been replaced.
base::Task<FoundLocation> LookAtBucket(std::shared_ptr<Looks> looks, std::string bucket) {
  const Context& context = looks->context;
  const std::string key = "bucket:" + bucket;
  const auto kept = co_await context.stores.cache->Cached(key);
  if (kept.ok() && *kept && context.Now() - (*kept)->at < kOffersKept) {
    core::BucketLocation location = LocationOf((*kept)->value);
    const bool here = core::PriceOfReading(location, looks->question.region) == 0;
    if (here || looks->question.any_kept) co_return location;
  }
  const auto pass = co_await looks->gate.Enter();
  JM_CO_ASSIGN_OR_RETURN(core::BucketLocation location, co_await AskForLocation(looks, bucket));
  ports::CachedFact fact{.value = TextOf(location), .at = context.Now()};
  // If it cannot be kept, the next command asks again.
  [[maybe_unused]] const auto put = co_await context.stores.cache->PutInCache(key, std::move(fact));
  co_return location;
}

base::Task<void> LookAtOne(std::shared_ptr<Looks> looks, std::size_t row) {
  looks->found[row] = co_await LookAtBucket(looks, looks->question.buckets[row]);
}

base::Task<base::Status> AwaitAll(std::shared_ptr<Looks> looks) {
  while (looks->left > 0) co_await looks->done.Wait();
  co_return base::Ok();
}

}  // namespace

base::Task<std::vector<FoundLocation>> LookAtBuckets(Context context,
                                                     std::shared_ptr<ports::BucketApi> api,
                                                     BucketQuestion question) {
  auto looks = std::make_shared<Looks>(std::move(context), api, std::move(question));
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  const std::size_t count = looks->left;
  for (std::size_t row = 0; row < count; ++row) {
    base::Spawn(executor, scope, LookAtOne(looks, row),
                [looks](bool /*cancelled*/) { looks->End(); });
  }
  auto all = AwaitAll(looks);
  std::string what = "Cloud Storage";
  const auto seen =
      co_await base::WithTimeout(std::move(all), looks->question.limit, std::move(what));
  const FoundLocation unseen = seen.ok() ? base::Internal("not looked at") : seen.error();
  std::vector<FoundLocation> found;
  for (const auto& one : looks->found) found.push_back(one.value_or(unseen));
  co_return found;
}

}  // namespace jobman::client
