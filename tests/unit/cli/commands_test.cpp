// What commands refuse, and with which exit codes they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "jobman/base/json.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/lend.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

core::Job Ended(const std::string& name, core::Outcome outcome, int exit_code = 0) {
  core::Job job{.name = name};
  job.state = core::Done{.outcome = outcome, .exit_code = exit_code};
  return job;
}

/// Stores a job as it is, without the wish of a new job.
void Put(test::MemoryStore& store, const core::Job& job) {
  const auto id = store.Create(job, "", {});
  ASSERT_TRUE(id.ok());
  ports::Turn turn{.job = *store.Get(*id)};
  turn.job.wish_new = false;
  ASSERT_TRUE(store.Commit(turn, 0).ok());
}

class Commands : public testing::Test {
 protected:
  Commands() {
    world_.fill = [this](test::MemoryStore& store) { HoldLease(store); };
  }
  std::string Write(const std::string& name, const std::string& text) {
    const auto path = world_.paths().home / name;
    std::ofstream(path) << text;
    return path.string();
  }
  std::string GoodFile(const std::string& name, const std::string& more = {}) {
    return Write(name,
                 "tpu:\n  accelerator: v4-16\n  zone: us-central2-b\n  project: demo\n"
                 "command: {cmd: hostname}\n" +
                     more);
  }
  /// Makes this process the controller, so that none is started.
  void HoldLease(test::MemoryStore& store) {
    ASSERT_TRUE(store.TakeLease(controller::LeaseHolder(), world_.clock.Now(), kLong).ok());
  }

  /// Only what the store keeps of it is known.
  void LoseTheCloud() {
    cloud_.SetReachable(false);
    world_.open_cloud = Lend(cloud_);
  }

  static constexpr base::Duration kLong = std::chrono::hours{1};
  CliWorld world_;
  FakeSliceApi cloud_{world_.clock};
};

