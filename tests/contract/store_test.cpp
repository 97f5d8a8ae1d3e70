// What every implementation of a store's ports must do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "tests/contract/store_subjects.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/public_keys.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman {
namespace {

using base::Code;
using base::Reason;
using core::Job;
using core::JobId;
using core::TimePoint;
using core::Wish;
using std::chrono::seconds;
using test::BusyJob;
using test::DirectStore;
using test::SampleJob;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class StoreContract : public testing::TestWithParam<test::StoreKind> {
 protected:
  DirectStore store() { return DirectStore(subject_->Use()); }
  JobId Create(const std::string& name) { return Create(SampleJob(name)); }
  JobId Create(Job job) { return store().Create(std::move(job), "command: {}\n", now_).value(); }
  Job Get(JobId id) { return store().Get(id).value(); }
  /// Erases the job at its current version.
  base::Status Erase(JobId id) {
    const ports::JobVersion job{.id = id, .version = Get(id).version};
    return store().Erase(job);
  }
  base::Status Commit(const ports::Turn& turn, std::int64_t lease_token) {
    return store().Commit(turn, lease_token);
  }

  /// Commits the job in that state and returns what is then stored.
  Job Put(Job job, core::JobState state) {
    job.state = std::move(state);
    job.wish_new = false;
    EXPECT_TRUE(Commit({.job = job}, 0).ok());
    return Get(job.id);
  }
  std::vector<std::string> Names(const ports::JobFilter& filter) {
    std::vector<std::string> names;
    const auto rows = store().List(filter).value();
    for (const auto& row : rows) names.push_back(row.name);
    return names;
  }
  static std::vector<std::string> Lines(const std::vector<ports::Event>& events) {
    std::vector<std::string> lines;
    for (const auto& event : events) lines.push_back(event.kind + " " + event.subject);
    return lines;
  }

  const TimePoint now_ = base::FromMillis(1'767'225'600'000);
  std::unique_ptr<test::StoreSubject> subject_ = test::MakeStoreSubject(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Every, StoreContract, test::EveryStoreKind(), test::StoreKindName);

// --- Jobs ---

TEST_P(StoreContract, StoreIdStaysTheSame) {
  const std::string id = store().StoreId().value();
  EXPECT_FALSE(id.empty());
  EXPECT_EQ(store().StoreId().value(), id);
}

TEST_P(StoreContract, NewJobIsAwakeAndHasItsFile) {
  const JobId id = Create("train");
  const Job job = Get(id);
  EXPECT_EQ(job.id, id);
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.version, 1);
  EXPECT_EQ(job.created_at, now_);
  EXPECT_EQ(job.since, now_);
  EXPECT_EQ(job.wake_at, now_);
  EXPECT_TRUE(job.wish_new);
  EXPECT_EQ(store().Source(id).value(), "command: {}\n");
}

TEST_P(StoreContract, JournalBeginsWithTheCreation) {
  const JobId id = Create("train");
  const auto events = store().Events(id, 0).value();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, "state");
  EXPECT_EQ(events[0].subject, "QUEUED");
  EXPECT_EQ(events[0].text, "created by ada");
  EXPECT_EQ(events[0].at, now_);
  EXPECT_EQ(events[0].job, id);
}

ports::ImportedJob FromOldTool(std::int64_t id, TimePoint created) {
  Job job = SampleJob("old");
  job.id = {id};
  job.state = core::Done{.outcome = core::Outcome::kCancelled};
  job.wish = Wish::kCancel;
  job.created_at = created;
  job.since = created + seconds(5);
  job.attempt = 1;
  return {.job = job,
          .source = "job: {name: old}\n",
          .origin = "imported from /old, job 000024",
          .attempts = {{.attempt = 1, .slice = "old-24", .zone = "z", .started_at = created}}};
}

TEST_P(StoreContract, ImportedJobKeepsItsIdAndTimesAndTheCountGoesOnBeyondIt) {
  const TimePoint created = now_ - seconds(1000);
  const auto old = FromOldTool(24, created);
  ASSERT_TRUE(store().Import(old, now_).ok());
  const Job job = Get({24});
  EXPECT_EQ(job.created_at, created);
  EXPECT_EQ(job.since, created + seconds(5));
  EXPECT_EQ(core::StateName(job.state), "CANCELLED");
  EXPECT_EQ(job.version, 1);
  EXPECT_FALSE(job.wish_new);
  EXPECT_EQ(store().Source({24}).value(), old.source);
  EXPECT_EQ(store().Attempts({24}).value().at(0).slice, "old-24");
  const auto events = store().Events({24}, 0).value();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].text, old.origin);
  EXPECT_THAT(store().ActiveVersions().value(), IsEmpty());
  EXPECT_EQ(Create("next").value, 25);
}

TEST_P(StoreContract, ImportBelowTheLargestIdLeavesTheCount) {
  ASSERT_TRUE(store().Import(FromOldTool(24, now_), now_).ok());
  ASSERT_TRUE(store().Import(FromOldTool(7, now_), now_).ok());
  EXPECT_EQ(Create("next").value, 25);
}

TEST_P(StoreContract, ReservedIdsAreNotGivenToJobs) {
  ASSERT_TRUE(store().ReserveIds({24}).ok());
  EXPECT_THAT(store().List({}).value(), IsEmpty());
  ASSERT_TRUE(store().ReserveIds({7}).ok());
  EXPECT_EQ(Create("next").value, 25);
  ASSERT_TRUE(store().ReserveIds({30}).ok());
  ASSERT_TRUE(store().Import(FromOldTool(27, now_), now_).ok()) << "an old job may still come";
  EXPECT_EQ(Create("after").value, 31);
}

