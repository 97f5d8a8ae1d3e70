#include "jobman/client/guests.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "jobman/core/slice_name.hpp"
#include "tests/support/public_keys.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using core::JobId;
using Fate = GuestVisit::Fate;
using test::Ann;
using test::Bob;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The guests of the store; after the first change something happens.
class EventfulGuests final : public ports::GuestStore {
 public:
  explicit EventfulGuests(ports::GuestStore* inner) : inner_(inner) {}
  base::Task<base::Result<std::vector<core::Guest>>> Guests() override { return inner_->Guests(); }
  base::Task<base::Result<std::vector<ports::UnreadGuest>>> UnreadGuests() override {
    return inner_->UnreadGuests();
  }
  base::Task<base::Status> SetGuest(std::optional<core::Guest> was,
                                    std::optional<core::Guest> now) override {
    base::Status set = co_await inner_->SetGuest(std::move(was), std::move(now));
    if (const auto happens = std::exchange(after_change, {})) happens();
    co_return set;
  }
  std::function<void()> after_change = {};

 private:
  ports::GuestStore* inner_;
};

class GuestsTest : public test::ClientWorld {
 protected:
  /// A job that holds a slice with hosts.
  core::Job Held(const std::string& name, int nodes = 1) {
    core::Job job = test::JobBuilder(name).Slices(nodes).Build();
    job.state = core::Running{};
    job.attempt = 1;
    job = Put(std::move(job));
    job = Change(test::WithHosts(job, 2));
    for (const std::string& node : core::NodeIds(job.slice->ref))
      cloud_.AddNode({.id = node, .zone = job.slice->ref.place.zone});
    return job;
  }
  GuestChange LetIn(core::Guest guest) { return *Await(client::LetIn(Context(), guest)); }
  GuestChange TakeAway(const core::Guest& guest, std::vector<std::string> words = {}) {
    return *Await(client::TakeAway(Context(), guest, std::move(words)));
  }
  core::Guest Recorded() { return store_.Guests()->front(); }
  std::vector<std::string> LoginsOn(const core::Job& job) {
    return cloud_.LoginsOf(core::NodeIds(job.slice->ref).front());
  }
  void FailNext(base::Code code) {
    cloud_.AddFault({.call = "ChangeLogins", .error = {.code = code, .message = "no"}});
  }
};

TEST_F(GuestsTest, AGuestIsRecordedAndLetInToEachNode) {
  const core::Job one = Held("train");
  const core::Job two = Held("pair", 2);
  const GuestChange change = LetIn(Ann());
  EXPECT_EQ(Recorded(), Ann());
  ASSERT_THAT(change.visits, SizeIs(3));
  for (const GuestVisit& visit : change.visits) EXPECT_EQ(visit.fate, Fate::kSettled) << visit.node;
  EXPECT_EQ(change.visits[2].node, core::NodeIds(two.slice->ref)[1]);
  EXPECT_THAT(LoginsOn(one), ElementsAre(core::LoginOf(Ann())));
  LetIn(Ann());
  EXPECT_THAT(LoginsOn(one), ElementsAre(core::LoginOf(Ann()))) << "once";
}

TEST_F(GuestsTest, OnlyTheJobsThatAreNamedAreTouched) {
  const core::Job train = Held("train");
  const core::Job sweep = Held("sweep-1");
  const GuestChange change = LetIn(Ann({"sweep-*"}));
  ASSERT_THAT(change.visits, SizeIs(1));
  EXPECT_EQ(change.visits[0].job, sweep.id);
  EXPECT_THAT(LoginsOn(train), IsEmpty());
  LetIn(Ann({std::to_string(train.id.value)}));
  EXPECT_THAT(Recorded().jobs, ElementsAre("sweep-*", "1"));
  EXPECT_THAT(LoginsOn(train), SizeIs(1));
  LetIn(Ann());
  EXPECT_THAT(Recorded().jobs, IsEmpty()) << "every job";
}

TEST_F(GuestsTest, ANumberThatNoJobHasIsRefused) {
  const auto refused = Await(client::LetIn(Context(), Ann({"42"})));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kNotFound);
  EXPECT_THAT(*store_.Guests(), IsEmpty());
}

