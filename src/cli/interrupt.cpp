#include "cli/interrupt.hpp"

#include <poll.h>

#include <csignal>

namespace jobman::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void OnInterrupt(int /*signal*/) {
  interrupted = 1;
}

}  // namespace

namespace {

bool InstallHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // and no SA_RESTART: waits end at once
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    // Ignored means that whoever started us wants it so (nohup, a shell's background job).
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
