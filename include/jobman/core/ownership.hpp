#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/core/run_id.hpp"

namespace jobman::core {

/// A slice found in the cloud: a queued resource with its nodes, or a single node. One delete call
/// removes it.
struct FoundSlice {
  SliceRef ref = {};                    ///< `mode` says how it is deleted
  std::vector<std::string> nodes = {};  ///< ids of the nodes that are there
  std::string raw_state = {};           ///< the API's word; of the queued resource if it is one
  std::string accelerator = {};         ///< from a node, if known
  std::string create_time = {};         ///< RFC 3339, as the API wrote it
  std::string uid = {};                 ///< Node.id of a node; empty for a queued resource
  std::map<std::string, std::string> labels = {};
  bool leaving = false;  ///< it is being deleted already
};

/// Groups nodes with the queued resources they came from. Takes complete listings of one place; the
/// nodes must be listed first.
std::vector<FoundSlice> FindSlices(const Place& place, const std::vector<NodeSeen>& nodes,
                                   const std::vector<QueuedSeen>& queued);

/// Whose it is, by its labels.
enum class Ownership {
  kOwned,       ///< a job of this store holds it
  kOrphan,      ///< it carries this store's label, and no job holds it
  kOtherStore,  ///< it carries another store's label: perhaps another machine of this owner
  kOtherOwner,  ///< it carries another user's label
  kUnlabelled,  ///< it does not carry jobman's labels
};
struct Claim {
  Ownership ownership = Ownership::kUnlabelled;
  std::string why = {};  ///< "job 000042 holds slice train-000042-a3 now"
};

/// The job that the labels name; nothing when they name none.
std::optional<JobId> LabelledJob(const std::map<std::string, std::string>& labels);

/// `ours`: OwnerLabels() of a job of this user and store. `job`: the stored job that LabelledJob()
/// names, read after the listing began.
Claim JudgeSlice(const FoundSlice& found, const std::map<std::string, std::string>& ours,
                 const std::optional<Job>& job);

/// Why a live run does not belong to the current attempt of this job; nothing when it does or may.
/// `run_id` as host.sh lists it. Runs of other jobs or hosts than `on` are not judged.
std::optional<std::string> StrayRun(const std::string& run_id, const JobOnHost& on, const Job& job);

}  // namespace jobman::core
