#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "jobman/base/log.hpp"
#include "jobman/http/transport.hpp"

namespace jobman::http {

/// Where log lines go. `enabled` is asked first, to avoid formatting bodies for nothing.
struct LogSink {
  std::function<bool(base::LogLevel)> enabled = {};
  std::function<void(base::LogLevel, std::string_view)> line = {};
};
/// The program's log, under a topic.
LogSink TopicLog(std::string topic);

/// Writes one line for each exchange at debug level: method, URL, status or error, milliseconds,
/// sizes; headers and bodies at trace level. Secrets are redacted first.
std::unique_ptr<Transport> MakeLoggingTransport(std::unique_ptr<Transport> inner,
                                                LogSink sink = TopicLog("http"));

}  // namespace jobman::http
