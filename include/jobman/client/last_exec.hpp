#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "jobman/base/state_paths.hpp"
#include "jobman/client/exec_order.hpp"

namespace jobman::client {

/// The last `exec` of a job that ended, as far as it failed: so that it can be done again there.
struct LastExec {
  ExecOrder order = {};          ///< without words: they were longer than kLongestKept
  bool had_input = false;        ///< the command had some, which is not kept
  std::vector<int> failed = {};  ///< hosts, sorted
  friend bool operator==(const LastExec&, const LastExec&) = default;
};

/// Bytes of a command that are kept.
inline constexpr std::size_t kLongestKept = std::size_t{64} << 10;

/// Keeps it in the job's folder, for this user only, and goes with it; forgets the one before. A
/// job that is being cleaned gets no folder again. Only what the user typed is kept: no variable or
/// secret of the job.
base::Status KeepLastExec(const base::StatePaths& paths, core::JobId job, const LastExec& last);
/// Nothing if the last one failed nowhere, or there was none.
base::Result<std::optional<LastExec>> ReadLastExec(const base::StatePaths& paths, core::JobId job);

/// What to run on the hosts where it failed: what is given now, without a command the last one with
/// what is given beside it. kFailedPrecondition if that was not kept, or had an input and there is
/// none now.
base::Result<ExecOrder> Again(ExecOrder given, bool has_input, const LastExec& last);
/// Leaves only hosts where it failed.
void KeepFailed(const LastExec& last, std::vector<ssh::FanOutHost>& hosts);
/// What is to be kept once `order` has ended: hosts that failed now and, of the exec that it went
/// on with, those that were left out.
LastExec AfterExec(ExecOrder order, bool had_input, const ssh::FanOutResult& result,
                   const std::optional<LastExec>& before);

}  // namespace jobman::client
