#include "tests/property/unkind_store.hpp"

namespace jobman::test {
namespace {

using std::chrono::hours;

base::Error NoRoom() {
  return {.code = base::Code::kResourceExhausted,
          .message = "no room on the disk",
          .reason = base::Reason::kDiskFull};
}

base::Error OutOfReach() {
  return {.code = base::Code::kUnavailable, .message = "the store is out of reach"};
}

}  // namespace

UnkindStore::UnkindStore(Random& random, const Odds& odds, MemoryStore& store)
    : MemoryPorts(store), random_(random), odds_(odds), remote_(random.Percent(40)) {}

Task<void> UnkindStore::Travel() {
  if (!remote_) co_return;
  const bool slow = !kind_ && odds_.Strikes(random_, Risk::kStore, 3);
  base::Duration way{random_.Below(kind_ ? 20 : slow ? 8'000 : 100)};
  co_await base::Sleep(way);
}

/// The process ends here: nothing of it goes on.
Task<void> UnkindStore::MayBeKilled() {
  if (kind_ || !odds_.Strikes(random_, Risk::kCrash, 1, 200)) co_return;
  killed_ = true;
  co_await base::Sleep(hours{1'000'000});
}

Task<Status> UnkindStore::Commit(ports::Turn turn, std::int64_t lease_token) {
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

Task<Status> UnkindStore::RecordTry(ports::HookDelivery delivery, ports::Event event,
                                    std::int64_t lease_token) {
  if (full_) co_return NoRoom();
  co_return co_await MemoryPorts::RecordTry(delivery, event, lease_token);
}

Task<Result<std::optional<ports::Lease>>> UnkindStore::TakeLease(std::string holder, TimePoint now,
                                                                 base::Duration time_to_live) {
  if (full_) co_return NoRoom();
  if (IsLost()) co_return OutOfReach();
  co_return co_await MemoryPorts::TakeLease(holder, now, time_to_live);
}

void UnkindStore::BeKind() {
  kind_ = true;
  full_ = false;
}

}  // namespace jobman::test
