#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/job_book.hpp"
#include "jobman/core/task_board.hpp"

namespace jobman::controller {

/// Which task of a queue is offered to which of its workers. A worker has one offer at a time, and
/// a task is on offer to no more workers than may run it.
class TaskOffers {
 public:
  explicit TaskOffers(JobBook& book) : book_(book) {}

  /// The job serves the queue, with this `job.queue.config`.
  void Add(core::JobId worker, std::string config);
  /// Whether any worker is left; forgets those that are over, or serve another queue now.
  bool AnyWorker();
  /// Offers to each idle worker the next task of the board. When a task that none of them may take
  /// yet can be taken.
  std::optional<core::TimePoint> Make(const core::TaskBoard& board, core::TimePoint now);
  /// The offer to the worker is decided. One that was passed over is made again after a change of
  /// the job, or a while. Any other stays reserved until Forget(): the board may lack its claim.
  void SetOver(core::JobId worker, bool passed_over, core::TimePoint now);
  std::vector<core::JobId> Over() const;
  /// The board is as new as these decisions.
  void Forget(const std::vector<core::JobId>& over);
  bool empty() const { return offers_.empty(); }

 private:
  struct Offer {
    std::string task = {};
    std::int64_t version = 0;  ///< of the job that it was made to
    bool over = false;
  };
  struct PassedOver {
    std::int64_t version = 0;
    core::TimePoint again = {};
  };
  bool MayOffer(const core::Job& job, core::TimePoint now) const;

  JobBook& book_;
  std::map<core::JobId, std::string> workers_ = {};
  std::map<core::JobId, Offer> offers_ = {};
  std::map<core::JobId, PassedOver> passed_over_ = {};
};

}  // namespace jobman::controller
