#pragma once

#include <asio/io_context.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue_file_watch.hpp"
#include "controller/task_offers.hpp"

namespace jobman::controller {

/// Serves one queue: keeps its board as the store has it, sees changes of its file, and offers
/// tasks to its idle workers.
class QueueService {
 public:
  QueueService(asio::io_context& loop, const Ports& ports, JobBook& book, std::string file,
               std::int64_t lease_token);

  TaskOffers& offers() { return offers_; }
  core::QueueId id() const { return records_.id(); }
  /// Makes offers soon; `changed`: after reading what was written of the tasks.
  void Wake(bool changed);
  /// Does what is due; returns when something is due next.
  std::optional<core::TimePoint> WakeDue(core::TimePoint now);
  bool Quiet() const;

 private:
  static base::Task<void> Work(QueueService* self);
  base::Task<base::Status> Serve();
  static base::Task<void> LookAtFile(QueueService* self);
  bool HasFile() const;
  bool MayHaveOrphans(core::TimePoint now) const;
  void Tell(const base::Status& status, std::string& told) const;

  asio::io_context& loop_;
  const Ports& ports_;
  JobBook& book_;
  QueueRecords records_;
  QueueFileWatch watch_;
  TaskOffers offers_;
  bool woken_ = false;
  bool working_ = false;
  bool outdated_ = true;  ///< the store may have newer records than the board
  bool looking_ = false;
  bool looked_ = false;                        ///< at the file, once
  std::optional<core::TimePoint> again_ = {};  ///< after an error of the store
  core::TimePoint looked_at_ = {};
  std::optional<core::TimePoint> healed_at_ = {};
  std::optional<core::TimePoint> wake_at_ = {};  ///< when a task that waits can be taken
  std::string told_of_store_ = {};
  std::string told_of_file_ = {};
  base::CancelScope scope_ = {};
};

/// The queues that workers of the book serve. On the thread of the loop.
class QueueDesk {
 public:
  QueueDesk(asio::io_context& loop, const Ports& ports, JobBook& book)
      : loop_(loop), ports_(ports), book_(book) {}

  void set_lease_token(std::int64_t token) { lease_token_ = token; }
  /// A decision of the job was recorded, or it was just loaded.
  void Decided(const core::Job& job);
  void OfferOver(core::JobId id, bool passed_over);
  void TasksWritten(const std::vector<core::TaskWrite>& writes);
  /// Somebody wrote to the store.
  void StoreChanged();
  /// Looks at the files that are due, and offers tasks whose time has come; returns when something
  /// is due next. Queues without workers are not served any more.
  std::optional<core::TimePoint> WakeDue(core::TimePoint now);
  /// Whether every file was looked at and no offer is open, for `tick`.
  bool Quiet() const;

 private:
  QueueService& ServiceOf(const std::string& config);

  asio::io_context& loop_;
  const Ports& ports_;
  JobBook& book_;
  std::int64_t lease_token_ = 0;
  std::map<std::string, std::string> files_ = {};  ///< real paths of job.queue.config
  std::map<std::string, std::unique_ptr<QueueService>> services_ = {};  ///< by file
};

}  // namespace jobman::controller
