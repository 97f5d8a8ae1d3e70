#include "controller/guest_logins.hpp"

#include <functional>
#include <utility>

#include "controller/slice_calls.hpp"
#include "tests/support/public_keys.hpp"
#include "tests/unit/controller/cloud_fixture.hpp"

namespace jobman::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// The guests of the store; before a certain reading something happens.
class EventfulGuests final : public ports::GuestStore {
 public:
  explicit EventfulGuests(ports::GuestStore* inner) : inner_(inner) {}
  base::Task<base::Result<std::vector<core::Guest>>> Guests() override {
    if (--readings == 0) before_reading();
    return inner_->Guests();
  }
  base::Task<base::Result<std::vector<ports::UnreadGuest>>> UnreadGuests() override {
    return inner_->UnreadGuests();
  }
  base::Task<base::Status> SetGuest(std::optional<core::Guest> was,
                                    std::optional<core::Guest> now) override {
    return inner_->SetGuest(std::move(was), std::move(now));
  }
  int readings = 0;
  std::function<void()> before_reading = {};

 private:
  ports::GuestStore* inner_;
};

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
  EXPECT_EQ(api_->CountCalls("ChangeLogins"), 2) << "one after the other";
  EXPECT_THAT(LoginsOn(job), ElementsAre(core::LoginOf(test::Ann())));
}

TEST_F(GuestLoginsTest, AGuestWhoLeavesDuringTheChangeDoesNotKeepTheKey) {
  const core::Job job = Granted();
  Invite(test::Ann());
  // As `keys remove` does, which found no key on the node.
  api_->before_change_of_logins = [&] { ASSERT_TRUE(store_.SetGuest(test::Ann(), {}).ok()); };
  logins_.Bring(job);
  Turn();
  EXPECT_TRUE(logins_.Quiet());
  EXPECT_THAT(LoginsOn(job), IsEmpty());
  EXPECT_THAT(*store_.Guests(), IsEmpty());
}

TEST_F(GuestLoginsTest, AKeyThatCameTooLateAndCannotBeTakenAwayIsOnRecord) {
  const core::Job job = Granted();
  Invite(test::Ann());
  api_->before_change_of_logins = [&] {
    ASSERT_TRUE(store_.SetGuest(test::Ann(), {}).ok());
    api_->AddFault({.call = "ChangeLogins", .error = {.code = base::Code::kUnavailable}});
  };
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(LoginsOn(job), SizeIs(1));
  ASSERT_THAT(*store_.Guests(), SizeIs(1));
  EXPECT_TRUE(store_.Guests()->front().leaving);
  EXPECT_THAT(store_.Guests()->front().left_on, ElementsAre(job.id));
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(LoginsOn(job), IsEmpty());
  EXPECT_THAT(*store_.Guests(), IsEmpty());
}

TEST_F(GuestLoginsTest, ANodeThatFailsAfterTheRecordWasDroppedIsOnRecord) {
  const core::Job job = Granted();
  core::Guest leaving = test::Ann();
  leaving.leaving = true;
  leaving.left_on = {job.id};
  Invite(leaving);
  // As `keys remove` does, which took the key away before it came back.
  api_->before_change_of_logins = [&] { ASSERT_TRUE(store_.SetGuest(leaving, {}).ok()); };
  api_->AddFault(
      {.call = "ChangeLogins", .error = {.code = base::Code::kUnavailable}, .reply_lost = true});
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(*store_.Guests(), ElementsAre(leaving));
}

TEST_F(GuestLoginsTest, AGuestWhoIsBackIsNotPutOnRecordAsLeaving) {
  const core::Job job = Granted();
  Invite(test::Ann());
  EventfulGuests guests(ports_.stores.guests);
  ports_.stores.guests = &guests;
  guests.before_reading = [&] {
    ASSERT_TRUE(store_.SetGuest({}, test::Ann()).ok());
    api_->AddFault({.call = "ChangeLogins", .error = {.code = base::Code::kUnavailable}});
  };
  api_->before_change_of_logins = [&] {
    ASSERT_TRUE(store_.SetGuest(test::Ann(), {}).ok());
    guests.readings = 2;  // after the one that shows that the guest has gone
  };
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(*store_.Guests(), ElementsAre(test::Ann()));
}

