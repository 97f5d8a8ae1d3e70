#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/client/garbage_places.hpp"
#include "jobman/core/ownership.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

/// What no job owns, and what became of it.
struct Garbage {
  /// What was done about one of them.
  enum class Fate {
    kLeft,     ///< nothing: it was not asked for
    kDeleted,  ///< the service is deleting it; of a process: it has ended
    kGone,     ///< somebody else was quicker
    kSpared,   ///< a second look showed that it is owned, or another one by now
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
  /// A host that could not be asked for its runs.
  struct SilentHost {
    core::JobId job = {};
    int host = 0;
    base::Error error = {};
  };
  std::vector<CloudPlace> places = {};  ///< that were looked at
  std::vector<Slice> slices = {};
  std::vector<Run> runs = {};
  std::vector<SilentHost> silent = {};
};

/// Where to look for garbage, and for what.
struct GarbageQuery {
  std::vector<CloudPlace> places = {};
  std::string name_glob = {};  ///< also what is named so and carries no labels of jobman
  bool hosts = true;           ///< also runs on the hosts of the slices that are held
};

/// Finds what no job owns, and takes it away.
///
/// It cannot take what a controller is about to use. A job's slice is recorded before it is asked
/// for, and a name is never used for a second slice. So whatever a listing shows was recorded
/// before; when the store, read after the listing, has no job that holds it, none will ever hold
/// it. The same goes for the runs of a command. What may have changed since is looked at again
/// before each delete: the resource of that name must be the same one with the same labels, and
/// the store must still know no holder.
///
/// The object must outlive its coroutines, and the loop of the context the object.
class GarbageCollector {
 public:
  explicit GarbageCollector(Context context);

  /// Fails with the first place that cannot be listed completely; `also_failed` (may be empty) is
  /// told of the others.
  base::Task<base::Result<Garbage>> Look(GarbageQuery query,
                                         std::function<void(const base::Error&)> also_failed = {});
  /// Looks again, deletes, and gives the row back with what became of it. One at a time.
  base::Task<Garbage::Slice> Remove(Garbage::Slice slice);
  /// The same for a run, which is sent TERM and, after its job's grace, KILL.
  base::Task<Garbage::Run> Stop(Garbage::Run run);

 private:
  using FoundSlices = std::vector<core::FoundSlice>;
  using MaybeJob = std::optional<core::Job>;  ///< nothing when the store knows no such job

  base::Task<base::Result<ports::SliceApi*>> CloudOf(core::CloudSpec spec);
  base::Task<base::Result<FoundSlices>> List(CloudPlace place);
  base::Task<base::Result<core::Claim>> Judge(core::FoundSlice found);
  /// What bears the name now; nothing when it is gone.
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
  std::map<std::string, CloudClient> clouds_ = {};
};

}  // namespace jobman::client
