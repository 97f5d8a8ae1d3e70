#pragma once

#include <functional>

#include "tests/property/odds.hpp"
#include "tests/support/memory_store.hpp"

namespace jobman::test {

/// The way to a store, which may be behind a network: calls take their time then, and some do not
/// reach it. There is no room on its disk at times, and in Commit() the controller is killed,
/// before or after the transaction, until it is told to be kind.
class UnkindStore final : public MemoryPorts {
 public:
  UnkindStore(Random& random, const Odds& odds, MemoryStore& store);

  Task<Status> Commit(ports::Turn turn, std::int64_t lease_token) override;
  Task<Status> RecordTry(ports::HookDelivery delivery, ports::Event event,
                         std::int64_t lease_token) override;
  Task<Result<std::optional<ports::Lease>>> TakeLease(std::string holder, TimePoint now,
                                                      base::Duration time_to_live) override;

  void BeKind();
  void SetFull(bool full) { full_ = full; }
  bool full() const { return full_; }
  /// Whether the controller whose handler ran last was killed in it.
  bool TakeKilled() { return std::exchange(killed_, false); }
  /// Called when a turn was recorded.
  void OnCommit(std::function<void(const core::Job& before, const ports::Turn& turn)> hook) {
    on_commit_ = std::move(hook);
  }

 private:
  Task<void> Travel() override;
  Task<void> MayBeKilled();
  /// Whether a call does not reach it.
  bool IsLost() { return remote_ && !kind_ && odds_.Strikes(random_, Risk::kStore, 2); }

  Random& random_;
  const Odds& odds_;
  const bool remote_;
  bool kind_ = false;
  bool full_ = false;
  bool killed_ = false;
  std::function<void(const core::Job&, const ports::Turn&)> on_commit_ = {};
};

}  // namespace jobman::test