TEST_F(GuestsTest, ANodeThatFailsDoesNotStopTheOthers) {
  Held("train");
  Held("eval");
  FailNext(base::Code::kPermissionDenied);
  const GuestChange change = LetIn(Ann());
  ASSERT_THAT(change.visits, SizeIs(2));
  EXPECT_EQ(change.visits[0].fate, Fate::kFailed);
  EXPECT_EQ(change.visits[0].error->code, base::Code::kPermissionDenied);
  EXPECT_EQ(change.visits[1].fate, Fate::kSettled);
  EXPECT_EQ(Recorded(), Ann()) << "later nodes get the key";
}

TEST_F(GuestsTest, ASliceWithoutNodesGetsTheKeyLater) {
  core::Job job = test::JobBuilder().Build();
  job.state = core::Requesting{};
  job.slice = core::Slice{.ref = core::SliceFor(job, 1)};
  Put(job);
  const GuestChange change = LetIn(Ann());
  ASSERT_THAT(change.visits, SizeIs(1));
  EXPECT_EQ(change.visits[0].fate, Fate::kLater);
  EXPECT_EQ(cloud_.CountCalls("ChangeLogins"), 0);
  const GuestChange away = TakeAway(Recorded());
  EXPECT_FALSE(away.forgotten) << "its request has the key";
  EXPECT_THAT(Recorded().left_on, SizeIs(1));
}

TEST_F(GuestsTest, NodesOfTheUserAndHostsWithOsLoginAreLeftAlone) {
  core::Job theirs = Held("theirs");
  theirs.slice->ref.existing = true;
  Change(theirs);
  core::Job strict = Held("strict");
  strict.spec.tpu.metadata["enable-oslogin"] = "TRUE";
  Change(strict);
  const GuestChange change = LetIn(Ann());
  ASSERT_THAT(change.visits, SizeIs(1));
  EXPECT_EQ(change.visits[0].job, strict.id);
  EXPECT_EQ(change.visits[0].fate, Fate::kFailed);
  EXPECT_THAT(change.visits[0].error->message, HasSubstr("OS Login"));
  EXPECT_EQ(cloud_.CountCalls("ChangeLogins"), 0);
}

TEST_F(GuestsTest, AKeyIsTakenAwayFromEachNodeAndForgotten) {
  const core::Job job = Held("train");
  LetIn(Ann());
  LetIn(Bob());
  const GuestChange change = TakeAway(Ann());
  EXPECT_TRUE(change.forgotten);
  EXPECT_THAT(LoginsOn(job), ElementsAre(core::LoginOf(Bob())));
  EXPECT_THAT(*store_.Guests(), ElementsAre(Bob()));
}

TEST_F(GuestsTest, ASliceThatCameMeanwhileLosesTheKeyThoughTheRecordHasChanged) {
  Held("train");
  LetIn(Ann());
  client::Context context = Context();
  EventfulGuests guests(context.stores.guests);
  context.stores.guests = &guests;
  core::Job late;
  guests.after_change = [&] {
    late = Held("late");  // it was requested with the key
    // As the controller does, when a stage of the other job begins.
    EXPECT_TRUE(store_.SetGuest(Recorded(), {}).ok());
  };
  const auto change = Await(client::TakeAway(context, Recorded(), {}));
  ASSERT_TRUE(change.ok()) << change.error().ToString();
  ASSERT_THAT(change->visits, SizeIs(2));
  EXPECT_EQ(change->visits[1].job, late.id);
  EXPECT_TRUE(change->forgotten);
  EXPECT_THAT(*store_.Guests(), IsEmpty());
}

TEST_F(GuestsTest, AKeyThatCannotBeTakenAwayYetStaysOnRecordAndIsTriedAgain) {
  const core::Job job = Held("train");
  LetIn(Ann());
  FailNext(base::Code::kUnavailable);
  const GuestChange failed = TakeAway(Recorded());
  EXPECT_FALSE(failed.forgotten);
  EXPECT_TRUE(Recorded().leaving);
  EXPECT_THAT(Recorded().left_on, ElementsAre(job.id));
  const GuestChange again = TakeAway(Recorded());
  EXPECT_TRUE(again.forgotten);
  EXPECT_THAT(LoginsOn(job), IsEmpty());
  EXPECT_THAT(*store_.Guests(), IsEmpty());
}

TEST_F(GuestsTest, AJobThatHoldsNoSliceAnyMoreHoldsNoKey) {
  core::Job job = Held("train");
  LetIn(Ann());
  FailNext(base::Code::kUnavailable);
  TakeAway(Recorded());
  job = *store_.Get(job.id);
  job.slice.reset();
  Change(job);
  EXPECT_TRUE(TakeAway(Recorded()).forgotten);
}

