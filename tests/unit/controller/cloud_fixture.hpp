#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/zone_watch.hpp"
#include "jobman/core/describe.hpp"
#include "jobman/core/slice_name.hpp"
#include "tests/support/fake_slice_api.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman::controller {

/// A fake cloud, a store in memory, and the book of its jobs.
class CloudFixture : public testing::Test {
 protected:
  CloudFixture() : api_(std::make_shared<test::FakeSliceApi>(clock_)) {
    ports_.stores = store_.stores();
    ports_.clock = &clock_;
    ports_.open_cloud = [this](core::CloudSpec) {
      ++opened_;
      return test::OpenAs(api_);
    };
    ports_.public_key = [this](const std::string&) -> base::Result<std::string> {
      if (key_error_) return *key_error_;
      return std::string{"ssh-ed25519 AAAA"};
    };
    ports_.read_public_key = ports_.public_key;
    ports_.ssh_port = [](const core::CloudSpec&) { return 22; };
    options_.policy.store_id = *store_.StoreId();
    options_.policy.poll = std::chrono::hours{1};
    options_.hot_poll = std::chrono::hours{1};  // no second look by itself
    const auto lease = store_.TakeLease("me", clock_.Now(), std::chrono::hours{100});
    JobBook::Hooks hooks;
    hooks.decided = [this](const core::Job&, const std::vector<core::Effect>& effects) {
      for (const core::Effect& effect : effects) decided_.push_back(core::Describe(effect));
    };
    hooks.lease_lost = [] {};
    hooks.dropped = [](core::JobId) {};
    book_.emplace(loop_, ports_, options_.policy, std::move(hooks));
    book_->set_lease_token((*lease)->token);
    watch_.emplace(loop_, ports_, options_, clouds_, *book_);
  }

  /// A job that has just requested the slice of its first attempt; in the store and in the book.
  core::Job AddJob(core::AllocationMode mode = core::AllocationMode::kQueuedResources) {
    core::Job job = test::SampleJob("train");
    job.spec.tpu.allocation_mode = mode;
    job.id = core::JobId{++jobs_};
    job.state = core::Requesting{};
    job.attempt = 1;
    job.wake_at = clock_.Now() + std::chrono::hours{1};
    job.slice = core::Slice{.ref = core::SliceFor(job, 1)};
    job.slice->requests_sent = 1;
    job.slice->requested_at = clock_.Now();
    job.slice->last_evidence_at = clock_.Now();
    job.slice->unshown = core::NamesOfParts(job.slice->ref);
    EXPECT_EQ(store_.Create(job, "source", clock_.Now())->value, jobs_);
    EXPECT_TRUE(base::RunTask(loop_, book_->Load()).ok());
    Turn();
    decided_.clear();
    return *store_.Get(job.id);
  }
  core::SliceRequest RequestOf(const core::Job& job) {
    return core::RequestFor(job, job.slice->ref, options_.policy.store_id);
  }
  /// Puts the slice of the request into the cloud, with these labels.
  void Grant(core::SliceRequest request) {
    const auto create = [](std::shared_ptr<test::FakeSliceApi> api,
                           core::SliceRequest what) -> base::Task<void> {
      (void)co_await api->Create(std::move(what));
    };
    base::RunTask(loop_, create(api_, std::move(request)));
  }
  std::string StateOf(const core::Job& job) {
    return std::string(core::StateName(store_.Get(job.id)->state));
  }
  /// Runs ready handlers until the book has decided.
  void Turn() {
    for (int i = 0; i < 20; ++i) {
      loop_.restart();
      loop_.run_for(std::chrono::milliseconds{1});
    }
  }

  asio::io_context loop_;
  test::FakeClock clock_;
  std::shared_ptr<test::FakeSliceApi> api_;
  test::StoreInMemory store_;
  Ports ports_;
  Options options_;
  Clouds clouds_{ports_};
  std::optional<JobBook> book_;
  std::optional<ZoneWatch> watch_;
  std::int64_t jobs_ = 0;
  int opened_ = 0;
  std::optional<base::Error> key_error_ = {};
  std::vector<std::string> decided_ = {};
};

}  // namespace jobman::controller
