#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "jobman/base/state_paths.hpp"
#include "tests/property/faulty_hosts.hpp"
#include "tests/property/faulty_store.hpp"

namespace jobman::test {

/// Checks invariants of what controllers record, start, delete and leave behind.
class Witness {
 public:
  Witness(MemoryStore& store, const FaultyCloud& cloud, const FaultyHosts& hosts,
          const FakeClock& clock, base::StatePaths paths);

  void Recorded(const core::Job& before, const ports::Turn& turn);
  void Deletes(const std::string& name, const FaultyCloud::Labels& labels);
  void Starts(const ModelRun& run);
  /// The user has changed the job's wish.
  void Wished(core::JobId id);
  void Told(const std::string& event_id) { told_.insert(event_id); }
  /// The cloud has fallen silent, or answers again.
  void CloudSilent(bool silent);
  /// A controller does nothing for so long from now. What it saw before is recorded late.
  void Paused(base::Duration time);

  /// To be called when all jobs rest after the faults; `may_fail`: the job's budgets are limited,
  /// or permanent errors occurred.
  void CheckRest(const core::Job& job, bool may_fail);
  /// To be called after all jobs were deleted.
  void CheckNothingLeft();

  /// The first broken invariant; empty: none.
  const std::string& broken() const { return broken_; }
  const std::deque<std::string>& story() const { return story_; }
  void Tell(std::string line);
  void Break(std::string what);

 private:
  void CheckExits(const core::Job& before, const ports::Turn& turn);
  void CheckSlice(const core::Job& before, const ports::Turn& turn);
  void CheckSuccess(const core::Job& before, const core::Job& after);
  void CheckAlarm(const core::Job& before, const core::Job& after);
  void CheckGroup(const core::Job& job);
  void CheckLogs(const core::Job& job);
  void CheckLog(const core::Job& job, const ModelRun& run, const std::string& written);
  void CheckDeliveries(const core::Job& job);
  bool IsAlive(const ModelRun& run) const;

  MemoryStore& store_;
  const FaultyCloud& cloud_;
  const FaultyHosts& hosts_;
  const FakeClock& clock_;
  base::StatePaths paths_;
  std::set<std::tuple<core::JobId, int, std::string, int>> exits_ = {};
  std::set<core::JobId> succeeded_ = {};
  std::map<std::string, std::set<core::JobId>> at_work_ = {};  ///< by group
  std::set<core::JobId> must_end_ = {};  ///< an alarm was raised, and no wish came since
  std::set<std::string> told_ = {};
  std::optional<base::TimePoint> silent_since_ = {};  ///< pauses of a controller left out
  base::TimePoint paused_until_ = {};
  std::string broken_ = {};
  std::deque<std::string> story_ = {};
};

}  // namespace jobman::test
