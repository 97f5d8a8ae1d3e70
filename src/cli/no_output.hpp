#pragma once

#include "cli/stored_logs.hpp"

namespace jobman::cli {

/// Says that nothing of the job has run yet, or that what runs has written nothing.
void SayNoLogsYet(App& app, const core::Job& job);
/// Says that these logs have no output, or none since the time that is asked for.
void SayNoOutput(App& app, const core::Job& job, const client::ChosenLogs& logs,
                 const LogsWanted& wanted);
/// Whether one of these logs has output.
bool HasOutput(const client::ChosenLogs& logs);

}  // namespace jobman::cli
