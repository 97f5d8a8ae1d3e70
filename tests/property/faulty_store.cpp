#include "tests/property/faulty_store.hpp"

namespace jobman::test {
namespace {

using std::chrono::hours;

base::Error NoRoom() {
  return {.code = base::Code::kResourceExhausted,
          .message = "the disk is full",
          .reason = base::Reason::kDiskFull};
}

base::Error OutOfReach() {
  return {.code = base::Code::kUnavailable, .message = "the store cannot be reached"};
}

}  // namespace

FaultyStore::FaultyStore(Random& random, const Odds& odds, MemoryStore& store)
    : MemoryPorts(store), random_(random), odds_(odds), remote_(random.Percent(40)) {}

Task<void> FaultyStore::Travel() {
  if (!remote_) co_return;
  const bool slow = !faultless_ && odds_.Occurs(random_, Risk::kStore, 3);
  base::Duration way{random_.Below(faultless_ ? 20 : slow ? 8'000 : 100)};
  co_await base::Sleep(way);
}

/// A killed process never continues.
Task<void> FaultyStore::MayBeKilled() {
  if (faultless_ || !odds_.Occurs(random_, Risk::kCrash, 1, 200)) co_return;
  killed_ = true;
  co_await base::Sleep(hours{1'000'000});
}

Task<Status> FaultyStore::Commit(ports::Turn turn, std::int64_t lease_token) {
  co_await Travel();
  co_await MayBeKilled();
  if (full_) co_return NoRoom();
  if (IsLost()) co_return OutOfReach();
  const auto before = store_.Get(turn.job.id);
  JM_CO_TRY(store_.Commit(turn, lease_token));
  on_commit_(*before, turn);
  co_await MayBeKilled();
  co_await Travel();
  co_return base::Ok();
}

Task<Status> FaultyStore::RecordTry(ports::HookDelivery delivery, ports::Event event,
                                    std::int64_t lease_token) {
  if (full_) co_return NoRoom();
  co_return co_await MemoryPorts::RecordTry(delivery, event, lease_token);
}

Task<Result<std::optional<ports::Lease>>> FaultyStore::TakeLease(std::string holder, TimePoint now,
                                                                 base::Duration time_to_live) {
  if (full_) co_return NoRoom();
  if (IsLost()) co_return OutOfReach();
  co_return co_await MemoryPorts::TakeLease(holder, now, time_to_live);
}

Task<Status> FaultyStore::SyncQueue(core::QueueId queue, ports::QueueReading reading,
                                    std::vector<core::Task> tasks, std::int64_t lease_token) {
  co_await MayBeKilled();
  if (full_) co_return NoRoom();
  if (IsLost()) co_return OutOfReach();
  co_return co_await MemoryPorts::SyncQueue(queue, std::move(reading), std::move(tasks),
                                            lease_token);
}

Task<Status> FaultyStore::ReleaseTasks(std::vector<core::TaskRelease> releases,
                                       std::int64_t lease_token) {
  co_await MayBeKilled();
  if (full_) co_return NoRoom();
  if (IsLost()) co_return OutOfReach();
  co_return co_await MemoryPorts::ReleaseTasks(std::move(releases), lease_token);
}

void FaultyStore::EndFaults() {
  faultless_ = true;
  full_ = false;
}

}  // namespace jobman::test
