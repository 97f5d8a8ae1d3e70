#pragma once

#include <asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/job_book.hpp"
#include "controller/queue_file_looks.hpp"
#include "jobman/core/task_board.hpp"
#include "jobman/ports/queue_files.hpp"
#include "jobman/ports/queue_store.hpp"

namespace jobman::controller {

/// Hands the tasks of queues to the workers among the jobs of the book: takes changed queue files
/// into the store, keeps a board of the tasks that the store has, and offers each idle worker the
/// next one (core::TaskOffered). The workers' own decisions claim and release; the desk reads from
/// the store what they wrote. It asks no cloud and no host.
class QueueDesk {
 public:
  /// `files` may be nullptr: then queue files are not read.
  QueueDesk(asio::io_context& loop, const Ports& ports, JobBook& book);
  ~QueueDesk();

  /// From now on, looks at the queues now and then, and when woken.
  void Start(std::int64_t lease_token);
  /// A worker's record, a file or a task may have changed: look at once.
  void Wake();
  /// Whether the last look found nothing more to do, for `tick`.
  bool Quiet() const;

 private:
  /// An offer that its worker has not decided on. Meanwhile the board has the task as if it had
  /// been taken, so that no other worker is offered it.
  struct Offer {
    core::Task task = {};  ///< as it is recorded
    core::TimePoint at = {};
  };
  struct Desk {
    core::QueueId id = {};
    std::string file = {};
    ports::QueueReading reading = {};
    SeenFile seen = {};  ///< the file as it was last taken
    core::TaskBoard board = core::TaskBoard{};
    std::int64_t change = 0;
    std::map<core::JobId, Offer> offers = {};
    std::optional<core::TimePoint> orphans_at = {};  ///< when orphaned claims were last looked for
  };
  using DeskPtr = std::shared_ptr<Desk>;
  using Workers = std::map<std::string, std::vector<core::TaskWorker>>;  ///< by queue file

  static base::Task<void> Loop(QueueDesk* self);
  base::Task<void> LookAtAll();
  Workers FindWorkers() const;
  /// False: the queue waits for a look at its file, whose end wakes the desk.
  base::Task<base::Result<bool>> LookAt(std::string file, std::vector<core::TaskWorker> workers);
  base::Task<base::Result<DeskPtr>> Open(std::string file);
  bool FileIsAsked(const Desk& desk) const;
  bool MayGoOn(const Desk& desk);
  base::Task<base::Status> TakeFile(DeskPtr desk);
  base::Task<base::Status> Sync(DeskPtr desk, std::shared_ptr<QueueFileLook> look);
  base::Task<base::Status> TellThatFileIsLate(DeskPtr desk, QueueFileLook* look);
  base::Task<base::Status> ReadTasks(DeskPtr desk);
  base::Task<base::Status> EndOrphans(DeskPtr desk);
  void DropOffers(Desk& desk);
  void MakeOffers(Desk& desk, const std::vector<core::TaskWorker>& workers);

  asio::io_context& loop_;
  const Ports& ports_;
  JobBook& book_;
  asio::steady_timer timer_;
  QueueFileLooks looks_;
  std::int64_t lease_token_ = 0;
  std::map<std::string, DeskPtr> desks_ = {};
  std::map<std::string, std::string> told_ = {};  ///< the last trouble of each queue, as logged
  bool woken_ = true;
  bool looking_ = false;
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
