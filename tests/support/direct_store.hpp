#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/ports/stores.hpp"
#include "tests/support/run_now.hpp"

namespace jobman::test {

/// A store with synchronous calls, for tests outside of coroutines.
class DirectStore {
 public:
  explicit DirectStore(ports::Stores stores) : stores_(std::move(stores)) {}
  template <class Store>
  explicit DirectStore(std::unique_ptr<Store> store)
      : stores_(ports::StoresOf(std::shared_ptr<Store>(std::move(store)))) {}
  const ports::Stores& stores() const { return stores_; }

  base::Result<std::string> StoreId() const { return RunNow(stores_.jobs->StoreId()); }
  base::Result<core::JobId> Create(core::Job job, std::string source, core::TimePoint now) const {
    return RunNow(stores_.jobs->Create(std::move(job), std::move(source), now));
  }
  base::Status Import(ports::ImportedJob imported, core::TimePoint now) const {
    return RunNow(stores_.jobs->Import(std::move(imported), now));
  }
  base::Status ReserveIds(core::JobId last) const { return RunNow(stores_.jobs->ReserveIds(last)); }
  base::Result<core::Job> Get(core::JobId id) const { return RunNow(stores_.jobs->Get(id)); }
  base::Result<std::string> Source(core::JobId id) const {
    return RunNow(stores_.jobs->Source(id));
  }
  base::Result<std::vector<core::JobId>> FindByName(std::string name) const {
    return RunNow(stores_.jobs->FindByName(std::move(name)));
  }
  base::Result<std::vector<ports::JobSummary>> List(ports::JobFilter filter) const {
    return RunNow(stores_.jobs->List(std::move(filter)));
  }
  base::Result<std::vector<ports::JobVersion>> ActiveVersions() const {
    return RunNow(stores_.jobs->ActiveVersions());
  }
  base::Status SetWish(core::JobId id, core::Wish wish, core::SetupWish setup,
                       core::TimePoint now) const {
    return RunNow(stores_.jobs->SetWish(id, wish, setup, now));
  }
  base::Status Revise(ports::JobVersion job, ports::Revision revision,
                      std::optional<core::Wish> wish, core::TimePoint now) const {
    return RunNow(stores_.jobs->Revise(job, std::move(revision), wish, now));
  }
  base::Status Commit(ports::Turn turn, std::int64_t lease_token) const {
    return RunNow(stores_.jobs->Commit(std::move(turn), lease_token));
  }
  base::Result<std::optional<std::string>> WhySetAside(core::JobId id) const {
    return RunNow(stores_.jobs->WhySetAside(id));
  }
  base::Status SetAside(ports::JobVersion job, std::string why, std::int64_t lease_token) const {
    return RunNow(stores_.jobs->SetAside(job, std::move(why), lease_token));
  }
  base::Status Erase(ports::JobVersion job) const { return RunNow(stores_.jobs->Erase(job)); }
  base::Result<std::vector<ports::Event>> Events(core::JobId id, std::int64_t after_number) const {
    return RunNow(stores_.jobs->Events(id, after_number));
  }
  base::Result<std::vector<ports::ExitRecord>> Exits(core::JobId id) const {
    return RunNow(stores_.jobs->Exits(id));
  }
  base::Result<std::vector<ports::AttemptRecord>> Attempts(core::JobId id) const {
    return RunNow(stores_.jobs->Attempts(id));
  }
  base::Result<std::int64_t> ChangeCounter() const { return RunNow(stores_.jobs->ChangeCounter()); }
  base::Result<std::vector<ports::HookDelivery>> Waiting() const {
    return RunNow(stores_.outbox->Waiting());
  }
  base::Result<std::vector<ports::HookDelivery>> Deliveries(core::JobId id) const {
    return RunNow(stores_.outbox->Deliveries(id));
  }
  base::Status RecordTry(ports::HookDelivery delivery, ports::Event event,
                         std::int64_t lease_token) const {
    return RunNow(stores_.outbox->RecordTry(std::move(delivery), std::move(event), lease_token));
  }
  base::Result<std::optional<ports::Lease>> TakeLease(std::string holder, core::TimePoint now,
                                                      base::Duration time_to_live) const {
    return RunNow(stores_.leases->TakeLease(std::move(holder), now, time_to_live));
  }
  base::Status DropLease(ports::Lease lease) const {
    return RunNow(stores_.leases->DropLease(std::move(lease)));
  }
  base::Result<std::optional<ports::Lease>> CurrentLease() const {
    return RunNow(stores_.leases->CurrentLease());
  }
  base::Result<std::optional<std::string>> PinnedKey(std::string identity) const {
    return RunNow(stores_.host_keys->PinnedKey(std::move(identity)));
  }
  base::Result<std::map<std::string, std::string>> PinnedKeys(
      std::vector<std::string> identities) const {
    return RunNow(stores_.host_keys->PinnedKeys(std::move(identities)));
  }
  base::Status PinKey(std::string identity, std::string key) const {
    return RunNow(stores_.host_keys->PinKey(std::move(identity), std::move(key)));
  }
  base::Result<std::optional<ports::CachedFact>> Cached(std::string key) const {
    return RunNow(stores_.cache->Cached(std::move(key)));
  }
  base::Status PutInCache(std::string key, ports::CachedFact fact) const {
    return RunNow(stores_.cache->PutInCache(std::move(key), std::move(fact)));
  }
  base::Result<std::vector<core::Site>> Sites() const { return RunNow(stores_.sites->Sites()); }
  base::Status SetSites(std::vector<core::Site> sites) const {
    return RunNow(stores_.sites->SetSites(std::move(sites)));
  }
  base::Status BecomeAnother(std::string store_id, core::Site site,
                             std::vector<ports::Turn> turns) const {
    return RunNow(
        stores_.sites->BecomeAnother(std::move(store_id), std::move(site), std::move(turns)));
  }
  base::Result<std::vector<core::Guest>> Guests() const { return RunNow(stores_.guests->Guests()); }
  base::Result<std::vector<ports::UnreadGuest>> UnreadGuests() const {
    return RunNow(stores_.guests->UnreadGuests());
  }
  base::Status SetGuest(std::optional<core::Guest> was, std::optional<core::Guest> now) const {
    return RunNow(stores_.guests->SetGuest(std::move(was), std::move(now)));
  }
  base::Result<core::QueueId> OpenQueue(std::string file) const {
    return RunNow(stores_.queues->OpenQueue(std::move(file)));
  }
  base::Result<std::vector<ports::Queue>> Queues() const {
    return RunNow(stores_.queues->Queues());
  }
  base::Result<ports::TasksRead> Tasks(core::QueueId queue, std::int64_t after) const {
    return RunNow(stores_.queues->Tasks(queue, after));
  }
  base::Result<core::Task> GetTask(core::QueueId queue, std::string id) const {
    return RunNow(stores_.queues->GetTask(queue, std::move(id)));
  }
  base::Result<std::vector<core::TaskRun>> Runs(core::QueueId queue, std::string id) const {
    return RunNow(stores_.queues->Runs(queue, std::move(id)));
  }
  base::Status SyncQueue(core::QueueId queue, ports::QueueReading reading,
                         std::vector<core::Task> tasks, std::int64_t lease_token) const {
    return RunNow(
        stores_.queues->SyncQueue(queue, std::move(reading), std::move(tasks), lease_token));
  }
  base::Result<std::vector<std::string>> ChangeTasks(std::vector<core::Task> tasks) const {
    return RunNow(stores_.queues->ChangeTasks(std::move(tasks)));
  }
  base::Status ReleaseTasks(std::vector<core::TaskRelease> releases,
                            std::int64_t lease_token) const {
    return RunNow(stores_.queues->ReleaseTasks(std::move(releases), lease_token));
  }
  base::Status EraseTask(core::QueueId queue, std::string id, std::int64_t version) const {
    return RunNow(stores_.queues->EraseTask(queue, std::move(id), version));
  }

 private:
  ports::Stores stores_;
};

}  // namespace jobman::test
