#include "cli/interrupt.hpp"

#include <poll.h>

#include <csignal>
#include <ctime>

namespace jobman::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t interrupted_at = 0;  ///< seconds of the monotonic clock

/// Some senders signal twice at once (`timeout`: the process, then its group), which counts once. A
/// second signal after that ends the process.
extern "C" void OnInterrupt(int signal) {
  struct timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto second = static_cast<std::sig_atomic_t>(now.tv_sec);
  if (interrupted == 0) {
    interrupted_at = second;
    interrupted = 1;
  } else if (second - interrupted_at > 1) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

bool InstallHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = 0;  // no SA_RESTART: waits end at once
  ::sigaddset(&action.sa_mask, SIGINT);
  ::sigaddset(&action.sa_mask, SIGTERM);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    // An ignored signal stays ignored: whoever started this process wants it so (nohup, a shell's
    // background job).
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
  return true;
}

}  // namespace

void CatchInterrupts() {
  static const bool kCaught = InstallHandlers();
  static_cast<void>(kCaught);
}

bool ForgetInterrupt() {
  interrupted = 0;
  return InstallHandlers();
}

bool Interrupted() {
  return interrupted != 0;
}

bool PauseUnlessInterrupted(base::Duration duration) {
  CatchInterrupts();
  if (Interrupted()) return false;
  ::poll(nullptr, 0, static_cast<int>(duration.count()));
  return !Interrupted();
}

}  // namespace jobman::cli
