#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "jobman/base/clock.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/ports/billing_api.hpp"
#include "jobman/ports/bucket_api.hpp"
#include "jobman/ports/bucket_list.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/ports/login_api.hpp"
#include "jobman/ports/project_api.hpp"
#include "jobman/ports/quota_api.hpp"
#include "jobman/ports/slice_api.hpp"
#include "jobman/ports/stores.hpp"

namespace jobman::client {

/// Commands that read must not create anything.
enum class StoreUse { kRead, kWrite };
/// Opens the store of a home folder. kRead: an empty store if there is none yet. kWrite: creates
/// what is missing in the home folder, which must exist.
using StoreOpener = std::function<base::Result<ports::Stores>(const base::StatePaths&, StoreUse)>;

/// A client of one cloud: its slices, the catalog of what it offers, and their maintenance.
struct CloudClient {
  std::shared_ptr<ports::SliceApi> slices = {};
  std::shared_ptr<ports::Catalog> catalog = {};
  std::shared_ptr<ports::Maintenance> maintenance = {};
};
/// Opens a client of the cloud that a job names, on the caller's loop. Starts the cloud `local` if
/// it is not running.
using CloudOpener =
    std::function<base::Task<base::Result<CloudClient>>(base::StatePaths, core::CloudSpec)>;
/// Opens the buckets that the slices of a cloud use; null if the cloud has none.
using BucketOpener = std::function<base::Result<std::shared_ptr<ports::BucketApi>>(
    asio::any_io_executor, const core::CloudSpec&)>;
/// Opens what Compute Engine knows of the projects of a cloud; null if the cloud has none.
using ProjectOpener = std::function<base::Result<std::shared_ptr<ports::ProjectApi>>(
    asio::any_io_executor, const core::CloudSpec&)>;
/// Opens the login profile of the account whose credentials a cloud is asked with; null if the
/// cloud has no OS Login.
using LoginOpener = std::function<base::Result<std::shared_ptr<ports::LoginApi>>(
    asio::any_io_executor, const core::CloudSpec&)>;
/// Opens the quotas of the projects of a cloud; null if the cloud has none.
using QuotaOpener = std::function<base::Result<std::shared_ptr<ports::QuotaApi>>(
    asio::any_io_executor, const core::CloudSpec&)>;
/// Open the list of a project's buckets, and their sizes; null if the cloud has none.
using BucketListOpener = std::function<base::Result<std::shared_ptr<ports::BucketList>>(
    asio::any_io_executor, const core::CloudSpec&)>;
using BucketSizesOpener = std::function<base::Result<std::shared_ptr<ports::BucketSizes>>(
    asio::any_io_executor, const core::CloudSpec&)>;
/// Opens what projects are billed; null if the cloud has none.
using BillingOpener = std::function<base::Result<std::shared_ptr<ports::BillingApi>>(
    asio::any_io_executor, const core::CloudSpec&)>;
/// Opens a shell on hosts whose keys are pinned in the given store, which must outlive the shell.
using ShellOpener =
    std::function<std::unique_ptr<ports::HostShell>(asio::any_io_executor, ports::HostKeyStore&)>;
/// Starts a controller for the home folder in the background; returns its process, a child. Its
/// output goes to StatePaths::ControllerLog().
using ControllerStarter = std::function<base::Result<pid_t>(const base::StatePaths&, bool verbose)>;
/// Where the store of a home folder is.
using SiteLooker = std::function<core::Site(const base::StatePaths&)>;
/// Waits. False if the user interrupted, before or during the wait.
using Pause = std::function<bool(base::Duration)>;

/// What a command works with once its store is open. The loop and the clock must outlive it and all
/// of its copies.
struct Context {
  base::StatePaths paths = {};
  ports::Stores stores = {};
  asio::io_context* loop = nullptr;
  const base::Clock* clock = nullptr;
  Pause pause = {};
  CloudOpener open_cloud = {};
  BucketOpener open_buckets = {};            ///< empty: no bucket is looked at
  ProjectOpener open_projects = {};          ///< empty: no project is looked at
  LoginOpener open_logins = {};              ///< empty: no cloud has OS Login
  QuotaOpener open_quotas = {};              ///< empty: no quota is looked at
  BucketListOpener open_bucket_list = {};    ///< empty: buckets are not listed
  BucketSizesOpener open_bucket_sizes = {};  ///< empty: they are not measured
  BillingOpener open_billing = {};           ///< empty: nobody is asked
  ShellOpener open_shell = {};
  ShellOpener open_own_shell =
      {};  ///< whose connections are this process's: no controller ends them
  ControllerStarter start_controller = {};
  SiteLooker look_at_site = {};  ///< empty: the store may be used anywhere
  bool verbose = false;          ///< of a controller that is started

  base::TimePoint Now() const { return clock->Now(); }
  /// Runs a task, such as a call of a port, to completion. Not from a coroutine.
  template <class T>
  T Await(base::Task<T> task) const {
    return base::RunTask(*loop, std::move(task));
  }
};

/// The first of --home, $JOBMAN_HOME, $XDG_STATE_HOME/jobman and ~/.local/state/jobman that is set,
/// as an absolute path. kFailedPrecondition if there is none.
base::Result<base::Path> FindHome(const std::string& option);
/// Opens the store of a home folder that only this user and root can change. kWrite creates the
/// home folder if it is missing, and its errors say how to choose another.
base::Result<ports::Stores> OpenStores(const base::StatePaths& paths, StoreUse use,
                                       const StoreOpener& open);

}  // namespace jobman::client
