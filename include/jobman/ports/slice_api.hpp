#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/guest.hpp"
#include "jobman/core/slice.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;

/// The Cloud TPU API in our terms: slices and operations on them. One object per cloud endpoint and
/// identity. Every call is one coroutine on the loop; retries after transient errors, rate limit
/// and logging are decorators of this interface. The object must outlive its coroutines.
class SliceApi {
 public:
  virtual ~SliceApi() = default;

  /// Creates the slice. Not retried after an unanswered call: look before creating again.
  /// kAlreadyExists when the name is taken.
  virtual Task<Result<core::OperationSeen>> Create(core::SliceRequest request) = 0;
  /// Deletes the queued resource with its nodes, or the node. kNotFound when neither exists.
  virtual Task<Result<core::OperationSeen>> Delete(core::SliceRef ref) = 0;
  /// All nodes of a place, over all pages. Only a complete listing is a success.
  virtual Task<Result<std::vector<core::NodeSeen>>> ListNodes(core::Place place) = 0;
  virtual Task<Result<std::vector<core::QueuedSeen>>> ListQueued(core::Place place) = 0;
  virtual Task<Result<core::NodeSeen>> GetNode(core::Place place, std::string id) = 0;
  virtual Task<Result<core::QueuedSeen>> GetQueued(core::Place place, std::string id) = 0;
  virtual Task<Result<core::OperationSeen>> GetOperation(std::string name) = 0;
  /// Adds a line "USER:TYPE DATA COMMENT" to the ssh-keys in the node's metadata, which its hosts
  /// read, unless it is there. A change of the metadata by somebody else at the same time may be
  /// lost: the API has no etag for nodes (Node.metadata, nodes.patch).
  virtual Task<Result<core::OperationSeen>> AddLogin(core::Place place, std::string node,
                                                     std::string line) = 0;
  /// The same for several lines, with those to take away; all in one request, or none if nothing
  /// changes. All else in the metadata stays.
  virtual Task<Result<core::OperationSeen>> ChangeLogins(core::Place place, std::string node,
                                                         core::LoginChange change) = 0;
  /// The SSH host keys that the hosts of a node published as guest attributes, namespace
  /// `hostkeys`. Hosts that published nothing yet are absent.
  virtual Task<Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place place,
                                                                std::string node) = 0;
  /// The names of the VMs behind a node, by the number of the host: guest attribute `hostname`,
  /// which gcloud reads for `tpu-vm ssh --tunnel-through-iap`. Hosts that published none are
  /// absent.
  virtual Task<Result<std::map<int, std::string>>> GetVmNames(core::Place /*place*/,
                                                              std::string /*node*/) {
    std::map<int, std::string> none;
    co_return none;
  }
};

/// What the cloud offers, for checks before a job is created.
class Catalog {
 public:
  virtual ~Catalog() = default;
  virtual Task<Result<std::vector<std::string>>> AcceleratorTypes(core::Place place) = 0;
  virtual Task<Result<std::vector<std::string>>> RuntimeVersions(core::Place place) = 0;
  /// The zones of Cloud TPU that the project sees (locations.list).
  virtual Task<Result<std::vector<std::string>>> Zones(std::string project) = 0;
  /// The reservations of the place, over all pages. Only v2alpha1 has such a list, so a refusal
  /// (kPermissionDenied, kNotFound, kUnimplemented) says nothing about any of them. Whether those
  /// that were made in Compute Engine are among them is not documented.
  virtual Task<Result<std::vector<core::ReservationSeen>>> Reservations(core::Place place) = 0;
};

/// Maintenance that the cloud has announced.
class Maintenance {
 public:
  virtual ~Maintenance() = default;
  /// Begins it now, on all hosts of the node. kFailedPrecondition when none is announced that may
  /// be begun by its user.
  virtual Task<Result<core::OperationSeen>> PerformMaintenance(core::Place place,
                                                               std::string node) = 0;
  /// The same on these nodes of a queued resource, all in one request: all begin, or none does.
  /// kFailedPrecondition when one of them has nothing that may be begun.
  virtual Task<Result<core::OperationSeen>> PerformQueuedMaintenance(
      core::Place place, std::string queued, std::vector<std::string> nodes) = 0;
};

}  // namespace jobman::ports
