#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/client/garbage_places.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/core/ownership.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

/// Slices and runs that no job owns, and what was done about them.
struct Garbage {
  /// What was done about a slice or a run.
  enum class Fate {
    kLeft,     ///< nothing, because nothing was requested
    kDeleted,  ///< slice: the service is deleting it; run: it has ended
    kGone,     ///< it was gone already
    kSpared,   ///< the second look showed an owner, or a different slice of the same name
    kFailed,   ///< `error` says why
  };
  struct Slice {
    CloudPlace where = {};
    core::FoundSlice found = {};
    core::Claim claim = {};
    Fate fate = Fate::kLeft;
    std::optional<base::Error> error = {};
  };
  /// A run on a host of a slice that a job holds.
  struct Run {
    core::JobId job = {};
    int host = 0;
    std::string run_id = {};
    std::string why = {};
    Fate fate = Fate::kLeft;
    std::optional<base::Error> error = {};
  };
  /// A host whose runs could not be listed.
  struct SilentHost {
    core::JobId job = {};
    int host = 0;
    base::Error error = {};
  };
  std::vector<CloudPlace> places = {};  ///< the places that were searched
  std::vector<Slice> slices = {};
  std::vector<Run> runs = {};
  std::vector<SilentHost> silent = {};
  std::vector<std::string> first_uses = {};  ///< keys pinned on the way: Vouching::FirstUses()
};

/// Where to look for garbage, and what to include.
struct GarbageQuery {
  std::vector<CloudPlace> places = {};
  std::string name_glob = {};  ///< also slices without jobman's labels whose name matches
  bool hosts = true;           ///< also runs on the hosts of slices that jobs hold
};

/// What may be deleted besides slices whose job does not hold them.
struct GarbageChoice {
  bool other_stores = false;  ///< slices of the user's other stores, which may be in use
  bool unlabelled = false;    ///< slices without jobman's labels
};
/// The slices of `garbage` that may be deleted.
std::vector<Garbage::Slice*> SlicesToDelete(Garbage& garbage, const GarbageChoice& choice);

/// Finds slices and runs that no job owns, and deletes them.
///
/// It cannot delete what a controller is about to use. A slice is recorded in its job before it is
/// requested, and a name is never used for a second slice. The store is read after the listing, so
/// a listed slice that no job holds then will never be held by one. The same is true of the runs of
/// a command. What may have changed is checked again before each delete: the resource of that name
/// must be the same one with the same labels, and the store must still have no holder.
///
/// The object must outlive its coroutines, and the context's loop must outlive the object.
class GarbageCollector {
 public:
  explicit GarbageCollector(Context context);

  /// Fails with the error of the first place that cannot be listed completely; `also_failed` (may
  /// be empty) is called with the errors of the others.
  base::Task<base::Result<Garbage>> Look(GarbageQuery query,
                                         std::function<void(const base::Error&)> also_failed = {});
  /// Looks again, deletes, and returns the slice with its fate. One call at a time.
  base::Task<Garbage::Slice> Remove(Garbage::Slice slice);
  /// The same for a run. It is sent TERM and, after the job's grace period, KILL.
  base::Task<Garbage::Run> Stop(Garbage::Run run);

 private:
  using FoundSlices = std::vector<core::FoundSlice>;
  using MaybeJob = std::optional<core::Job>;  ///< empty if the store has no such job

  base::Task<base::Result<ports::SliceApi*>> CloudOf(core::CloudSpec spec);
  base::Task<base::Result<FoundSlices>> List(CloudPlace place);
  base::Task<base::Result<core::Claim>> Judge(core::FoundSlice found);
  /// The resource that has the name now; empty if it is gone.
  base::Task<base::Result<std::optional<core::FoundSlice>>> LookAgain(Garbage::Slice slice);
  base::Task<base::Status> TryRemove(Garbage::Slice* slice);
  base::Task<base::Status> TryStop(Garbage::Run* run);
  base::Task<base::Status> LookAtHosts(Garbage* garbage);
  base::Task<base::Status> LookAtHostsOf(core::Job job, Garbage* garbage);
  static base::Task<base::Result<MaybeJob>> JobOf(ports::JobStore* jobs, core::JobId id);
  static base::Task<base::Status> IsStillStray(ports::JobStore* jobs, core::JobOnHost on,
                                               std::string run_id);

  Context context_;
  ports::JobStore* jobs_;
  std::unique_ptr<ports::HostShell> shell_;
  Vouching vouching_;
  std::map<std::string, CloudClient> clouds_ = {};
};

}  // namespace jobman::client
