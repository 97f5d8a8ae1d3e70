#include "jobman/controller/controller.hpp"

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "controller/clouds.hpp"
#include "controller/courier.hpp"
#include "controller/effects.hpp"
#include "controller/fence.hpp"
#include "controller/job_book.hpp"
#include "controller/zone_watch.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/nudge.hpp"

namespace jobman::controller {
namespace {

constexpr base::Duration kLookAtStore = std::chrono::seconds{1};
constexpr base::Duration kLongestPause = std::chrono::seconds{1};

}  // namespace

class Controller::Impl {
 public:
  Impl(asio::io_context& loop, World world, Options options)
      : loop_(loop),
        fenced_shell_(world.shell, [this] { return MayAct(); }),
        world_(Fenced(std::move(world))),
        options_(std::move(options)),
        wake_(loop),
        clouds_(world_),
        book_(loop, world_, options_.policy, HooksOfBook()),
        watch_(loop, world_, options_, clouds_, book_),
        effects_(loop, world_, options_, clouds_, book_, watch_),
        courier_(loop, world_, options_) {}

  base::Task<base::Status> Run();
  base::Task<base::Status> Tick(base::Duration bound);
  void Stop() {
    stopped_ = true;
    wake_.cancel();
  }

 private:
  JobBook::Hooks HooksOfBook();
  World Fenced(World world);
  bool MayAct();
  base::Status TakeLease();
  base::Status Begin();
  void RenewLease();
  void LookAtStore();
  bool IdleTooLong();
  bool MayEnd();
  bool AllQuiet() const;
  base::Task<void> Pause();
  static base::Task<void> Listen(Impl* self);
  static base::Task<void> MakeRoomWhenNudged(Impl* self);

