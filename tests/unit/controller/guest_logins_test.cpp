#include "controller/guest_logins.hpp"

#include "controller/slice_calls.hpp"
#include "tests/support/public_keys.hpp"
#include "tests/unit/controller/cloud_fixture.hpp"

namespace jobman::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class GuestLoginsTest : public CloudFixture {
 protected:
  void Invite(const core::Guest& guest) { ASSERT_TRUE(store_.SetGuest({}, guest).ok()); }
  /// A job whose node is there.
  core::Job Granted() {
    core::Job job = AddJob(core::AllocationMode::kTpuVm);
    Grant(RequestOf(job));
    return job;
  }
  std::vector<std::string> LoginsOn(const core::Job& job) {
    return api_->LoginsOf(job.slice->ref.name);
  }
  GuestLogins logins_{loop_, ports_, clouds_};
  SliceCalls calls_{loop_, ports_, options_, clouds_, *book_, *watch_};
};

TEST_F(GuestLoginsTest, ASliceIsRequestedWithTheKeysOfItsGuests) {
  Invite(test::Ann());
  Invite(test::Bob({"eval-*"}));
  const core::Job job = AddJob();
  calls_.Do(job, core::CreateSlice{RequestOf(job)});
  Turn();
  ASSERT_EQ(api_->created().size(), 1U);
  EXPECT_EQ(api_->created()[0].tpu.metadata.at("ssh-keys"),
            "ada:ssh-ed25519 AAAA ada\n" + core::LoginOf(test::Ann()));
}

TEST_F(GuestLoginsTest, AGuestWhoCameAfterTheRequestIsLetInWhenWorkBegins) {
  const core::Job job = Granted();
  Invite(test::Ann());
  logins_.Bring(job);
  EXPECT_FALSE(logins_.Quiet());
  logins_.Bring(job);
  Turn();
  EXPECT_TRUE(logins_.Quiet());
  EXPECT_EQ(api_->CountCalls("ChangeLogins"), 1);
  EXPECT_THAT(LoginsOn(job), ElementsAre(core::LoginOf(test::Ann())));
}

TEST_F(GuestLoginsTest, AGuestWhoHasLeftIsForgottenOnceNoNodeHasTheKey) {
  const core::Job job = Granted();
  Invite(test::Ann());
  logins_.Bring(job);
  Turn();
  core::Guest leaving = test::Ann();
  leaving.leaving = true;
  leaving.left_on = {job.id};
  ASSERT_TRUE(store_.SetGuest(test::Ann(), leaving).ok());
  api_->AddFault({.call = "ChangeLogins", .error = {.code = base::Code::kUnavailable}});
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(*store_.Guests(), Not(IsEmpty())) << "the node has the key still";
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(LoginsOn(job), IsEmpty());
  EXPECT_THAT(*store_.Guests(), IsEmpty());
}

TEST_F(GuestLoginsTest, WithoutGuestsNobodyIsAsked) {
  const core::Job job = Granted();
  logins_.Bring(job);
  Turn();
  EXPECT_EQ(api_->CountCalls("ChangeLogins"), 0);
}

TEST_F(GuestLoginsTest, ANodeThatIsTheUsersIsLeftAlone) {
  core::Job job = Granted();
  Invite(test::Ann());
  job.slice->ref.existing = true;
  logins_.Bring(job);
  Turn();
  EXPECT_EQ(api_->CountCalls("ChangeLogins"), 0);
}

TEST_F(GuestLoginsTest, TheJobsOwnLoginIsNeverTakenAway) {
  const core::Job job = Granted();
  core::Guest own{.user = job.spec.ssh.user,
                  .key = {.type = "ssh-ed25519", .data = "AAAA"},
                  .leaving = true,
                  .left_on = {job.id}};
  Invite(own);
  logins_.Bring(job);
  Turn();
  EXPECT_EQ(api_->CountCalls("ChangeLogins"), 0);
  EXPECT_THAT(*store_.Guests(), IsEmpty()) << "there is nothing left to do";
}

}  // namespace
}  // namespace jobman::controller
