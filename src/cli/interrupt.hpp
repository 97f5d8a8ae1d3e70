#pragma once

#include "jobman/base/time.hpp"

namespace jobman::cli {

/// After the first call, SIGINT and SIGTERM end waits instead of the process: the command stops
/// waiting and ends by itself. A second signal ends the process as usual, unless it comes together
/// with the first: `timeout` sends two at once.
void CatchInterrupts();
/// Whether a signal was caught.
bool Interrupted();
/// Forgets a caught signal and catches the next one again. Returns true.
bool ForgetInterrupt();
/// Waits. False if a signal was caught, before or during the wait. Calls CatchInterrupts().
bool PauseUnlessInterrupted(base::Duration duration);

}  // namespace jobman::cli
