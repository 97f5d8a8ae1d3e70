#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/views/error.hpp"
#include "cli/views/garbage.hpp"
#include "cli/views/top.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/top_hosts.hpp"

namespace jobman::test {
namespace {

using namespace std::chrono_literals;
using core::Job;

const base::TimePoint kNoon = base::FromMillis(1'767'268'800'000);  // 2026-01-01T12:00:00Z

std::filesystem::path GoldenPath(const std::string& name) {
  return std::filesystem::path(JOBMAN_SOURCE_DIR) / "tests/golden/data" / (name + ".txt");
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = GoldenPath(name);
  if (std::getenv("JOBMAN_BLESS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing: JOBMAN_BLESS=1 writes it";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "JOBMAN_BLESS=1 accepts what is printed now";
}

core::JobSpec Spec(const std::string& name) {
  core::JobSpec spec{.name = name, .labels = {{"team", "vision"}}};
  spec.tpu = {.allocation_mode = core::AllocationMode::kQueuedResources,
              .pricing = core::Pricing::kSpot,
              .accelerator = "v4-32",
              .project = "demo",
              .zone = "us-central2-b",
              .version = "tpu-ubuntu2204-base"};
  spec.ssh = {.user = "ann", .private_key = "/home/ann/.ssh/id_ed25519"};
  spec.setup = {{.name = "install", .run = "pip install jax"}, {.name = "data", .run = "true"}};
  spec.command = {.cmd = "python train.py \\\n  --steps 1000\n", .env = {{"LR", "0.1"}}};
  return spec;
}

core::Slice FourHosts(const std::string& name) {
  core::Slice slice{.ref = {.place = {.project = "demo", .zone = "us-central2-b"}, .name = name},
                    .phase = core::SlicePhase::kCreated,
                    .nodes = {{.uid = "8812", .hosts = 4}},
                    .requested_at = kNoon - 9min,
                    .cloud_state = "READY"};
  for (int i = 0; i < 4; ++i)
    slice.hosts.push_back({.internal = "10.130.0." + std::to_string(i + 2),
                           .external = i == 3 ? "" : "34.141.9." + std::to_string(i + 2)});
  return slice;
}

/// Stores a job as `change` makes it, and returns what was stored.
Job Put(test::MemoryStore& store, const std::string& name,
        const std::function<void(ports::Turn&)>& change) {
  const auto id =
      store.Create(Job{.name = name, .user = "ann", .spec = Spec(name)}, "job:\n", kNoon - 10min);
  EXPECT_TRUE(id.ok());
  ports::Turn turn{.job = *store.Get(*id)};
  turn.job.wish_new = false;
  change(turn);
  EXPECT_TRUE(store.Commit(turn, 0).ok());
  return *store.Get(*id);
}

ports::Event Told(int attempt, std::string kind, std::string subject, std::string text,
                  base::Duration before_noon) {
  return {.at = kNoon - before_noon,
          .attempt = attempt,
          .kind = std::move(kind),
          .subject = std::move(subject),
          .text = std::move(text)};
}

void MakeRunning(ports::Turn& turn) {
  Job& job = turn.job;
  job.state = core::Running{};
  job.since = kNoon - 200s;
  job.attempt = 2;
  job.why = "setup is complete on 4 hosts: starting the command";
  job.spent = {.preemption = 1};
  job.slice = FourHosts("train-1-a2");
  job.stage = core::Stage{.name = "run", .started_at = kNoon - 200s};
  for (int i = 0; i < 4; ++i)
    job.stage->hosts.push_back({.host = i, .phase = core::HostPhase::kRunning});
  job.stage->hosts[2] = {.host = 2, .phase = core::HostPhase::kExited, .exit_code = 0};
  job.stage->hosts[3] = {.host = 3,
                         .phase = core::HostPhase::kPending,
                         .error = base::Error{.message = "10.130.0.5: connection refused"}};
  for (const char* stage : {"setup-0-install", "setup-1-data"})
    for (int i = 0; i < 4; ++i)
      turn.exits.push_back({.attempt = 2, .stage = stage, .host = i, .at = kNoon - 300s});
  turn.exits.push_back(
      {.attempt = 1, .stage = "setup-0-install", .host = 0, .exit_code = 1, .at = kNoon - 9min});
  turn.events = {Told(1, "state", "REQUESTING", "asking for v4-32 in us-central2-b", 9min),
                 Told(1, "slice", "train-1-a1", "preempted", 8min),
                 Told(2, "state", "RUNNING", job.why, 200s)};
  turn.attempts = {{.attempt = 2,
                    .slice = "train-1-a2",
                    .zone = "us-central2-b",
                    .reason = "slice preempted",
                    .started_at = kNoon - 8min}};
}

void MakeStarting(ports::Turn& turn) {
  MakeRunning(turn);
  turn.job.why = "host 0 refuses login as ann; check ssh.user and ssh.private_key";
  for (core::HostRun& run : turn.job.stage->hosts) {
    run = {
        .host = run.host,
        .error = base::Error{.code = base::Code::kUnauthenticated,
                             .message = "34.141.9.2:22: login as ann refused (tried /home/ann/key)",
                             .reason = base::Reason::kHostAuth,
                             .hint = "a new key may take minutes to reach a host; otherwise check "
                                     "ssh.user and ssh.private_key"}};
  }
}

void MakeWaiting(ports::Turn& turn) {
  turn.job.state = core::Waiting{};
  turn.job.since = kNoon - 5h;
  turn.job.attempt = 1;
  turn.job.why = "the queued resource is accepted and waits for capacity";
  turn.job.slice = FourHosts("sweep-2-a1");
  turn.job.slice->hosts.clear();
  turn.job.slice->cloud_state = "WAITING_FOR_RESOURCES";
}

void MakeFailed(ports::Turn& turn) {
  turn.job.state = core::Done{.outcome = core::Outcome::kFailed, .exit_code = 7};
  turn.job.since = kNoon - 30h;
  turn.job.attempt = 1;
  turn.job.why = "the command ended with 7 on host 3";
  for (int i = 0; i < 4; ++i)
    turn.exits.push_back({.attempt = 1,
                          .stage = "run",
                          .host = i,
                          .exit_code = i == 3 ? 7 : 143,
                          .error = i == 1 ? "the run vanished" : "",
                          .at = kNoon - 30h});
}

void MakeBackOff(ports::Turn& turn) {
  turn.job.state = core::BackingOff{
      .until = kNoon + 42s,
      .error = {.code = base::Code::kResourceExhausted,
                .message = "There is no more capacity in the zone \"us-central2-b\".",
                .reason = base::Reason::kStockout}};
  turn.job.since = kNoon - 3s;
  turn.job.attempt = 3;
  turn.job.why = "There is no more capacity in the zone \"us-central2-b\": trying again in 45s";
}

void MakeSearching(ports::Turn& turn) {
  MakeBackOff(turn);
  turn.job.why += "; 31 tries in 2h13m";
  turn.job.search = core::Search{.since = kNoon - 133min, .tries = 31};
}

void MakeHeld(ports::Turn& turn) {
  turn.job.state = core::Done{.outcome = core::Outcome::kSucceeded};
  turn.job.since = kNoon - 2h;
  turn.job.attempt = 1;
  turn.job.why = "the command ended with exit code 0 on 4 hosts";
  turn.job.slice = FourHosts(turn.job.name + "-a1");
}

void MakeDeleted(ports::Turn& turn) {
  turn.job.state = core::Done{.outcome = core::Outcome::kDeleted};
  turn.job.since = kNoon - 240h;
  turn.job.why = "every cloud resource is deleted";
}

/// All lines but the command itself.
void ExpectAtMost80Wide(const std::string& transcript) {
  for (const std::string& line : base::Split(transcript, '\n')) {
    if (!line.starts_with("$ jobman ")) {
      EXPECT_LE(ui::DisplayWidth(line), 80) << line;
    }
  }
}

class CliGolden : public testing::Test {
 protected:
  CliGolden() {
    world_.clock.Set(kNoon);
    world_.fill = [](test::MemoryStore& store) {
      Put(store, "train", MakeRunning);
      Put(store, "sweep-größe", MakeWaiting);
      Put(store, "eval", MakeFailed);
      Put(store, "train", MakeBackOff);
      Put(store, "old", MakeDeleted);
      EXPECT_TRUE(store.TakeLease("somebody", kNoon, 1h).ok());
    };
  }

  void Expect(const std::string& name, const std::vector<std::vector<std::string>>& commands) {
    std::string text;
    for (const auto& args : commands) {
      const std::string transcript = world_.Transcript(args);
      const bool whole = std::find(args.begin(), args.end(), "wide") != args.end();
      if (world_.around.ioctl_width == 80 && !whole) ExpectAtMost80Wide(transcript);
      text += transcript + "\n";
    }
    ExpectGolden(name, text);
  }

  CliWorld world_;
};

TEST_F(CliGolden, ListThroughAPipeIsNotCut) {
  Expect("list", {{"list"}, {"ls", "--all"}, {"list", "-q"}});
}

TEST_F(CliGolden, ListFitsIntoATerminal) {
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  Expect("list_80", {{"list"}});
  world_.around.ioctl_width = 200;
  Expect("list_200", {{"list"}});
  world_.around.term = "xterm";
  Expect("list_colour", {{"list"}, {"list", "--no-color", "--name", "eval"}});
}

TEST_F(CliGolden, WhatIsInTheWayIsShownAndWaitsAreCountedAsAWhole) {
  world_.fill = [](test::MemoryStore& store) {
    Put(store, "barred", MakeStarting);
    Put(store, "patient", MakeSearching);
    EXPECT_TRUE(store.TakeLease("somebody", kNoon, 1h).ok());
  };
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  Expect("in_the_way_80", {{"list"}, {"list", "-s", "starting"}, {"why", "1"}, {"why", "2"}});
  world_.around.ioctl_width = 200;
  world_.around.term = "xterm";
  Expect("in_the_way_200", {{"list"}, {"list", "--json", "-s", "backoff"}});
}

TEST_F(CliGolden, WhyAndShowAreWrappedNotCut) {
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  Expect("wrapped_80", {{"why", "1"}, {"show", "1"}, {"why", "2"}, {"show", "2"}});
}

TEST_F(CliGolden, ListOfOneJobSaysWhy) {
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  Expect("list_one_80",
         {{"list", "-s", "running"}, {"list", "sweep*"}, {"list", "--name", "eval"}});
}

TEST_F(CliGolden, HistoryIsWrappedNotCut) {
  world_.fill = [](test::MemoryStore& store) {
    Put(store, "train", [](ports::Turn& turn) {
      turn.events = {
          Told(1, "state", "REQUESTING",
               "asking for slice train-000001-a1: spot v4-32 in us-central2-b", 9min),
          Told(1, "effect", "CreateSlice", "train-000001-a1", 9min),
          Told(1, "hook", "started",
               "hook ./notify.sh (started) failed: exit code 126, is it executable?; try 2 of 12, "
               "again in 10s",
               8min),
          Told(1, "host", "host 3", "run ended with exit code 1", 7min)};
    });
  };
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  Expect("history_80", {{"history", "1"}, {"history", "1", "-v"}, {"history", "1", "-k", "hook"}});
}

TEST_F(CliGolden, ListShowsWhatIsHeldAndWhatAllHaveInCommon) {
  world_.fill = [](test::MemoryStore& store) {
    for (int i = 1; i <= 30; ++i) {
      Put(store, "sweep-lr-" + std::to_string(i), i % 3 == 0 ? MakeHeld : MakeRunning);
    }
  };
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  world_.around.ioctl_height = 24;
  Expect("list_sweep", {{"list"}, {"list", "--no-header", "--sort", "status"}});
  world_.on_pause = [](test::MemoryStore&) { return false; };
  Expect("list_window", {{"list", "--watch"}});
  Expect("list_output",
         {{"list", "-o", "name", "--name", "*-1"}, {"list", "-o", "wide", "--name", "*-1*"}});
}

TEST_F(CliGolden, NamesForOpenSsh) {
  Expect("ssh_config", {{"ssh-config", "1"}, {"ssh-config", "-q"}, {"ssh-config", "eval"}});
}

TEST_F(CliGolden, ListIsAsciiWithoutUtf8) {
  world_.around.locale = "C";
  world_.around.columns = "100";
  Expect("list_ascii", {{"list"}});
}

TEST_F(CliGolden, ListAsJson) {
  Expect("list_json", {{"list", "--json", "--name", "eval"}});
}

TEST_F(CliGolden, ListFilters) {
  Expect("list_filters", {{"list", "-q", "--status", "running,BACKOFF"},
                          {"list", "-q", "-s", "queueing", "-s", "dead"},
                          {"list", "-q", "--name", "tr*"},
                          {"list", "-q", "--zone", "europe-west4-a"},
                          {"list", "--zone", "europe-west4-a"},
                          {"list", "-q", "--label", "team=vision", "--user", "ann"},
                          {"list", "-q", "--label", "team=audio"},
                          {"list", "-q", "--status", "deleted"},
                          {"list", "--status", "runing"},
                          {"list", "--label", "team"}});
}

TEST_F(CliGolden, WatchShowsEachChangeOnceUntilInterrupted) {
  int pauses = 0;
  world_.on_pause = [&](test::MemoryStore& store) {
    ++pauses;
    if (pauses == 2) {  // of which the list shows nothing
      EXPECT_TRUE(store.SetWish({3}, core::Wish::kRun, core::SetupWish::kAsNeeded, kNoon).ok());
    }
    if (pauses == 3) {
      ports::Turn turn{.job = *store.Get({3})};
      turn.job.state = core::Queued{};
      turn.job.why = "resumed";
      EXPECT_TRUE(store.Commit(turn, 0).ok());
    }
    return pauses < 5;
  };
  Expect("list_watch", {{"list", "--watch", "--name", "eval"}});
  pauses = 0;
  Expect("list_watch_json", {{"list", "--watch", "--json", "--name", "eval"}});
}

TEST_F(CliGolden, Show) {
  Expect("show", {{"show", "1"}, {"show", "eval", "000002"}, {"show", "-q", "1", "3"}});
}

TEST_F(CliGolden, ShowAsJson) {
  Expect("show_json", {{"show", "--json", "1"}});
}

TEST_F(CliGolden, Cost) {
  Expect("cost", {{"cost"}, {"cost", "--by", "day", "--csv"}, {"cost", "1", "--json"}});
}

TEST_F(CliGolden, ZonesWithoutAProject) {
  for (const char* name : {"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"}) ::unsetenv(name);
  Expect("zones", {{"zones", "-a", "v4"}, {"zones", "us-central1-f"}});
}

TEST_F(CliGolden, Why) {
  Expect("why",
         {{"why", "1"}, {"why", "train", "eval"}, {"why", "-q", "2"}, {"why", "3", "--json"}});
}

TEST_F(CliGolden, WhySaysThatNoControllerRuns) {
  world_.fill = [](test::MemoryStore& store) { Put(store, "train", MakeRunning); };
  Expect("why_alone", {{"why", "1"}});
}

TEST_F(CliGolden, History) {
  Expect("history", {{"history", "1"},
                     {"history", "1", "--attempt", "1"},
                     {"history", "1", "--kind", "slice", "--json"},
                     {"history", "1", "eval", "--kind", "state", "--kind", "note"},
                     {"history", "1", "--kind", "stat"}});
}

TEST_F(CliGolden, Logs) {
  world_.WriteLog(1, 1, "run", 0, "first attempt\n");
  world_.WriteLog(1, 2, "setup-0-install", 0, "installing\n");
  for (int host = 0; host < 4; ++host)
    world_.WriteLog(1, 2, "run", host, host == 2 ? "step 1\nloss nan" : "step 1\nloss 0.5\n");
  world_.WriteLog(3, 1, "setup-10-late", 0, "late\n");
  world_.WriteLog(3, 1, "setup-9-early", 0, "early\n");
  Expect("logs", {{"logs", "1"},
                  {"logs", "1", "--host", "1-2"},
                  {"logs", "1", "--host", "2"},
                  {"logs", "1", "--attempt", "1"},
                  {"logs", "1", "--stage", "setup-0-install"},
                  {"logs", "1", "--stage", "install"},
                  {"logs", "1", "--fold"},
                  {"logs", "1", "--fold", "--json"},
                  {"logs", "1", "--json", "--host", "2,3"},
                  {"logs", "1", "--quiet", "--host", "0,1"},
                  {"logs", "eval"},
                  {"logs", "2"},
                  {"logs", "1", "--host", "7"},
                  {"logs", "1", "--host", "x"},
                  {"logs", "1", "--stage", "rn"},
                  {"logs", "1", "--attempt", "9"},
                  {"logs", "1", "-f", "--fold", "-t"},
                  {"logs", "1", "--tail", "1"},
                  {"logs", "1", "--grep", "loss [^n]"},
                  {"logs", "1", "--grep", "loss ["},
                  {"logs", "1", "--fold", "--tail", "1"}});
}

TEST_F(CliGolden, LogsOfSeveralJobsAndTheirTimes) {
  for (const int host : {0, 1}) {
    world_.WriteLog(1, 2, "run", host, "step 1\n", kNoon - 10min);
    world_.WriteLog(1, 2, "run", host, "loss 0.5\n", kNoon - 90s);
  }
  world_.WriteLog(3, 1, "run", 0, "late", kNoon - 30h);
  world_.WriteLog(4, 3, "run", 0, "of an older jobman\n");
  // A short log seems to have come when it was written, unless it has a record that says nothing.
  std::ofstream(world_.paths().LogPath(4, 3, "run", 0).string() + ".times");
  Expect("logs_jobs", {{"logs", "1", "-t"},
                       {"logs", "1", "--since", "2m"},
                       {"logs", "1", "--since", "2026-01-01T11:55:00Z", "-t", "--host", "1"},
                       {"logs", "1", "-t", "--json", "--host", "0", "--tail", "1"},
                       {"logs", "1", "-t", "-q", "--since", "1s"},
                       {"logs", "4", "-t", "--since", "1h"},
                       {"logs", "1", "eval"},
                       {"logs", "eval", "1", "2", "-t", "--tail", "1"},
                       {"logs", "eval", "4", "--json"},
                       {"logs", "eval", "4", "--fold"},
                       {"logs", "1", "eval", "--attempt", "1"},
                       {"logs", "-l", "team=vision", "--status", "failed"},
                       {"logs", "1", "--since", "soon"},
                       {"logs"}});
}

TEST_F(CliGolden, LogsFollowSeveralJobsUntilAllAreOver) {
  world_.WriteLog(1, 2, "run", 0, "step 1\n");
  world_.WriteLog(3, 1, "run", 0, "late\n");
  int pauses = 0;
  world_.on_pause = [&](test::MemoryStore& store) {
    ++pauses;
    if (pauses == 1) world_.WriteLog(1, 2, "run", 1, "step 1\n");
    if (pauses == 2) {
      ports::Turn turn{.job = *store.Get({1})};
      turn.job.state = core::Done{.outcome = core::Outcome::kSucceeded};
      EXPECT_TRUE(store.Commit(turn, 0).ok());
    }
    return pauses < 100;
  };
  Expect("logs_follow_jobs", {{"logs", "-f", "1", "eval"}});
  EXPECT_LT(pauses, 10) << "ends by itself";
}

TEST_F(CliGolden, LogsFollowTheJobThroughItsStagesUntilItEnds) {
  world_.WriteLog(1, 2, "setup-1-data", 0, "loading\n");
  int pauses = 0;
  world_.on_pause = [&](test::MemoryStore& store) {
    ++pauses;
    if (pauses == 1) world_.WriteLog(1, 2, "setup-1-data", 3, "loaded\n");
    if (pauses == 2) world_.WriteLog(1, 2, "run", 1, "step 1\nste");
    if (pauses == 3) world_.WriteLog(1, 2, "run", 0, "step 1\n");
    if (pauses == 4) {
      world_.WriteLog(1, 2, "run", 1, "p 2\n");
      ports::Turn turn{.job = *store.Get({1})};
      turn.job.state = core::Done{.outcome = core::Outcome::kSucceeded};
      EXPECT_TRUE(store.Commit(turn, 0).ok());
    }
    return pauses < 100;
  };
  Expect("logs_follow", {{"logs", "-f", "1"}});
  EXPECT_LT(pauses, 10) << "ends by itself";
}

TEST_F(CliGolden, Wait) {
  Expect("wait", {{"wait", "1", "--for=running"},
                  {"wait", "1", "eval", "--for=failed,running", "--json"},
                  {"wait", "-q", "eval"},
                  {"wait", "eval", "--for=succeeded"},
                  {"wait", "eval", "--for=suceeded"},
                  {"wait", "2", "--timeout", "0"},
                  {"wait", "2"}});
}

TEST(TopGolden, ShowsTheOddHostsFirst) {
  cli::views::Top view{.job = {7}};
  for (int host = 0; host < 1000; ++host) view.hosts.push_back(BusyHost(host));
  view.hosts[700] = BusyHost(700, 3);
  view.hosts[31] = LostHost(31);
  view.hosts[32] = LostHost(32);
  view.hosts[4].look->sees_all = false;
  view.hosts[5].look->chips[3].holders = {{.pid = 99, .user = "bob", .command = "python eval.py"}};
  view.hosts = InOrder(std::move(view.hosts));
  view.height = 14;
  for (const int width : {80, 200}) {
    std::string text = RenderText(view, {.width = width});
    view.wide = true;
    text += "--- -o wide\n" + RenderText(view, {.width = width});
    view.wide = false;
    ExpectGolden("top_" + std::to_string(width), text);
  }
  view.hosts = {BusyHost(0), LostHost(1)};
  ExpectGolden("top_json", cli::DumpJson(ToJson(view), 2) + "\n--- quiet\n" + RenderQuiet(view));
}

using client::Garbage;

Garbage::Slice Left(const std::string& name, core::Ownership ownership, const std::string& why) {
  Garbage::Slice slice{.claim = {.ownership = ownership, .why = why}};
  slice.where = {.cloud = {.endpoint = "https://tpu.googleapis.com"},
                 .place = {.project = "demo", .zone = "us-central2-b"}};
  slice.found = {
      .ref = {.place = slice.where.place, .name = name},
      .nodes = {name},
      .raw_state = "ACTIVE",
      .accelerator = "v4-32",
      .create_time = "2026-01-01T09:00:00.123456Z",
      .labels = {{"jobman-job", "000007"}, {"jobman-owner", "ann"}, {"jobman-store", "s1"}}};
  return slice;
}

Garbage FullOfGarbage() {
  Garbage garbage;
  garbage.slices = {
      Left("train-000007-a1", core::Ownership::kOrphan,
           "job 000007 is RUNNING and holds slice train-000007-a2"),
      Left("eval-000009-a1", core::Ownership::kOrphan, "there is no job 000009"),
      Left("sweep-000002-a1", core::Ownership::kOtherStore, "job 000002 of store s2 may hold it"),
      Left("by-hand", core::Ownership::kUnlabelled, "it has no jobman labels")};
  Garbage::Slice& node = garbage.slices[1];
  node.found.ref.mode = core::AllocationMode::kTpuVm;
  node.found.raw_state = "PREEMPTED";
  garbage.slices[3].found.labels = {};
  garbage.runs = {{.job = {7},
                   .host = 3,
                   .run_id = "f5d33d77c34a.j000007.train-000007-a2.h3.a1",
                   .why = "job 000007 is at attempt 2"}};
  garbage.silent = {
      {.job = {7}, .host = 2, .error = {.code = base::Code::kUnavailable, .message = "refused"}}};
  garbage.places = {garbage.slices[0].where};
  return garbage;
}

TEST(GarbageGolden, ShowsWhatWasFoundAndThenWhatWasDone) {
  Garbage garbage = FullOfGarbage();
  const cli::views::FoundGarbage view{garbage, kNoon};
  std::string text = RenderText(view, {}) + "\n--- 100 columns\n" +
                     RenderText(view, {.width = 100}) + "\n--- quiet\n" + RenderQuiet(view);
  garbage.slices[0].fate = Garbage::Fate::kDeleted;
  garbage.slices[1].fate = Garbage::Fate::kFailed;
  garbage.slices[1].error = base::Error{.code = base::Code::kPermissionDenied,
                                        .message = "tpu.nodes.delete is denied",
                                        .reason = base::Reason::kPermission};
  garbage.slices[2].fate = Garbage::Fate::kSpared;
  garbage.runs[0].fate = Garbage::Fate::kGone;
  text += "\n--- after\n" + RenderText(view, {}) + "\n--- json\n" + cli::DumpJson(ToJson(view), 2) +
          "\n";
  ExpectGolden("gc", text);
}

TEST_F(CliGolden, NotFound) {
  Expect("not_found", {{"show", "99"},
                       {"show", "trian"},
                       {"why", "eva"},
                       {"history", "1", "nobody"},
                       {"show", "99", "--json"}});
}

TEST_F(CliGolden, WrongCommandLines) {
  Expect("usage", {{"lst"},
                   {"lst", "--json"},
                   {"list", "--statsu", "x"},
                   {"show"},
                   {"completion", "tcsh"},
                   {"history", "1", "--attempt", "two"},
                   {"gc", "--unlabelled"},
                   {"gc", "--only"}});
}

TEST_F(CliGolden, HelpAndVersion) {
  Expect(
      "help",
      {{"list", "--help"}, {"logs", "--help"}, {"wait", "--help"}, {"gc", "--help"}, {"version"}});
}

/// A worker of the queue file of the home folder, and its slice.
void MakeWorker(ports::Turn& turn, const std::string& file) {
  core::Job& job = turn.job;
  job.spec.queue = core::QueueSpec{.enabled = true, .config = file};
  job.attempt = 1;
  job.slice = FourHosts(job.name + "-a1");
  job.state = core::Idle{};
  job.since = kNoon - 2min;
  job.why = "waiting for a task";
}

core::Task TaskOf(core::QueueId queue, const std::string& id, int order) {
  core::Task task{
      .queue = queue, .order = order, .since = kNoon - 1h, .why = "new in the queue file"};
  task.definition = {.id = id,
                     .accelerator = "v4-32",
                     .zone = "us-central2-b",
                     .run = "python3 train.py\necho done\n",
                     .repo = "exp",
                     .url = "https://github.com/ann/exp",
                     .branch = "main"};
  return task;
}

/// One in each state, and a hidden one.
std::vector<core::Task> TasksOfQueue(core::QueueId queue, core::JobId worker) {
  std::vector<core::Task> tasks;
  for (const char* id : {"prepare", "train-lr-0.1", "train-lr-0.3-größer", "train-lr-0.9", "eval",
                         "later", "gone", "helper", "next"}) {
    tasks.push_back(TaskOf(queue, id, static_cast<int>(tasks.size())));
  }
  tasks[0].runs = 1;
  tasks[0].standing = core::TaskDone{.at = kNoon - 50min};
  tasks[0].why = "run 1 on job 000001 succeeded";
  tasks[1].runs = 2;
  tasks[1].failures = 1;
  tasks[1].definition.workers = {};
  tasks[1].claims = {{.job = worker, .attempt = 1, .run = 2, .since = kNoon - 200s}};
  tasks[1].why = "run 2 on job 000001 began";
  tasks[2].definition.depends_on = {"prepare"};
  tasks[3].runs = tasks[3].failures = 3;
  tasks[3].standing = core::TaskParked{.at = kNoon - 5min};
  tasks[3].why =
      "run 3 on job 000002 failed: exit code 1 on host 0 (3 of 3 failures, the most that "
      "max_retries allows)";
  tasks[4].definition.depends_on = {"train-lr-0.1", "train-lr-0.9"};
  tasks[5].paused = true;
  tasks[5].why = "paused by the user";
  tasks[6].listed = false;
  tasks[7].definition.hide = true;
  return tasks;
}

class QueueGolden : public CliGolden {
 protected:
  QueueGolden() {
    const base::Path file = world_.paths().home / "tasks.yaml";
    std::ofstream(file) << "accelerators: {}\n";
    // Older than what is read of it: it is not read again.
    std::filesystem::last_write_time(file, std::chrono::file_clock::from_sys(kNoon - 2h));
    world_.fill = [file](test::MemoryStore& store) {
      const std::string real = base::RealPath(file).string();
      const auto queue = store.OpenQueue(real);
      ASSERT_TRUE(queue.ok());
      const auto work = [&real](ports::Turn& turn) { MakeWorker(turn, real); };
      const Job busy = Put(store, "worker-1", [&](ports::Turn& turn) {
        MakeWorker(turn, real);
        turn.job.state = core::Running{};
        turn.job.why = "running task train-lr-0.1";
        turn.job.stage = core::Stage{
            .id = core::TaskStage{.task = "train-lr-0.1", .run = 2},
            .name = "task-train-lr-0.1-2",
            .started_at = kNoon - 200s,
            .task = core::TaskInHand{.queue = *queue,
                                     .definition = TaskOf(*queue, "train-lr-0.1", 1).definition}};
        turn.job.stage->hosts.push_back({.host = 0, .phase = core::HostPhase::kRunning});
      });
      Put(store, "worker-2", work);
      const ports::QueueReading reading{
          .at = kNoon - 1h,
          .refused = {{.id = "twice", .why = "tasks.yaml:31: task twice is defined twice"}},
          .warnings = {"tasks.yaml:40: task next depends on none, which is not in the file"}};
      EXPECT_TRUE(store.SyncQueue(*queue, reading, TasksOfQueue(*queue, busy.id), 0).ok());
      EXPECT_TRUE(store.TakeLease("somebody", kNoon, 1h).ok());
    };
  }
};

TEST_F(QueueGolden, QueueFitsIntoATerminal) {
  Expect("queue", {{"queue"}, {"queue", "-q", "--all"}, {"queue", "--no-header"}});
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  Expect("queue_80", {{"queue"}, {"queue", "--all"}});
  world_.around.ioctl_width = 200;
  Expect("queue_200", {{"queue"}});
  world_.around.term = "xterm";
  Expect("queue_colour", {{"queue"}});
}

TEST_F(QueueGolden, QueueAsJson) {
  Expect("queue_json", {{"queue", "--json"}});
}

TEST_F(QueueGolden, TasksInDetail) {
  Expect("task_show", {{"task", "show", "train-lr-0.1", "eval"},
                       {"task", "show", "train-lr-0.9", "--json"},
                       {"why", "eval"},
                       {"why", "train-lr-0.9"},
                       {"task", "show", "train-lr-0.8"}});
}

TEST_F(QueueGolden, StatusIsOneScreen) {
  Expect("status", {{"status"}, {"status", "-q"}, {"status", "--json"}});
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  Expect("status_80", {{"status"}});
  world_.around.ioctl_width = 200;
  Expect("status_200", {{"status"}});
}

}  // namespace
}  // namespace jobman::test
