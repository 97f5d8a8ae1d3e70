#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/ports/store.hpp"

namespace jobman::store {

/// The store in the memory of one process: for tests and dry runs. Keeps the same contract as
/// SqliteStore, checked by the same tests.
class MemoryStore : public ports::Store {
 public:
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
  struct Record {
    core::Job job = {};
    std::string source = {};
    std::vector<ports::Event> events = {};
    std::vector<ports::ExitRecord> exits = {};
    std::map<int, ports::AttemptRecord> attempts = {};
    std::vector<ports::Notice> notices = {};
  };

  /// The job's record, or kNotFound.
  ports::Result<Record*> Find(core::JobId id);
  void Append(Record& record, ports::Event event);

  std::map<core::JobId, Record> jobs_;
  std::map<std::string, std::string> host_keys_;
  std::map<std::string, std::pair<std::string, core::TimePoint>> cache_;
  ports::Lease lease_;
  std::int64_t last_job_ = 0;
  std::int64_t last_event_ = 0;
  std::int64_t last_notice_ = 0;
  std::int64_t writes_ = 0;
};

}  // namespace jobman::store
