#include "jobman/base/off_loop.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "jobman/base/check.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/readiness.hpp"

namespace jobman::base {
namespace {

/// A thread inherits the signals that are blocked where it is started.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_ = {};
};

/// The thread. Its destructor interrupts the work, if it has not ended, and waits for its end.
class Worker {
 public:
  explicit Worker(std::function<void()> interrupt)
      : interrupt_(std::move(interrupt)), ended_(::eventfd(0, EFD_CLOEXEC)) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (!thread_.joinable()) return;
    if (!over_) interrupt_();
    thread_.join();
  }

  Status Start(std::function<void()> work) {
    if (!ended_) return FromErrno(errno, "making an event");
    const AllSignalsBlocked blocked;
    try {
      thread_ = std::thread([this, work = std::move(work)] {
        work();
        over_ = true;
        ::eventfd_write(ended_.get(), 1);
      });
    } catch (const std::system_error& error) {
      return FromErrno(error.code().value(), "starting a thread");
    }
    return Ok();
  }
  /// Readable once the work has ended.
  int ended() const { return ended_.get(); }

 private:
  std::function<void()> interrupt_;
  UniqueFd ended_;
  std::atomic<bool> over_ = false;
  std::thread thread_ = {};
};

constexpr auto kReadable = asio::posix::stream_descriptor::wait_read;

/// Of the thread and the task that waits for it: either may end first.
struct Alone {
  UniqueFd ended{::eventfd(0, EFD_CLOEXEC)};
  std::atomic<bool> over = false;
};

Status StartAlone(std::function<void()> work) {
  const AllSignalsBlocked blocked;
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error& error) {
    return FromErrno(error.code().value(), "starting a thread");
  }
  return Ok();
}

}  // namespace

Task<Status> RunAndLeave(std::function<void()> work) {
  const auto executor = co_await asio::this_coro::executor;
  const auto alone = std::make_shared<Alone>();
  UniqueFd watched(alone->ended ? ::fcntl(alone->ended.get(), F_DUPFD_CLOEXEC, 3) : -1);
  if (!watched) co_return FromErrno(errno, "watching a thread");
  std::function<void()> body = [alone, work = std::move(work)] {
    work();
    alone->over = true;
    ::eventfd_write(alone->ended.get(), 1);
  };
  JM_CO_TRY(StartAlone(std::move(body)));
  asio::posix::stream_descriptor descriptor(executor, watched.Release());
  co_await AwaitReady(&descriptor, kReadable);
  JM_CHECK(alone->over, "the work has ended");  // reading it makes what the work wrote visible
  co_return Ok();
}

Task<Result<bool>> RunOffLoop(std::function<void()> work, std::function<void()> interrupt,
                              Duration limit) {
  using namespace asio::experimental::awaitable_operators;
  const auto executor = co_await asio::this_coro::executor;
  Worker worker(std::move(interrupt));
  JM_CO_TRY(worker.Start(std::move(work)));
  UniqueFd watched(::fcntl(worker.ended(), F_DUPFD_CLOEXEC, 3));
  if (!watched) co_return FromErrno(errno, "watching a thread");
  asio::posix::stream_descriptor ended(executor, watched.Release());
  const auto first = co_await (AwaitReady(&ended, kReadable) || Sleep(limit));
  co_await EndIfCancelled();
  co_return first.index() == 0;
}

}  // namespace jobman::base
