#include "jobman/core/flaw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using test::JobBuilder;
using test::Reconciling;

Job RunsCommand() {
  return Reconciling(JobBuilder().Step("install").Build()).ToRunning().job();
}

TEST(Flaw, JobsOfTheReconcilerHaveNone) {
  EXPECT_EQ(FlawOf(JobBuilder().Build()), std::nullopt) << "a new job";
  EXPECT_EQ(FlawOf(RunsCommand()), std::nullopt);
}

TEST(Flaw, NamesTheContradiction) {
  const std::vector<std::pair<std::function<void(Job&)>, std::string>> kFlaws = {
      {[](Job& job) { job.stage.reset(); }, "RUNNING without a stage"},
      {[](Job& job) { job.slice.reset(); }, "RUNNING without a slice"},
      {[](Job& job) { job.attempt = 0; }, "RUNNING before the first attempt"},
      {[](Job& job) { job.attempt_end = AttemptEnd{}; }, "RUNNING, but the attempt has ended"},
      {[](Job& job) { job.stage->id = SetupStage{0}; }, "RUNNING, but setup-0 runs"},
      {[](Job& job) { job.state = core::Setup{.step = 7}; }, "SETUP, but run runs"},
      {[](Job& job) { job.wake_at.reset(); }, "it is active and has no wake_at"},
      {[](Job& job) { job.state = Waiting{}; }, "WAITING with a stage"},
      {[](Job& job) {
         job.stage.reset();
         job.state = BackingOff{};
       },
       "BACKOFF, but the attempt goes on"},
      {[](Job& job) { job.slice->requests_sent = 0; }, "its slice was never requested"},
      {[](Job& job) { job.slice->nodes[0].hosts = 3; },
       "its slice has 4 hosts, but its nodes have 3"},
      {[](Job& job) { job.slice->phase = SlicePhase::kIntended; },
       "its slice has hosts and was never created"},
      {[](Job& job) { job.slice->delete_refused = core::DeleteRefused{.times = 1}; },
       "the delete of its slice was refused and never asked for"},
      {[](Job& job) { job.slice->unshown = {"another"}; },
       "its slice waits for a node that is not its own"},
      {[](Job& job) {
         job.slice->ref.name = "train.1";
         job.slice->unshown.clear();
       },
       "no node can have the name of its slice"},
      {[](Job& job) { job.stage->hosts.clear(); }, "a stage runs on no host"},
      {[](Job& job) { std::swap(job.stage->hosts[0], job.stage->hosts[1]); },
       "the hosts of its stage are out of order"},
      {[](Job& job) { job.stage->hosts.push_back({.host = 4}); },
       "host 4 is in its stage but not in its slice"},
      {[](Job& job) { job.stage->generation = 1; },
       "its stage began on machines that the slice never had"},
  };
  for (const auto& [damage, flaw] : kFlaws) {
    Job job = RunsCommand();
    damage(job);
    EXPECT_EQ(FlawOf(job), flaw);
  }
}

TEST(Flaw, ASetupStepIsToldOfNoNotice) {
  Reconciling r(JobBuilder().Step("install").Build());
  Job job = r.Tick().Answered().Ready().job();
  job.stage->told = Told{};
  EXPECT_EQ(FlawOf(job), "a setup step was told of a notice");
}

TEST(Flaw, AnUnknownSetupStepIsAFlaw) {
  Reconciling r(JobBuilder().Step("install").Build());
  Job job = r.Tick().Answered().Ready().job();
  job.stage->id = SetupStage{1};
  job.state = core::Setup{.step = 1};
  EXPECT_EQ(FlawOf(job), "setup step 1 runs, but the spec has 1");
}

}  // namespace
}  // namespace jobman::core
