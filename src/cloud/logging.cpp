#include <map>
#include <string>
#include <vector>

#include "jobman/base/log.hpp"
#include "jobman/cloud/decorators.hpp"
#include "jobman/ports/slice_api_decorator.hpp"

namespace jobman::cloud {
namespace {

using base::Task;
using ports::CallInfo;

using base::LogLevel;

std::string Shown(const core::OperationSeen& operation) {
  const std::string state = operation.done ? ", done" : ", not done";
  return operation.name + (operation.error ? ", " + operation.error->ToString() : state);
}
std::string Shown(const core::NodeSeen& node) {
  return node.raw_state;
}
std::string Shown(const core::QueuedSeen& queued) {
  return queued.raw_state;
}
template <class T>
std::string Shown(const std::vector<T>& items) {
  return std::to_string(items.size()) + " found";
}

std::string Shown(const std::map<int, std::string>& names) {
  return std::to_string(names.size()) + " found";
}

class LoggingSliceApi final : public ports::SliceApiDecorator<LoggingSliceApi> {
 public:
  using SliceApiDecorator::SliceApiDecorator;

  template <class T>
  Task<Result<T>> Around(CallInfo info, Send<T> send) {
    Result<T> answer = co_await send();
    // "Not found" is how a delete ends; no reason for a warning.
    const bool expected = answer || answer.error().code == base::Code::kNotFound;
    const LogLevel level = !expected         ? LogLevel::kWarn
                           : info.repeatable ? LogLevel::kDebug
                                             : LogLevel::kInfo;
    base::Log(level, "cloud", "{} {} -> {}", info.method, info.subject,
              answer ? Shown(*answer) : answer.error().ToString());
    co_return answer;
  }
};

}  // namespace

Inner MakeLoggingSliceApi(Inner inner) {
  return std::make_unique<LoggingSliceApi>(std::move(inner));
}

}  // namespace jobman::cloud
