#pragma once

#include <asio/io_context.hpp>
#include <map>
#include <memory>

#include "cli/app.hpp"
#include "cli/host_world.hpp"
#include "cli/views/garbage.hpp"

namespace jobman::cli {

struct GarbageWish {
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
class GarbageSearch {
 public:
  GarbageSearch(App& app, ports::Stores stores, base::StatePaths paths);

  /// Fails when any place cannot be listed completely; names each of them on stderr.
  base::Result<views::Garbage> Look(const GarbageWish& wish);
  /// One at a time; the outcome is written into it.
  void Remove(views::Garbage::Slice& slice);
  void Stop(views::Garbage::Run& run);

 private:
  base::Result<std::vector<core::FoundSlice>> List(const CloudPlace& place);
  base::Result<ports::SliceApi*> CloudOf(const core::CloudSpec& spec);
  base::Result<core::Claim> Judge(const core::FoundSlice& found);
  base::Result<std::optional<core::FoundSlice>> LookAgain(const views::Garbage::Slice& slice);
  base::Status TryRemove(views::Garbage::Slice& slice);
  base::Status TryStop(views::Garbage::Run& run);
  base::Status LookAtHosts(views::Garbage& garbage);
  base::Status LookAtHostsOf(const core::Job& job, views::Garbage& garbage);
  /// Nothing when the store knows no such job.
  static base::Task<base::Result<std::optional<core::Job>>> JobOf(ports::JobStore* jobs,
                                                                  core::JobId id);
  base::Result<std::optional<core::Job>> JobOf(core::JobId id);
  static base::Task<base::Status> IsStillStray(ports::JobStore* jobs, core::JobOnHost on,
                                               std::string run_id);

  App& app_;
  ports::Stores stores_;
  base::StatePaths paths_;
  asio::io_context loop_ = {};
  ssh::SshHostShell shell_;
  std::map<std::string, std::unique_ptr<cloud::Cloud>> clouds_ = {};
};

}  // namespace jobman::cli
