#include "controller/slice_calls.hpp"

#include <algorithm>

#include "tests/unit/controller/cloud_fixture.hpp"

namespace jobman::controller {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class SliceCallsTest : public CloudFixture {
 protected:
  std::ptrdiff_t PlaceOf(const std::string& call) const {
    const auto& calls = api_->calls();
    return std::find(calls.begin(), calls.end(), call) - calls.begin();
  }
  static test::Fault DeleteFails(base::Code code) {
    return {.call = "Delete", .error = {.code = code, .message = "not deleted"}};
  }
  SliceCalls calls_{loop_, ports_, options_, clouds_, *book_, *watch_};
};

TEST_F(SliceCallsTest, ACreateIsSentOnceAndItsAnswerGoesToTheJob) {
  const core::Job job = AddJob();
  calls_.Do(job, core::CreateSlice{RequestOf(job)});
  calls_.Do(job, core::CreateSlice{RequestOf(job)});
  EXPECT_FALSE(calls_.Quiet());
  Turn();
  EXPECT_TRUE(calls_.Quiet());
  EXPECT_EQ(api_->CountCalls("Create"), 1);
  EXPECT_THAT(api_->created()[0].tpu.metadata.at("ssh-keys"), HasSubstr("ada:ssh-ed25519 AAAA"));
  EXPECT_EQ(store_.Get(job.id)->slice->phase, core::SlicePhase::kCreated);
}

TEST_F(SliceCallsTest, WithoutAnSshKeyNothingIsRequested) {
  key_error_ = base::Error{.code = base::Code::kFailedPrecondition, .message = "no key"};
  const core::Job job = AddJob();
  calls_.Do(job, core::CreateSlice{RequestOf(job)});
  Turn();
  EXPECT_EQ(api_->CountCalls("Create"), 0);
  EXPECT_THAT(store_.Get(job.id)->why, HasSubstr("no key"));
}

TEST_F(SliceCallsTest, ADeleteWaitsForTheAnswerOfTheCreate) {
  const core::Job job = AddJob();
  calls_.Do(job, core::CreateSlice{RequestOf(job)});
  calls_.Do(job, core::DeleteSlice{job.slice->ref});
  Turn();
  EXPECT_LT(PlaceOf("Create train-000001-a1"), PlaceOf("Delete train-000001-a1"));
  EXPECT_THAT(api_->calls(), Contains("Delete train-000001-a1"));
  EXPECT_THAT(api_->Leftovers(), IsEmpty());
  EXPECT_TRUE(calls_.Quiet());
}

TEST_F(SliceCallsTest, ADeleteThatWasAnsweredIsNotRepeated) {
  core::Job job = AddJob();
  Grant(RequestOf(job));
  job.slice->phase = core::SlicePhase::kDeleting;
  job.slice->delete_requested_at = ports_.clock->Now();
  api_->AddFault(DeleteFails(base::Code::kPermissionDenied));
  calls_.Do(job, core::DeleteSlice{job.slice->ref});
  Turn();
  calls_.Do(job, core::DeleteSlice{job.slice->ref});  // as after a silence of the cloud
  Turn();
  EXPECT_EQ(api_->CountCalls("Delete"), 1);
  *job.slice->delete_requested_at += std::chrono::seconds{30};
  calls_.Do(job, core::DeleteSlice{job.slice->ref});
  Turn();
  EXPECT_EQ(api_->CountCalls("Delete"), 2) << "another one was decided";
}

TEST_F(SliceCallsTest, ADeleteWithoutAnAnswerIsRepeated) {
  core::Job job = AddJob();
  Grant(RequestOf(job));
  job.slice->phase = core::SlicePhase::kDeleting;
  job.slice->delete_requested_at = ports_.clock->Now();
  api_->AddFault(DeleteFails(base::Code::kUnavailable));
  for (int time = 0; time < 2; ++time) {
    calls_.Do(job, core::DeleteSlice{job.slice->ref});
    Turn();
  }
  EXPECT_EQ(api_->CountCalls("Delete"), 2);
}

TEST_F(SliceCallsTest, NothingWithoutTheJobsLabelsIsDeleted) {
  const core::Job job = AddJob();
  core::SliceRequest foreign = RequestOf(job);
  foreign.tpu.labels["jobman-store"] = "another";
  Grant(foreign);
  calls_.Do(job, core::DeleteSlice{job.slice->ref});
  Turn();
  EXPECT_EQ(api_->CountCalls("Delete"), 0);
  EXPECT_FALSE(api_->Leftovers().empty());
}

TEST_F(SliceCallsTest, WhatAGetCallDoesNotFindIsDeletedAllTheSame) {
  const core::Job job = AddJob();
  Grant(RequestOf(job));
  for (const char* get : {"GetQueued", "GetNode"}) {
    api_->AddFault({.call = get, .error = {.code = base::Code::kNotFound, .message = "none"}});
  }
  calls_.Do(job, core::DeleteSlice{job.slice->ref});
  Turn();
  EXPECT_THAT(api_->Leftovers(), IsEmpty());
}

TEST_F(SliceCallsTest, NodesThatOutliveTheirQueuedResourceAreDeletedToo) {
  const core::Job job = AddJob();
  core::SliceRequest node = RequestOf(job);
  node.ref.mode = core::AllocationMode::kTpuVm;
  Grant(node);
  calls_.Do(job, core::DeleteSlice{job.slice->ref});
  Turn();
  EXPECT_THAT(api_->Leftovers(), IsEmpty());
}

TEST_F(SliceCallsTest, ALookByNameFindsASliceThatNoListingShows) {
  const core::Job job = AddJob();
  Grant(RequestOf(job));
  calls_.Do(job, core::LookUpSlice{job.slice->ref});
  Turn();
  EXPECT_EQ(api_->CountCalls("ListNodes"), 0);
  EXPECT_EQ(store_.Get(job.id)->slice->phase, core::SlicePhase::kCreated) << StateOf(job);
}

TEST_F(SliceCallsTest, OurKeyIsAddedToANodeThatIsTheUsers) {
  core::Job job = AddJob();
  job.slice->ref = {.mode = core::AllocationMode::kTpuVm,
                    .place = job.slice->ref.place,
                    .name = "theirs",
                    .existing = true};
  api_->AddNode({.id = "theirs", .zone = job.slice->ref.place.zone});
  for (int time = 0; time < 2; ++time) {
    calls_.Do(job, core::AddLogin{job.slice->ref});
    EXPECT_FALSE(calls_.Quiet());
    Turn();
  }
  EXPECT_THAT(api_->LoginsOf("theirs"), testing::ElementsAre("ada:ssh-ed25519 AAAA ada"));
  EXPECT_TRUE(calls_.Quiet());
}

TEST_F(SliceCallsTest, ALookWithoutAnAnswerIsNoObservation) {
  const core::Job job = AddJob();
  api_->SetReachable(false);
  calls_.Do(job, core::LookUpSlice{job.slice->ref});
  Turn();
  EXPECT_EQ(store_.Get(job.id)->version, job.version);
  EXPECT_TRUE(calls_.Quiet());
}

}  // namespace
}  // namespace jobman::controller