/// A store that was used elsewhere: commands that act are refused, others warn, a shell that asks
/// for completions hears nothing.
TEST_F(Commands, InACopiedStoreOnlyReadingWorks) {
  const core::Site home{.machine = "m1", .host = "laptop", .path = "/home/ada/store", .file = 7};
  world_.fill = [&](test::MemoryStore& store) {
    Put(store, Ended("train", core::Outcome::kFailed));
    ASSERT_TRUE(store.SetSites({home}).ok());
    HoldLease(store);
  };
  world_.look_at_site = [&](const base::StatePaths&) {
    core::Site copy = home;
    copy.machine = "m2";
    return copy;
  };
  const std::vector<std::vector<std::string>> acting = {
      {"cancel", "train"}, {"gc"},   {"controller", "run"}, {"controller", "stop"},
      {"wait", "train"},   {"tick"}, {"clean", "train"},    {"exec", "train", "--", "true"}};
  for (const auto& command : acting) {
    const auto refused = world_.Run(command);
    EXPECT_EQ(refused.exit_code, 2) << command[0];
    EXPECT_THAT(
        refused.err,
        HasSubstr("jobman: this store was moved or copied: it is not the file that was used in "
                  "/home/ada/store on laptop"));
    EXPECT_THAT(refused.err, HasSubstr("jobman store adopt --new-id"));
  }
  const auto listed = world_.Run({"list"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_THAT(listed.out, HasSubstr("train"));
  EXPECT_THAT(listed.err, HasSubstr("jobman: warning: this store was moved or copied"));
  EXPECT_THAT(listed.err, HasSubstr("\n  if it was moved: jobman store adopt;"));
  EXPECT_EQ(world_.Run({"-q", "list"}).err, "");
  const auto completed = world_.Run({"__complete", "logs", ""});
  EXPECT_THAT(completed.out, HasSubstr("train"));
  EXPECT_EQ(completed.err, "");

  const auto adopted = world_.Run({"--json", "store", "adopt"});
  EXPECT_EQ(adopted.exit_code, 0) << adopted.err;
  EXPECT_THAT(adopted.out, HasSubstr("\"store_id\": \"memory\""));
  EXPECT_NE(world_.Run({"-q", "store", "adopt", "--new-id"}).out, "memory\n");
  EXPECT_THAT(world_.Run({"store", "adopt"}).err, HasSubstr("store memory is now at home in"));
  world_.look_at_site = [&](const base::StatePaths&) { return home; };
  EXPECT_THAT(world_.Run({"store", "adopt"}).err, HasSubstr("store memory was already at home in"));
}

TEST_F(Commands, RemovingByAnAmbiguousNameIsRefused) {
  world_.fill = [this](test::MemoryStore& store) {
    for (int i = 0; i < 2; ++i) Put(store, Ended("train", core::Outcome::kFailed));
    HoldLease(store);
  };
  for (const char* command : {"clean", "delete"}) {
    const auto ended = world_.Run({command, "train"});
    EXPECT_EQ(ended.exit_code, 2) << command;
    EXPECT_THAT(ended.err, HasSubstr("several jobs are named \"train\": 000001, 000002"));
    EXPECT_THAT(ended.err, HasSubstr("use the number"));
    const auto chosen = world_.Run({command, "train", "--status", "FAILED", "--yes"});
    EXPECT_EQ(chosen.exit_code, 2) << command;
    EXPECT_THAT(chosen.err, HasSubstr("several jobs are named \"train\""));
  }
}

TEST_F(Commands, CleanKeepsAJobThatIsResumedMeanwhile) {
  world_.fill = [this](test::MemoryStore& store) {
    Put(store, Ended("train", core::Outcome::kDeleted));
    HoldLease(store);
  };
  world_.before_erase = [this](test::MemoryStore& store) {
    EXPECT_TRUE(
        store.SetWish({1}, core::Wish::kRun, core::SetupWish::kAsNeeded, world_.clock.Now()).ok());
  };
  world_.WriteLog(1, 1, "run", 0, "said\n");
  const auto ended = world_.Run({"clean", "1"});
  EXPECT_EQ(ended.exit_code, 75) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("job 000001 is not erased: it was changed meanwhile"));
  EXPECT_TRUE(base::FileSize(world_.paths().LogPath(1, 1, "run", 0))) << "its logs are kept, too";
}

TEST_F(Commands, CleanErasesTheOthersAndNamesTheJobThatItCannot) {
  world_.fill = [this](test::MemoryStore& store) {
    for (const char* name : {"a", "b", "c"}) Put(store, Ended(name, core::Outcome::kDeleted));
    HoldLease(store);
  };
  world_.before_erase = [this](test::MemoryStore& store) {
    EXPECT_TRUE(
        store.SetWish({2}, core::Wish::kRun, core::SetupWish::kAsNeeded, world_.clock.Now()).ok());
  };
  const auto ended = world_.Run({"clean", "1", "2", "3", "--yes"});
  EXPECT_EQ(ended.exit_code, 75) << ended.out;
  EXPECT_EQ(ended.out,
            "job 000001 (a) is gone: its records and logs are deleted\n"
            "job 000003 (c) is gone: its records and logs are deleted\n");
  EXPECT_THAT(ended.err, HasSubstr("jobman: job 000002 is not erased"));
  const auto quiet = world_.Run({"clean", "1", "2", "3", "--yes", "-q"});
  EXPECT_EQ(quiet.exit_code, 75);
  EXPECT_EQ(quiet.out, "000001\n000003\n");
  EXPECT_THAT(quiet.err, HasSubstr("job 000002 is not erased"));
  const auto ran = world_.Run({"clean", "1", "2", "3", "--yes", "--json"});
  EXPECT_EQ(ran.exit_code, 75);
  const auto json = base::ParseJson(ran.out);
  ASSERT_TRUE(json.ok()) << ran.out;
  EXPECT_EQ(json->at("jobs").size(), 2U);
  ASSERT_EQ(json->at("refused").size(), 1U);
  EXPECT_EQ(json->at("refused")[0]["id"], 2);
  EXPECT_THAT(json->at("refused")[0]["error"]["message"].get<std::string>(),
              HasSubstr("job 000002 is not erased"));
}

TEST_F(Commands, AJobWrittenByANewerJobmanIsRefusedButNotTheOthers) {
  world_.fill = [this](test::MemoryStore& store) {
    Put(store, Ended("newer", core::Outcome::kFailed));
    Put(store, Ended("known", core::Outcome::kFailed));
    store.MakeUnreadable({1});
    EXPECT_TRUE(store.SetAside({{1}, 3}, "this jobman leaves the job alone", 0).ok());
    HoldLease(store);
  };
  for (const char* command : {"show", "why"}) {
    const auto ended = world_.Run({command, "newer"});
    EXPECT_EQ(ended.exit_code, 2) << command;
    EXPECT_THAT(ended.err, HasSubstr("written by a newer jobman")) << command;
    EXPECT_EQ(world_.Run({command, "known"}).exit_code, 0) << command;
  }
  const auto listed = world_.Run({"list"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, AllOf(HasSubstr("this jobman leaves the job alone"), HasSubstr("known")));
}

TEST_F(Commands, WhySaysThatTheControllerLeavesAJobAlone) {
  world_.fill = [this](test::MemoryStore& store) {
    Put(store, Ended("train", core::Outcome::kFailed));
    const auto job = store.Get({1});
    EXPECT_TRUE(store.SetAside({{1}, job->version}, "its record contradicts itself", 0).ok());
    HoldLease(store);
  };
  const auto ended = world_.Run({"why", "1"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("its record contradicts itself"),
                               HasSubstr("jobman show --json 000001")));
}

TEST_F(Commands, WhyOfAJobInTheQueueNamesTheControllerFirstIfNoneRuns) {
  world_.fill = [](test::MemoryStore& store) {
    core::Job job{.name = "train"};
    job.state = core::Waiting{};
    Put(store, job);
  };
  EXPECT_THAT(world_.Run({"why", "1"}).out,
              HasSubstr("  next       jobman controller start, or jobman tick\n"));
}

TEST_F(Commands, WhyOfAFailedJobNamesTheCommandsThatGoOn) {
  world_.fill = [](test::MemoryStore& store) {
    core::Job refused = Ended("refused", core::Outcome::kFailed);
    refused.state = core::Done{.outcome = core::Outcome::kFailed,
                               .error = base::Error{.hint = "choose another zone"}};
    Put(store, refused);
    core::Job holder = Ended("holder", core::Outcome::kFailed);
    holder.slice = core::Slice{.ref = {.name = "holder-2-a1"}, .phase = core::SlicePhase::kCreated};
    Put(store, holder);
    Put(store, Ended("stopped", core::Outcome::kCancelled));
  };
  EXPECT_THAT(world_.Run({"why", "1"}).out,
              HasSubstr("  next       choose another zone\n"
                        "             jobman edit 000001    change what it asks for\n"
                        "             jobman resume 000001  run it again\n"
                        "             jobman show 000001    everything about it\n"));
  EXPECT_THAT(world_.Run({"why", "2"}).out,
              HasSubstr("  next       jobman logs 000002\n"
                        "             jobman resume 000002  run it again, on the slice that is "
                        "still held\n"
                        "             jobman delete 000002  delete the slice\n"));
  EXPECT_THAT(world_.Run({"why", "3"}).out,
              testing::EndsWith("  next       jobman resume 000003\n"));
}

TEST_F(Commands, ResumeAndWaitEndsWithTheJobsExitCode) {
  world_.fill = [this](test::MemoryStore& store) {
    Put(store, Ended("train", core::Outcome::kCancelled));
    HoldLease(store);
  };
  world_.on_pause = [](test::MemoryStore& store) {
    ports::Turn turn{.job = *store.Get({1})};
    turn.job.wish_new = false;
    turn.job.state = core::Done{.outcome = core::Outcome::kFailed, .exit_code = 7};
    EXPECT_TRUE(store.Commit(turn, store.CurrentLease()->value().token).ok());
    return true;
  };
  for (const char* command : {"resume", "reboot", "requeue"}) {
    const auto ended = world_.Run({command, "1", "--wait"});
    EXPECT_EQ(ended.exit_code, 7) << command << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("\n\nnext:\n  jobman why 000001 ")) << command;
    EXPECT_THAT(ended.out, HasSubstr("\n  jobman resume 000001  run it again\n")) << command;
    EXPECT_EQ(world_.Run({command, "1", "--wait", "-q"}).out, "000001\n") << command;
  }
  EXPECT_EQ(world_.Run({"delete", "1", "--wait"}).exit_code, 0);
}

TEST_F(Commands, CancelLeavesAFinishedJobAsItIs) {
  world_.fill = [this](test::MemoryStore& store) {
    Put(store, Ended("train", core::Outcome::kSucceeded));
    HoldLease(store);
  };
  EXPECT_THAT(world_.Run({"cancel", "1"}).out, HasSubstr("job 000001 (train) is SUCCEEDED"));
  EXPECT_THAT(world_.Run({"delete", "1"}).out, HasSubstr("deleting job 000001"));
}

TEST_F(Commands, HostsOfANewJobMayBeTriedLater) {
  world_.fill = [](test::MemoryStore& store) {
    Put(store, core::Job{.name = "new"});
    Put(store, Ended("old", core::Outcome::kSucceeded));
  };
  for (const char* command : {"exec", "ssh"}) {
    const auto ended = world_.Run({command, "new", "hostname"});
    EXPECT_EQ(ended.exit_code, 75) << command;
    EXPECT_THAT(ended.err, HasSubstr("jobman why 000001"));
    EXPECT_EQ(world_.Run({command, "old", "hostname"}).exit_code, 2);
  }
  EXPECT_EQ(world_.Run({"cp", "new:file", "."}).exit_code, 75);
  EXPECT_EQ(world_.Run({"cp", "old:file", "."}).exit_code, 2);
  // A port of a job that is yet to get hosts waits for them (e2e_forward).
  EXPECT_EQ(world_.Run({"forward", "old", "0:6006"}).exit_code, 2);
  EXPECT_EQ(world_.Run({"forward", "new", "port"}).exit_code, 2);
}

TEST_F(Commands, ListsOfValuesAreSeparatedByCommas) {
  world_.fill = [](test::MemoryStore& store) { Put(store, core::Job{.name = "new"}); };
  EXPECT_EQ(world_.Run({"history", "new", "-k", "hook"}).exit_code, 0);
  EXPECT_EQ(world_.Run({"history", "new", "-k", "state,hook", "-k", "note"}).exit_code, 0);
  EXPECT_EQ(world_.Run({"history", "-k", "state,hook", "new"}).exit_code, 0);
  EXPECT_EQ(world_.Run({"history", "new", "-k", "state,hooks"}).exit_code, 2);
  EXPECT_EQ(world_.Run({"list", "-s", "running,failed"}).exit_code, 0);
}

TEST_F(Commands, FamiliarWordsMeanTheSame) {
  world_.fill = [this](test::MemoryStore& store) {
    HoldLease(store);
    Put(store, Ended("old", core::Outcome::kSucceeded));
  };
  EXPECT_EQ(world_.Run({"status"}).out, world_.Run({"list"}).out);
  EXPECT_EQ(world_.Run({"describe", "old"}).out, world_.Run({"show", "old"}).out);
  EXPECT_EQ(world_.Run({"rm", "old"}).exit_code, 0);
  EXPECT_EQ(world_.Run({"--version"}).out, world_.Run({"version"}).out);
  EXPECT_EQ(world_.Run({"--version"}).exit_code, 0);
}

TEST_F(Commands, TheNearestOptionOrCommandIsNamed) {
  const auto hint = [&](std::vector<std::string> words) {
    const auto ended = world_.Run(std::move(words));
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  };
  EXPECT_THAT(hint({"logs", "1", "--folow"}), HasSubstr("did you mean --follow?"));
  EXPECT_THAT(hint({"list", "--statsu=RUNNING"}), HasSubstr("did you mean --status?"));
  EXPECT_THAT(hint({"list", "--jsno"}), HasSubstr("did you mean --json?"));
  EXPECT_THAT(hint({"config", "chekc"}), HasSubstr("did you mean check?"));
  EXPECT_THAT(hint({"lsit"}), HasSubstr("did you mean \"list\"?"));
  EXPECT_THAT(hint({"list", "--xyzzy"}), HasSubstr("jobman list --help"));
}

TEST_F(Commands, WhatCannotBeReadIsQuoted) {
  const auto error = [&](std::vector<std::string> words) {
    const auto ended = world_.Run(std::move(words));
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  };
  EXPECT_THAT(error({"list", "--sort", "foo"}),
              HasSubstr("--sort: \"foo\" is not one of id, name, status, since, zone, user\n"));
  EXPECT_THAT(error({"list", "--stauts"}), HasSubstr("jobman: there is no option --stauts\n"));
  EXPECT_THAT(error({"list", "--stauts=x"}), HasSubstr("there is no option --stauts\n"));
  EXPECT_THAT(error({"version", "now"}), HasSubstr("the argument \"now\" is one too many\n"));
  EXPECT_THAT(error({"exec", "5", "--workdir", "/etc", "--", "pwd"}),
              HasSubstr("write the folder after =: --workdir=DIR\n"));
}

TEST_F(Commands, WhichNumbersAnOptionTakesIsSaidInWords) {
  const auto expect = [&](std::vector<std::string> words, const std::string& error) {
    const auto ended = world_.Run(std::move(words));
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_THAT(ended.err, testing::StartsWith("jobman: " + error + "\n"));
  };
  for (const char* number : {"x", "-3", "1.5", "99999999999999999999"}) {
    expect({"logs", "1", "--tail", number},
           "--tail: \"" + std::string(number) + "\" is not a whole number of 0 or more");
  }
  expect({"logs", "1", "-a", "0"}, "--attempt: \"0\" is not a whole number of 1 or more");
  expect({"history", "1", "-a", "x"}, "--attempt: \"x\" is not a whole number of 0 or more");
  expect({"ssh", "1", "-w", "x"}, "--host: \"x\" is not a whole number from 0 to 100000");
  expect({"forward", "1", "22", "-w", "100001"},
         "--host: \"100001\" is not a whole number from 0 to 100000");
  expect({"controller", "run", "--poll", "2h"}, "--poll: \"2h\" is not a time from 1s to 1h");
  expect({"tick", "--bound", "0"}, "--bound: \"0\" is not a time from 1s to 1h");
}

TEST_F(Commands, ATextThatIsNoDurationIsRefusedWithItsCure) {
  const std::string cure = " is not a duration; write for example 90s, 15m, 1h30m or 2d\n";
  for (const std::string text : {"soon", ""}) {
    const auto tick = world_.Run({"tick", "--bound", text});
    EXPECT_EQ(tick.exit_code, 2);
    EXPECT_THAT(tick.err, testing::StartsWith("jobman: --bound: \"" + text + "\"" + cure));
    const auto exec = world_.Run({"exec", "1", "--patience", text, "--", "true"});
    EXPECT_EQ(exec.exit_code, 2);
    EXPECT_THAT(exec.err, testing::StartsWith("jobman: --patience: \"" + text + "\"" + cure));
  }
  const auto logs = world_.Run({"logs", "1", "--since", ""});
  EXPECT_EQ(logs.exit_code, 2);
  EXPECT_THAT(logs.err, HasSubstr("--since: \"\" is neither a duration nor an RFC 3339 time"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"logs", "1", "--since"},
        std::vector<std::string>{"wait", "1", "--timeout"}}) {
    std::vector<std::string> args = words;
    args.emplace_back("99999999d");
    const auto too_long = world_.Run(args);
    EXPECT_EQ(too_long.exit_code, 2) << words[0];
    EXPECT_THAT(too_long.err,
                HasSubstr(words.back() + ": \"99999999d\" is too long: the longest duration is"));
  }
}