TEST_F(GuestsTest, AGuestWhoComesBackIsLetInAgain) {
  const core::Job job = Held("train");
  LetIn(Ann({"train"}));
  FailNext(base::Code::kUnavailable);
  TakeAway(Recorded());
  const GuestChange back = LetIn(Ann());
  EXPECT_EQ(Recorded(), Ann());
  EXPECT_EQ(back.visits[0].fate, Fate::kSettled);
  EXPECT_THAT(LoginsOn(job), SizeIs(1));
}

TEST_F(GuestsTest, AGuestWhoComesBackElsewhereStillLosesTheKeyWhereTheyLeft) {
  const core::Job train = Held("train");
  LetIn(Ann());
  FailNext(base::Code::kUnavailable);
  TakeAway(Recorded());
  LetIn(Ann({"sweep-*"}));
  EXPECT_THAT(LoginsOn(train), IsEmpty());
  EXPECT_EQ(Recorded(), Ann({"sweep-*"}));
}

TEST_F(GuestsTest, AKeyCanBeTakenAwayFromSomeJobs) {
  const core::Job train = Held("train");
  const core::Job sweep = Held("sweep-1");
  LetIn(Ann({"train", "sweep-*"}));
  const GuestChange change = TakeAway(Recorded(), {"sweep-*"});
  EXPECT_FALSE(change.forgotten);
  EXPECT_THAT(LoginsOn(sweep), IsEmpty());
  EXPECT_THAT(LoginsOn(train), SizeIs(1));
  EXPECT_EQ(Recorded(), Ann({"train"}));
  EXPECT_FALSE(Await(client::TakeAway(Context(), Recorded(), {"eval"})).ok());
  EXPECT_TRUE(TakeAway(Recorded(), {"train"}).forgotten) << "nothing is left";
  LetIn(Ann());
  const auto refused = Await(client::TakeAway(Context(), Recorded(), {"train"}));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("let in to every job"));
}

TEST_F(GuestsTest, AKeyThatIsTakenAwayDuringTheVisitsDoesNotStay) {
  const core::Job job = Held("train");
  // As `keys remove` in another terminal does, which found no key on the node.
  cloud_.before_change_of_logins = [&] { EXPECT_TRUE(store_.SetGuest(Recorded(), {}).ok()); };
  const GuestChange change = LetIn(Ann());
  EXPECT_TRUE(change.forgotten);
  EXPECT_THAT(LoginsOn(job), IsEmpty());
  EXPECT_THAT(*store_.Guests(), IsEmpty());
}

TEST_F(GuestsTest, AKeyThatCameTooLateAndCannotBeTakenAwayIsOnRecord) {
  const core::Job job = Held("train");
  cloud_.before_change_of_logins = [&] {
    EXPECT_TRUE(store_.SetGuest(Recorded(), {}).ok());
    FailNext(base::Code::kUnavailable);
  };
  EXPECT_FALSE(LetIn(Ann()).forgotten);
  ASSERT_THAT(*store_.Guests(), SizeIs(1));
  EXPECT_TRUE(Recorded().leaving);
  EXPECT_THAT(Recorded().left_on, ElementsAre(job.id));
}

TEST_F(GuestsTest, AGuestWhoComesBackDuringTheVisitsKeepsTheKey) {
  const core::Job job = Held("train");
  LetIn(Ann());
  // As `keys add` in another terminal does, which found the key on the node.
  cloud_.before_change_of_logins = [&] { EXPECT_TRUE(store_.SetGuest(Recorded(), Ann()).ok()); };
  const GuestChange change = TakeAway(Recorded());
  EXPECT_FALSE(change.forgotten);
  EXPECT_EQ(change.guest, Ann());
  EXPECT_THAT(LoginsOn(job), SizeIs(1));
  EXPECT_EQ(Recorded(), Ann());
}

