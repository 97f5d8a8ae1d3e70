// What jobman's everyday commands cost as whole processes, beside named peers in the same run: the
// start of the program, `list` of 1,000 jobs, and `create` while a controller runs.
//
// usage: command_bench [JOBS [ROUNDS]]      1000 jobs, 31 rounds by default
//
// All jobs of the store are in BACKOFF until tomorrow: the controller holds them, but has nothing
// to do. The zone has no capacity, so that new jobs wait in the queue and no simulated machines
// start beside the measurement.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "bench/place.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "jobman/ui/table.hpp"
#include "tests/support/direct_store.hpp"

namespace {

using namespace jobman;
using bench::kMedian;
using bench::Place;
using bench::Words;

constexpr double kMostCreateMs = 100;
constexpr double kMostListMs = 20;
constexpr double kMostVersionMs = 4;
constexpr double kMostOfSqlite = 2;  ///< of the shell's wall time, by `list`
constexpr double kP90 = 0.9;

core::Job WaitingJob(int number) {
  core::Job job{.name = fmt::format("train-{}", number), .user = "ada"};
  job.spec.name = job.name;
  job.spec.labels = {{"team", "vision"}};
  job.spec.tpu.accelerator = "v4-32";
  job.spec.tpu.zone = "us-central2-b";
  job.spec.command.cmd = std::string(300, 'c');
  job.spec.setup = {{.name = "install", .run = std::string(500, 's')}};
  return job;
}

base::Status Fill(const base::Path& dir, int jobs, core::TimePoint now) {
  JM_ASSIGN_OR_RETURN(auto opened, store::SqliteStore::Open(dir, store::OpenMode::kReadWrite));
  const test::DirectStore store(std::move(opened));
  for (int i = 0; i < jobs; ++i) {
    JM_ASSIGN_OR_RETURN(const auto id, store.Create(WaitingJob(i), std::string(1500, 'y'), now));
    JM_ASSIGN_OR_RETURN(core::Job job, store.Get(id));
    const core::TimePoint tomorrow = now + std::chrono::hours{24};
    job.state = core::BackingOff{.until = tomorrow};
    job.wake_at = tomorrow;
    job.why = "there is no more capacity in us-central2-b; tries again tomorrow";
    job.wish_new = false;
    JM_TRY(store.Commit({.job = job, .events = {{.at = now, .kind = "state"}}}, 0));
  }
  return base::Ok();
}

/// In a process of its own: its memory would count as the least that any child can have.
void FillStore(const Place& place, int jobs) {
  const pid_t child = fork();
  if (child == 0) {
    const base::StatePaths paths{.home = place.home()};
    base::Status filled = base::EnsureDir(paths.StoreDir());
    if (filled.ok()) filled = Fill(paths.StoreDir(), jobs, base::SystemClock().Now());
    if (!filled.ok()) fmt::print(stderr, "{}\n", filled.error().ToString());
    std::fflush(nullptr);
    _exit(filled.ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("the store could not be filled");
}

/// A command, measured.
struct Row {
  std::string what = {};
  Words argv = {};
  double target_ms = 0;   ///< 0: none
  std::string peer = {};  ///< a row of its group, of which it may take kMostOfSqlite
  bool slow = false;      ///< a few rounds must do
  bench::Samples samples = {};
};
/// The first row is what the others are compared with.
using Group = std::vector<Row>;

/// Round by round, so that a busy moment of the machine affects all rows alike.
void Measure(const Place& place, Group& group, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : group) {
      if (row.slow && round >= 5) continue;
      row.samples.Add(place.Take(row.argv));
    }
  }
}

void AddIfThere(Group& group, Row row) {
  if (bench::Works(row.argv))
    group.push_back(std::move(row));
  else
    fmt::print("skipped, not installed here: {}\n", row.what);
}

/// The interpreter itself where it is known: shims that choose a version take long.
std::string Python() {
  return bench::Works({"/usr/bin/python3", "-c", "pass"}) ? "/usr/bin/python3" : "python3";
}

Group StartOfPrograms(const Place& place) {
  Group group = {
      {.what = "jobman version", .argv = place.Jobman({"version"}), .target_ms = kMostVersionMs},
      {.what = "true (the least)", .argv = {"true"}}};
  const std::string imports = "import argparse, json, subprocess, yaml";
  AddIfThere(group, {.what = "python3 -c pass", .argv = {Python(), "-c", "pass"}});
  AddIfThere(group, {.what = "python3 with json, yaml", .argv = {Python(), "-c", imports}});
  AddIfThere(group, {.what = "gcloud version", .argv = {"gcloud", "version"}, .slow = true});
  return group;
}

Group Lists(const Place& place) {
  const char* const rows = "sqlite3 shell, same rows";
  const char* const json = "sqlite3 shell, as JSON";
  Group group = {{.what = "jobman list",
                  .argv = place.Jobman({"list"}),
                  .target_ms = kMostListMs,
                  .peer = rows},
                 {.what = "jobman list --json",
                  .argv = place.Jobman({"list", "--json"}),
                  .target_ms = kMostListMs,
                  .peer = json}};
  const std::string sql =
      "SELECT id,name,user,accelerator,zone,host0,state,familiar,attempt,since,why,labels_json "
      "FROM jobs ORDER BY id";
  const std::string file = (place.home() / "store/jobman.db").string();
  AddIfThere(group, {.what = rows, .argv = {"sqlite3", file, sql}});
  AddIfThere(group, {.what = json, .argv = {"sqlite3", "-json", file, sql}});
  return group;
}

/// One after another, each when the controller is done with the one before.
Group Creates(const Place& place, int rounds) {
  const std::string file = place.Write("job.yaml",
                                       "job: {name: bench}\ncloud: local\n"
                                       "tpu: {accelerator: v4-32, zone: us-central2-b, "
                                       "pricing: spot, allocation_mode: queued-resources}\n"
                                       "setup: [{name: install, run: echo ready}]\n"
                                       "command: {cmd: hostname}\n");
  Group group = {{.what = "jobman create FILE",
                  .argv = place.Jobman({"create", file}),
                  .target_ms = kMostCreateMs}};
  for (int round = 0; round < rounds; ++round) {
    group[0].samples.Add(place.Take(group[0].argv));
    bench::Await("the job to wait in the queue", [&] {
      return base::GetString(place.Ask({"show", "bench"})["jobs"][0], "state") == "WAITING";
    });
  }
  return group;
}

/// "20 ms: met, 2 times sqlite3: MISSED"; without the peer the second is not told.
std::string Verdict(const Row& row, const Group& group) {
  if (row.target_ms == 0) return "";
  const auto word = [](bool met) { return met ? "met" : "MISSED"; };
  const double wall = row.samples.Wall(kMedian);
  std::string text = fmt::format("{:.0f} ms: {}", row.target_ms, word(wall <= row.target_ms));
  for (const Row& peer : group) {
    if (peer.what != row.peer) continue;
    const double most = kMostOfSqlite * peer.samples.Wall(kMedian);
    text += fmt::format(", {:.0f} times sqlite3: {}", kMostOfSqlite, word(wall <= most));
  }
  return text;
}

void AddRows(ui::Table& table, const Group& group) {
  const double base = group.front().samples.Wall(kMedian);
  for (const Row& row : group) {
    const double wall = row.samples.Wall(kMedian);
    table.AddRow(
        {row.what, fmt::format("{:.1f}", wall), fmt::format("{:.1f}", row.samples.Wall(kP90)),
         fmt::format("{:.1f}", row.samples.Cpu(kMedian)),
         fmt::format("{:.1f}", row.samples.Cpu(kP90)), fmt::format("{:.1f}", row.samples.Peak()),
         fmt::format("{:.2f}", wall / base), Verdict(row, group)});
  }
  table.AddRow({});
}

void Bench(int jobs, int rounds) {
  Place place({"--delays", "0", "--set", "stock.*/v4=0"});
  FillStore(place, jobs);
  place.StartController();
  fmt::print("whole processes, {} rounds (5 of gcloud); {} jobs in the store\n", rounds, jobs);
  Group starts = StartOfPrograms(place);
  Measure(place, starts, rounds);
  Group lists = Lists(place);
  Measure(place, lists, rounds);
  Group creates = Creates(place, rounds);
  // What a tool that calls gcloud for its create pays before anything is sent.
  for (const Row& row : starts)
    if (row.argv.front() == "gcloud") creates.push_back(row);
  ui::Table table({{.header = "PROCESS"},
                   {.header = "WALL ms", .right = true},
                   {.header = "p90", .right = true},
                   {.header = "CPU ms", .right = true},
                   {.header = "p90", .right = true},
                   {.header = "PEAK MB", .right = true},
                   {.header = "RATIO", .right = true},
                   {.header = "TARGET"}});
  for (const Group* group : {&starts, &lists, &creates}) AddRows(table, *group);
  fmt::print("{}", table.Render({}));
  fmt::print("peak memory of the controller, with {} jobs to care for: {:.1f} MB\n", jobs + rounds,
             bench::PeakMbOf(place.controller()));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("command_bench", [&] {
    Bench(bench::Argument(argc, argv, 1, 1000), bench::Argument(argc, argv, 2, 31));
  });
}
