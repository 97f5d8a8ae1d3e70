#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/core/run_id.hpp"

namespace jobman::core {

/// What a place shows under one name: a queued resource with its nodes, or a node of its own. What
/// one delete call takes away.
struct FoundSlice {
  SliceRef ref = {};                    ///< `mode` tells how it is deleted
  std::vector<std::string> nodes = {};  ///< ids of the nodes that are there
  std::string raw_state = {};           ///< the API's word; of the queued resource if it is one
  std::string accelerator = {};         ///< as far as a node tells it
  std::string create_time = {};         ///< RFC 3339, as the API wrote it
  std::string uid = {};                 ///< Node.id of a node; empty for a queued resource
  std::map<std::string, std::string> labels = {};
  bool leaving = false;  ///< it is being deleted already
};

/// Brings nodes together with the queued resources that they came from. Complete listings of one
/// place, nodes listed first.
std::vector<FoundSlice> FindSlices(const Place& place, const std::vector<NodeSeen>& nodes,
                                   const std::vector<QueuedSeen>& queued);

/// Whose it is, by its labels.
enum class Ownership {
  kOwned,       ///< a job of this store holds it
  kOrphan,      ///< it carries this store's label, and no job holds it
  kOtherStore,  ///< it carries another store's label: another machine of this owner, perhaps
  kOtherOwner,  ///< it carries another user's label
  kUnlabelled,  ///< it does not carry jobman's labels
};
struct Claim {
  Ownership ownership = Ownership::kUnlabelled;
  std::string why = {};  ///< "job 000042 holds slice train-000042-a3 now"
};

/// The job that the labels name; nothing when they name none.
std::optional<JobId> LabelledJob(const std::map<std::string, std::string>& labels);

/// `ours` is what OwnerLabels() gives for a job of this user and store; `job` the stored job that
/// LabelledJob() names, read after the listing began.
Claim JudgeSlice(const FoundSlice& found, const std::map<std::string, std::string>& ours,
                 const std::optional<Job>& job);

/// The attempt that a slice, or one of its nodes, was named for (SliceName); 0 for other names.
int AttemptOf(std::string_view name);

/// Why a run that goes on belongs to no present attempt of this job; nothing when it does, or may.
/// `run_id` as host.sh lists it; a run of another job or host than `on` is not judged.
std::optional<std::string> StrayRun(const std::string& run_id, const JobOnHost& on, const Job& job);

}  // namespace jobman::core
