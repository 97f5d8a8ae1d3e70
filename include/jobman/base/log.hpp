#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "jobman/base/files.hpp"

namespace jobman::base {

/// The program's own log, by topic ("http", "ssh", "store", "loop", ...). Never secrets.
enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError };

/// Sets the file (empty: stderr) and the lowest level of the log. Called once, by main; before
/// that, warnings go to stderr. `topics` ("http,ssh" or "all", JOBMAN_TRACE) log down to kTrace.
void StartLog(const Path& file, LogLevel level, std::string_view topics);
bool LogEnabled(LogLevel level, std::string_view topic);
/// Cleaned by CleanLine(): a message that quotes others is one line still, and controls nothing.
void LogLine(LogLevel level, std::string_view topic, std::string_view line);

template <class... Args>
void Log(LogLevel level, std::string_view topic, fmt::format_string<Args...> format,
         Args&&... args) {
  if (LogEnabled(level, topic))
    LogLine(level, topic, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace jobman::base
