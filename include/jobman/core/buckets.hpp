#pragma once

#include <string>
#include <vector>

#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// A bucket of Cloud Storage that a job names.
struct NamedBucket {
  std::string name = {};  ///< "my-data"
  std::string key = {};   ///< the first key that names it: "setup[0].run", as in config::Origin
  std::string written =
      {};  ///< as it stands there, with the character that ends it: "gs://my-data/"
  friend bool operator==(const NamedBucket&, const NamedBucket&) = default;
};

/// As many buckets are looked for; a job with more names one more than that.
inline constexpr std::size_t kMostBuckets = 100;

/// The buckets that the hosts of a job may read or write, each once, in the order of the spec:
/// those of gcsfuse, and each `gs://BUCKET` in a text that reaches the hosts, such as the command,
/// setup steps and values of environment variables. The name may be a variable to which the job
/// gives a value; it is not known if only the shell knows it, in whole or in part. None is looked
/// for in a line that is a comment of a script. At most kMostBuckets + 1. Takes time in proportion
/// to the size of the spec.
///
/// Names: https://cloud.google.com/storage/docs/buckets#naming.
std::vector<NamedBucket> BucketsOf(const JobSpec& spec);

}  // namespace jobman::core