TEST_P(StoreContract, ImportRefusesAnIdThatIsTaken) {
  const JobId id = Create("train");
  const auto refused = store().Import(FromOldTool(id.value, now_), now_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kAlreadyExists);
  EXPECT_EQ(Get(id).name, "train");
  EXPECT_THAT(store().Events(id, 0).value(), SizeIs(1));
}

TEST_P(StoreContract, ImportRefusesAJobThatIsNotOverAndAnIdThatIsNone) {
  auto runs = FromOldTool(3, now_);
  runs.job.state = core::Queued{};
  EXPECT_EQ(store().Import(runs, now_).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store().Import(FromOldTool(0, now_), now_).error().code, Code::kInvalidArgument);
  EXPECT_THAT(store().List({}).value(), IsEmpty());
}

TEST_P(StoreContract, UnknownJobIsNotFound) {
  const JobId id{77};
  EXPECT_EQ(store().Get(id).error().code, Code::kNotFound);
  EXPECT_EQ(store().Source(id).error().code, Code::kNotFound);
  EXPECT_EQ(store().SetWish(id, Wish::kCancel, core::SetupWish::kAsNeeded, now_).error().code,
            Code::kNotFound);
  EXPECT_EQ(store().Erase({.id = id, .version = 1}).error().code, Code::kNotFound);
  Job job = SampleJob("ghost");
  job.id = id;
  EXPECT_EQ(Commit({.job = job}, 0).error().code, Code::kNotFound);
  EXPECT_THAT(store().Events(id, 0).value(), IsEmpty());
  EXPECT_THAT(store().Get(id).error().message, testing::HasSubstr("000077"));
}

TEST_P(StoreContract, CommittedJobReadsBackWhole) {
  Job job = BusyJob(Get(Create("train")));
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  job.version += 1;
  EXPECT_EQ(Get(job.id), job);
}

TEST_P(StoreContract, ARefusedDeleteReadsBack) {
  Job job = BusyJob(Get(Create("train")));
  job.slice->phase = core::SlicePhase::kDeleting;
  job.slice->delete_refused = core::DeleteRefused{
      .since = base::FromMillis(1'767'225'600'128),
      .times = 3,
      .error = {.code = Code::kPermissionDenied, .message = "no", .reason = Reason::kPermission}};
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  job.version += 1;
  EXPECT_EQ(Get(job.id), job);
}

TEST_P(StoreContract, EveryStateReadsBack) {
  const base::Error stockout{
      .code = Code::kResourceExhausted, .message = "no more capacity", .reason = Reason::kStockout};
  const std::vector<core::JobState> states = {
      core::Queued{},
      core::Requesting{},
      core::Waiting{},
      core::Provisioning{},
      core::Setup{.step = 2},
      core::Running{},
      core::BackingOff{.until = now_ + seconds{40}, .error = stockout},
      core::Cancelling{},
      core::Deleting{},
      core::Done{.outcome = core::Outcome::kSucceeded},
      core::Done{.outcome = core::Outcome::kFailed, .exit_code = 3, .error = stockout},
      core::Done{.outcome = core::Outcome::kCancelled},
      core::Done{.outcome = core::Outcome::kDeleted}};
  Job job = Get(Create("train"));
  for (const auto& state : states) {
    job = Put(job, state);
    EXPECT_EQ(job.state, state) << core::StateName(state);
  }
}

TEST_P(StoreContract, TextOfAnyKindReadsBack) {
  Job job = Get(Create("train"));
  job.why = std::string("quote ' \" \n tab\t nul \0 umlaut \xc3\xa4", 32);
  job.spec.command.cmd = "echo '${x}' \"$y\"\n";
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  EXPECT_EQ(Get(job.id).why, job.why);
  EXPECT_EQ(Get(job.id).spec, job.spec);
}

TEST_P(StoreContract, FindByNameGivesNewestFirst) {
  const JobId first = Create("train");
  Create("eval");
  const JobId second = Create("train");
  EXPECT_THAT(store().FindByName("train").value(), ElementsAre(second, first));
  EXPECT_THAT(store().FindByName("trai").value(), IsEmpty());
}

TEST_P(StoreContract, NumberOfAnErasedJobIsNotReused) {
  const Job job = Put(Get(Create("train")), core::Done{});
  ASSERT_TRUE(Erase(job.id).ok());
  EXPECT_GT(Create("train"), job.id);
}

// --- Turns ---

TEST_P(StoreContract, StaleWriterIsRefused) {
  const Job read = Get(Create("train"));
  Job mine = read;
  mine.why = "first";
  ASSERT_TRUE(Commit({.job = mine}, 0).ok());
  Job other = read;
  other.why = "second";
  const auto refused = Commit({.job = other, .events = {{.kind = "note", .subject = "late"}}}, 0);
  EXPECT_EQ(refused.error().reason, Reason::kStale);
  EXPECT_EQ(Get(read.id).why, "first");
  EXPECT_THAT(Lines(store().Events(read.id, 0).value()), ElementsAre("state QUEUED"));
}

TEST_P(StoreContract, TurnIsWrittenAtomically) {
  Job job = Get(Create("train"));
  job.attempt = 1;
  const ports::AttemptRecord attempt{
      .attempt = 1, .slice = "train-1-a1", .zone = "us-central2-b", .started_at = now_};
  ASSERT_TRUE(Commit({.job = job,
                      .events = {{.at = now_, .attempt = 1, .kind = "slice", .subject = "s"}},
                      .exits = {{.attempt = 1, .stage = "run", .host = 3, .exit_code = 9}},
                      .attempts = {attempt}},
                     0)
                  .ok());
  EXPECT_EQ(Get(job.id).version, 2);
  const auto events = store().Events(job.id, 0).value();
  EXPECT_THAT(Lines(events), ElementsAre("state QUEUED", "slice s"));
  EXPECT_EQ(events[1].job, job.id);
  const auto exits = store().Exits(job.id).value();
  ASSERT_THAT(exits, SizeIs(1));
  EXPECT_EQ(exits[0].job, job.id);
  EXPECT_EQ(exits[0].exit_code, 9);
  const auto attempts = store().Attempts(job.id).value();
  ASSERT_THAT(attempts, SizeIs(1));
  EXPECT_EQ(attempts[0].slice, "train-1-a1");
  EXPECT_EQ(attempts[0].ended_at, std::nullopt);
}

