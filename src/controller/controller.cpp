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
#include "controller/lease_keeper.hpp"
#include "controller/queue_desk.hpp"
#include "controller/ssh_config_keeper.hpp"
#include "controller/zone_watch.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/nudge.hpp"
#include "jobman/controller/shell_server.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

/// A Run() or Tick() in progress. It is cancelled with the controller and with its caller. Waiters
/// keep only this object alive, nothing of the controller.
struct UnderWay {
  explicit UnderWay(asio::io_context& loop) : ended(loop, asio::steady_timer::time_point::max()) {}
  base::CancelScope scope = {};
  asio::steady_timer ended;
  bool over = false;
  std::optional<base::Status> status = {};  ///< nothing: it was cancelled
};

base::Task<Clouds::Opened> OpenFenced(base::Task<Clouds::Opened> open, LeaseGuard guard) {
  JM_CO_ASSIGN_OR_RETURN(auto cloud, co_await std::move(open));
  co_return FenceSlices(std::move(cloud), std::move(guard));
}

base::Task<void> Work(std::shared_ptr<UnderWay> under_way, base::Task<base::Status> work) {
  base::Status status = co_await std::move(work);
  under_way->status = std::move(status);
}

base::Task<base::Status> EndOf(std::shared_ptr<UnderWay> under_way) {
  struct CancelAtEnd {
    std::shared_ptr<UnderWay> under_way;
    ~CancelAtEnd() { under_way->scope.Cancel(); }
  };
  const CancelAtEnd cancel_at_end{under_way};
  std::error_code woken;
  if (!under_way->over) {
    co_await under_way->ended.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    co_await base::EndIfCancelled();
  }
  if (under_way->status) co_return *under_way->status;
  base::Error gone{.code = base::Code::kCancelled, .message = "the controller was destroyed"};
  co_return gone;
}

}  // namespace

class Controller::Impl {
 public:
  Impl(asio::io_context& loop, Ports ports, Options options)
      : loop_(loop),
        leases_(loop, *ports.stores.leases, *ports.clock, options.lease_time, [this] { Stop(); }),
        fenced_shell_(ports.shell, Guard()),
        shell_server_(loop.get_executor(), ports.shell, options.paths.ShellSocket()),
        ports_(Fenced(std::move(ports))),
        options_(std::move(options)),
        wake_(loop),
        clouds_(ports_),
        book_(loop, ports_, options_.policy, HooksOfBook()),
        watch_(loop, ports_, options_, clouds_, book_),
        effects_(loop, ports_, options_, clouds_, book_, watch_),
        desk_(loop, ports_, book_),
        courier_(loop, ports_, options_),
        ssh_config_(loop, ports_, options_, clouds_, [this] { return leases_.Holds(); }) {}
  ~Impl() {
    if (const auto under_way = under_way_.lock()) under_way->scope.Cancel();
  }

  /// Starts `work`, a call of this object, and returns a task that ends with it.
  base::Task<base::Status> Begin(base::Task<base::Status> work);
  base::Task<base::Status> Run();
  base::Task<base::Status> Tick(base::Duration bound);
  void Stop() {
    stopped_ = true;
    wake_.cancel();
  }

 private:
  JobBook::Hooks HooksOfBook();
  LeaseGuard Guard();
  Ports Fenced(Ports ports);
  base::Task<base::Status> TakeOver(std::string holder);
  base::Task<void> LookAtStore();
  base::Task<void> LookAtStoreWhenDue();
  bool IdleTooLong();
  base::Task<bool> MayEnd();
  bool AllQuiet() const;
  base::Task<void> Pause();
  void StartListening();
  static base::Task<void> Listen(Impl* self);
  static base::Task<void> ServeShell(Impl* self);
  static base::Task<void> MakeRoomWhenNudged(Impl* self);

  asio::io_context& loop_;
  LeaseKeeper leases_;
  FencedShell fenced_shell_;
  /// Not fenced: what other commands run on hosts is not the controller's doing.
  ShellServer shell_server_;
  Ports ports_;
  Options options_;
  asio::steady_timer wake_;
  Clouds clouds_;
  JobBook book_;
  ZoneWatch watch_;
  Effects effects_;
  QueueDesk desk_;
  Courier courier_;
  SshConfigKeeper ssh_config_;
  std::int64_t seen_changes_ = -1;
  core::TimePoint looked_at_store_ = {};
  core::TimePoint last_care_ = {};
  bool nudged_ = false;
  bool stopped_ = false;
  std::weak_ptr<UnderWay> under_way_ = {};
  base::CancelScope listening_ = {};
};

