#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/stage_context.hpp"
#include "tests/support/fake_slice_api.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/scripted_shell.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {

/// For the parts of a StageRunner: a job whose command is to run on host 0 of its slice, with
/// scripted answers.
class StageFixture : public testing::Test {
 protected:
  /// Vouches for the host's key at once.
  class VouchingApi final : public test::FakeSliceApi {
   public:
    using FakeSliceApi::FakeSliceApi;
    base::Task<base::Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place,
                                                                      std::string) override {
      std::vector<core::HostKeys> keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA"}}},
                                          {.host = 1, .keys = {{"ssh-ed25519", "BBBB"}}}};
      co_return keys;
    }
  };

  StageFixture() {
    options_.paths.home = dir_.path();
    ports_.shell = &shell_;
    ports_.clock = &clock_;
    ports_.open_cloud = [this](core::CloudSpec) {
      return test::OpenAs(std::make_shared<VouchingApi>(clock_));
    };
    ports_.ssh_port = [](const core::CloudSpec&) { return 22; };
    ports_.random = [] { return 0.0; };
    job_ = test::SampleJob("train");
    job_.id = core::JobId{1};
    job_.attempt = 1;
    job_.slice = test::SampleSlice("train-000001-a1");
    job_.spec.command.grace = std::chrono::seconds{5};
    job_.stage = core::Stage{.name = "run", .hosts = {{.host = 0}}, .started_at = clock_.Now()};
  }

  core::HostRun& Host() { return job_.stage->hosts[0]; }
  /// The context of the job as it is now.
  const StageContext& Context() {
    StageHooks hooks;
    hooks.report = [this](core::HostReport report) { reports_.push_back(std::move(report.run)); };
    hooks.observed = [](const core::Observation&) {};
    hooks.trouble = [this] { ++troubles_; };
    hooks.cloud_answers = [this] { return cloud_answers_; };
    hooks.slice_ready = [this] { return slice_ready_; };
    hooks.secret = [](const core::SecretRef&) { return std::optional<std::string>{}; };
    context_.emplace(StageContext{.executor = loop_.get_executor(),
                                  .ports = ports_,
                                  .options = options_,
                                  .access = access_,
                                  .job = std::make_shared<const core::Job>(job_),
                                  .hooks = std::move(hooks),
                                  .transfers = transfers_,
                                  .begins_here = begins_here_});
    return *context_;
  }
  /// Runs ready handlers, but no timers.
  void Turn() {
    for (int i = 0; i < 50; ++i) {
      loop_.restart();
      loop_.poll();
    }
  }
  /// Waits between tries take real time.
  template <class Condition>
  bool Until(Condition condition) {
    for (int i = 0; i < 4000 && !condition(); ++i) {
      loop_.restart();
      loop_.run_for(std::chrono::milliseconds{5});
    }
    return condition();
  }
  const core::HostRun& Last() const { return reports_.back(); }
  std::string Log() { return base::ReadFile(Context().LogPath(0)).value_or("(no log)"); }
  static base::Error Broken() {
    return {.code = base::Code::kUnavailable,
            .message = "the connection broke",
            .reason = base::Reason::kHostTimeout};
  }

  test::TempDir dir_;
  test::FakeClock clock_;
  asio::io_context loop_;
  test::ScriptedShell shell_{clock_};
  Ports ports_;
  Options options_{.policy = {.store_id = "store1"}};
  Clouds clouds_{ports_};
  HostAccess access_{ports_, clouds_};
  std::shared_ptr<base::Gate> transfers_ = std::make_shared<base::Gate>(2);
  core::Job job_;
  bool cloud_answers_ = true;
  bool slice_ready_ = true;
  bool begins_here_ = false;
  int troubles_ = 0;
  std::vector<core::HostRun> reports_ = {};
  std::optional<StageContext> context_;
};

}  // namespace jobman::controller