TEST_P(StoreContract, ExitCodeIsRecordedOnce) {
  Job job = Get(Create("train"));
  const ports::ExitRecord first{
      .attempt = 1, .stage = "run", .host = 0, .exit_code = 3, .at = now_};
  ports::ExitRecord again = first;
  again.exit_code = 0;
  again.error = "lost";
  ports::ExitRecord other_host = first;
  other_host.host = 1;
  ASSERT_TRUE(Commit({.job = job, .exits = {first}}, 0).ok());
  ASSERT_TRUE(Commit({.job = Get(job.id), .exits = {again, other_host}}, 0).ok());
  ports::ExitRecord expected = first;
  expected.job = other_host.job = job.id;
  EXPECT_THAT(store().Exits(job.id).value(), ElementsAre(expected, other_host));
}

// --- The outbox ---

ports::HookDelivery SampleDelivery(const std::string& event, TimePoint now) {
  return {.attempt = 2,
          .event_id = "store1-000001-v1-a2-" + event,
          .event = event,
          .hook = 1,
          .target = "webhook example.com",
          .body = "{\"event\": \"" + event + "\"}",
          .at = now,
          .next_try = now};
}

TEST_P(StoreContract, DeliveriesAreWrittenWithTheirTurnOrNotAtAll) {
  const Job job = Get(Create("train"));
  Create("other");
  ASSERT_TRUE(
      Commit({.job = job,
              .deliveries = {SampleDelivery("started", now_), SampleDelivery("failed", now_)}},
             0)
          .ok());
  EXPECT_FALSE(Commit({.job = job, .deliveries = {SampleDelivery("late", now_)}}, 0).ok());
  const auto outbox = store().Waiting().value();
  ASSERT_THAT(outbox, SizeIs(2));
  EXPECT_LT(outbox[0].number, outbox[1].number);
  ports::HookDelivery expected = SampleDelivery("started", now_);
  expected.number = outbox[0].number;
  expected.job = job.id;
  EXPECT_EQ(outbox[0], expected);
  EXPECT_EQ(store().Deliveries(job.id).value(), outbox);
}

TEST_P(StoreContract, ACompletedDeliveryLeavesTheOutbox) {
  const Job job = Get(Create("train"));
  ASSERT_TRUE(Commit({.job = job, .deliveries = {SampleDelivery("failed", now_)}}, 0).ok());
  const Job before = Get(job.id);
  ports::HookDelivery delivery = store().Waiting().value().at(0);
  delivery.tries = 1;
  delivery.next_try = now_ + seconds{5};
  delivery.error = "no answer";
  const ports::Event event{.at = now_, .attempt = 2, .kind = "hook", .subject = "failed"};
  ASSERT_TRUE(store().RecordTry(delivery, event, 0).ok());
  EXPECT_THAT(store().Waiting().value(), ElementsAre(delivery));
  delivery.tries = 2;
  delivery.next_try.reset();
  delivery.error.clear();
  ASSERT_TRUE(store().RecordTry(delivery, event, 0).ok());
  EXPECT_THAT(store().Waiting().value(), IsEmpty());
  EXPECT_THAT(store().Deliveries(job.id).value(), ElementsAre(delivery));
  EXPECT_THAT(Lines(store().Events(job.id, 0).value()),
              ElementsAre("state QUEUED", "hook failed", "hook failed"));
  EXPECT_EQ(Get(job.id), before) << "no decision becomes stale by it";
}

TEST_P(StoreContract, OnlyTheLeaseHolderRecordsTries) {
  const Job job = Get(Create("train"));
  ASSERT_TRUE(Commit({.job = job, .deliveries = {SampleDelivery("failed", now_)}}, 0).ok());
  ports::HookDelivery delivery = store().Waiting().value().at(0);
  const auto old = store().TakeLease("a", now_, seconds{30}).value();
  ASSERT_TRUE(store().TakeLease("b", now_ + seconds{60}, seconds{30}).ok());
  delivery.next_try.reset();
  const auto late = store().RecordTry(delivery, {}, old->token);
  EXPECT_EQ(late.error().reason, Reason::kLeaseLost);
  EXPECT_THAT(store().Waiting().value(), SizeIs(1));
  delivery.number += 100;
  EXPECT_EQ(store().RecordTry(delivery, {}, 0).error().code, Code::kNotFound);
}

TEST_P(StoreContract, NextAttemptHasItsOwnExitCodes) {
  const Job job = Get(Create("train"));
  const ports::ExitRecord first{.attempt = 1, .stage = "run", .exit_code = 3};
  ports::ExitRecord second = first;
  second.attempt = 2;
  second.exit_code = 0;
  ASSERT_TRUE(Commit({.job = job, .exits = {first, second}}, 0).ok());
  EXPECT_THAT(store().Exits(job.id).value(), SizeIs(2));
}

TEST_P(StoreContract, AttemptKeepsItsStartTimeWhenItEnds) {
  const Job job = Get(Create("train"));
  ports::AttemptRecord one{.attempt = 1, .slice = "a1", .started_at = now_};
  ports::AttemptRecord two{.attempt = 2, .slice = "a2", .started_at = now_};
  ASSERT_TRUE(Commit({.job = job, .attempts = {one}}, 0).ok());
  ASSERT_TRUE(Commit({.job = Get(job.id), .attempts = {two}}, 0).ok());
  const ports::AttemptRecord end{
      .attempt = 1, .slice = "a1", .ended_at = now_ + seconds{5}, .outcome = "preempted"};
  ASSERT_TRUE(Commit({.job = Get(job.id), .attempts = {end}}, 0).ok());
  const auto attempts = store().Attempts(job.id).value();
  ASSERT_THAT(attempts, SizeIs(2));
  EXPECT_EQ(attempts[0].outcome, "preempted");
  EXPECT_EQ(attempts[0].ended_at, now_ + seconds{5});
  EXPECT_EQ(attempts[0].started_at, now_);
  EXPECT_EQ(attempts[1].slice, "a2");
}

