#include "jobman/client/bucket_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "client/bucket_looks.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/buckets.hpp"
#include "jobman/core/regions.hpp"

namespace jobman::client {
namespace {

using config::Loaded;
using config::Problem;

/// What speaks against a bucket, and what cures it.
struct Objection {
  std::string message = {};
  std::string hint = {};
};

/// "data (command.cmd)"; its key as the job file has it.
std::string BucketText(const Loaded& loaded, const core::NamedBucket& bucket) {
  const auto mention = loaded.buckets.find(bucket.name);
  const std::string& key = mention == loaded.buckets.end() ? bucket.key : mention->second.key;
  return bucket.name + " (" + key + ")";
}

/// `where` is that of the slice.
std::string CostText(const std::optional<double>& price, const std::string& where) {
  if (!price) return "reading " + where + " is billed";
  return fmt::format("reading 1 TB {} costs about ${:.0f}", where, *price);
}

/// For a bucket whose place is not known.
std::string CostElsewhere(const std::string& region) {
  const auto price = core::PricesOfReadingElsewhere(region);
  if (!price) return "what is read from another region is billed";
  return fmt::format("reading 1 TB in {} from another region costs about ${:.0f} to ${:.0f}",
                     region, price->least, price->most);
}

/// "us-central1", "the multi-region us", "nam4 (us-central1 and us-east1)".
std::string PlaceText(const core::BucketLocation& location) {
  const std::vector<std::string> regions = core::RegionsOf(location);
  if (regions.empty()) return "the multi-region " + location.name;
  if (regions.size() == 1) return regions.front();
  return location.name + " (" + base::Join(regions, " and ") + ")";
}

/// Nothing if the bucket's data are in the region.
std::optional<Objection> ObjectTo(const std::string& bucket, const core::BucketLocation& location,
                                  const std::string& region) {
  const auto price = core::PriceOfReading(location, region);
  if (price == 0.0) return std::nullopt;
  const std::vector<std::string> regions = core::RegionsOf(location);
  const std::string is = "the " + bucket + " is in " + PlaceText(location);
  const std::string here = "use a bucket in " + region + ", ";
  const std::string allow = "or set allow_cross_region: true";
  if (regions.empty()) {
    return Objection{.message = is + ", not in one region: " + CostText(price, "in " + region),
                     .hint = here + allow};
  }
  return Objection{.message = is + ", but the slice in " + region + ": " +
                              CostText(price, "there") + ", and is slow",
                   .hint = here + "take a zone of " + base::Join(regions, " or ") + ", " + allow};
}

/// The same for one whose location nobody told; nothing if that may be told at another time.
std::optional<Objection> ObjectTo(const std::string& bucket, const std::string& name,
                                  const base::Error& error, const std::string& region) {
  if (error.code == base::Code::kNotFound) {
    return Objection{.message = "there is no " + bucket + "; " + CostElsewhere(region),
                     .hint = "correct the name, make it (gcloud storage buckets create gs://" +
                             name + " --location=" + region +
                             "), or set allow_cross_region: true if the job does"};
  }
  const bool disabled = error.reason == base::Reason::kApiDisabled;  // of none is it told
  if (error.code != base::Code::kPermissionDenied || disabled) return std::nullopt;
  const std::string cure =
      error.hint.empty() ? "ask its owner for the role roles/storage.objectViewer" : error.hint;
  return Objection{.message = "you may not see where the " + bucket + " is: " + error.ToString() +
                              "; " + CostElsewhere(region),
                   .hint = cure + ", or set allow_cross_region: true if it is in " + region +
                           " or may be billed"};
}

/// Buckets of which the same kept us from seeing where they are: one sentence for all.
struct Unseen {
  base::Error error = {};
  std::vector<std::string> buckets = {};  ///< with their keys
};

std::string UnseenText(const Unseen& unseen, const std::string& region) {
  const std::string which = unseen.buckets.size() == 1
                                ? "bucket " + unseen.buckets.front() + " is"
                                : "buckets " + base::Join(unseen.buckets, ", ") + " are";
  return "whether the " + which + " in " + region +
         " could not be checked: " + unseen.error.ToString();
}

/// Of what kept us from seeing buckets.
std::string CureOf(const base::Error& error) {
  if (!error.hint.empty()) return error.hint;
  if (error.reason == base::Reason::kApiDisabled)
    return "enable it: gcloud services enable storage.googleapis.com";
  return "try again later";
}

/// Collects refusals and notes.
class Judgement {
 public:
  explicit Judgement(const Loaded& loaded)
      : loaded_(loaded), region_(core::RegionOf(loaded.spec.tpu.zone)) {}

