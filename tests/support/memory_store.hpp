#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/ports/stores.hpp"
#include "tests/support/memory_queues.hpp"

namespace jobman::test {

using base::Result;
using base::Status;
using base::Task;
using core::JobId;
using core::TimePoint;

/// A store in memory. Tests call it directly, the code under test through MemoryPorts. The contract
/// tests of SqliteStore run on it too.
class MemoryStore {
 public:
  Result<std::string> StoreId() const { return store_id_; }
  Result<JobId> Create(core::Job job, std::string source, TimePoint now);
  Status Import(const ports::ImportedJob& imported, TimePoint now);
  Status ReserveIds(JobId last);
  Result<core::Job> Get(JobId id);
  Result<std::string> Source(JobId id);
  Result<std::vector<JobId>> FindByName(const std::string& name) const;
  Result<std::vector<ports::JobSummary>> List(const ports::JobFilter& filter) const;
  Result<std::vector<ports::JobVersion>> ActiveVersions() const;
  Status SetWish(JobId id, core::Wish wish, core::SetupWish setup, TimePoint now);
  Status Revise(ports::JobVersion job, const ports::Revision& revision,
                std::optional<core::Wish> wish, TimePoint now);
  Status Commit(const ports::Turn& turn, std::int64_t lease_token);
  Status SetAside(ports::JobVersion job, const std::string& why, std::int64_t lease_token);
  Result<std::optional<std::string>> WhySetAside(JobId id) const;
  Status Erase(ports::JobVersion job);
  Result<std::vector<ports::Event>> Events(JobId id, std::int64_t after_number) const;
  Result<std::vector<ports::ExitRecord>> Exits(JobId id) const;
  Result<std::vector<ports::AttemptRecord>> Attempts(JobId id) const;
  Result<std::int64_t> ChangeCounter() const { return writes_; }

  Result<std::vector<ports::HookDelivery>> Waiting() const;
  Result<std::vector<ports::HookDelivery>> Deliveries(JobId id) const;
  Status RecordTry(const ports::HookDelivery& delivery, const ports::Event& event,
                   std::int64_t lease_token);

  Result<std::optional<ports::Lease>> TakeLease(const std::string& holder, TimePoint now,
                                                base::Duration time_to_live);
  Status DropLease(const ports::Lease& lease);
  Result<std::optional<ports::Lease>> CurrentLease() const;

  Result<std::optional<std::string>> PinnedKey(const std::string& identity) const;
  Result<std::map<std::string, std::string>> PinnedKeys(
      const std::vector<std::string>& identities) const;
  Status PinKey(const std::string& identity, const std::string& key);
  Result<std::optional<ports::CachedFact>> Cached(const std::string& key) const;
  Status PutInCache(const std::string& key, ports::CachedFact fact);

  Result<std::vector<core::Site>> Sites() const { return sites_; }
  Status SetSites(std::vector<core::Site> sites);
  Status BecomeAnother(std::string store_id, core::Site site,
                       const std::vector<ports::Turn>& turns);

  Result<std::vector<core::Guest>> Guests() const { return guests_; }
  /// Records that cannot be used.
  std::vector<ports::UnreadGuest> unread_guests = {};
  Status SetGuest(const std::optional<core::Guest>& was, const std::optional<core::Guest>& now);

  Result<core::QueueId> OpenQueue(const std::string& file);
  Result<std::vector<ports::Queue>> Queues() const { return queues_.All(); }
  Result<ports::TasksRead> Tasks(core::QueueId queue, std::int64_t after) const {
    return queues_.Tasks(queue, after);
  }
  Result<core::Task> GetTask(core::QueueId queue, const std::string& id) const {
    return queues_.Get(queue, id);
  }
  Result<std::vector<core::TaskRun>> Runs(core::QueueId queue, const std::string& id) const {
    return queues_.Runs(queue, id);
  }
  Status SyncQueue(core::QueueId queue, const ports::QueueReading& reading,
                   const std::vector<core::Task>& tasks, std::int64_t lease_token);
  Result<std::vector<std::string>> ChangeTasks(const std::vector<core::Task>& tasks);
  Status ReleaseTasks(const std::vector<core::TaskRelease>& releases, std::int64_t lease_token);
  Status EraseTask(core::QueueId queue, const std::string& id, std::int64_t version);

