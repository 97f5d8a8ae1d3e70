#pragma once

#include <functional>
#include <memory>
#include <string>

#include "jobman/base/clock.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/ports/slice_api.hpp"
#include "jobman/ports/stores.hpp"

namespace jobman::client {

/// Commands that read must not create anything.
enum class StoreUse { kRead, kWrite };
/// Opens the store of a home folder. kRead: gives an empty store when there is none yet. kWrite:
/// creates what is absent below the home folder, which exists.
using StoreOpener = std::function<base::Result<ports::Stores>(const base::StatePaths&, StoreUse)>;

/// A client of one cloud: its slices, and what it offers.
struct CloudClient {
  std::shared_ptr<ports::SliceApi> slices = {};
  std::shared_ptr<ports::Catalog> catalog = {};
};
/// The client of the cloud that a job names, on the loop of its caller. `local` is started when it
/// does not run.
using CloudOpener =
    std::function<base::Task<base::Result<CloudClient>>(base::StatePaths, core::CloudSpec)>;
/// A shell on hosts whose keys are pinned there, which must outlive it.
using ShellOpener =
    std::function<std::unique_ptr<ports::HostShell>(asio::any_io_executor, ports::HostKeyStore&)>;
/// Waits; false when the user interrupted, at once or meanwhile.
using Pause = std::function<bool(base::Duration)>;

/// What a command works with, once its store is open. The loop and the clock must outlive it and
/// its copies.
struct Context {
  base::StatePaths paths = {};
  ports::Stores stores = {};
  asio::io_context* loop = nullptr;
  const base::Clock* clock = nullptr;
  Pause pause = {};
  CloudOpener open_cloud = {};
  ShellOpener open_shell = {};
  bool verbose = false;  ///< a controller that is started says what it does

  base::TimePoint Now() const { return clock->Now(); }
  /// Runs a call of a port, or a task made of such calls, to its end. Not from a coroutine.
  template <class T>
  T Await(base::Task<T> task) const {
    return base::RunTask(*loop, std::move(task));
  }
};

/// --home, $JOBMAN_HOME, $XDG_STATE_HOME/jobman, ~/.local/state/jobman: the first that is given.
/// Absolute. kFailedPrecondition when no place can be named.
base::Result<base::Path> FindHome(const std::string& option);
/// Opens the store; for kWrite the home folder is created when it is absent, and an error says how
/// to choose another.
base::Result<ports::Stores> OpenStores(const base::StatePaths& paths, StoreUse use,
                                       const StoreOpener& open);

}  // namespace jobman::client