TEST_P(StoreContract, JournalIsReadFromTheLastEventOn) {
  const Job job = Get(Create("train"));
  Create("other");
  ASSERT_TRUE(Commit({.job = job, .events = {{.kind = "note", .subject = "1"}}}, 0).ok());
  const auto seen = store().Events(job.id, 0).value();
  ASSERT_TRUE(
      Commit({.job = Get(job.id),
              .events = {{.kind = "note", .subject = "2"}, {.kind = "note", .subject = "3"}}},
             0)
          .ok());
  const auto fresh = store().Events(job.id, seen.back().number).value();
  EXPECT_THAT(Lines(fresh), ElementsAre("note 2", "note 3"));
  EXPECT_LT(fresh[0].number, fresh[1].number);
}

// --- Wishes ---

TEST_P(StoreContract, WishWakesTheJob) {
  const Job job = Put(Get(Create("train")), core::Running{});
  const TimePoint later = now_ + seconds{60};
  ASSERT_TRUE(store().SetWish(job.id, Wish::kCancel, core::SetupWish::kAsNeeded, later).ok());
  const Job wished = Get(job.id);
  EXPECT_EQ(wished.wish, Wish::kCancel);
  EXPECT_TRUE(wished.wish_new);
  EXPECT_EQ(wished.wake_at, later);
  EXPECT_EQ(wished.setup_epoch, 0);
  EXPECT_EQ(wished.state, job.state);
  EXPECT_THAT(Lines(store().Events(job.id, 0).value()), ElementsAre("state QUEUED", "wish cancel"));
}

TEST_P(StoreContract, WishWrittenDuringATurnIsNotLost) {
  const JobId id = Create("train");
  Job turn = Get(id);
  ASSERT_TRUE(store().SetWish(id, Wish::kDelete, core::SetupWish::kAsNeeded, now_).ok());
  turn.wish_new = false;
  EXPECT_EQ(Commit({.job = turn}, 0).error().reason, Reason::kStale);
  EXPECT_EQ(Get(id).wish, Wish::kDelete);
  EXPECT_TRUE(Get(id).wish_new);
}

TEST_P(StoreContract, WishToRedoSetupStartsANewEpoch) {
  const JobId id = Create("train");
  ASSERT_TRUE(store().SetWish(id, Wish::kReboot, core::SetupWish::kRedo, now_).ok());
  EXPECT_EQ(Get(id).setup_epoch, 1);
}

TEST_P(StoreContract, WishToSkipSetupHoldsUntilTheNextWish) {
  Job held = Get(Create("train"));
  held.slice = test::SampleSlice("train-000001-a1");
  held.slice->setup_done.reset();
  const JobId id = Put(held, core::Done{}).id;
  ASSERT_TRUE(store().SetWish(id, Wish::kReboot, core::SetupWish::kSkip, now_).ok());
  const core::SetupDone vouched{.generation = held.slice->generation, .vouched = true};
  EXPECT_EQ(Get(id).slice->setup_done, vouched);
  ASSERT_TRUE(store().SetWish(id, Wish::kRun, core::SetupWish::kAsNeeded, now_).ok());
  EXPECT_EQ(Get(id).slice->setup_done, std::nullopt);
}

TEST_P(StoreContract, ARevisionIsStoredWithItsWishOrNotAtAll) {
  const JobId id = Create("train");
  const Job seen = Put(Get(id), core::Done{});
  ports::Revision revision{.spec = seen.spec, .source = "command: {cmd: other}\n"};
  revision.spec.command.cmd = "other";
  ASSERT_TRUE(store().Revise({id, seen.version}, revision, Wish::kRun, now_).ok());
  const Job revised = Get(id);
  ASSERT_TRUE(revised.revised.has_value());
  EXPECT_EQ(revised.revised->command.cmd, "other");
  EXPECT_EQ(revised.spec, seen.spec) << "the reconciler takes it over";
  EXPECT_EQ(revised.wish, Wish::kRun);
  EXPECT_TRUE(revised.wish_new);
  EXPECT_GT(revised.version, seen.version);
  EXPECT_EQ(store().Source(id).value(), revision.source);
  revision.source = "late";
  EXPECT_EQ(store().Revise({id, seen.version}, revision, {}, now_).error().reason, Reason::kStale);
  EXPECT_NE(store().Source(id).value(), "late");
}

TEST_P(StoreContract, LastWishWins) {
  const JobId id = Create("train");
  ASSERT_TRUE(store().SetWish(id, Wish::kCancel, core::SetupWish::kAsNeeded, now_).ok());
  ASSERT_TRUE(store().SetWish(id, Wish::kRun, core::SetupWish::kAsNeeded, now_).ok());
  EXPECT_EQ(Get(id).wish, Wish::kRun);
}

TEST_P(StoreContract, FinishedJobIsActiveOnlyWithANewWish) {
  const JobId id = Create("train");
  EXPECT_THAT(store().ActiveVersions().value(), SizeIs(1));
  Put(Get(id), core::Done{});
  EXPECT_THAT(store().ActiveVersions().value(), IsEmpty());
  ASSERT_TRUE(store().SetWish(id, Wish::kRun, core::SetupWish::kAsNeeded, now_).ok());
  const auto active = store().ActiveVersions().value();
  ASSERT_THAT(active, SizeIs(1));
  EXPECT_EQ(active[0], (ports::JobVersion{.id = id, .version = Get(id).version}));
}

