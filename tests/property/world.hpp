#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/property/cloud_model.hpp"
#include "tests/support/states_doc.hpp"

namespace jobman::test {

/// One job in a random world: a cloud, hosts, a controller that can crash between any two acts, and
/// a user with changing wishes. Checks the invariants after every decision.
class World {
 public:
  /// The same seed gives the same walk. `traced` keeps its last steps as text.
  World(std::uint64_t seed, std::set<Edge>& edges, bool traced);

  /// Walks `steps` decisions in an unkind world, then lets the world be kind until the job rests,
  /// deletes the job, and looks for what is left. False when an invariant broke.
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
    int exit_code = 0;
  };
  struct Letter {
    TimePoint at = {};
    core::Observation news = {};
  };
  /// What the executor watches: it knows the stage that it was told to run.
  struct Watched {
    int attempt = 0;
    core::StageId stage = core::CommandStage{};
    std::string machine = {};
    std::vector<int> hosts = {};
    bool stopping = false;
  };

  core::Job RandomJob();
  void WatchTheJob();
  void BarkOnce();
  void Unkind();
  void KindRound();
  bool Rest();
  void CheckRest(core::Wish wish);
  void CheckNothingLeft();

  void Decide(const core::Observation& seen);
  void Check(const core::Job& before, const core::Step& step, const core::Observation& seen);
  void CheckEffects(const core::Job& before, const core::Step& step, const core::Observation& seen);
  static bool IsAbsence(const core::Observation& seen);
  void CheckExits(const core::Job& before);
  void CheckFacts(const core::Job& before, const core::Observation& seen);
  void CheckOwnership();
  void CheckNotices(const core::Job& before, const core::Step& step);
  void CheckTwice(const core::Step& step, const core::Observation& seen, double jitter);
  void Act(const std::vector<core::Effect>& effects, bool may_crash);
  void Do(const core::Effect& effect);
  void Do(const core::CreateSlice& create);
  void Do(const core::DeleteSlice& remove);
  void Do(const core::LookUpSlice& look);
  void Do(const core::RunStage& run);
  void Do(const core::StopStage& stop);
  void Do(const core::PassNotice& pass);
  void Do(const core::AbandonStage& abandon);
  void Do(const core::TellHooks&) {}
  void Crash();

  void Send(core::Observation news);
  void DeliverOne();
  void DecideDuringALook(const core::Observation& news);
  void Look();
  void LookForLateGrants();
  void PollOperation();
  void HearOfAHost();
  core::HostRun StateOf(int host);
  core::HostRun StartOn(int host);
  void Finish(Process& process);
  void ChangeWish();

  void Break(std::string what);
  void Trace(const core::Job& before, const core::Step& step, const core::Observation& seen);

  Random random_;
  const Odds odds_;
  Random watchdog_random_;  ///< of its own, so that walks without a watchdog stay as they were
  std::set<Edge>& edges_;
  bool traced_;
  bool kind_ = false;
  bool may_fail_ = false;  ///< finite budgets or permanent errors: FAILED is a legal end
  TimePoint now_ = base::FromMillis(1'767'225'600'000);
  core::Policy policy_ = {.store_id = "store1"};
  core::Job job_;
  CloudModel cloud_;
  std::vector<Letter> letters_ = {};
  std::optional<Watched> watched_ = {};
  std::map<std::tuple<int, core::StageId, int>, Process> processes_ = {};
  std::set<std::string> let_go_ = {};
  std::set<std::pair<int, core::StageId>> stages_over_ = {};
  std::int64_t steps_ = 0;
  std::string broken_ = {};
  std::deque<std::string> trace_ = {};
};

}  // namespace jobman::test
