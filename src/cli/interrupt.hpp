#pragma once

#include "jobman/base/time.hpp"

namespace jobman::cli {

/// From the first call on SIGINT and SIGTERM do not end the process but the waits: the command
/// gives up what it watches and ends by itself. A second signal ends the process as usual, unless
/// it comes with the first: `timeout` sends two at once.
void CatchInterrupts();
/// Whether a caught signal came.
bool Interrupted();
/// Makes as if no signal had come, and catches the next one again. Gives back true.
bool ForgetInterrupt();
/// Waits; false when a caught signal came, before or meanwhile. Calls CatchInterrupts().
bool PauseUnlessInterrupted(base::Duration duration);

}  // namespace jobman::cli
