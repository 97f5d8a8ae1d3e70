// Which jobs a command is for, and what it asks before it acts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/job_choice.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const core::JobState kFailed = core::Done{.outcome = core::Outcome::kFailed, .exit_code = 1};
const core::JobState kDeleted = core::Done{.outcome = core::Outcome::kDeleted};

core::Slice HeldSlice() {
  return {.ref = {.name = "train-1-a1"},
          .phase = core::SlicePhase::kCreated,
          .nodes = {{.hosts = 1}},
          .hosts = {{.internal = "10.0.0.2"}}};
}

class Choices : public testing::Test {
 protected:
  Choices() {
    world_.fill = [this](MemoryStore& store) {
      ASSERT_TRUE(
          store.TakeLease(controller::LeaseHolder(), world_.clock.Now(), std::chrono::hours{1})
              .ok());
      for (const core::Job& job : jobs_) Store(store, job);
    };
  }
  /// Its label `study` is its name up to the first hyphen.
  void Add(const std::string& name, core::JobState state,
           std::optional<core::Slice> slice = std::nullopt) {
    core::Job job{.name = name};
    job.spec.labels["study"] = name.substr(0, name.find('-'));
    job.spec.tpu.zone = "us-central2-b";
    job.state = std::move(state);
    job.slice = std::move(slice);
    jobs_.push_back(std::move(job));
  }
  void AnswerWith(std::function<bool(MemoryStore&)> answer) {
    world_.around.err_tty = true;
    world_.on_ask = [this, answer = std::move(answer)](MemoryStore& store,
                                                       const std::string& question) {
      asked_ = question;
      return answer(store);
    };
  }
  void Resume(MemoryStore& store, core::JobId id) {
    EXPECT_TRUE(
        store.SetWish(id, core::Wish::kRun, core::SetupWish::kAsNeeded, world_.clock.Now()).ok());
  }
  std::string Out(const std::vector<std::string>& args) {
    const auto ended = world_.Run(args);
    EXPECT_EQ(ended.exit_code, 0) << args[0] << ": " << ended.err;
    return ended.out;
  }

  CliWorld world_;
  std::string asked_ = {};

 private:
  static void Store(MemoryStore& store, const core::Job& job) {
    const auto id = store.Create(job, "", {});
    ASSERT_TRUE(id.ok());
    ports::Turn turn{.job = *store.Get(*id)};
    turn.job.wish_new = false;
    ASSERT_TRUE(store.Commit(turn, 0).ok());
  }
  std::vector<core::Job> jobs_ = {};
};

TEST_F(Choices, CleanFindsDeletedJobsByPatternStatusAndLabel) {
  Add("sweep-0", kDeleted);
  Add("sweep-1", kDeleted);
  Add("eval", kDeleted);
  const std::string both =
      "job 000001 (sweep-0) is gone: its records and logs are deleted\n"
      "job 000002 (sweep-1) is gone: its records and logs are deleted\n";
  EXPECT_EQ(Out({"clean", "sweep-*"}), both);
  EXPECT_EQ(Out({"clean", "-l", "study=sweep"}), both);
  EXPECT_EQ(Out({"clean", "sweep-*", "-s", "deleted"}), both);
  EXPECT_EQ(Out({"clean", "-q", "-s", "dead"}), "000001\n000002\n000003\n");
  EXPECT_THAT(Out({"clean", "eval", "--json"}),
              AllOf(HasSubstr("\"state\": \"gone\""), HasSubstr("\"status\": \"gone\"")));
}

TEST_F(Choices, DeletedJobsAreFoundToBeLookedAtAndNotToBeActedOn) {
  Add("sweep-0", kDeleted);
  for (const char* command : {"show", "history"}) {
    EXPECT_EQ(world_.Run({command, "sweep-*"}).exit_code, 0) << command;
    EXPECT_EQ(world_.Run({command, "-l", "study=sweep"}).exit_code, 0) << command;
  }
  for (const char* command : {"cancel", "resume", "reboot", "requeue", "delete", "wait", "why"}) {
    EXPECT_EQ(world_.Run({command, "sweep-*"}).exit_code, 3) << command;
    EXPECT_EQ(world_.Run({command, "-l", "study=sweep"}).exit_code, 3) << command;
  }
}