TEST_P(StoreContract, ActiveJobsComeInTheOrderOfTheirNumbers) {
  const JobId first = Create("a");
  const JobId second = Create("b");
  const JobId third = Create("c");
  Put(Get(second), core::Done{});
  const auto active = store().ActiveVersions().value();
  ASSERT_THAT(active, SizeIs(2));
  EXPECT_EQ(active[0].id, first);
  EXPECT_EQ(active[1].id, third);
}

// --- List ---

TEST_P(StoreContract, ListShowsWhatAJobIsDoing) {
  const Job job = BusyJob(Get(Create("train")));
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  const auto rows = store().List({}).value();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].id, job.id);
  EXPECT_EQ(rows[0].name, "train");
  EXPECT_EQ(rows[0].user, "ada");
  EXPECT_EQ(rows[0].accelerator, "v4-32");
  EXPECT_EQ(rows[0].zone, "us-central2-b");
  EXPECT_EQ(rows[0].host0, "203.0.113.7");
  EXPECT_EQ(rows[0].state, "SETUP");
  EXPECT_EQ(rows[0].familiar, "RUNNING");
  EXPECT_EQ(rows[0].attempt, 2);
  EXPECT_EQ(rows[0].since, job.since);
  EXPECT_EQ(rows[0].why, job.why);
  EXPECT_EQ(rows[0].labels, job.spec.labels);
}

TEST_P(StoreContract, ListReadsLabelsOnlyIfTheyAreShownOrAskedFor) {
  const Job job = BusyJob(Get(Create("train")));
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  ASSERT_THAT(job.spec.labels, Not(IsEmpty()));
  EXPECT_THAT(store().List({.without_labels = true}).value().at(0).labels, IsEmpty());
  const ports::JobFilter filter{.labels = job.spec.labels, .without_labels = true};
  EXPECT_THAT(Names(filter), ElementsAre("train"));
}

TEST_P(StoreContract, ListShowsThatNoHostRunsTheCommandYet) {
  Job job = BusyJob(Get(Create("train")));
  job.state = core::Running{};
  job.stage = core::Stage{.name = "run", .hosts = {{.host = 0}, {.host = 1}}};
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  ports::JobSummary row = store().List({.states = {"STARTING"}}).value().at(0);
  EXPECT_EQ(row.status, "STARTING");
  EXPECT_EQ(row.state, "RUNNING");
  EXPECT_THAT(Names({.states = {"RUNNING"}}), ElementsAre("train")) << "it is that, too";
  job = Get(job.id);
  EXPECT_TRUE(std::holds_alternative<core::Running>(job.state));
  job.stage->hosts[1].phase = core::HostPhase::kRunning;
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  EXPECT_EQ(store().List({}).value().at(0).status, "RUNNING");
  EXPECT_THAT(Names({.states = {"STARTING"}}), IsEmpty());
}

TEST_P(StoreContract, ListShowsTheWholeWait) {
  Job job = BusyJob(Get(Create("train")));
  job.stage.reset();
  job.search = core::Search{.since = now_, .tries = 31};
  job.state = core::BackingOff{.until = now_ + std::chrono::seconds{40},
                               .error = {.code = base::Code::kResourceExhausted,
                                         .message = "no \"capacity\"",
                                         .reason = base::Reason::kStockout,
                                         .hint = "wait"},
                               .for_maintenance = true};
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  ports::JobSummary row = store().List({}).value().at(0);
  EXPECT_EQ(row.search, job.search);
  ASSERT_TRUE(row.pause);
  const core::BackingOff shown{
      .until = now_ + std::chrono::seconds{40},
      .error = {.message = "no \"capacity\"", .reason = base::Reason::kStockout},
      .for_maintenance = true};
  EXPECT_EQ(*row.pause, shown) << "and nothing else of the error";
  const std::int64_t version = Get(job.id).version;
  ASSERT_TRUE(store().SetAside({.id = job.id, .version = version}, "left alone", 0).ok());
  EXPECT_FALSE(store().List({}).value().at(0).pause) << "nobody tries again";
}

TEST_P(StoreContract, ListShowsTheInternalAddressIfThereIsNoExternalOne) {
  Job job = BusyJob(Get(Create("train")));
  job.slice->hosts[0].external.clear();
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  EXPECT_EQ(store().List({}).value()[0].host0, "10.0.0.2");
}

TEST_P(StoreContract, ListShowsTheAddressThatIsLoggedInTo) {
  Job job = BusyJob(Get(Create("train")));
  job.spec.ssh.address = core::AddressChoice::kInternal;
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  EXPECT_EQ(store().List({}).value()[0].host0, "10.0.0.2");
}

TEST_P(StoreContract, ListFiltersByEachColumn) {
  Create("train-1");
  Create("train-2");
  Job eval = SampleJob("eval");
  eval.user = "bob";
  eval.spec.tpu.zone = "europe-west4-a";
  eval.spec.labels = {{"team", "text"}, {"run", "7"}};
  Put(Get(Create(eval)), core::Running{});
  EXPECT_THAT(Names({}), ElementsAre("train-1", "train-2", "eval"));
  EXPECT_THAT(Names({.states = {"RUNNING"}}), ElementsAre("eval"));
  EXPECT_THAT(Names({.states = {"QUEUEING"}}), ElementsAre("train-1", "train-2"));
  EXPECT_THAT(Names({.name_glob = "train-?"}), ElementsAre("train-1", "train-2"));
  EXPECT_THAT(Names({.zones = {"europe-west4-a"}}), ElementsAre("eval"));
  EXPECT_THAT(Names({.user = "bob"}), ElementsAre("eval"));
  EXPECT_THAT(Names({.labels = {{"team", "text"}}}), ElementsAre("eval"));
  EXPECT_THAT(Names({.labels = {{"team", "text"}, {"run", "8"}}}), IsEmpty());
  EXPECT_THAT(Names({.name_glob = "train-*", .user = "bob"}), IsEmpty());
}

