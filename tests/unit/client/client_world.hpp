#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "jobman/base/env.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/lend.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::test {

/// A store, a cloud and a home folder for tests of module client.
class ClientWorld : public testing::Test {
 protected:
  client::Context Context() {
    return {.paths = {.home = home_.path()},
            .stores = store_.stores(),
            .loop = &loop_,
            .clock = &clock_,
            .pause = [this](base::Duration) { return on_pause_ && on_pause_(); },
            .open_cloud = Lend(cloud_),
            .open_shell = shell_ == nullptr ? client::ShellOpener{} : Lend(*shell_),
            .open_own_shell = shell_ == nullptr ? client::ShellOpener{} : Lend(*shell_),
            .start_controller = start_controller_};
  }
  template <class T>
  T Await(base::Task<T> task) {
    return base::RunTask(loop_, std::move(task));
  }
  /// Stores the job as it is, without the wish of a new job.
  core::Job Put(core::Job job) {
    const auto id = store_.Create(job, "", clock_.Now());
    EXPECT_TRUE(id.ok());
    job.id = *id;
    return Change(job);
  }
  /// Stores the job's next version.
  core::Job Change(core::Job job) {
    job.version = store_.Get(job.id)->version;
    job.wish_new = false;
    EXPECT_TRUE(store_.Commit({.job = job}, 0).ok());
    return *store_.Get(job.id);
  }

  /// A controller lives, so that none is started.
  void HoldLease(const std::string& holder = controller::LeaseHolder()) {
    EXPECT_TRUE(store_.TakeLease(holder, clock_.Now(), kLeaseTime).ok());
  }

  static constexpr base::Duration kLeaseTime = std::chrono::hours{1};
  FakeClock clock_ = {};
  StoreInMemory store_ = {};
  FakeSliceApi cloud_{clock_};
  TempDir home_ = {};
  asio::io_context loop_ = {};
  ports::HostShell* shell_ = nullptr;
  std::function<bool()> on_pause_ = {};
  /// Without it, starting a controller is a defect of the test.
  client::ControllerStarter start_controller_ = {};
};

}  // namespace jobman::test
