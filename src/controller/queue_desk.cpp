#include "controller/queue_desk.hpp"

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "controller/task_orphans.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/time.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

std::string NameOf(const std::string& file) {
  return file == ports::kSubmittedQueue ? "submitted tasks" : "queue " + file;
}

}  // namespace

QueueDesk::QueueDesk(asio::io_context& loop, const Ports& ports, JobBook& book)
    : loop_(loop),
      ports_(ports),
      book_(book),
      timer_(loop),
      looks_(loop, ports.queue_files, *ports.clock, [this] { Wake(); }) {}

QueueDesk::~QueueDesk() = default;

void QueueDesk::Start(std::int64_t lease_token) {
  lease_token_ = lease_token;
  if (ports_.stores.queues != nullptr) base::Spawn(loop_.get_executor(), scope_, Loop(this));
}

void QueueDesk::Wake() {
  woken_ = true;
  timer_.cancel();
}

bool QueueDesk::Quiet() const {
  if (ports_.stores.queues == nullptr) return true;
  const bool offering = std::any_of(desks_.begin(), desks_.end(),
                                    [](const auto& desk) { return !desk.second->offers.empty(); });
  return !woken_ && !looking_ && !offering && !looks_.Busy();
}

base::Task<void> QueueDesk::Loop(QueueDesk* self) {
  while (true) {
    self->woken_ = false;
    self->looking_ = true;
    co_await self->LookAtAll();
    self->looking_ = false;
    if (self->woken_) continue;
    self->timer_.expires_after(kLookAtQueues);
    std::error_code woken;
    co_await self->timer_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    co_await base::EndIfCancelled();
  }
}

QueueDesk::Workers QueueDesk::FindWorkers() const {
  Workers workers;
  for (const core::Job* const job : book_.All()) {
    if (auto worker = core::WorkerOf(*job))
      workers[job->spec.queue->config].push_back(std::move(*worker));
  }
  return workers;
}

base::Task<void> QueueDesk::LookAtAll() {
  const Workers all = FindWorkers();
  std::erase_if(desks_, [&](const auto& desk) { return !all.contains(desk.first); });
  std::erase_if(told_, [&](const auto& told) { return !all.contains(told.first); });
  looks_.DropUnless([&](const std::string& file) { return all.contains(file); });
  for (const auto& [file, workers] : all) {
    const auto looked = co_await LookAt(file, workers);
    if (looked.ok() && !*looked) continue;  // nothing is known of its trouble yet
    std::string trouble = looked.ok() ? "" : looked.error().ToString();
    std::string& told = told_[file];
    if (!trouble.empty() && trouble != told) {
      base::Log(base::LogLevel::kError, "queue", "{}: {}", NameOf(file), trouble);
    }
    told = std::move(trouble);
  }
}

base::Task<base::Result<bool>> QueueDesk::LookAt(std::string file,
                                                 std::vector<core::TaskWorker> workers) {
  JM_CO_ASSIGN_OR_RETURN(const DeskPtr desk, co_await Open(std::move(file)));
  if (!MayGoOn(*desk)) co_return false;
  JM_CO_TRY(co_await ReadTasks(desk));
  JM_CO_TRY(co_await EndOrphans(desk));
  JM_CO_TRY(co_await TakeFile(desk));
  DropOffers(*desk);
  MakeOffers(*desk, workers);
  co_return true;
}

base::Task<base::Result<QueueDesk::DeskPtr>> QueueDesk::Open(std::string file) {
  const auto found = desks_.find(file);
  if (found != desks_.end()) co_return found->second;
  const auto desk = std::make_shared<Desk>();
  desk->file = file;
  JM_CO_ASSIGN_OR_RETURN(desk->id, co_await ports_.stores.queues->OpenQueue(file));
  JM_CO_ASSIGN_OR_RETURN(const auto queues, co_await ports_.stores.queues->Queues());
  for (const ports::Queue& queue : queues) {
    if (queue.id == desk->id) desk->reading = queue.reading;
  }
  desks_[file] = desk;
  co_return desk;
}

base::Task<base::Status> QueueDesk::ReadTasks(DeskPtr desk) {
  JM_CO_ASSIGN_OR_RETURN(auto read, co_await ports_.stores.queues->Tasks(desk->id, desk->change));
  if (read.complete) desk->board = core::TaskBoard{};
  for (core::Task& task : read.tasks) {
    // What was offered is recorded in another way now: the offer is answered, or of no use.
    std::erase_if(desk->offers, [&](const auto& offer) {
      return offer.second.task.definition.id == task.definition.id;
    });
    desk->board.Put(std::move(task));
  }
  desk->change = read.change;
  co_return base::Ok();
}

/// Runs that nobody will end: once a minute, as they come from a store that was restored.
base::Task<base::Status> QueueDesk::EndOrphans(DeskPtr desk) {
  const core::TimePoint now = ports_.clock->Now();
  if (desk->orphans_at && now - *desk->orphans_at < kEndOrphans) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(auto orphans, co_await FindOrphans(ports_, book_, desk->board, now));
  desk->orphans_at = now;
  if (orphans.empty()) co_return base::Ok();
  for (const core::TaskRelease& run : orphans) {
    base::Log(base::LogLevel::kWarn, "queue", "run {} of task {}: its worker, job {}, is gone",
              run.claim.run, run.task, core::FormatJobId(run.claim.job));
  }
  JM_CO_TRY(co_await ports_.stores.queues->ReleaseTasks(std::move(orphans), lease_token_));
  co_return co_await ReadTasks(desk);
}