  asio::io_context& loop_;
  FencedShell fenced_shell_;
  World world_;
  Options options_;
  asio::steady_timer wake_;
  Clouds clouds_;
  JobBook book_;
  ZoneWatch watch_;
  Effects effects_;
  Courier courier_;
  base::CancelScope scope_ = {};
  ports::Lease lease_ = {};
  std::string holder_ = LeaseHolder();
  std::int64_t seen_changes_ = -1;
  core::TimePoint looked_at_store_ = {};
  core::TimePoint renewed_ = {};
  core::TimePoint last_care_ = {};
  bool stopped_ = false;
  bool lost_ = false;
};

JobBook::Hooks Controller::Impl::HooksOfBook() {
  JobBook::Hooks hooks;
  hooks.decided = [this](const core::Job& job, const std::vector<core::Effect>& effects) {
    base::Log(base::LogLevel::kInfo, "loop", "job {} {}: {}", core::FormatJobId(job.id),
              core::StateName(job.state), job.why);
    effects_.Do(job, effects);
    const bool tells = std::any_of(effects.begin(), effects.end(), [](const core::Effect& effect) {
      return std::holds_alternative<core::TellHooks>(effect);
    });
    if (tells) courier_.Hurry();
    watch_.Watch(job);
    const bool acquiring = std::holds_alternative<core::Provisioning>(job.state) && job.slice &&
                           !job.slice->hosts.empty();
    if (acquiring) watch_.PollNow(job.spec.cloud, job.slice->ref.place);
    wake_.cancel();
  };
  hooks.lease_lost = [this] {
    lost_ = true;
    Stop();
  };
  return hooks;
}

World Controller::Impl::Fenced(World world) {
  world.shell = &fenced_shell_;
  const auto open = world.open_cloud;
  world.open_cloud =
      [this, open](const core::CloudSpec& spec) -> base::Result<std::shared_ptr<ports::SliceApi>> {
    JM_ASSIGN_OR_RETURN(auto cloud, open(spec));
    return FenceSlices(std::move(cloud), [this] { return MayAct(); });
  };
  return world;
}

/// Nobody takes over while the lease lasts. After that we ask for it again; where that cannot be
/// recorded (a full disk), it is ours as long as nobody else's token stands there.
bool Controller::Impl::MayAct() {
  const auto lasts = [this] { return world_.clock->Now() - renewed_ < options_.lease_time; };
  if (!lasts()) RenewLease();
  if (lost_ || lasts()) return !lost_;
  const auto current = world_.store->CurrentLease();
  return current.ok() && *current && (*current)->token == lease_.token;
}

base::Status Controller::Impl::TakeLease() {
  JM_ASSIGN_OR_RETURN(const auto current, world_.store->CurrentLease());
  if (current && HolderIsDead(current->holder)) JM_TRY(world_.store->DropLease(*current));
  const core::TimePoint now = world_.clock->Now();
  JM_ASSIGN_OR_RETURN(const auto lease, world_.store->TakeLease(holder_, now, options_.lease_time));
  if (!lease) {
    const std::string who = current ? current->holder : std::string{"another process"};
    return base::Error{.code = base::Code::kAborted,
                       .message = "another controller is at work: " + who,
                       .hint = "jobman controller status"};
  }
  lease_ = *lease;
  renewed_ = now;
  book_.set_lease_token(lease_.token);
  return base::Ok();
}

base::Status Controller::Impl::Begin() {
  JM_ASSIGN_OR_RETURN(options_.policy.store_id, world_.store->StoreId());
  JM_TRY(TakeLease());
  last_care_ = world_.clock->Now();
  LookAtStore();
  courier_.Start(lease_.token);
  return base::Ok();
}

void Controller::Impl::RenewLease() {
  const core::TimePoint now = world_.clock->Now();
  if (now - renewed_ < options_.lease_time / 3) return;
  const auto lease = world_.store->TakeLease(holder_, now, options_.lease_time);
  if (!lease.ok()) {
    // Every commit checks the token, so nothing is done that another one might do.
    base::Log(base::LogLevel::kError, "store", "cannot renew the lease: {}",
              lease.error().ToString());
    return;
  }
  const bool ours = lease->has_value() && (*lease)->token == lease_.token;
  if (!ours) {
    lost_ = true;
    return Stop();
  }
  renewed_ = now;
}

/// Reads the store when somebody else wrote to it. Own commits count too: cheap, and safe.
void Controller::Impl::LookAtStore() {
  looked_at_store_ = world_.clock->Now();
  const auto changes = world_.store->ChangeCounter();
  if (changes.ok() && *changes == seen_changes_) return;
  const auto loaded = book_.Load();
  if (!loaded.ok()) {
    base::Log(base::LogLevel::kError, "store", "cannot read the jobs: {}",
              loaded.error().ToString());
    return;
  }
  if (changes.ok()) seen_changes_ = *changes;
}

bool Controller::Impl::IdleTooLong() {
  const core::TimePoint now = world_.clock->Now();
  if (book_.AnyCare() || courier_.Busy()) last_care_ = now;
  return options_.idle_exit && now - last_care_ > *options_.idle_exit;
}

/// Nothing was to be done for long, nor since: a command that nudges while the socket closes has
/// written its wish before, and finds no controller afterwards.
bool Controller::Impl::MayEnd() {
  if (!IdleTooLong()) return false;
  scope_ = base::CancelScope{};
  LookAtStore();
  if (!book_.AnyCare()) return true;
  base::Spawn(loop_.get_executor(), scope_, Listen(this));
  return false;
}

/// Until the next job is due, something is decided, or a nudge comes.
base::Task<void> Controller::Impl::Pause() {
  const core::TimePoint now = world_.clock->Now();
  base::Duration pause = kLongestPause;
  if (const auto next = book_.WakeDue(now)) pause = std::min(pause, *next - now);
  wake_.expires_after(std::max(pause, base::Duration{1}));
  std::error_code woken;
  co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
}

base::Task<void> Controller::Impl::Listen(Impl* self) {
  auto on_nudge = [self](Nudge nudge) {
    self->effects_.Remember(nudge.secrets);
    self->LookAtStore();
    self->wake_.cancel();
  };
  const auto ended = co_await ListenForNudges(self->options_.paths.ControllerSocket(), on_nudge);
  if (!ended.ok()) {
    base::Log(base::LogLevel::kWarn, "loop", "commands cannot wake the controller at once: {}",
              ended.error().ToString());
  }
}

/// A command that wakes a controller expects one that stays, and starts it once the lease is free.
base::Task<void> Controller::Impl::MakeRoomWhenNudged(Impl* self) {
  (void)co_await ListenForNudges(self->options_.paths.ControllerSocket(),
                                 [self](const Nudge&) { self->Stop(); });
}

base::Task<base::Status> Controller::Impl::Run() {
  JM_CO_TRY(Begin());
  base::Spawn(loop_.get_executor(), scope_, Listen(this));
  while (!stopped_ && !MayEnd()) {
    co_await Pause();
    RenewLease();
    if (world_.clock->Now() - looked_at_store_ >= kLookAtStore) LookAtStore();
  }
  scope_.Cancel();
  courier_.Stop();
  if (lost_) {
    co_return base::Error{.code = base::Code::kAborted,
                          .message = "another controller took over",
                          .reason = base::Reason::kLeaseLost};
  }
  co_return world_.store->DropLease(lease_);
}

bool Controller::Impl::AllQuiet() const {
  return !book_.Busy() && watch_.Quiet() && effects_.Quiet(world_.clock->Now()) &&
         courier_.Quiet(world_.clock->Now());
}

base::Task<base::Status> Controller::Impl::Tick(base::Duration bound) {
  holder_ = LeaseHolder(/*passing=*/true);
  const auto begun = Begin();
  if (!begun.ok() && begun.error().code == base::Code::kAborted) co_return base::Ok();
  if (!begun.ok()) co_return begun.error();
  base::Spawn(loop_.get_executor(), scope_, MakeRoomWhenNudged(this));
  const core::TimePoint end = world_.clock->Now() + bound;
  while (!stopped_ && world_.clock->Now() < end) {
    co_await base::Sleep(std::chrono::milliseconds{50});
    if (world_.clock->Now() - looked_at_store_ >= kLookAtStore) LookAtStore();
    book_.WakeDue(world_.clock->Now());
    RenewLease();
    if (AllQuiet()) break;
  }
  scope_.Cancel();
  courier_.Stop();
  if (lost_) co_return base::Ok();  // another one does the work
  co_return world_.store->DropLease(lease_);
}

Controller::Controller(asio::io_context& loop, World world, Options options)
    : impl_(std::make_shared<Impl>(loop, std::move(world), std::move(options))) {}
Controller::~Controller() = default;
base::Task<base::Status> Controller::Run() {
  return impl_->Run();
}
base::Task<base::Status> Controller::Tick(base::Duration bound) {
  return impl_->Tick(bound);
}
void Controller::Stop() {
  impl_->Stop();
}

}  // namespace jobman::controller
