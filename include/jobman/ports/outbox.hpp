#pragma once

#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;

/// Deliveries to hooks. JobStore::Commit() adds them together with the decision they are about. The
/// object must outlive its coroutines.
class Outbox {
 public:
  virtual ~Outbox() = default;

  /// What is still to be delivered, of all jobs, in the order of numbers.
  virtual Task<Result<std::vector<HookDelivery>>> Waiting() = 0;
  /// All deliveries of one job, also delivered and abandoned ones.
  virtual Task<Result<std::vector<HookDelivery>>> Deliveries(JobId id) = 0;
  /// After a try: `tries`, `next_try` and `error` of the delivery, and a line of the journal. Does
  /// not change the job's version. kNotFound when the job was erased, kLeaseLost when `lease_token`
  /// is not the current one.
  virtual Task<Status> RecordTry(HookDelivery delivery, Event event, std::int64_t lease_token) = 0;
};

}  // namespace jobman::ports