TEST_F(Commands, ResumeOfARunningJobSaysThatThereIsNothingToDo) {
  world_.fill = [this](test::MemoryStore& store) {
    HoldLease(store);
    core::Job job{.name = "new"};
    job.state = core::Running{};
    Put(store, job);
  };
  EXPECT_EQ(world_.Run({"resume", "new"}).out,
            "job 000001 (new) is already RUNNING; nothing to do\n");
}

TEST_F(Commands, NameOptionWithSeveralFilesIsRefused) {
  const auto ended =
      world_.Run({"create", "--dry-run", "--name", "x", GoodFile("a.yaml"), GoodFile("b.yaml")});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--name cannot be used with several files"));
}

TEST_F(Commands, CsvWithJsonIsRefused) {
  for (const char* command : {"zones", "cost", "quota", "storage", "billing"}) {
    const auto ended = world_.Run({command, "--json", "--csv"});
    EXPECT_EQ(ended.exit_code, 2) << command;
    EXPECT_THAT(ended.out + ended.err, HasSubstr("--csv cannot be used with --json")) << command;
  }
}

TEST_F(Commands, EveryBadFileIsReported) {
  const auto ended = world_.Run({"create", "--dry-run", GoodFile("good.yaml"),
                                 GoodFile("bad.yaml", "nonsense: 1\n"), "missing.yaml"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("bad.yaml:6:1: unknown key \"nonsense\""));
  EXPECT_THAT(ended.err, HasSubstr("missing.yaml: no such file\n  jobman init missing.yaml"));
}

TEST_F(Commands, ATypeThatTheZoneDoesNotOfferIsShownInTheFile) {
  const std::string place = "http://127.0.0.1:1:demo:us-central2-b";
  std::string types = "v4-8\nv4-32";
  LoseTheCloud();
  world_.fill = [&](test::MemoryStore& store) {
    HoldLease(store);
    EXPECT_TRUE(store.PutInCache("offers:types:" + place, {types, world_.clock.Now()}).ok());
    EXPECT_TRUE(
        store.PutInCache("offers:runtimes:" + place, {"v2-alpha", world_.clock.Now()}).ok());
  };
  const std::vector<std::string> create = {"create", "--endpoint", "http://127.0.0.1:1",
                                           GoodFile("a.yaml")};
  const auto type = world_.Run(create);
  EXPECT_EQ(type.exit_code, 2);
  EXPECT_THAT(type.err, HasSubstr("a.yaml:2:16: zone us-central2-b does not offer v4-16\n"
                                  "  2 |   accelerator: v4-16\n"
                                  "    |                ^\n"));
  types = "v4-16";
  EXPECT_THAT(world_.Run(create).err, HasSubstr("a.yaml:1:1: zone us-central2-b does not offer "
                                                "the runtime version"));
  std::vector<std::string> unasked = create;
  unasked.emplace_back("--no-preflight");
  const auto made = world_.Run(unasked);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, Not(HasSubstr("note:"))) << "it was not to be asked";
}

