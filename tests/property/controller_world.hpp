#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <memory>
#include <set>
#include <vector>

#include "jobman/controller/controller.hpp"
#include "tests/property/virtual_time.hpp"
#include "tests/property/witness.hpp"

namespace jobman::test {

/// A whole controller without network, in virtual time: several jobs, a cloud, hosts and a store
/// with random faults, and a user with changing wishes. Controllers are killed between any two
/// handlers and around commits, and suspended until another one has taken over.
class ControllerWorld {
 public:
  /// The same seed gives the same walk. Keeps its files in `home`, which must exist.
  ControllerWorld(std::uint64_t seed, base::Path home);

  /// Runs `steps` handlers with faults, then without faults until every job rests; then deletes all
  /// jobs and looks for leftovers. False when an invariant broke.
  bool Walk(std::int64_t steps);

  std::int64_t steps() const { return steps_; }
  int most_requests() const { return most_requests_; }
  /// The odds of its faults, and the damage that stays after them.
  std::string Conditions() const;
  const Witness& witness() const { return witness_; }

 private:
  /// What stays broken when faults end. Jobs that it does not affect must rest nevertheless.
  enum class Damage { kNone, kSilentZone, kDeadHost, kFailingHook };
  static constexpr std::array kDamages = {Damage::kNone, Damage::kNone, Damage::kSilentZone,
                                          Damage::kDeadHost, Damage::kFailingHook};

  /// One controller process, with a loop of its own.
  struct Life {
    std::optional<base::Status> ended = {};
    asio::io_context loop = {};
    std::unique_ptr<controller::Controller> controller = {};
    base::TimePoint asleep_until = {};
  };

  core::JobSpec RandomSpec();
  core::RetrySpec RandomRetries();
  core::JobId Submit(core::JobSpec spec);
  controller::Ports ThePorts();
  base::Task<base::Status> TellHook(ports::Message message);

  void Turn();
  bool RunSomeone();
  void PassTime();
  void CountRequests();
  void CauseEvents();
  void ChangeWish(core::Wish wish);
  void TakeName();
  void SendToSleep();

  void StartController();
  void Kill(std::size_t index, const char* why);
  void CollectEnded();

  void EndFaults();
  void LeaveDamage();
  void CheckDamaged();
  void Mend();
  bool MayFail(core::JobId id) const { return permanent_errors_ || may_fail_.contains(id); }
  bool UntilRest();
  bool AllRest();
  void DeleteAll();
  std::vector<core::Job> Jobs();

  Random random_;
  const Odds odds_;
  const Damage damage_;
  bool faultless_ = false;
  bool permanent_errors_ = false;
  VirtualTime time_ = {};
  base::StatePaths paths_;
  MemoryStore store_ = {};
  FaultyStore way_;  ///< from controllers to the store
  std::shared_ptr<FaultyCloud> cloud_;
  FaultyHosts hosts_;
  Witness witness_;
  std::unique_ptr<ports::Notifier> notifier_;
  std::vector<std::unique_ptr<Life>> lives_ = {};
  base::TimePoint start_at_ = {};
  std::vector<core::JobId> jobs_ = {};
  std::set<core::JobId> may_fail_ = {};
  std::set<core::JobId> damaged_ = {};     ///< jobs that the damage affects
  std::vector<std::string> foreign_ = {};  ///< names of others' slices
  std::int64_t steps_ = 0;
  base::TimePoint minute_began_ = {};
  int requests_before_ = 0;
  int most_requests_ = 0;
};

}  // namespace jobman::test