/// Else whoever took the key away the first time would strike the job off.
TEST_F(GuestsTest, WhoComesBackAndLeavesAgainHasAnotherRecord) {
  const core::Job sweep = Held("sweep-1");
  LetIn(Ann({"train", "sweep-*"}));
  FailNext(base::Code::kUnavailable);
  TakeAway(Recorded(), {"sweep-*"});
  const core::Guest first = Recorded();
  EXPECT_THAT(first.left_on, ElementsAre(sweep.id));
  LetIn(Ann({"sweep-*"}));
  FailNext(base::Code::kUnavailable);
  TakeAway(Recorded(), {"sweep-*"});
  EXPECT_THAT(LoginsOn(sweep), SizeIs(1));
  core::Guest settled = first;
  settled.left_on.clear();
  EXPECT_FALSE(store_.SetGuest(first, settled).ok());
  EXPECT_THAT(Recorded().left_on, ElementsAre(sweep.id));
}

TEST_F(GuestsTest, ANodeThatFailsAfterTheRecordWasDroppedIsOnRecord) {
  const core::Job job = Held("train");
  cloud_.before_change_of_logins = [&] {
    // `keys remove` in another terminal, which finds no key on the node yet, and then forgets it.
    core::Guest leaving = Recorded();
    leaving.leaving = true;
    leaving.left_on = {job.id};
    EXPECT_TRUE(store_.SetGuest(Recorded(), leaving).ok());
    cloud_.AddFault({.call = "ChangeLogins",
                     .error = {.code = base::Code::kUnavailable, .message = "no"},
                     .reply_lost = true});
    cloud_.before_change_of_logins = [&] { EXPECT_TRUE(store_.SetGuest(Recorded(), {}).ok()); };
  };
  EXPECT_FALSE(LetIn(Ann()).forgotten);
  ASSERT_THAT(*store_.Guests(), SizeIs(1));
  EXPECT_TRUE(Recorded().leaving);
  EXPECT_THAT(Recorded().left_on, ElementsAre(job.id));
}

TEST_F(GuestsTest, AJobThatCannotBeReadMayHoldTheKey) {
  const core::Job job = Held("train");
  const core::Job other = Held("eval");
  LetIn(Ann({"train"}));
  store_.MakeUnreadable(job.id);
  store_.MakeUnreadable(other.id);
  const GuestChange change = TakeAway(Recorded());
  EXPECT_FALSE(change.forgotten);
  ASSERT_THAT(change.visits, SizeIs(1));
  EXPECT_EQ(change.visits[0].fate, Fate::kFailed);
  EXPECT_EQ(change.visits[0].name, "train");
  EXPECT_THAT(change.visits[0].error->message, HasSubstr("its record cannot be read"));
  EXPECT_THAT(Recorded().left_on, ElementsAre(job.id));
  store_.MakeReadable(job.id);
  EXPECT_TRUE(TakeAway(Recorded()).forgotten);
  EXPECT_THAT(LoginsOn(job), IsEmpty());
}

TEST_F(GuestsTest, WithoutTheJobsOwnKeyItsUserKeepsTheirs) {
  core::Job job = Held("train");
  LetIn(Ann());
  job.spec.ssh.user = "ann";
  job.spec.ssh.private_key = (home_.path() / "no-key").string();
  Change(job);
  const GuestChange change = TakeAway(Recorded());
  EXPECT_FALSE(change.forgotten);
  ASSERT_THAT(change.visits, SizeIs(1));
  ASSERT_TRUE(change.visits[0].error);
  EXPECT_THAT(change.visits[0].error->message, HasSubstr("the job's own key"));
  EXPECT_THAT(LoginsOn(job), SizeIs(1));
}

TEST(FindGuests, ByFingerprintUserOrComment) {
  const std::vector<core::Guest> all = {Ann(), Bob(), test::GuestWith(test::kEcdsaKey, "ann")};
  const auto count = [&](const std::string& word, const std::string& user = {}) {
    const auto found = FindGuests(all, word, user);
    return found.ok() ? found->size() : 0;
  };
  EXPECT_EQ(count(test::kEd25519Print), 1U);
  EXPECT_EQ(count("UvhPTnMZ"), 1U) << "the beginning, as a table shows it";
  EXPECT_EQ(count("U"), 0U);
  EXPECT_EQ(count("ann"), 2U) << "all keys of a user";
  EXPECT_EQ(count(test::kEcdsaPrint), 2U);
  EXPECT_EQ(count(test::kEcdsaPrint, "bob"), 1U);
  EXPECT_EQ(count("bob@laptop"), 1U);
  EXPECT_EQ(FindGuests(all, "eve", "").error().code, base::Code::kNotFound);
  EXPECT_EQ(FindGuests({}, "", "").error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace jobman::client