TEST_P(StoreContract, ListHidesDeletedJobsUnlessAsked) {
  Put(Get(Create("gone")), core::Done{.outcome = core::Outcome::kDeleted});
  Create("here");
  EXPECT_THAT(Names({}), ElementsAre("here"));
  EXPECT_THAT(Names({.with_deleted = true}), ElementsAre("gone", "here"));
  EXPECT_THAT(Names({.states = {"DELETED"}}), ElementsAre("gone"));
}

// --- Erasing ---

TEST_P(StoreContract, ErasedJobLeavesNothingBehind) {
  Job job = Get(Create("train"));
  job.state = core::Done{.outcome = core::Outcome::kDeleted};
  job.wish_new = false;
  ASSERT_TRUE(Commit({.job = job,
                      .exits = {{.attempt = 1, .stage = "run"}},
                      .attempts = {ports::AttemptRecord{.attempt = 1}},
                      .deliveries = {SampleDelivery("failed", now_)}},
                     0)
                  .ok());
  ASSERT_TRUE(Erase(job.id).ok());
  EXPECT_THAT(store().Waiting().value(), IsEmpty());
  EXPECT_THAT(store().Deliveries(job.id).value(), IsEmpty());
  EXPECT_EQ(store().Get(job.id).error().code, Code::kNotFound);
  EXPECT_EQ(store().Source(job.id).error().code, Code::kNotFound);
  EXPECT_THAT(store().Events(job.id, 0).value(), IsEmpty());
  EXPECT_THAT(store().Exits(job.id).value(), IsEmpty());
  EXPECT_THAT(store().Attempts(job.id).value(), IsEmpty());
  EXPECT_THAT(Names({.with_deleted = true}), IsEmpty());
}

TEST_P(StoreContract, UnfinishedJobIsNotErased) {
  const JobId id = Create("train");
  EXPECT_EQ(store().Erase({.id = id, .version = 1}).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(Get(id).id, id);
}

TEST_P(StoreContract, JobThatHoldsASliceIsNotErased) {
  Job job = Get(Create("train"));
  job.slice = test::SampleSlice("train-1-a1");
  job = Put(job, core::Done{});
  const auto refused = Erase(job.id);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("train-1-a1"));
  EXPECT_EQ(Get(job.id), job);
}

TEST_P(StoreContract, JobWhoseRequestMayStillBeGrantedIsNotErased) {
  Job job = Get(Create("train"));
  job.abandoned = {{.ref = {.name = "train-1-a1"}, .until = now_ + std::chrono::minutes{10}}};
  job = Put(job, core::Done{});
  const auto refused = Erase(job.id);
  EXPECT_EQ(refused.error().code, Code::kUnavailable) << "later it can be";
  EXPECT_THAT(refused.error().message, testing::HasSubstr("train-1-a1"));
  EXPECT_EQ(Get(job.id), job);
  job.abandoned.clear();
  job = Put(job, core::Done{});
  EXPECT_TRUE(Erase(job.id).ok());
}

/// `clean` saw a deleted job; `resume` came just before its Erase().
TEST_P(StoreContract, JobThatIsToRunAgainIsNotErased) {
  const Job seen = Put(Get(Create("train")), core::Done{.outcome = core::Outcome::kDeleted});
  ASSERT_TRUE(store().SetWish(seen.id, Wish::kRun, core::SetupWish::kAsNeeded, now_).ok());
  const auto changed = store().Erase({.id = seen.id, .version = seen.version});
  EXPECT_EQ(changed.error().reason, Reason::kStale);
  EXPECT_EQ(changed.error().message, "job 000001 is not erased: it was changed meanwhile");
  const auto wished = Erase(seen.id);
  EXPECT_EQ(wished.error().reason, Reason::kStale);
  EXPECT_EQ(wished.error().message, "job 000001 is not erased: run was requested meanwhile");
  EXPECT_TRUE(Get(seen.id).wish_new);
}

// --- Setting aside ---

TEST_P(StoreContract, ListShowsWhyAJobIsSetAsideUntilItsNextWrite) {
  const Job job = Get(Create("train"));
  ASSERT_TRUE(store().SetAside({job.id, job.version}, "left alone", 0).ok());
  EXPECT_EQ(store().List({}).value()[0].why, "left alone");
  EXPECT_EQ(store().WhySetAside(job.id).value(), "left alone");
  EXPECT_EQ(Get(job.id), job) << "the record is as it was";
  ASSERT_TRUE(Commit({.job = job}, 0).ok());
  EXPECT_EQ(store().List({}).value()[0].why, job.why);
  EXPECT_EQ(store().WhySetAside(job.id).value(), std::nullopt);
  ASSERT_TRUE(store().SetAside({job.id, job.version + 1}, "left alone", 0).ok());
  ASSERT_TRUE(store().SetWish(job.id, Wish::kCancel, core::SetupWish::kAsNeeded, now_).ok());
  EXPECT_EQ(store().List({}).value()[0].why, job.why);
}

TEST_P(StoreContract, OnlyTheLeaseHolderSetsAsideAndOnlyTheVersionItRead) {
  const Job job = Get(Create("train"));
  EXPECT_EQ(store().SetAside({job.id, job.version + 1}, "no", 0).error().reason, Reason::kStale);
  EXPECT_EQ(store().SetAside({{77}, 1}, "no", 0).error().code, Code::kNotFound);
  const auto lease = store().TakeLease("a", now_, seconds{30}).value();
  EXPECT_EQ(store().SetAside({job.id, job.version}, "no", lease->token + 1).error().reason,
            Reason::kLeaseLost);
  EXPECT_EQ(store().List({}).value()[0].why, job.why);
}