TEST_F(GuestLoginsTest, ACallDuringAnotherIsNotLost) {
  const core::Job job = Granted();
  core::Job renamed = job;
  renamed.name = "sweep-1";
  Invite(test::Ann());
  Invite(test::Bob({"sweep-*"}));
  logins_.Bring(job);
  logins_.Bring(renamed);
  Turn();
  EXPECT_TRUE(logins_.Quiet());
  EXPECT_THAT(LoginsOn(job), SizeIs(2));
}

TEST_F(GuestLoginsTest, ANodeThatFailsDoesNotStopTheOthers) {
  core::Job job = AddJob();
  job.slice->ref.nodes = 3;
  const std::vector<std::string> nodes = core::NodeIds(job.slice->ref);
  // The second node is gone: it has no key.
  for (const std::string& node : {nodes[0], nodes[2]})
    api_->AddNode({.id = node, .zone = job.slice->ref.place.zone});
  core::Guest leaving = test::Bob();
  leaving.leaving = true;
  leaving.left_on = {job.id};
  Invite(test::Ann());
  Invite(leaving);
  api_->AddFault({.call = "ChangeLogins", .error = {.code = base::Code::kUnavailable}});
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(api_->LoginsOf(nodes[2]), ElementsAre(core::LoginOf(test::Ann())));
  EXPECT_THAT(*store_.Guests(), SizeIs(2)) << "the first node may have the key still";
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(*store_.Guests(), ElementsAre(test::Ann()));
}

TEST_F(GuestLoginsTest, AGuestWhoIsLetInToFewerJobsIsStruckOff) {
  const core::Job job = Granted();
  core::Guest narrowed = test::Ann({"sweep-*"});
  narrowed.left_on = {job.id};
  Invite(narrowed);
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(*store_.Guests(), ElementsAre(test::Ann({"sweep-*"})));
}

TEST_F(GuestLoginsTest, ARecordThatChangesMeanwhileIsReadAgain) {
  const core::Job job = Granted();
  core::Guest leaving = test::Ann();
  leaving.leaving = true;
  leaving.left_on = {job.id, core::JobId{77}};
  Invite(leaving);
  api_->before_change_of_logins = [&] {
    core::Guest fewer = leaving;
    fewer.left_on = {job.id};
    ASSERT_TRUE(store_.SetGuest(leaving, fewer).ok());
  };
  logins_.Bring(job);
  Turn();
  EXPECT_THAT(*store_.Guests(), IsEmpty());
}

TEST_F(GuestLoginsTest, WithoutTheJobsOwnKeyItsUserKeepsTheirs) {
  const core::Job job = Granted();
  core::Guest own{.user = job.spec.ssh.user,
                  .key = {.type = "ssh-ed25519", .data = "AAAA"},
                  .leaving = true,
                  .left_on = {job.id}};
  Invite(own);
  ports_.read_public_key = [](const std::string&) -> base::Result<std::string> {
    return base::NotFound("no such file");
  };
  logins_.Bring(job);
  Turn();
  EXPECT_EQ(api_->CountCalls("ChangeLogins"), 0);
  EXPECT_THAT(*store_.Guests(), ElementsAre(own)) << "it is tried again";
}

TEST_F(GuestLoginsTest, NodesUnderOsLoginGetNoKeys) {
  core::Job job = Granted();
  Invite(test::Ann());
  job.spec.tpu.metadata["enable-oslogin"] = "TRUE";
  logins_.Bring(job);
  Turn();
  EXPECT_EQ(api_->CountCalls("ChangeLogins"), 0);
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
