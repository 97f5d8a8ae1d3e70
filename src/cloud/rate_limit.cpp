#include <algorithm>
#include <cmath>

#include "jobman/base/log.hpp"
#include "jobman/cloud/decorators.hpp"
#include "jobman/ports/slice_api_decorator.hpp"

namespace jobman::cloud {
namespace {

using base::Task;
using ports::CallInfo;

using base::TimePoint;

constexpr double kSlowestShare = 0.05;   ///< of the policy's rate
constexpr double kRecoveryShare = 0.02;  ///< of the policy's rate, for each good answer

class RateLimitSliceApi final : public ports::SliceApiDecorator<RateLimitSliceApi> {
 public:
  RateLimitSliceApi(Inner inner, RatePolicy policy, const base::Clock& clock, Sleeper sleep)
      : SliceApiDecorator(std::move(inner)),
        policy_(policy),
        clock_(clock),
        sleep_(std::move(sleep)),
        rate_(policy.per_second),
        tokens_(policy.burst),
        filled_at_(clock.Now()) {}

  template <class T>
  Task<Result<T>> Around(CallInfo info, Send<T> send) {
    // In a loop: a new pause may have begun while this call slept.
    for (Duration wait = Take(); wait > Duration::zero(); wait = Take()) {
      co_await sleep_(wait);
    }
    Result<T> answer = co_await send();
    if (answer) {
      rate_ = std::min(policy_.per_second, rate_ + policy_.per_second * kRecoveryShare);
    } else if (answer.error().reason == base::Reason::kRateLimit) {
      SlowDown(answer.error(), info);
    }
    co_return answer;
  }

 private:
  /// Takes a token, or returns how long to wait before trying again.
  Duration Take() {
    const TimePoint now = clock_.Now();
    // If the wall clock goes back, the pause must not get longer.
    closed_until_ = std::min(closed_until_, now + pause_);
    if (now < closed_until_) return closed_until_ - now;
    const double seconds = std::max(0.0, std::chrono::duration<double>(now - filled_at_).count());
    tokens_ = std::min(policy_.burst, tokens_ + seconds * rate_);
    filled_at_ = now;
    if (tokens_ >= 1.0) {
      tokens_ -= 1.0;
      return Duration::zero();
    }
    return Duration{static_cast<Duration::rep>(std::ceil((1.0 - tokens_) / rate_ * 1000.0))};
  }

  void SlowDown(const base::Error& error, const CallInfo& info) {
    const Duration pause = error.retry_after ? Duration(*error.retry_after) : policy_.penalty;
    pause_ = std::max(pause, closed_until_ - clock_.Now());
    closed_until_ = clock_.Now() + pause_;
    filled_at_ = closed_until_;  // no tokens accrue during the pause
    rate_ = std::max(policy_.per_second * kSlowestShare, rate_ / 2);
    tokens_ = std::min(tokens_, 1.0);
    base::Log(base::LogLevel::kWarn, "cloud",
              "{} {}: rate limit; nothing is sent for {}, then {:.1f}/s", info.method, info.subject,
              base::FormatDuration(pause), rate_);
  }

  RatePolicy policy_;
  const base::Clock& clock_;
  Sleeper sleep_;
  double rate_;
  double tokens_;
  TimePoint filled_at_;
  Duration pause_ = {};
  TimePoint closed_until_ = {};
};

}  // namespace

Inner MakeRateLimitSliceApi(Inner inner, RatePolicy policy, const base::Clock& clock,
                            Sleeper sleep) {
  return std::make_unique<RateLimitSliceApi>(std::move(inner), policy, clock, std::move(sleep));
}

}  // namespace jobman::cloud
