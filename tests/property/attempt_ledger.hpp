#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/property/cloud_model.hpp"

namespace jobman::test {

/// What truly happened in the attempts of one job, kept beside the job's record. What `show`,
/// `history` and JOBMAN_RESTART_REASON say of an attempt must agree with it.
class AttemptLedger {
 public:
  // What the world does.

  /// The true state of all resources, after each change.
  void Saw(const std::map<std::string, Resource>& resources);
  /// The job itself asked for the slice's deletion: it does not vanish by accident any more.
  void Deletes(const std::string& slice) { deleted_.insert(slice); }
  /// The create of the slice was refused.
  void Refused(const std::string& slice) { Note(slice, Truth::kRefused); }
  /// The operation that was to create it failed.
  void OperationFailed(const std::string& slice) { Note(slice, Truth::kRequestFailed); }
  /// A host told of a preemption or a maintenance.
  void HostNoticed(const std::string& slice) { Note(slice, Truth::kNoticed); }
  /// A process of the attempt ended. `command`: not a setup step.
  void SetupLapsed(int attempt) { processes_[attempt].lapsed = true; }
  void Ended(int attempt, bool command, int exit_code, bool lost);
  /// The watchdog saw something in the attempt.
  void Alarmed(int attempt) { alarmed_.insert(attempt); }
  void Wished(core::Wish wish) { wishes_.insert(wish); }

  // What the record says.

  /// What of the decision contradicts the truth; empty: nothing.
  std::string Judge(const core::Job& before, const core::Step& step, TimePoint now);

 private:
  enum class Truth {
    kDead,           ///< preempted, terminated, stopped, suspended
    kGone,           ///< deleted by somebody else
    kBroken,         ///< unhealthy, and not for maintenance
    kDisturbed,      ///< maintenance or repair, or a notice of it
    kNoticed,        ///< by a host
    kRequestFailed,  ///< the queued resource or the operation
    kRefused,
    kTaken,  ///< somebody else has the name
  };
  struct Processes {
    int good = 0;  ///< of the command
    bool bad = false;
    bool lost = false;
    bool temporary = false;  ///< exit code 75
    bool lapsed = false;     ///< a host did not start the command: it was restarted since its setup
  };

  void Note(const std::string& slice, Truth what) { truth_[slice].insert(what); }
  bool Any(const std::string& slice, const std::set<Truth>& of) const;
  bool Explains(const core::AttemptEnd& end, const core::Job& before, const core::Job& after,
                int attempt, TimePoint now) const;
  bool Wanted(const std::set<core::Wish>& wishes) const;
  bool Agrees(core::RestartCause cause) const;

  std::map<std::string, std::set<Truth>> truth_ = {};
  std::set<std::string> seen_ = {};     ///< slices that existed, and were ours
  std::set<std::string> deleted_ = {};  ///< by the job
  std::map<int, Processes> processes_ = {};
  std::set<int> alarmed_ = {};
  std::set<core::Wish> wishes_ = {};  ///< since the attempt before the last one ended
  std::optional<core::AttemptOutcome> last_end_ = {};
};

}  // namespace jobman::test