TEST_F(Commands, APricingThatThePriceListLacksThereIsSpokenOf) {
  LoseTheCloud();
  world_.fill = [this](test::MemoryStore& store) { HoldLease(store); };
  std::vector<std::string> create = {"create",
                                     "--endpoint",
                                     "http://127.0.0.1:1",
                                     GoodFile("a.yaml"),
                                     "--set",
                                     "tpu.accelerator=v6e-8",
                                     "--set",
                                     "tpu.zone=southamerica-west1-a"};
  EXPECT_THAT(world_.Run(create).err, Not(HasSubstr("price list"))) << "it has one on demand";
  create.insert(create.end(), {"--set", "tpu.pricing=spot"});
  const auto speaks_of_it = HasSubstr(
      ") has a price of v6e in southamerica-west1-a on demand, and none for "
      "spot: the zone may not offer tpu.pricing: spot\n");
  EXPECT_THAT(world_.Run(create).err, speaks_of_it);
  std::vector<std::string> dry_run = create;
  dry_run.emplace_back("--dry-run");
  EXPECT_THAT(world_.Run(dry_run).err, speaks_of_it);
  std::vector<std::string> check = create;
  check.erase(check.begin());
  check.insert(check.begin(), {"config", "check"});
  EXPECT_THAT(world_.Run(check).err, speaks_of_it);
  create.emplace_back("--no-preflight");
  EXPECT_THAT(world_.Run(create).err, Not(HasSubstr("price list")));
}

