#pragma once

#include <functional>
#include <memory>

#include "jobman/base/backoff.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/cloud/tpu_json.hpp"
#include "jobman/ports/slice_api.hpp"

namespace jobman::cloud {

using base::Duration;

/// Waits; a fake in tests.
using Sleeper = std::function<base::Task<void>(Duration)>;
/// Uniform in [0, 1).
using UnitRandom = std::function<double()>;
using Inner = std::unique_ptr<ports::SliceApi>;

struct RetryPolicy {
  int tries = 3;  ///< the first one included
  base::Backoff backoff = {.base = std::chrono::milliseconds{500}, .cap = std::chrono::seconds{8}};
  /// If the service asks for a longer wait, the call fails at once and the caller waits.
  Duration longest_wait = std::chrono::seconds{30};
};
/// Retries what is safe to repeat (everything but Create) after kUnavailable, kDeadlineExceeded,
/// kInternal and rate limits. The last error says how many tries there were.
Inner MakeRetrySliceApi(Inner inner, RetryPolicy policy, Sleeper sleep, UnitRandom random);

struct RatePolicy {
  double per_second = 10.0;  ///< calls, in the long run
  double burst = 20.0;       ///< calls at once after a quiet time
  /// Pause of all calls after a rate limit response without a retry time.
  Duration penalty = std::chrono::seconds{5};
};
/// A token bucket over all calls. A rate limit response stops every call of this client for
/// retry_after and halves the rate; successful calls restore it step by step.
Inner MakeRateLimitSliceApi(Inner inner, RatePolicy policy, const base::Clock& clock,
                            Sleeper sleep);

/// Writes one line for each call to the topic "cloud".
Inner MakeLoggingSliceApi(Inner inner);

}  // namespace jobman::cloud