// --- Keys, facts ---

TEST_P(StoreContract, HostKeyIsPinnedByIdentity) {
  EXPECT_EQ(store().PinnedKey("node-1/0").value(), std::nullopt);
  ASSERT_TRUE(store().PinKey("node-1/0", "ssh-ed25519 AAAA").ok());
  ASSERT_TRUE(store().PinKey("node-1/1", "ssh-ed25519 BBBB").ok());
  EXPECT_EQ(store().PinnedKey("node-1/0").value(), "ssh-ed25519 AAAA");
  ASSERT_TRUE(store().PinKey("node-1/0", "ssh-ed25519 CCCC").ok());
  EXPECT_EQ(store().PinnedKey("node-1/0").value(), "ssh-ed25519 CCCC");
}

TEST_P(StoreContract, PinnedKeysOfManyMachinesAreReadAtOnce) {
  using Keys = std::map<std::string, std::string>;
  EXPECT_EQ(store().PinnedKeys({}).value(), Keys{});
  ASSERT_TRUE(store().PinKey("node-1/0", "ssh-ed25519 AAAA").ok());
  ASSERT_TRUE(store().PinKey("node-1/2", "ssh-ed25519 CCCC").ok());
  ASSERT_TRUE(store().PinKey("node-10/0", "ssh-ed25519 DDDD").ok());
  const Keys keys = {{"node-1/0", "ssh-ed25519 AAAA"}, {"node-1/2", "ssh-ed25519 CCCC"}};
  EXPECT_EQ(store().PinnedKeys({"node-1/0", "node-1/1", "node-1/2"}).value(), keys);
  EXPECT_TRUE(store().PinKey("node-1/1", "ssh-ed25519 BBBB").ok()) << "nothing is held by it";
}

TEST_P(StoreContract, CachedFactKnowsItsAge) {
  EXPECT_FALSE(store().Cached("catalog:us-central2-b").value());
  ASSERT_TRUE(store().PutInCache("catalog:us-central2-b", {"old", now_}).ok());
  ASSERT_TRUE(store().PutInCache("catalog:us-central2-b", {"new", now_ + seconds{9}}).ok());
  const auto fact = store().Cached("catalog:us-central2-b").value();
  EXPECT_EQ(fact->value, "new");
  EXPECT_EQ(fact->at, now_ + seconds{9});
}

// --- The lease ---

TEST_P(StoreContract, LeaseHasOneHolder) {
  EXPECT_FALSE(store().CurrentLease().value().has_value());
  const auto lease = store().TakeLease("a:1:x", now_, seconds{30}).value();
  ASSERT_TRUE(lease.has_value());
  EXPECT_FALSE(store().TakeLease("b:2:y", now_ + seconds{29}, seconds{30}).value().has_value());
  const auto current = store().CurrentLease().value();
  ASSERT_TRUE(current.has_value());
  EXPECT_EQ(current->holder, "a:1:x");
  EXPECT_EQ(current->token, lease->token);
  EXPECT_EQ(current->expires, now_ + seconds{30});
}

TEST_P(StoreContract, HolderExtendsItsLeaseWithTheSameToken) {
  const auto lease = store().TakeLease("a", now_, seconds{30}).value();
  const auto longer = store().TakeLease("a", now_ + seconds{20}, seconds{30}).value();
  ASSERT_TRUE(longer.has_value());
  EXPECT_EQ(longer->token, lease->token);
  EXPECT_EQ(longer->expires, now_ + seconds{50});
  EXPECT_FALSE(store().TakeLease("b", now_ + seconds{40}, seconds{30}).value().has_value());
}

TEST_P(StoreContract, ExpiredLeaseMayBeTakenAndHasANewToken) {
  const auto lease = store().TakeLease("a", now_, seconds{30}).value();
  const auto taken = store().TakeLease("b", now_ + seconds{30}, seconds{30}).value();
  ASSERT_TRUE(taken.has_value());
  EXPECT_GT(taken->token, lease->token);
  EXPECT_FALSE(store().TakeLease("a", now_ + seconds{31}, seconds{30}).value().has_value());
}

