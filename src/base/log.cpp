#include "jobman/base/log.hpp"

// Its code is compiled in here. Its library would be one more to load at each start (ADR 33); the
// linker leaves out what nobody needs.
#undef SPDLOG_COMPILED_LIB
#undef SPDLOG_SHARED_LIB
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::base {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

std::shared_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink) {
  auto logger = std::make_shared<spdlog::logger>("jobman", std::move(sink));
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "%Y-%m-%dT%H:%M:%S.%eZ %L %P %v", spdlog::pattern_time_type::utc));
  return logger;
}

std::shared_ptr<spdlog::logger> StderrLogger() {
  return MakeLogger(std::make_shared<spdlog::sinks::stderr_sink_mt>());
}

struct LogState {
  std::shared_ptr<spdlog::logger> logger = StderrLogger();
  LogLevel level = LogLevel::kWarn;
  std::vector<std::string> topics = {};
};

LogState& State() {
  static LogState state;
  return state;
}

/// spdlog would leave the mode to the umask.
void MakePrivate(const spdlog::filename_t& /*name*/, std::FILE* file) {
  ::fchmod(::fileno(file), S_IRUSR | S_IWUSR);
}

/// A file of this size is renamed ("controller.1.log"), replacing the previous one.
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

spdlog::sink_ptr FileSink(const Path& file) {
  // Created here first, to find out whether it can be.
  if (auto created = AppendFile::Open(file); !created) return nullptr;
  try {
    spdlog::file_event_handlers handlers;
    handlers.after_open = MakePrivate;
    return std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), kMostBytes, 1,
                                                                  false, handlers);
  } catch (const spdlog::spdlog_ex&) {
    return nullptr;
  }
}

}  // namespace

void StartLog(const Path& file, LogLevel level, std::string_view topics) {
  LogState& state = State();
  state.level = level;
  state.topics.clear();
  for (const std::string& topic : Split(topics, ',')) {
    if (!Trim(topic).empty()) state.topics.emplace_back(Trim(topic));
  }
  spdlog::sink_ptr sink = file.empty() ? nullptr : FileSink(file);
  const bool fell_back = !file.empty() && sink == nullptr;
  state.logger = sink == nullptr ? StderrLogger() : MakeLogger(std::move(sink));
  if (fell_back) {
    Log(LogLevel::kWarn, "log", "cannot write {}: logging to stderr", file.string());
  }
}

bool LogEnabled(LogLevel level, std::string_view topic) {
  const LogState& state = State();
  if (level >= state.level) return true;
  return std::any_of(state.topics.begin(), state.topics.end(), [topic](const std::string& wanted) {
    return wanted == "all" || wanted == topic;
  });
}

void LogLine(LogLevel level, std::string_view topic, std::string_view line) {
  State().logger->log(ToSpdlog(level), "{}: {}", topic, CleanLine(line));
}

}  // namespace jobman::base