  void Judge(const core::NamedBucket& bucket, const base::Result<core::BucketLocation>& found) {
    const std::string name = "bucket " + BucketText(loaded_, bucket);
    auto objection = found.ok() ? ObjectTo(name, *found, region_)
                                : ObjectTo(name, bucket.name, found.error(), region_);
    if (objection) {
      Object(bucket.name, *std::move(objection));
    } else if (!found.ok()) {
      AddUnseen(bucket, found.error());
    }
  }

  /// Nobody could be asked.
  void JudgeUnasked(const std::vector<core::NamedBucket>& buckets, const base::Error& error) {
    for (const core::NamedBucket& bucket : buckets) AddUnseen(bucket, error);
  }

  void JudgeCount(std::size_t count) {
    if (count <= core::kMostBuckets) return;
    Object({}, {.message = fmt::format("the job names more than {} buckets, and the first {} alone "
                                       "are looked up",
                                       core::kMostBuckets, core::kMostBuckets),
                .hint = "set allow_cross_region: true if the others are in " + region_ +
                        " or may be billed"});
  }

  base::Result<std::vector<std::string>> Sentence() && {
    if (!refusals_.empty()) return config::ToError(refusals_);
    if (!unseen_.empty() && !loaded_.spec.allow_cross_region) return RefusalOfUnseen();
    for (const Unseen& some : unseen_)
      notes_.push_back(UnseenText(some, region_) + "; " + CostElsewhere(region_));
    return std::move(notes_);
  }

 private:
  /// With the code of what kept us from seeing them: to try again may help.
  base::Error RefusalOfUnseen() const {
    std::vector<std::string> texts;
    for (const Unseen& some : unseen_) texts.push_back(UnseenText(some, region_));
    base::Error error = unseen_.front().error;
    error.message = base::Join(texts, "; ") + "; " + CostElsewhere(region_);
    error.context.clear();
    error.hint = CureOf(error) + ", or set allow_cross_region: true if all of them are in " +
                 region_ + " or may be billed";
    return error;
  }

  void AddUnseen(const core::NamedBucket& bucket, const base::Error& error) {
    const std::string name = BucketText(loaded_, bucket);
    for (Unseen& some : unseen_) {
      if (some.error.message == error.message) return some.buckets.push_back(name);
    }
    unseen_.push_back({.error = error, .buckets = {name}});
  }
  void Object(const std::string& bucket, Objection objection) {
    if (loaded_.spec.allow_cross_region) return notes_.push_back(std::move(objection.message));
    const auto mention = loaded_.buckets.find(bucket);
    Problem problem = mention == loaded_.buckets.end() ? Problem() : mention->second.at;
    problem.message = std::move(objection.message);
    problem.hint = std::move(objection.hint);
    refusals_.push_back(std::move(problem));
  }

  const Loaded& loaded_;
  std::string region_;
  std::vector<Problem> refusals_ = {};
  std::vector<std::string> notes_ = {};
  std::vector<Unseen> unseen_ = {};
};

}  // namespace

base::Task<base::Result<std::vector<std::string>>> CheckBuckets(Context context,
                                                                config::Loaded loaded) {
  std::vector<std::string> notes;
  std::vector<core::NamedBucket> buckets = core::BucketsOf(loaded.spec);
  if (buckets.empty() || !context.open_buckets) co_return notes;
  const auto api = context.open_buckets(context.loop->get_executor(), loaded.spec.cloud);
  if (!api && api.error().code == base::Code::kInvalidArgument) co_return api.error();
  Judgement judgement(loaded);
  if (!api) {
    judgement.JudgeUnasked(buckets, api.error());
    co_return std::move(judgement).Sentence();
  }
  if (!*api) co_return notes;
  judgement.JudgeCount(buckets.size());
  buckets.resize(std::min(buckets.size(), core::kMostBuckets));
  BucketQuestion question{.region = core::RegionOf(loaded.spec.tpu.zone),
                          .any_kept = loaded.spec.allow_cross_region};
  for (const core::NamedBucket& bucket : buckets) question.buckets.push_back(bucket.name);
  const auto found = co_await LookAtBuckets(context, *api, std::move(question));
  for (std::size_t i = 0; i < buckets.size(); ++i) judgement.Judge(buckets[i], found[i]);
  co_return std::move(judgement).Sentence();
}

}  // namespace jobman::client
