#include <algorithm>

#include "jobman/base/log.hpp"
#include "jobman/cloud/decorators.hpp"
#include "jobman/ports/slice_api_decorator.hpp"

namespace jobman::cloud {
namespace {

using base::Task;
using ports::CallInfo;

using base::Code;
using base::Error;
using base::Reason;

bool IsBlip(const Error& error) {
  if (error.reason == Reason::kRateLimit) return true;
  return error.code == Code::kUnavailable || error.code == Code::kDeadlineExceeded ||
         error.code == Code::kInternal;
}

class RetrySliceApi final : public ports::SliceApiDecorator<RetrySliceApi> {
 public:
  RetrySliceApi(Inner inner, RetryPolicy policy, Sleeper sleep, UnitRandom random)
      : SliceApiDecorator(std::move(inner)),
        policy_(policy),
        sleep_(std::move(sleep)),
        random_(std::move(random)) {}

  template <class T>
  Task<Result<T>> Around(CallInfo info, Send<T> send) {
    for (int attempt = 1;; ++attempt) {
      Result<T> answer = co_await send();
      if (answer || !info.repeatable || !IsBlip(answer.error())) {
        co_return Told(std::move(answer), attempt, "");
      }
      if (attempt >= policy_.tries) co_return Told(std::move(answer), attempt, "gave up");
      const Duration wait = WaitFor(answer.error(), attempt);
      if (wait > policy_.longest_wait) {
        co_return Told(
            std::move(answer), attempt,
            "did not wait the " + base::FormatDuration(wait) + " that the service asked for");
      }
      base::Log(base::LogLevel::kDebug, "cloud", "{} {}: {}; trying again in {} ms", info.method,
                info.subject, answer.error().ToString(), wait.count());
      co_await sleep_(wait);
    }
  }

 private:
  Duration WaitFor(const Error& error, int attempt) const {
    if (error.retry_after) return *error.retry_after;
    return policy_.backoff.FullJitter(attempt, random_());
  }

  /// Adds to the error how the retries ended, if there were any.
  template <class T>
  static Result<T> Told(Result<T> answer, int tries, const std::string& ending) {
    if (answer || (tries == 1 && ending.empty())) return answer;
    const std::string count = std::to_string(tries) + (tries == 1 ? " try" : " tries");
    const std::string frame = ending.empty() ? "after " + count : ending + " after " + count;
    return std::move(answer).error().With(frame);
  }

  RetryPolicy policy_;
  Sleeper sleep_;
  UnitRandom random_;
};

}  // namespace

Inner MakeRetrySliceApi(Inner inner, RetryPolicy policy, Sleeper sleep, UnitRandom random) {
  return std::make_unique<RetrySliceApi>(std::move(inner), policy, std::move(sleep),
                                         std::move(random));
}

}  // namespace jobman::cloud
