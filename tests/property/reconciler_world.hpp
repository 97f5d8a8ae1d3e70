#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/property/attempt_ledger.hpp"
#include "tests/property/cloud_model.hpp"
#include "tests/property/queue_model.hpp"
#include "tests/support/states_doc.hpp"

namespace jobman::test {

/// One job with a random cloud, random hosts, a controller that can crash between any two acts, and
/// a user with changing wishes. Checks the invariants after every decision.
class ReconcilerWorld {
 public:
  /// The same seed gives the same walk. `traced` keeps the last steps as text. `worker`: the job
  /// serves a queue.
  ReconcilerWorld(std::uint64_t seed, std::set<Edge>& edges, bool traced, bool worker = false);

  /// Makes `steps` decisions with faults, then goes on without faults until the job rests; then
  /// deletes the job and looks for leftovers. False when an invariant broke.
  bool Walk(int steps);

  std::int64_t steps() const { return steps_; }
  const Odds& odds() const { return odds_; }
  const std::string& broken() const { return broken_; }
  const std::deque<std::string>& trace() const { return trace_; }

 private:
  struct Process {
    std::string machine = {};
    bool running = true;
    bool lost = false;
    bool lapsed = false;  ///< it was not started: the host has lost its setup
    int exit_code = 0;
  };
  struct Message {
    TimePoint at = {};
    core::Observation seen = {};
  };
  /// The stage that the executor was told to run.
  struct Watched {
    int attempt = 0;
    core::StageId stage = core::CommandStage{};
    std::string machine = {};
    std::vector<int> hosts = {};
    bool stopping = false;
  };

  core::Job RandomJob();
  void AddWatchdog();
  void MakeWorker(std::uint64_t seed);
  void OfferTask();
  void TriggerWatchdog();
  void FaultyRound();
  void FaultlessRound();
  bool Rest();
  void CheckRest(core::Wish wish);
  void CheckNothingLeft();

  void Decide(const core::Observation& seen);
  void Check(const core::Job& before, const core::Step& step, const core::Observation& seen);
  void CheckEffects(const core::Job& before, const core::Step& step, const core::Observation& seen);
  static bool IsAbsence(const core::Observation& seen);
  static bool IsByName(const core::Observation& seen);
  bool LacksAPart(const core::Observation& seen) const;
  void CheckExits(const core::Job& before);
  void CheckAttempts(const core::Job& before, const core::Step& step);
  void CheckFacts(const core::Job& before, const core::Observation& seen);
  void CheckTasks(const core::Job& before, const core::Step& step, const core::Observation& seen);
  void CheckOwnership();
  void CheckNotices(const core::Job& before, const core::Step& step);
  void CheckTwice(const core::Job& before, const core::Step& step, const core::Observation& seen,
                  double jitter);
  void Act(const std::vector<core::Effect>& effects, bool may_crash);
  void Do(const core::Effect& effect);
  void Do(const core::CreateSlice& create);
  void Do(const core::DeleteSlice& remove);
  void Do(const core::LookUpSlice& look);
  void Do(const core::AddLogin&) {}
  void Do(const core::RunStage& run);
  void Do(const core::StopStage& stop);
  void Do(const core::PassNotice& pass);
  void Do(const core::AbandonStage& abandon);
  void Do(const core::TellHooks&) {}
  void Crash();

  void Send(core::Observation seen);
  void DeliverOne();
  void DecideDuringLook(const core::Observation& seen);
  void Look();
  core::SliceSeen List();
  void Distort(core::SliceSeen& seen);
  void LookForAbandonedSlices();
  void PollOperation();
  void ReportHost();
  core::HostRun StateOf(int host);
  core::HostRun StartOn(int host);
  static core::HostRun Lapsed(int host);
  void Finish(Process& process);
  void ChangeWish();

  void Break(std::string what);
  void Trace(const core::Job& before, const core::Step& step, const core::Observation& seen);

  Random random_;
  const Odds odds_;
  Random watchdog_random_;  ///< separate, so that walks without a watchdog stay the same
  Random listing_random_;   ///< separate, as well
  Random worker_random_;    ///< separate, as well
  std::optional<QueueModel> queue_ = {};  ///< of a worker
  int omissions_ = 0;                     ///< so many listings to come omit the slice
  std::set<Edge>& edges_;
  bool traced_;
  bool faultless_ = false;
  bool may_fail_ = false;  ///< finite budgets or permanent errors: FAILED is a legal end
  TimePoint now_ = base::FromMillis(1'767'225'600'000);
  core::Policy policy_ = {.store_id = "store1"};
  core::Job job_;
  CloudModel cloud_;
  AttemptLedger ledger_ = {};
  std::vector<Message> messages_ = {};
  std::optional<Watched> watched_ = {};
  std::map<std::tuple<int, core::StageId, int>, Process> processes_ = {};
  std::set<std::string> let_go_ = {};
  std::set<std::pair<int, core::StageId>> stages_over_ = {};
  std::set<int> ended_attempts_ = {};
  bool must_end_ = false;  ///< an alarm that ends the job was raised, and no wish came since
  std::int64_t steps_ = 0;
  std::string broken_ = {};
  std::deque<std::string> trace_ = {};
};

}  // namespace jobman::test
