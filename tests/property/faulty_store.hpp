#pragma once

#include <functional>

#include "tests/property/odds.hpp"
#include "tests/support/memory_store.hpp"

namespace jobman::test {

/// A connection to a store with random faults until EndFaults(). It may be remote: then calls take
/// time, and some are lost. Its disk may be full, and the controller may be killed in Commit(),
/// before or after the transaction.
class FaultyStore final : public MemoryPorts {
 public:
  FaultyStore(Random& random, const Odds& odds, MemoryStore& store);

  Task<Status> Commit(ports::Turn turn, std::int64_t lease_token) override;
  Task<Status> RecordTry(ports::HookDelivery delivery, ports::Event event,
                         std::int64_t lease_token) override;
  Task<Result<std::optional<ports::Lease>>> TakeLease(std::string holder, TimePoint now,
                                                      base::Duration time_to_live) override;
  Task<Status> SyncQueue(core::QueueId queue, ports::QueueReading reading,
                         std::vector<core::Task> tasks, std::int64_t lease_token) override;
  Task<Status> ReleaseTasks(std::vector<core::TaskRelease> releases,
                            std::int64_t lease_token) override;

  void EndFaults();
  void SetFull(bool full) { full_ = full; }
  bool full() const { return full_; }
  /// Whether the handler that ran last was killed.
  bool TakeKilled() { return std::exchange(killed_, false); }
  /// Called after a turn was recorded.
  void OnCommit(std::function<void(const core::Job& before, const ports::Turn& turn)> hook) {
    on_commit_ = std::move(hook);
  }

 private:
  Task<void> Travel() override;
  Task<void> MayBeKilled();
  /// Whether this call is lost.
  bool IsLost() { return remote_ && !faultless_ && odds_.Occurs(random_, Risk::kStore, 2); }

  Random& random_;
  const Odds& odds_;
  const bool remote_;
  bool faultless_ = false;
  bool full_ = false;
  bool killed_ = false;
  std::function<void(const core::Job&, const ports::Turn&)> on_commit_ = {};
};

}  // namespace jobman::test