bool QueueDesk::FileIsAsked(const Desk& desk) const {
  return ports_.queue_files != nullptr && desk.file != ports::kSubmittedQueue;
}

/// Tasks are offered as the file has them now, so the file is looked at first. While its disk does
/// not answer, the other queues go on; this one does after a while.
bool QueueDesk::MayGoOn(const Desk& desk) {
  if (!FileIsAsked(desk)) return true;
  QueueFileLook& look = looks_.At(desk.file, desk.seen);
  look.awaited = true;
  return look.ended || looks_.IsLate(look);
}

base::Task<base::Status> QueueDesk::TakeFile(DeskPtr desk) {
  if (!FileIsAsked(*desk)) co_return base::Ok();
  const std::shared_ptr<QueueFileLook> look = looks_.Take(desk->file);
  if (look == nullptr) {
    QueueFileLook* const late = looks_.Find(desk->file);
    if (late == nullptr) co_return base::Ok();
    co_return co_await TellThatFileIsLate(desk, late);
  }
  if (look->told) base::Log(base::LogLevel::kInfo, "queue", "{} can be read again", desk->file);
  if (!look->content) co_return base::Ok();
  co_return co_await Sync(desk, look);
}

/// Once. The error goes when the file is read: so it is read even if it has not changed.
base::Task<base::Status> QueueDesk::TellThatFileIsLate(DeskPtr desk, QueueFileLook* look) {
  if (look->told) co_return base::Ok();
  look->told = true;
  ports::QueueReading reading = desk->reading;
  reading.error = desk->file + ": its disk has not answered for " +
                  base::FormatDuration(kQueueFileLate) + " (look at the mount)";
  base::Log(base::LogLevel::kWarn, "queue", "the last good list goes on: {}", reading.error);
  desk->seen.reset();
  std::vector<core::Task> none;
  JM_CO_TRY(co_await ports_.stores.queues->SyncQueue(desk->id, reading, none, lease_token_));
  desk->reading = std::move(reading);
  co_return base::Ok();
}

/// A file that cannot be used changes no task: the last good one goes on. Its error is recorded
/// once.
base::Task<base::Status> QueueDesk::Sync(DeskPtr desk, std::shared_ptr<QueueFileLook> look) {
  ports::QueueFileContent content = std::move(*look->content);
  ports::QueueReading reading = desk->reading;
  reading.at = look->begun_at;
  reading.error = content.error;
  reading.warnings = std::move(content.warnings);
  // The file is compared with what is recorded, not with what is offered.
  for (const auto& [job, offer] : desk->offers) desk->board.Put(offer.task);
  desk->offers.clear();
  std::vector<core::Task> changed;
  if (content.list) {
    reading.fingerprint = content.fingerprint;
    reading.refused = content.list->refused;
    changed = core::SyncTasks(*content.list, desk->board, desk->id, ports_.clock->Now());
  } else {
    base::Log(base::LogLevel::kWarn, "queue", "the last good list of {} goes on: {}", desk->file,
              reading.error);
  }
  const auto synced =
      co_await ports_.stores.queues->SyncQueue(desk->id, reading, std::move(changed), lease_token_);
  if (!synced.ok() && synced.error().reason == base::Reason::kStale) {
    co_return base::Ok();  // at the next look, the tasks are read first
  }
  JM_CO_TRY(synced);
  desk->reading = std::move(reading);
  desk->seen = look->stamp;
  co_return co_await ReadTasks(desk);
}

/// A worker that is busy has answered; one that has not for a while is asked again.
void QueueDesk::DropOffers(Desk& desk) {
  const core::TimePoint now = ports_.clock->Now();
  for (auto offer = desk.offers.begin(); offer != desk.offers.end();) {
    const core::Job* const job = book_.Find(offer->first);
    const auto worker = job == nullptr ? std::nullopt : core::WorkerOf(*job);
    const bool waits =
        worker && worker->phase == core::WorkerPhase::kIdle && now - offer->second.at < kOfferAgain;
    if (waits) {
      ++offer;
      continue;
    }
    desk.board.Put(offer->second.task);
    offer = desk.offers.erase(offer);
  }
}

void QueueDesk::MakeOffers(Desk& desk, const std::vector<core::TaskWorker>& workers) {
  const core::TimePoint now = ports_.clock->Now();
  for (const core::TaskWorker& worker : workers) {
    if (worker.phase != core::WorkerPhase::kIdle || desk.offers.contains(worker.job)) continue;
    const core::Task* const next = desk.board.Next(worker, now);
    if (next == nullptr) continue;
    const core::Task task = *next;
    const auto taken = core::ClaimTask(task, worker, now);
    if (!taken) continue;
    desk.offers[worker.job] = Offer{.task = task, .at = now};
    desk.board.Put(taken->task);
    book_.Post(worker.job, core::TaskOffered{.task = task});
  }
}

}  // namespace jobman::controller
