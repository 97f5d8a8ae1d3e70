#pragma once

#include "core/reconcile/facts.hpp"

namespace jobman::core {

// The parts of Fold(), by kind of observation.

// fold_look.cpp
Facts FoldLook(Slice& slice, const SliceSeen& seen, TimePoint now);
void FoldFailedLook(Slice& slice, const LookFailed& failed, TimePoint now);
// lent.cpp
/// When the cloud takes the slice away: as its nodes say, or reckoned from when they were created.
void RecordLentUntil(Slice& slice, const std::vector<NodeSeen>& nodes,
                     const std::optional<Duration>& lent, TimePoint now);
// fold_answers.cpp
Facts FoldCreate(Slice& slice, const CreateAnswered& answer, TimePoint now);
Facts FoldFailure(Slice& slice, const OperationFailed& failed);
Facts FoldDelete(Slice& slice, const DeleteAnswered& answer, TimePoint now);
Facts FoldLateDelete(AbandonedRequest& request, const DeleteAnswered& answer, TimePoint now);
// fold_host.cpp
Facts FoldReport(Job& job, const HostRun& news, TimePoint now);  // of the current stage
/// Of the rules that lines of a task matched, the strongest counts.
void FoldTaskOutput(Stage& stage, const TaskOutput& output);
/// Nothing runs on these hosts any more, and nothing needs to be stopped there.
void LoseRuns(Stage& stage, const std::vector<int>& hosts, const std::string& why);
// watchdog.cpp
Facts FoldOutputSilence(const Job& job, const Silence& silence, TimePoint now);
Facts FoldBadOutput(const Job& job, const BadOutput& bad);

}  // namespace jobman::core