TEST_F(Commands, AZoneThatWasSetForATypeThatIsElsewhereIsTheOneThatIsWrong) {
  const std::string place = "http://127.0.0.1:1:demo:us-central1-a";
  LoseTheCloud();
  world_.fill = [&](test::MemoryStore& store) {
    HoldLease(store);
    EXPECT_TRUE(store.PutInCache("offers:types:" + place, {"v2-8\nv3-8", world_.clock.Now()}).ok());
  };
  const auto ended = world_.Run({"create", "--endpoint", "http://127.0.0.1:1", GoodFile("a.yaml"),
                                 "--set", "tpu.zone=us-central1-a"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--set: zone us-central1-a does not offer v4-16\n"
                                   "   | tpu.zone=us-central1-a\n"
                                   "   |          ^\n"
                                   "  zones with v4, by the price list: us-central2-b\n"));
}

TEST_F(Commands, AnEncryptedKeyWithoutPassphraseIsRefusedBeforeAJobIsCreated) {
  const std::string key = (world_.paths().home / "key").string();
  ASSERT_EQ(::system(("ssh-keygen -q -t ed25519 -N secret -f " + key).c_str()), 0);
  ::unsetenv("SSH_AUTH_SOCK");
  ::unsetenv("JOBMAN_SSH_PASSPHRASE");
  const auto ended = world_.Run({"create", "--endpoint", "http://127.0.0.1:1",
                                 GoodFile("a.yaml", "ssh: {private_key: " + key + "}\n")});
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_THAT(ended.err, HasSubstr("is encrypted"));
  EXPECT_THAT(ended.err, HasSubstr("JOBMAN_SSH_PASSPHRASE"));
}

