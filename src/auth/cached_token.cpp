#include <asio/error.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "jobman/auth/token_source.hpp"
#include "jobman/base/log.hpp"

namespace jobman::auth {
namespace {

using base::Duration;

constexpr Duration kRefreshBefore = std::chrono::minutes{5};
constexpr Duration kLifeOfUndated = std::chrono::minutes{10};
/// A token that is about to expire serves while a new one is fetched, but not to its last moment.
constexpr Duration kLastMoment = std::chrono::seconds{30};
/// While it serves, how long the one caller who fetches waits, and when the next one tries again.
constexpr Duration kEarlyLimit = std::chrono::seconds{10};
constexpr Duration kTryAgain = std::chrono::seconds{30};

class CachedTokenSource final : public TokenSource {
 public:
  CachedTokenSource(std::unique_ptr<TokenSource> inner, const base::Clock& clock)
      : inner_(std::move(inner)), clock_(clock) {}

  Task<Result<AccessToken>> Get() override {
    if (IsFresh()) co_return *token_;
    const bool serves = Serves();
    if (serves && (flight_ != nullptr || clock_.Now() < try_again_)) co_return *token_;
    if (flight_ != nullptr) {
      // A copy: the flight ends, and is released, before this wakes.
      const std::shared_ptr<Flight> flight = flight_;
      asio::error_code woken;
      auto token = asio::redirect_error(asio::use_awaitable, woken);
      if (!flight->ended) co_await flight->wake.async_wait(token);
      co_await base::EndIfCancelled();
      if (flight->answer) co_return *flight->answer;
      co_return co_await Get();  // the caller that fetched it was cancelled
    }
    co_return co_await Refresh();
  }

  void Invalidate() override {
    const TimePoint now = clock_.Now();
    if (now < forget_again_) return;
    forget_again_ = now + kTryAgain;
    token_.reset();
    inner_->Invalidate();
  }

 private:
  /// One call of the inner source, shared by everyone who waits for it.
  struct Flight {
    explicit Flight(const asio::any_io_executor& executor)
        : wake(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer wake;
    bool ended = false;
    std::optional<Result<AccessToken>> answer = {};  ///< nothing: cancelled on the way
  };
  /// Ends the flight, also when its coroutine is cancelled.
  class Landing {
   public:
    Landing(CachedTokenSource* owner, std::shared_ptr<Flight> flight)
        : owner_(owner), flight_(std::move(flight)) {}
    Landing(const Landing&) = delete;
    Landing& operator=(const Landing&) = delete;
    ~Landing() {
      flight_->ended = true;
      flight_->wake.cancel();
      owner_->flight_.reset();
    }

   private:
    CachedTokenSource* owner_;
    std::shared_ptr<Flight> flight_;
  };

  Task<Result<AccessToken>> Refresh() {
    const auto executor = co_await asio::this_coro::executor;
    flight_ = std::make_shared<Flight>(executor);
    const std::shared_ptr<Flight> flight = flight_;
    const Landing landing(this, flight);
    auto asked = inner_->Get();
    Result<AccessToken> fresh = base::Internal("not asked");
    if (Serves()) {
      std::string what = "a new access token";
      fresh = co_await base::WithTimeout(std::move(asked), kEarlyLimit, std::move(what));
    } else {
      fresh = co_await std::move(asked);
    }
    flight->answer = Accept(std::move(fresh));
    co_return *flight->answer;
  }

  Result<AccessToken> Accept(Result<AccessToken> fresh) {
    const TimePoint now = clock_.Now();
    if (fresh) {
      token_ = *fresh;
      got_at_ = now;
      return fresh;
    }
    if (!token_ || !token_->expires || *token_->expires <= now) return fresh;
    try_again_ = now + kTryAgain;
    base::Log(base::LogLevel::kWarn, "auth", "{}; the present token is valid until {}",
              fresh.error().ToString(), base::FormatRfc3339(*token_->expires));
    return *token_;
  }

  bool IsFresh() const {
    if (!token_) return false;
    const TimePoint until =
        token_->expires ? *token_->expires - kRefreshBefore : got_at_ + kLifeOfUndated;
    return clock_.Now() < until;
  }

  /// Not fresh, and valid yet.
  bool Serves() const {
    return token_ && token_->expires && clock_.Now() < *token_->expires - kLastMoment;
  }

  std::unique_ptr<TokenSource> inner_;
  const base::Clock& clock_;
  std::optional<AccessToken> token_ = {};
  TimePoint got_at_ = {};
  TimePoint try_again_ = {};  ///< after a fetch that failed while the token serves
  /// One service that refuses every token must not cost the others theirs at each of its requests.
  TimePoint forget_again_ = {};
  std::shared_ptr<Flight> flight_ = {};
};

}  // namespace

std::unique_ptr<TokenSource> MakeCachedTokenSource(std::unique_ptr<TokenSource> inner,
                                                   const base::Clock& clock) {
  return std::make_unique<CachedTokenSource>(std::move(inner), clock);
}

}  // namespace jobman::auth
