#include "controller/queue_file_watch.hpp"

#include <utility>

#include "jobman/base/log.hpp"

namespace jobman::controller {

base::Task<base::Result<bool>> QueueFileWatch::Look() {
  const auto stamp = ports_.queue_files->Look(records_.file());
  Seen now;
  if (stamp.ok()) {
    now.stamp = *stamp;
  } else {
    now.error = stamp.error().message;
  }
  if (seen_ == now) co_return false;
  ports::QueueReading reading{.at = ports_.clock->Now(), .error = now.error};
  std::optional<core::TaskList> list;
  if (stamp.ok()) {
    JM_CO_ASSIGN_OR_RETURN(auto content, co_await ports_.queue_files->Read(records_.file()));
    reading.error = std::move(content.error);
    reading.warnings = std::move(content.warnings);
    reading.fingerprint = std::move(content.fingerprint);
    list = std::move(content.list);
    if (list) reading.refused = list->refused;
  }
  JM_CO_ASSIGN_OR_RETURN(const std::size_t written,
                         co_await records_.Sync(reading, std::move(list)));
  seen_ = now;
  Tell(reading, written);
  co_return true;
}

void QueueFileWatch::Tell(const ports::QueueReading& reading, std::size_t written) const {
  if (!reading.error.empty()) {
    base::Log(base::LogLevel::kWarn, "queue", "{} is not used, its last good content goes on: {}",
              records_.file(), reading.error);
    return;
  }
  base::Log(base::LogLevel::kInfo, "queue", "{} was read: {} tasks changed", records_.file(),
            written);
  if (reading.refused.empty()) return;
  base::Log(base::LogLevel::kWarn, "queue", "{}: {} tasks are not used; the first: {}",
            records_.file(), reading.refused.size(), reading.refused.front().why);
}

}  // namespace jobman::controller