TEST_F(Choices, WithAStatusANameMeansAllItsJobs) {
  Add("train", core::Running{});
  Add("train", kFailed);
  EXPECT_EQ(Out({"cancel", "train", "-s", "running", "-q"}), "000001\n");
  EXPECT_EQ(Out({"cancel", "train", "-l", "study=train", "-q"}), "000001\n000002\n");
  EXPECT_EQ(Out({"cancel", "train", "-q"}), "000002\n");
  EXPECT_EQ(world_.Run({"delete", "train", "-s", "running"}).exit_code, 2) << "ambiguous";
}

TEST_F(Choices, ANameMeansTheJobThatIsNotDeleted) {
  Add("train", kFailed);
  Add("train", kDeleted);
  for (const char* command : {"resume", "cancel", "delete"})
    EXPECT_EQ(Out({command, "train", "-q"}), "000001\n") << command;
}

TEST_F(Choices, LabelsAndZonesAreLists) {
  Add("train", core::Running{});
  EXPECT_EQ(Out({"list", "-q", "-l", "study=train,study=train"}), "000001\n");
  EXPECT_EQ(world_.Run({"cancel", "-l", "study=train,team=audio"}).exit_code, 3);
  EXPECT_EQ(world_.Run({"cancel", "-l", "study=train,team"}).exit_code, 2);
  EXPECT_EQ(Out({"list", "-q", "-z", "us-east5-a,us-east5-b"}), "");
  EXPECT_EQ(Out({"list", "-q", "-z", "us-east5-a,us-central2-b", "train"}), "000001\n");
}

TEST_F(Choices, ListTakesNumbersNamesAndPatterns) {
  Add("sweep-0", core::Running{});
  Add("sweep-1", kDeleted);
  Add("eval", kFailed);
  EXPECT_EQ(Out({"list", "-q", "sweep-*"}), "000001\n");
  EXPECT_EQ(Out({"list", "-q", "sweep-*", "--all"}), "000001\n000002\n");
  EXPECT_EQ(Out({"list", "-q", "-s", "failed", "eval", "sweep-0"}), "000003\n");
  EXPECT_EQ(Out({"list", "-q", "3", "000001"}), "000001\n000003\n");
  EXPECT_EQ(world_.Run({"list", "-q", "nobody"}).exit_code, 3);
}

TEST_F(Choices, AListWithoutJobsSaysWhatNoneMatches) {
  Add("eval", kFailed);
  const auto none = world_.Run({"list", "-s", "running", "sweep-*", "-z", "us-east5-a,us-east5-b"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "no jobs match sweep-*, status running, zone us-east5-a,us-east5-b\n");
  world_.on_pause = [](MemoryStore&) { return false; };
  EXPECT_EQ(world_.Run({"list", "--watch", "-u", "nobody"}).out, "no jobs match user nobody\n\n");
}

TEST_F(Choices, RequeueAsksBeforeItGivesUpASlice) {
  Add("train", kFailed, HeldSlice());
  AnswerWith([](MemoryStore&) { return false; });
  const auto refused = world_.Run({"requeue", "train"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(asked_, "give up the slice of job 000001 (train)?");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("gives up slice train-1-a1"),
                                 HasSubstr("jobman reboot 000001"), HasSubstr("nothing was done")));
  asked_.clear();
  EXPECT_EQ(world_.Run({"requeue", "train", "--yes"}).exit_code, 0);
  EXPECT_EQ(asked_, "");
  AnswerWith([](MemoryStore&) { return true; });
  EXPECT_EQ(Out({"requeue", "train"}),
            "requeueing job 000001 (train); progress: jobman why 000001\n");
}

TEST_F(Choices, RequeueNamesRebootOnlyWhereTheSliceCouldServe) {
  Add("train", kFailed, HeldSlice());
  const std::string reboot = "jobman reboot";
  EXPECT_THAT(world_.Run({"requeue", "train", "--yes"}).err, HasSubstr(reboot));
  const auto changed = world_.Run({"requeue", "train", "--yes", "--set", "command.env.A=1"});
  EXPECT_THAT(changed.err, HasSubstr(reboot));
  const auto moved = world_.Run({"requeue", "train", "--yes", "--set", "tpu.zone=us-east5-a"});
  EXPECT_THAT(moved.err, AllOf(HasSubstr("gives up slice train-1-a1\n"), Not(HasSubstr(reboot))));
}

TEST_F(Choices, AJobThatIsRestartedIsNotCalledCancelling) {
  Add("train", core::Cancelling{}, HeldSlice());
  const auto fill = world_.fill;
  world_.fill = [this, fill](MemoryStore& store) {
    fill(store);
    EXPECT_TRUE(
        store.SetWish({1}, core::Wish::kReboot, core::SetupWish::kAsNeeded, world_.clock.Now())
            .ok());
  };
  AnswerWith([](MemoryStore&) { return false; });
  EXPECT_EQ(world_.Run({"requeue", "train"}).exit_code, 1);
  EXPECT_EQ(asked_,
            "give up the slice of job 000001 (train), which is being stopped to run again?");
}

TEST_F(Choices, RequeueOfAJobWithoutASliceAsksNothing) {
  Add("train", kFailed);
  AnswerWith([](MemoryStore&) { return false; });
  EXPECT_EQ(world_.Run({"requeue", "train"}).exit_code, 0);
  EXPECT_EQ(asked_, "");
}

TEST_F(Choices, AJobThatIsResumedDuringTheQuestionIsNotDeleted) {
  for (const char* name : {"train", "eval"}) Add(name, kFailed);
  AnswerWith([this](MemoryStore& store) {
    Resume(store, {1});
    return true;
  });
  const auto ended = world_.Run({"delete", "-s", "failed"});
  EXPECT_EQ(asked_, "delete jobs 000001 (train), 000002 (eval)?");
  EXPECT_THAT(ended.err, HasSubstr("job 000001 has changed meanwhile; it is left alone"));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("deleting job 000002"), Not(HasSubstr("000001"))));
}