JobBook::Hooks Controller::Impl::HooksOfBook() {
  JobBook::Hooks hooks;
  hooks.decided = [this](const core::Job& job, const std::vector<core::Effect>& effects) {
    effects_.Do(job, effects);
    const bool tells = std::any_of(effects.begin(), effects.end(), [](const core::Effect& effect) {
      return std::holds_alternative<core::TellHooks>(effect);
    });
    if (tells) courier_.PollNow();
    watch_.Watch(job);
    ssh_config_.Take(job);
    if (job.spec.queue) desk_.Wake();
    const bool acquiring = std::holds_alternative<core::Provisioning>(job.state) && job.slice &&
                           !job.slice->hosts.empty();
    if (acquiring) watch_.PollNow(job.spec.cloud, job.slice->ref.place);
    wake_.cancel();
  };
  hooks.lease_lost = [this] { leases_.SetLost(); };
  hooks.dropped = [this](core::JobId id) {
    effects_.Forget(id);
    ssh_config_.Forget(id);
  };
  return hooks;
}

LeaseGuard Controller::Impl::Guard() {
  return {.may_act = [this] { return leases_.MayAct(); },
          .holds = [this] { return leases_.Holds(); }};
}

Ports Controller::Impl::Fenced(Ports ports) {
  ports.shell = &fenced_shell_;
  ports.open_cloud = [open = ports.open_cloud, guard = Guard()](core::CloudSpec spec) {
    return OpenFenced(open(std::move(spec)), guard);
  };
  return ports;
}

base::Task<base::Status> Controller::Impl::Begin(base::Task<base::Status> work) {
  const auto under_way = std::make_shared<UnderWay>(loop_);
  under_way_ = under_way;
  base::Spawn(loop_.get_executor(), under_way->scope, Work(under_way, std::move(work)),
              [under_way](bool /*cancelled*/) {
                under_way->over = true;
                under_way->ended.cancel();
              });
  return EndOf(under_way);
}

base::Task<base::Status> Controller::Impl::TakeOver(std::string holder) {
  JM_CO_ASSIGN_OR_RETURN(options_.policy.store_id, co_await ports_.stores.jobs->StoreId());
  JM_CO_TRY(co_await leases_.Take(std::move(holder)));
  book_.set_lease_token(leases_.token());
  last_care_ = ports_.clock->Now();
  co_await LookAtStore();
  courier_.Start(leases_.token());
  desk_.Start(leases_.token());
  ssh_config_.Start();
  co_return base::Ok();
}

/// Reads the store when it has changed. Our own commits count as changes too, which is cheap and
/// safe.
base::Task<void> Controller::Impl::LookAtStore() {
  nudged_ = false;
  looked_at_store_ = ports_.clock->Now();
  const auto changes = co_await ports_.stores.jobs->ChangeCounter();
  if (changes.ok() && *changes == seen_changes_) co_return;
  const auto loaded = co_await book_.Load();
  if (!loaded.ok()) {
    base::Log(base::LogLevel::kError, "store", "cannot read the jobs: {}",
              loaded.error().ToString());
    co_return;
  }
  if (changes.ok()) seen_changes_ = *changes;
  desk_.Wake();
}

base::Task<void> Controller::Impl::LookAtStoreWhenDue() {
  const bool due = nudged_ || ports_.clock->Now() - looked_at_store_ >= kLookAtStore;
  if (due) co_await LookAtStore();
}

bool Controller::Impl::IdleTooLong() {
  const core::TimePoint now = ports_.clock->Now();
  if (book_.AnyCare() || courier_.Busy() || shell_server_.Busy()) last_care_ = now;
  return options_.idle_exit && now - last_care_ > *options_.idle_exit;
}

/// After the idle time, looks at the store once more with the socket closed: a command that nudged
/// too late has already written to the store, and later commands find no controller.
base::Task<bool> Controller::Impl::MayEnd() {
  if (!IdleTooLong()) co_return false;
  listening_ = base::CancelScope{};
  co_await LookAtStore();
  if (!book_.AnyCare()) co_return true;
  StartListening();
  co_return false;
}

