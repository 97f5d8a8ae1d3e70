#include "jobman/http/logging_transport.hpp"

#include <fmt/format.h>

#include <chrono>

#include "jobman/base/strings.hpp"
#include "jobman/http/redact.hpp"

namespace jobman::http {
namespace {

using base::LogLevel;
/// Of headers, and of a body: more would fill the log.
constexpr std::size_t kLongestShown = std::size_t{64} << 10U;
using SteadyTime = std::chrono::steady_clock::time_point;

std::string HeaderLines(const Headers& headers) {
  std::string out;
  for (const auto& [name, value] : RedactHeaders(headers)) out += name + ": " + value + "; ";
  return out;
}

class LoggingTransport final : public Transport {
 public:
  LoggingTransport(std::unique_ptr<Transport> inner, LogSink sink)
      : inner_(std::move(inner)), sink_(std::move(sink)) {}

  Task<Result<Response>> Send(Request request) override {
    const std::string call = request.method + " " + RedactUrl(request.url);
    const std::size_t sent = request.body.size();
    if (sink_.enabled(LogLevel::kTrace)) {
      Trace(call + " >", request.headers, request.body);
    }
    const SteadyTime start = std::chrono::steady_clock::now();
    Result<Response> answer = co_await inner_->Send(std::move(request));
    const auto took =
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
    if (sink_.enabled(LogLevel::kDebug)) {
      sink_.line(LogLevel::kDebug, Summary(call, sent, took, answer));
    }
    if (answer && sink_.enabled(LogLevel::kTrace)) {
      Trace(call + " <", answer->headers, answer->body);
    }
    co_return answer;
  }

 private:
  static std::string Summary(const std::string& call, std::size_t sent, Duration took,
                             const Result<Response>& answer) {
    if (answer) {
      return fmt::format("{} -> {} in {} ms, {} bytes out, {} bytes in", call, answer->status,
                         took.count(), sent, answer->body.size());
    }
    return fmt::format("{} -> {} in {} ms, {} bytes out", call,
                       RedactText(answer.error().ToString()), took.count(), sent);
  }

  void Trace(const std::string& what, const Headers& headers, const std::string& body) const {
    Line(what + " " + HeaderLines(headers));
    if (!body.empty()) Line(what + " " + RedactBody(body));
  }

  void Line(const std::string& text) const {
    sink_.line(LogLevel::kTrace, base::Shorten(text, kLongestShown));
  }

  std::unique_ptr<Transport> inner_;
  LogSink sink_;
};

}  // namespace

LogSink TopicLog(std::string topic) {
  return {
      .enabled = [topic](LogLevel level) { return base::LogEnabled(level, topic); },
      .line = [topic](LogLevel level, std::string_view line) { base::LogLine(level, topic, line); },
  };
}

std::unique_ptr<Transport> MakeLoggingTransport(std::unique_ptr<Transport> inner, LogSink sink) {
  return std::make_unique<LoggingTransport>(std::move(inner), std::move(sink));
}

}  // namespace jobman::http
