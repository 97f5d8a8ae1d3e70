#pragma once

#include <functional>

#include "jobman/store/memory_store.hpp"
#include "tests/property/random.hpp"

namespace jobman::test {

/// Thrown out of a handler: the controller is killed there.
struct Killed {};

/// A store on whose disk there is no room at times, and in whose Commit() the controller is killed,
/// before or after the transaction, until it is told to be kind.
class UnkindStore final : public store::MemoryStore {
 public:
  explicit UnkindStore(Random& random) : random_(random) {}

  ports::Status Commit(const ports::Turn& turn, std::int64_t lease_token) override;
  ports::Status RecordTry(const ports::Notice& notice, const ports::Event& event,
                          std::int64_t lease_token) override;
  ports::Result<std::optional<ports::Lease>> TakeLease(const std::string& holder,
                                                       core::TimePoint now,
                                                       core::Duration time_to_live) override;

  void BeKind();
  void SetFull(bool full) { full_ = full; }
  bool full() const { return full_; }
  /// Called when a turn was recorded.
  void OnCommit(std::function<void(const core::Job& before, const ports::Turn& turn)> hook) {
    on_commit_ = std::move(hook);
  }

 private:
  Random& random_;
  bool kind_ = false;
  bool full_ = false;
  std::function<void(const core::Job&, const ports::Turn&)> on_commit_ = {};
};

}  // namespace jobman::test
