#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// The word for every final state, besides the words for single states.
inline constexpr const char* kDone = "DONE";

/// The states that a wait is for, for client::WaitForJobs(). A job is settled when it is in one of
/// them, has been in one since the wait began, or is final and so will not reach one by itself.
class WaitGoal {
 public:
  /// Words of core::StateName() and core::FamiliarStatus(), or kDone. Empty: any final state.
  /// RUNNING is the state: at least one host runs the command.
  explicit WaitGoal(std::vector<std::string> words) : words_(std::move(words)) {}

  /// "RUNNING or DONE"; empty: any final state.
  std::string Words() const;
  /// "to be RUNNING or DONE", for WaitFor::goal.
  std::string Text() const;
  /// The wait for these jobs begins: states that they were in before do not count. Not from a
  /// coroutine, as Settled().
  base::Status Begin(const Context& context, const std::vector<core::JobId>& ids);
  /// For WaitFor::settled.
  base::Result<bool> Settled(const Context& context, const core::Job& job);
  /// Whether a settled job reached one of the states.
  bool Reached(const core::Job& job) const;

 private:
  base::Status LookBack(const Context& context, const core::Job& job);
  static base::Result<bool> HasRun(const Context& context, core::JobId id);
  bool WasReachedIn(const std::string& state_name) const;

  struct Looked {
    std::int64_t event = 0;  ///< the last one that was read
    std::int64_t version = -1;
    bool passed = false;  ///< it was in one of the states
    bool begun = false;   ///< it entered RUNNING, which counts once a host runs
  };
  std::vector<std::string> words_;
  std::map<core::JobId, Looked> looked_ = {};
};

}  // namespace jobman::client