TEST_F(Commands, InitNamesTheFileThatItCannotWrite) {
  const auto ended = world_.Run({"init", "/nonexistent-folder/job.yaml"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("writing /nonexistent-folder/job.yaml"));
  EXPECT_THAT(ended.err, HasSubstr("mkdir -p /nonexistent-folder"));
  EXPECT_THAT(ended.err, Not(HasSubstr(".tmp")));
}

TEST_F(Commands, ErrorNamesTheSubcommands) {
  EXPECT_THAT(world_.Run({"controller", "foo"}).err, HasSubstr("run, start, status, stop"));
  EXPECT_THAT(world_.Run({"config"}).err, HasSubstr("check, show, explain"));
}

TEST_F(Commands, ControllerStatusTellsTheProcess) {
  const std::string pid = std::to_string(::getpid());
  const auto json = base::ParseJson(world_.Run({"controller", "status", "--json"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_TRUE(json->at("running"));
  EXPECT_EQ(json->value("pid", 0), ::getpid());
  EXPECT_EQ(json->at("log"), world_.paths().ControllerLog().string());
  EXPECT_THAT(world_.Run({"controller", "status"}).out,
              HasSubstr("a controller runs: process " + pid + " on "));
}

TEST_F(Commands, ControllerStatusOfAnUnknownHolderHasNoProcess) {
  world_.fill = [this](test::MemoryStore& store) {
    ASSERT_TRUE(store.TakeLease("somebody", world_.clock.Now(), kLong).ok());
  };
  const auto json = base::ParseJson(world_.Run({"controller", "status", "--json"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->at("holder"), "somebody");
  EXPECT_FALSE(json->contains("pid"));
  EXPECT_THAT(world_.Run({"controller", "status"}).out, HasSubstr("runs: somebody\n"));
}

TEST_F(Commands, ControllerStopPrintsJson) {
  world_.fill = {};  // no controller runs
  EXPECT_THAT(world_.Run({"controller", "stop", "--json"}).out, HasSubstr("\"stopped\": false"));
}

}  // namespace
}  // namespace jobman::test