TEST_F(Choices, AJobThatNoLongerFitsIsNotDeleted) {
  for (const char* name : {"train", "eval"}) Add(name, core::Running{});
  AnswerWith([](MemoryStore& store) {
    for (const core::JobId id : {core::JobId{1}, core::JobId{2}}) {
      ports::Turn turn{.job = *store.Get(id)};
      turn.job.state = core::Done{.outcome = core::Outcome::kSucceeded};
      EXPECT_TRUE(store.Commit(turn, 0).ok());
    }
    return true;
  });
  EXPECT_EQ(world_.Run({"delete", "-s", "running"}).exit_code, 1) << "none is left";
  EXPECT_EQ(world_.Run({"delete", "*"}).exit_code, 0) << "what was named is still that";
}

class NamesOfAll : public testing::Test {
 protected:
  core::Job Stored(const std::string& name, core::JobState state = kFailed) {
    core::Job job{.name = name};
    job.state = std::move(state);
    const auto id = store_.Create(job, "", {});
    EXPECT_TRUE(id.ok());
    ports::Turn turn{.job = *store_.Get(*id)};
    turn.job.wish_new = false;
    EXPECT_TRUE(store_.Commit(turn, 0).ok());
    return *store_.Get(*id);
  }
  std::string Of(const std::vector<core::Job>& jobs) {
    return cli::NameAll({.stores = store_.stores(), .loop = &loop_}, jobs);
  }
  StoreInMemory store_ = {};
  asio::io_context loop_ = {};
};

TEST_F(NamesOfAll, AreAPatternIfThatMeansThemAlone) {
  const std::vector<core::Job> jobs = {Stored("sweep-0"), Stored("sweep-1")};
  EXPECT_EQ(Of(jobs), "'sweep-*'");
  EXPECT_EQ(Of({jobs[1]}), "000002");
  Stored("sweep-9");
  EXPECT_EQ(Of(jobs), "000001 000002");
}

TEST_F(NamesOfAll, AreNoPatternThatMeansAnotherInPlaceOfADeletedOne) {
  const std::vector<core::Job> jobs = {Stored("sweep-0", kDeleted), Stored("sweep-1")};
  Stored("sweep-9");
  EXPECT_EQ(Of(jobs), "000001 000002");
}

TEST_F(NamesOfAll, AreCutBetweenCharacters) {
  EXPECT_EQ(Of({Stored("lauf-ä"), Stored("lauf-ö")}), "'lauf-*'");
}

}  // namespace
}  // namespace jobman::test