/// Until the next job is due, something is decided, or a nudge comes.
base::Task<void> Controller::Impl::Pause() {
  if (nudged_ || stopped_) co_return;  // while waiting for the store
  const core::TimePoint now = ports_.clock->Now();
  base::Duration pause = kLongestPause;
  if (const auto next = book_.WakeDue(now)) pause = std::min(pause, *next - now);
  wake_.expires_after(std::max(pause, base::Duration{1}));
  std::error_code woken;
  co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  co_await base::EndIfCancelled();
}

void Controller::Impl::StartListening() {
  base::Spawn(loop_.get_executor(), listening_, Listen(this));
  base::Spawn(loop_.get_executor(), listening_, ServeShell(this));
}

base::Task<void> Controller::Impl::ServeShell(Impl* self) {
  const auto ended = co_await self->shell_server_.Listen();
  if (!ended.ok()) {
    base::Log(base::LogLevel::kWarn, "loop", "commands cannot share the connections to hosts: {}",
              ended.error().ToString());
  }
}

base::Task<void> Controller::Impl::Listen(Impl* self) {
  auto on_nudge = [self](Nudge nudge) {
    self->effects_.Remember(nudge.secrets);
    self->nudged_ = true;
    self->wake_.cancel();
  };
  const auto ended = co_await ListenForNudges(self->options_.paths.ControllerSocket(), on_nudge);
  if (!ended.ok()) {
    base::Log(base::LogLevel::kWarn, "loop", "commands cannot wake the controller: {}",
              ended.error().ToString());
  }
}

/// A nudging command expects a controller that stays; it starts one once the lease is free.
base::Task<void> Controller::Impl::MakeRoomWhenNudged(Impl* self) {
  (void)co_await ListenForNudges(self->options_.paths.ControllerSocket(),
                                 [self](const Nudge&) { self->Stop(); });
}

base::Task<base::Status> Controller::Impl::Run() {
  JM_CO_TRY(co_await TakeOver(LeaseHolder()));
  StartListening();
  while (!stopped_) {
    const bool may_end = co_await MayEnd();
    if (may_end) break;
    co_await Pause();
    co_await LookAtStoreWhenDue();
  }
  listening_.Cancel();
  shell_server_.Close();
  co_await courier_.Stop();
  if (leases_.lost()) {
    co_return base::Error{.code = base::Code::kAborted,
                          .message = "another controller took over",
                          .reason = base::Reason::kLeaseLost};
  }
  co_return co_await leases_.GiveBack();
}

bool Controller::Impl::AllQuiet() const {
  return !book_.Busy() && desk_.Quiet() && watch_.Quiet() && effects_.Quiet(ports_.clock->Now()) &&
         courier_.Quiet(ports_.clock->Now()) && ssh_config_.Quiet();
}

base::Task<base::Status> Controller::Impl::Tick(base::Duration bound) {
  const auto begun = co_await TakeOver(LeaseHolder(/*passing=*/true));
  if (!begun.ok() && begun.error().code == base::Code::kAborted) co_return base::Ok();
  if (!begun.ok()) co_return begun.error();
  base::Spawn(loop_.get_executor(), listening_, MakeRoomWhenNudged(this));
  const core::TimePoint end = ports_.clock->Now() + bound;
  while (!stopped_ && ports_.clock->Now() < end) {
    co_await base::Sleep(kLookForQuiet);
    co_await LookAtStoreWhenDue();
    book_.WakeDue(ports_.clock->Now());
    if (AllQuiet()) break;
  }
  listening_.Cancel();
  co_await courier_.Stop();
  if (leases_.lost()) co_return base::Ok();  // the other controller does the work
  co_return co_await leases_.GiveBack();
}

Controller::Controller(asio::io_context& loop, Ports ports, Options options)
    : impl_(std::make_unique<Impl>(loop, std::move(ports), std::move(options))) {}
Controller::~Controller() = default;
base::Task<base::Status> Controller::Run() {
  return impl_->Begin(impl_->Run());
}
base::Task<base::Status> Controller::Tick(base::Duration bound) {
  return impl_->Begin(impl_->Tick(bound));
}
void Controller::Stop() {
  impl_->Stop();
}

}  // namespace jobman::controller