  /// As if another version of jobman had written the record: with unknown words, or readable again.
  void MakeUnreadable(JobId id);
  void MakeReadable(JobId id);
  /// As if the disk had damaged the record.
  void Damage(JobId id);
  void MakeTaskUnreadable(core::QueueId queue, const std::string& id);
  /// As if the record of an active job had been erased.
  void Lose(JobId id);

 private:
  struct Record {
    core::Job job = {};
    std::string source = {};
    std::vector<ports::Event> events = {};
    std::vector<ports::ExitRecord> exits = {};
    std::map<int, ports::AttemptRecord> attempts = {};
    std::vector<ports::HookDelivery> deliveries = {};
    std::optional<std::string> set_aside = {};
    std::optional<base::Error> unusable = {};
  };

  /// The job's record, or kNotFound.
  Result<Record*> Find(JobId id);
  Status CheckLease(std::int64_t token) const;
  /// All, or nothing.
  Status WriteTasks(const std::vector<core::TaskWrite>& writes);
  void Append(Record& record, ports::Event event);

  std::string store_id_ = "memory";
  std::vector<core::Site> sites_ = {};
  std::vector<core::Guest> guests_ = {};
  std::map<JobId, Record> jobs_ = {};
  std::map<std::string, std::string> host_keys_ = {};
  std::map<std::string, ports::CachedFact> cache_ = {};
  MemoryQueues queues_ = {};
  ports::Lease lease_ = {};
  std::int64_t last_job_ = 0;
  std::int64_t last_event_ = 0;
  std::int64_t last_delivery_ = 0;
  std::int64_t writes_ = 0;
};

/// The ports of a MemoryStore, which must outlive them.
class MemoryPorts : public ports::JobStore,
                    public ports::Outbox,
                    public ports::LeaseStore,
                    public ports::HostKeyStore,
                    public ports::Cache,
                    public ports::SiteStore,
                    public ports::QueueStore,
                    public ports::GuestStore {
 public:
  explicit MemoryPorts(MemoryStore& store) : store_(store) {}

  Task<Result<std::string>> StoreId() override;
  Task<Result<JobId>> Create(core::Job job, std::string source, TimePoint now) override;
  Task<Status> Import(ports::ImportedJob imported, TimePoint now) override;
  Task<Status> ReserveIds(JobId last) override;
  Task<Result<core::Job>> Get(JobId id) override;
  Task<Result<std::string>> Source(JobId id) override;
  Task<Result<std::vector<JobId>>> FindByName(std::string name) override;
  Task<Result<std::vector<ports::JobSummary>>> List(ports::JobFilter filter) override;
  Task<Result<std::vector<ports::JobVersion>>> ActiveVersions() override;
  Task<Status> SetWish(JobId id, core::Wish wish, core::SetupWish setup, TimePoint now) override;
  Task<Status> Revise(ports::JobVersion job, ports::Revision revision,
                      std::optional<core::Wish> wish, TimePoint now) override;
  Task<Status> Commit(ports::Turn turn, std::int64_t lease_token) override;
  Task<Status> SetAside(ports::JobVersion job, std::string why, std::int64_t lease_token) override;
  Task<Result<std::optional<std::string>>> WhySetAside(JobId id) override;
  Task<Status> Erase(ports::JobVersion job) override;
  Task<Result<std::vector<ports::Event>>> Events(JobId id, std::int64_t after_number) override;
  Task<Result<std::vector<ports::ExitRecord>>> Exits(JobId id) override;
  Task<Result<std::vector<ports::AttemptRecord>>> Attempts(JobId id) override;
  Task<Result<std::int64_t>> ChangeCounter() override;
  Task<Result<std::vector<ports::HookDelivery>>> Waiting() override;
  Task<Result<std::vector<ports::HookDelivery>>> Deliveries(JobId id) override;
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

 protected:
  /// Awaited before and after each call: the latency of a remote store.
  virtual Task<void> Travel() { co_return; }
  /// Makes the call, with Travel() before and after.
  template <class Call>
  Task<std::invoke_result_t<Call, MemoryStore&>> Ask(Call call) {
    co_await Travel();
    auto answer = call(store_);
    co_await Travel();
    co_return answer;
  }

  MemoryStore& store_;
};

/// A store in memory with its ports, for most tests.
class StoreInMemory : public MemoryStore {
 public:
  ports::Stores stores() { return ports::StoresOf(ports_); }

 private:
  MemoryPorts ports_{*this};
};

}  // namespace jobman::test
