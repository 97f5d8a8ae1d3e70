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

/// "bucket data (command.cmd)"; its key as the job file has it.
std::string BucketText(const Loaded& loaded, const core::NamedBucket& bucket) {
  const auto mention = loaded.buckets.find(bucket.name);
  const std::string& key = mention == loaded.buckets.end() ? bucket.key : mention->second.key;
  return "bucket " + bucket.name + " (" + key + ")";
}

/// `where` is that of the slice.
std::string CostText(const std::optional<double>& price, const std::string& where) {
  if (!price) return "reading " + where + " is billed";
  return fmt::format("reading 1 TB {} costs about ${:.0f}", where, *price);
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

/// The same for one whose location nobody told.
std::optional<Objection> ObjectTo(const std::string& bucket, const std::string& name,
                                  const base::Error& error, const std::string& region) {
  if (error.code == base::Code::kNotFound) {
    return Objection{.message = "there is no " + bucket,
                     .hint = "correct the name, make it (gcloud storage buckets create gs://" +
                             name + " --location=" + region +
                             "), or set allow_cross_region: true if the job does"};
  }
  const bool disabled = error.reason == base::Reason::kApiDisabled;  // nobody was asked
  if (error.code != base::Code::kPermissionDenied || disabled) return std::nullopt;
  const std::string cure =
      error.hint.empty() ? "ask its owner for the role roles/storage.objectViewer" : error.hint;
  return Objection{.message = "you may not see where the " + bucket + " is: " + error.ToString(),
                   .hint = cure + ", or set allow_cross_region: true if it is in " + region +
                           " or may be billed"};
}

std::string Unasked(const std::vector<core::NamedBucket>& buckets, const std::string& zone,
                    const base::Error& error) {
  std::vector<std::string> names;
  for (const core::NamedBucket& bucket : buckets) names.push_back(bucket.name);
  const std::string which = names.size() == 1 ? "bucket " + names.front() + " is"
                                              : "buckets " + base::Join(names, ", ") + " are";
  return "whether the " + which + " in the region of " + zone +
         " could not be checked: " + error.ToString();
}

/// Collects refusals and notes.
class Judgement {
 public:
  explicit Judgement(const Loaded& loaded)
      : loaded_(loaded), region_(core::RegionOf(loaded.spec.tpu.zone)) {}

  void Judge(const core::NamedBucket& bucket, const base::Result<core::BucketLocation>& found) {
    const std::string name = BucketText(loaded_, bucket);
    auto objection = found.ok() ? ObjectTo(name, *found, region_)
                                : ObjectTo(name, bucket.name, found.error(), region_);
    if (objection) {
      Object(bucket.name, *std::move(objection));
    } else if (!found.ok()) {
      NoteUnseen(bucket, found.error());
    }
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
    for (const Unseen& some : unseen_)
      notes_.push_back(Unasked(some.buckets, loaded_.spec.tpu.zone, some.error));
    return std::move(notes_);
  }

 private:
  /// Buckets of which the same kept us from seeing where they are: one note for all.
  struct Unseen {
    base::Error error = {};
    std::vector<core::NamedBucket> buckets = {};
  };

  void NoteUnseen(const core::NamedBucket& bucket, const base::Error& error) {
    for (Unseen& some : unseen_) {
      if (some.error.message == error.message) return some.buckets.push_back(bucket);
    }
    unseen_.push_back({.error = error, .buckets = {bucket}});
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
  if (!api) notes.push_back(Unasked(buckets, loaded.spec.tpu.zone, api.error()));
  if (!api || !*api) co_return notes;
  Judgement judgement(loaded);
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
