#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/ports/stores.hpp"

namespace jobman::store {

using base::Result;
using base::Status;
using base::Task;
using base::TimePoint;

class Database;

enum class OpenMode {
  kReadWrite,  ///< creates the store if missing; an unwritable one is an error at once
  /// For commands that only read. Creates nothing: a missing store reads as empty. Works in a
  /// folder that is not writable.
  kReadOnly,
};

struct SqliteOptions {
  OpenMode mode = OpenMode::kReadWrite;
  /// Whether the folder is on a file system shared by several machines (NFS, Lustre, ...), where
  /// the write-ahead log is not safe. Nothing: ask the system.
  std::optional<bool> shared_file_system = {};
  /// Limit of the file size in pages of 4 KiB; 0: none. Lets tests fill the disk.
  std::int64_t max_pages = 0;
};

/// The store in one SQLite file, `jobman.db`. Several processes may use it at once; one object
/// belongs to one thread and must not be used after a fork. Its calls never suspend, but may block
/// for up to 5 s while others write.
///
/// What a call stored survives a crash of the process at any moment. After a power cut the last
/// calls may be missing, but none is half done. See docs/store.md.
class SqliteStore final : public ports::JobStore,
                          public ports::Outbox,
                          public ports::LeaseStore,
                          public ports::HostKeyStore,
                          public ports::Cache,
                          public ports::SiteStore,
                          public ports::QueueStore,
                          public ports::GuestStore {
 public:
  /// Opens the store in the folder `dir`, upgrading an older one. A newer one is refused as
  /// kNewerStore; a damaged one is kDataLoss and is never replaced.
  static Result<std::unique_ptr<SqliteStore>> Open(const base::Path& dir,
                                                   const SqliteOptions& options);
  static Result<std::unique_ptr<SqliteStore>> Open(const base::Path& dir, OpenMode mode);
  ~SqliteStore() override;

  Task<Result<std::string>> StoreId() override;
  Task<Result<core::JobId>> Create(core::Job job, std::string source, TimePoint now) override;
  Task<Status> Import(ports::ImportedJob imported, TimePoint now) override;
  Task<Status> ReserveIds(core::JobId last) override;
  Task<Result<core::Job>> Get(core::JobId id) override;
  Task<Result<std::string>> Source(core::JobId id) override;
  Task<Result<std::vector<core::JobId>>> FindByName(std::string name) override;
  Task<Result<std::vector<ports::JobSummary>>> List(ports::JobFilter filter) override;
  Task<Result<std::vector<ports::JobVersion>>> ActiveVersions() override;
  Task<Status> SetWish(core::JobId id, core::Wish wish, core::SetupWish setup,
                       TimePoint now) override;
  Task<Status> Revise(ports::JobVersion job, ports::Revision revision,
                      std::optional<core::Wish> wish, TimePoint now) override;
  Task<Status> Commit(ports::Turn turn, std::int64_t lease_token) override;
  Task<Status> SetAside(ports::JobVersion job, std::string why, std::int64_t lease_token) override;
  Task<Result<std::optional<std::string>>> WhySetAside(core::JobId id) override;
  Task<Status> Erase(ports::JobVersion job) override;
  Task<Result<std::vector<ports::Event>>> Events(core::JobId id,
                                                 std::int64_t after_number) override;
  Task<Result<std::vector<ports::ExitRecord>>> Exits(core::JobId id) override;
  Task<Result<std::vector<ports::AttemptRecord>>> Attempts(core::JobId id) override;
  Task<Result<std::int64_t>> ChangeCounter() override;

  Task<Result<std::vector<ports::HookDelivery>>> Waiting() override;
  Task<Result<std::vector<ports::HookDelivery>>> Deliveries(core::JobId id) override;
  Task<Status> RecordTry(ports::HookDelivery delivery, ports::Event event,
                         std::int64_t lease_token) override;

  Task<Result<std::optional<ports::Lease>>> TakeLease(std::string holder, TimePoint now,
                                                      base::Duration time_to_live) override;
  Task<Status> DropLease(ports::Lease lease) override;
  Task<Result<std::optional<ports::Lease>>> CurrentLease() override;

  Task<Result<std::optional<std::string>>> PinnedKey(std::string identity) override;
  Task<Result<std::map<std::string, std::string>>> PinnedKeys(
      std::vector<std::string> identities) override;
  Task<Status> PinKey(std::string identity, std::string key) override;

  Task<Result<std::optional<ports::CachedFact>>> Cached(std::string key) override;
  Task<Status> PutInCache(std::string key, ports::CachedFact fact) override;

  Task<Result<std::vector<core::Site>>> Sites() override;
  Task<Status> SetSites(std::vector<core::Site> sites) override;
  Task<Status> BecomeAnother(std::string store_id, core::Site site,
                             std::vector<ports::Turn> turns) override;

  Task<Result<std::vector<core::Guest>>> Guests() override;
  Task<Result<std::vector<ports::UnreadGuest>>> UnreadGuests() override;
  Task<Status> SetGuest(std::optional<core::Guest> was, std::optional<core::Guest> now) override;

  Task<Result<core::QueueId>> OpenQueue(std::string file) override;
  Task<Result<std::vector<ports::Queue>>> Queues() override;
  Task<Result<ports::TasksRead>> Tasks(core::QueueId queue, std::int64_t after) override;
  Task<Result<core::Task>> GetTask(core::QueueId queue, std::string id) override;
  Task<Result<std::vector<core::TaskRun>>> Runs(core::QueueId queue, std::string id) override;
  Task<Status> SyncQueue(core::QueueId queue, ports::QueueReading reading,
                         std::vector<core::Task> tasks, std::int64_t lease_token) override;
  Task<Result<std::vector<std::string>>> ChangeTasks(std::vector<core::Task> tasks) override;
  Task<Status> ReleaseTasks(std::vector<core::TaskRelease> releases,
                            std::int64_t lease_token) override;
  Task<Status> EraseTask(core::QueueId queue, std::string id, std::int64_t version) override;

 private:
  explicit SqliteStore(std::unique_ptr<Database> db);

  std::unique_ptr<Database> db_;
};

}  // namespace jobman::store
