#include "tests/property/unkind_store.hpp"

namespace jobman::test {
namespace {

base::Error NoRoom() {
  return {.code = base::Code::kResourceExhausted,
          .message = "no room on the disk",
          .reason = base::Reason::kDiskFull};
}

}  // namespace

ports::Status UnkindStore::Commit(const ports::Turn& turn, std::int64_t lease_token) {
  const auto die = [&] {
    if (!kind_ && random_.Below(200) == 0) throw Killed{};
  };
  die();
  if (full_) return NoRoom();
  const auto before = Get(turn.job.id);
  JM_TRY(MemoryStore::Commit(turn, lease_token));
  on_commit_(*before, turn);
  die();
  return base::Ok();
}

ports::Status UnkindStore::RecordTry(const ports::Notice& notice, const ports::Event& event,
                                     std::int64_t lease_token) {
  if (full_) return NoRoom();
  return MemoryStore::RecordTry(notice, event, lease_token);
}

ports::Result<std::optional<ports::Lease>> UnkindStore::TakeLease(const std::string& holder,
                                                                  core::TimePoint now,
                                                                  core::Duration time_to_live) {
  if (full_) return NoRoom();
  return MemoryStore::TakeLease(holder, now, time_to_live);
}

void UnkindStore::BeKind() {
  kind_ = true;
  full_ = false;
}

}  // namespace jobman::test
