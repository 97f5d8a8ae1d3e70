#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/ports/store.hpp"

namespace jobman::store {

class Database;

enum class OpenMode {
  kReadWrite,  ///< creates the store when there is none; an unwritable one is an error at once
  /// For commands that only show something. Creates nothing: a store that does not exist reads as
  /// empty. Works in a folder that may not be written.
  kReadOnly,
};

struct SqliteOptions {
  OpenMode mode = OpenMode::kReadWrite;
  /// Whether the folder lies on a file system that several machines share (NFS, Lustre, ...), where
  /// the write-ahead log is not safe. Asked of the system when absent.
  std::optional<bool> shared_file_system = {};
  /// Upper bound of the file in pages of 4 KiB; 0: none. Lets tests fill the disk.
  std::int64_t max_pages = 0;
};

/// The store in one SQLite file, `jobman.db`. Several processes may use it at once; one object
/// belongs to one thread, and must not be carried over a fork. Waits up to 5 s for other writers.
///
/// What a call stored survives the end of the process at any moment. After a power cut the last
/// calls may be missing, but nothing is half there. See docs/store.md.
class SqliteStore final : public ports::Store {
 public:
  /// Opens the store in the folder `dir`, bringing an older one up to date. A newer one is
  /// refused as kNewerStore; a damaged one is kDataLoss and is never replaced.
  static ports::Result<std::unique_ptr<SqliteStore>> Open(const base::Path& dir,
                                                          const SqliteOptions& options);
  static ports::Result<std::unique_ptr<SqliteStore>> Open(const base::Path& dir, OpenMode mode);
  ~SqliteStore() override;

  /// A sentence for the user about where the store lies, for `doctor` and the controller's log;
  /// empty when there is nothing to say.
  const std::string& StorageNote() const { return note_; }

  ports::Result<std::string> StoreId() override;
  ports::Result<core::JobId> Create(core::Job job, std::string source,
                                    core::TimePoint now) override;
  ports::Result<core::Job> Get(core::JobId id) override;
  ports::Result<std::string> Source(core::JobId id) override;
  ports::Result<std::vector<core::JobId>> FindByName(const std::string& name) override;
  ports::Result<std::vector<ports::JobSummary>> List(const ports::JobFilter& filter) override;
  ports::Result<std::vector<core::Job>> Active() override;
  ports::Status SetWish(core::JobId id, core::Wish wish, bool redo_setup,
                        core::TimePoint now) override;
  ports::Status Commit(const ports::Turn& turn, std::int64_t lease_token) override;
  ports::Status Erase(core::JobId id) override;
  ports::Result<std::vector<ports::Event>> Events(core::JobId id,
                                                  std::int64_t after_number) override;
  ports::Result<std::vector<ports::ExitRecord>> Exits(core::JobId id) override;
  ports::Result<std::vector<ports::AttemptRecord>> Attempts(core::JobId id) override;
  ports::Result<std::vector<ports::Notice>> Outbox() override;
  ports::Result<std::vector<ports::Notice>> Notices(core::JobId id) override;
  ports::Status RecordTry(const ports::Notice& notice, const ports::Event& event,
                          std::int64_t lease_token) override;
  ports::Result<std::optional<std::string>> PinnedKey(const std::string& identity) override;
  ports::Status PinKey(const std::string& identity, const std::string& key) override;
  ports::Result<std::optional<std::pair<std::string, core::TimePoint>>> Cached(
      const std::string& key) override;
  ports::Status Cache(const std::string& key, const std::string& value,
                      core::TimePoint now) override;
  ports::Result<std::optional<ports::Lease>> TakeLease(const std::string& holder,
                                                       core::TimePoint now,
                                                       core::Duration time_to_live) override;
  ports::Status DropLease(const ports::Lease& lease) override;
  ports::Result<std::optional<ports::Lease>> CurrentLease() override;
  ports::Result<std::int64_t> ChangeCounter() override;

 private:
  SqliteStore(std::unique_ptr<Database> db, std::string note);

  std::unique_ptr<Database> db_;
  std::string note_;
};

}  // namespace jobman::store