TEST_P(StoreContract, LeaseThatEndsInTenYearsHoldsNobodyOff) {
  const auto lease = store().TakeLease("a", now_, std::chrono::hours{87'600}).value();
  const auto taken = store().TakeLease("b", now_, seconds{30}).value();
  ASSERT_TRUE(taken.has_value());
  EXPECT_GT(taken->token, lease->token);
  EXPECT_EQ(taken->expires, now_ + seconds{30});
  ASSERT_TRUE(store().DropLease(*taken).ok());
  const auto own = store().TakeLease("a", now_ + std::chrono::hours{87'600}, seconds{30}).value();
  const auto right = store().TakeLease("a", now_, seconds{30}).value();
  EXPECT_EQ(right->token, own->token) << "its holder's clock was put right";
  EXPECT_EQ(right->expires, now_ + seconds{30});
}

TEST_P(StoreContract, ControllerThatLostItsLeaseWritesNothing) {
  Job job = Get(Create("train"));
  const auto old = store().TakeLease("a", now_, seconds{30}).value();
  const auto taken = store().TakeLease("b", now_ + seconds{60}, seconds{30}).value();
  job.why = "late";
  EXPECT_EQ(Commit({.job = job}, old->token).error().reason, Reason::kLeaseLost);
  EXPECT_EQ(Get(job.id).why, "");
  job.why = "in charge";
  EXPECT_TRUE(Commit({.job = job}, taken->token).ok());
  EXPECT_EQ(Get(job.id).why, "in charge");
}

TEST_P(StoreContract, OnlyTheHolderDropsALease) {
  const auto old = store().TakeLease("a", now_, seconds{30}).value();
  const auto taken = store().TakeLease("b", now_ + seconds{60}, seconds{30}).value();
  EXPECT_EQ(store().DropLease(*old).error().reason, Reason::kLeaseLost);
  EXPECT_TRUE(store().CurrentLease().value().has_value());
  EXPECT_TRUE(store().DropLease(*taken).ok());
  EXPECT_FALSE(store().CurrentLease().value().has_value());
}

TEST_P(StoreContract, DroppedLeaseIsFreeAtOnceAndItsTokenIsInvalid) {
  const Job job = Get(Create("train"));
  const auto lease = store().TakeLease("a", now_, seconds{30}).value();
  ASSERT_TRUE(store().DropLease(*lease).ok());
  EXPECT_EQ(Commit({.job = job}, lease->token).error().reason, Reason::kLeaseLost);
  const auto next = store().TakeLease("a", now_, seconds{30}).value();
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token, lease->token);
}

// --- Sites ---

core::Site SiteNamed(const std::string& path) {
  return {.machine = "m1",
          .cards = {"52:54:00:00:00:01"},
          .host = "laptop",
          .path = path,
          .file = ~std::uint64_t{0},
          .shared = true};
}

TEST_P(StoreContract, SitesReadBackAsTheyWereWritten) {
  EXPECT_THAT(store().Sites().value(), IsEmpty());
  const std::vector<core::Site> sites = {SiteNamed("/a"), SiteNamed("/b \"\n"), core::Site{}};
  ASSERT_TRUE(store().SetSites(sites).ok());
  EXPECT_EQ(store().Sites().value(), sites);
}

TEST_P(StoreContract, ACopyBecomesAnotherStoreAndLeavesLeaseAndDeliveriesBehind) {
  Job job = Get(Create("train"));
  ASSERT_TRUE(Commit({.job = job, .deliveries = {SampleDelivery("started", now_)}}, 0).ok());
  const auto lease = store().TakeLease("a", now_, seconds{30}).value();
  job = Get(job.id);
  job.why = "left";
  ASSERT_TRUE(store().SetSites({SiteNamed("/a")}).ok());
  ASSERT_TRUE(store().BecomeAnother("abc123", SiteNamed("/b"), {{.job = job}}).ok());
  EXPECT_EQ(store().StoreId().value(), "abc123");
  EXPECT_THAT(store().Sites().value(), ElementsAre(SiteNamed("/b")));
  EXPECT_EQ(Get(job.id).why, "left");
  EXPECT_THAT(store().Waiting().value(), IsEmpty());
  EXPECT_FALSE(store().CurrentLease().value().has_value());
  EXPECT_EQ(Commit({.job = Get(job.id)}, lease->token).error().reason, Reason::kLeaseLost);
}

TEST_P(StoreContract, ACopyWhoseJobChangedMeanwhileStaysWhatItIs) {
  const std::string id = store().StoreId().value();
  const Job first = Get(Create("first"));
  const Job second = Get(Create("second"));
  ASSERT_TRUE(store().SetWish(second.id, Wish::kCancel, core::SetupWish::kAsNeeded, now_).ok());
  const auto refused =
      store().BecomeAnother("abc123", SiteNamed("/b"), {{.job = first}, {.job = second}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason, Reason::kStale);
  EXPECT_EQ(store().StoreId().value(), id);
  EXPECT_EQ(Get(first.id), first);
  EXPECT_THAT(store().Sites().value(), IsEmpty());
}

// --- Guests ---

TEST_P(StoreContract, GuestsReadBackAsTheyWereWritten) {
  EXPECT_THAT(store().Guests().value(), IsEmpty());
  core::Guest bob = test::Bob({"sweep-*", "42"});
  bob.added_at = now_;
  ASSERT_TRUE(store().SetGuest({}, bob).ok());
  ASSERT_TRUE(store().SetGuest({}, test::GuestWith(test::kEd25519Key, "bob")).ok());
  ASSERT_TRUE(store().SetGuest({}, test::Ann()).ok());
  EXPECT_THAT(store().Guests().value(),
              ElementsAre(test::Ann(), bob, test::GuestWith(test::kEd25519Key, "bob")));
}

TEST_P(StoreContract, AGuestIsChangedOnlyAsItWasRead) {
  const core::Guest ann = test::Ann();
  core::Guest leaving = ann;
  leaving.leaving = true;
  leaving.left_on = {JobId{7}};
  EXPECT_EQ(store().SetGuest(ann, leaving).error().reason, Reason::kStale) << "it is not there";
  ASSERT_TRUE(store().SetGuest({}, ann).ok());
  EXPECT_EQ(store().SetGuest({}, ann).error().reason, Reason::kStale) << "it is there";
  ASSERT_TRUE(store().SetGuest(ann, leaving).ok());
  EXPECT_EQ(store().SetGuest(ann, {}).error().reason, Reason::kStale);
  EXPECT_THAT(store().Guests().value(), ElementsAre(leaving));
  ASSERT_TRUE(store().SetGuest(leaving, leaving).ok()) << "the same again";
  ASSERT_TRUE(store().SetGuest(leaving, {}).ok());
  EXPECT_THAT(store().Guests().value(), IsEmpty());
}

// --- Changes ---

TEST_P(StoreContract, OnlyWritesMoveTheChangeCounter) {
  const DirectStore store = this->store();
  const auto start = store.ChangeCounter().value();
  EXPECT_EQ(store.ChangeCounter().value(), start);
  const JobId id = store.Create(SampleJob("train"), "", now_).value();
  const auto created = store.ChangeCounter().value();
  EXPECT_NE(created, start);
  ASSERT_TRUE(store.List({}).ok());
  EXPECT_EQ(store.ChangeCounter().value(), created);
  ASSERT_TRUE(store.SetWish(id, Wish::kCancel, core::SetupWish::kAsNeeded, now_).ok());
  EXPECT_NE(store.ChangeCounter().value(), created);
}

}  // namespace
}  // namespace jobman
