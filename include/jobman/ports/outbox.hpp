#pragma once

#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;

/// What hooks are to be told. JobStore::Commit() puts deliveries in, together with the decision
/// they tell of. The object must outlive its coroutines.
class Outbox {
 public:
  virtual ~Outbox() = default;

  /// What is still to be delivered, of all jobs, in the order of numbers.
  virtual Task<Result<std::vector<HookDelivery>>> Waiting() = 0;
  /// All of one job, also what was delivered and what was given up.
  virtual Task<Result<std::vector<HookDelivery>>> Deliveries(JobId id) = 0;
  /// After a try: `tries`, `next_try` and `error` of the delivery, and a line of the journal.
  /// Leaves the job's version as it is. kNotFound when the job was erased, kLeaseLost when
  /// `lease_token` is not the present one.
  virtual Task<Status> RecordTry(HookDelivery delivery, Event event, std::int64_t lease_token) = 0;
};

}  // namespace jobman::ports
