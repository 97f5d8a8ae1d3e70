// How fast the store answers `list` of 1,000 jobs and takes turns, beside two named peers in the
// same run: the sqlite3 shell on the same file, and a folder of one YAML file per job, which is how
// Python jobman keeps its jobs.
//
// usage: store_bench [JOBS [TURNS]]

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "tests/support/direct_store.hpp"

namespace {

using namespace jobman;
using Clock = std::chrono::steady_clock;

/// Milliseconds of the median of `rounds` calls.
double MedianMs(int rounds, const std::function<void()>& call) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds / 2)];
}

template <class T>
T Must(base::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  fmt::print(stderr, "store_bench: {}\n", result.error().ToString());
  std::exit(1);
}

core::Job SomeJob(int number) {
  core::Job job{.name = fmt::format("train-{}", number), .user = "ada"};
  job.spec.name = job.name;
  job.spec.labels = {{"team", "vision"}};
  job.spec.tpu.accelerator = "v4-32";
  job.spec.tpu.zone = "us-central2-b";
  job.spec.command.cmd = std::string(300, 'c');
  job.spec.setup = {{.name = "install", .run = std::string(500, 's')}};
  return job;
}

/// The job with a slice of four hosts and a running stage.
core::Job InTheMiddle(core::Job job) {
  core::Slice slice;
  slice.ref = {.place = {.project = "lab", .zone = "us-central2-b"}, .name = job.name + "-a1"};
  slice.hosts.assign(4, {.internal = "10.0.0.2", .external = "203.0.113.7"});
  core::Stage stage{.name = "run"};
  for (int host = 0; host < 4; ++host)
    stage.hosts.push_back({.host = host, .phase = core::HostPhase::kRunning});
  job.slice = std::move(slice);
  job.stage = std::move(stage);
  job.state = core::Running{};
  job.why = "the command runs on 4 hosts";
  job.wish_new = false;
  return job;
}

void Fill(const base::Path& dir, int jobs, core::TimePoint now) {
  const test::DirectStore store(Must(store::SqliteStore::Open(dir, store::OpenMode::kReadWrite)));
  for (int i = 0; i < jobs; ++i) {
    const auto id = Must(store.Create(SomeJob(i), std::string(1500, 'y'), now));
    const core::Job job = InTheMiddle(Must(store.Get(id)));
    Must(store.Commit({.job = job, .events = {{.at = now, .kind = "state"}}}, 0));
  }
}

/// One meta.yaml per job, with what `list` shows.
void FillYaml(const base::Path& dir, int jobs) {
  for (int i = 0; i < jobs; ++i) {
    const base::Path job = dir / fmt::format("{:06}", i);
    std::filesystem::create_directories(job);
    std::ofstream(job / "meta.yaml") << fmt::format(
        "job_id: '{:06}'\njob_name: train-{}\nuser: ada\naccelerator: v4-32\n"
        "zone: us-central2-b\nhost0_ip: 203.0.113.7\nstatus: RUNNING\nattempt: 1\n"
        "created_at: '2026-01-01T00:00:00'\nconfig: /home/ada/train.yaml\n",
        i, i);
  }
}

std::size_t ListYaml(const base::Path& dir) {
  std::size_t rows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const YAML::Node meta = YAML::LoadFile(entry.path() / "meta.yaml");
    rows += meta["status"].as<std::string>().empty() ? 0U : 1U;
  }
  return rows;
}

bool Shell(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

void Line(const std::string& what, double ms, double ours) {
  fmt::print("  {:<52} {:>9.3f} ms   {:>6.1f} x\n", what, ms, ms / ours);
}

void BenchList(const base::Path& dir, int jobs) {
  const base::Path store_dir = dir / "store";
  const auto open = [&] {
    return test::DirectStore(Must(store::SqliteStore::Open(store_dir, store::OpenMode::kReadOnly)));
  };
  const double open_ms = MedianMs(51, [&] { open(); });
  const auto store = open();
  const double list_ms = MedianMs(51, [&] { Must(store.List({})); });
  const double both_ms = MedianMs(51, [&] { Must(open().List({})); });
  fmt::print("list of {} jobs (medians; ratios to open + list)\n", jobs);
  Line("store: open + list", both_ms, both_ms);
  Line("store: open", open_ms, both_ms);
  Line("store: list", list_ms, both_ms);
  const std::string sql =
      "SELECT id,name,user,accelerator,zone,host0,state,familiar,attempt,since,why,labels_json "
      "FROM jobs ORDER BY id";
  const std::string shell =
      fmt::format("sqlite3 '{}' '{}' > /dev/null", (store_dir / "jobman.db").string(), sql);
  if (Shell("command -v sqlite3 > /dev/null"))
    Line("sqlite3 shell, same query (a process)", MedianMs(11, [&] { Shell(shell); }), both_ms);
  FillYaml(dir / "yaml", jobs);
  Line("one YAML file per job, read by yaml-cpp", MedianMs(5, [&] { ListYaml(dir / "yaml"); }),
       both_ms);
}

/// The same writes as a Commit, as SQL text for the shell.
void WriteTurnsSql(const base::Path& file, int turns, const std::string& spare) {
  std::ofstream out(file);
  out << "PRAGMA synchronous = NORMAL;\n";
  for (int i = 0; i < turns; ++i)
    out << "BEGIN IMMEDIATE; UPDATE jobs SET why = 'turn', stage_json = '" << spare
        << "', version = version + 1 WHERE id = 2; INSERT INTO events (at, job, attempt, kind, "
           "subject, text) VALUES (0, 2, 1, 'state', 'RUNNING', 'the command runs'); COMMIT;\n";
}

void BenchCommits(const base::Path& dir, int turns, core::TimePoint now) {
  const test::DirectStore store(
      Must(store::SqliteStore::Open(dir / "store", store::OpenMode::kReadWrite)));
  core::Job job = Must(store.Get({1}));
  const ports::Event event{
      .at = now, .attempt = 1, .kind = "state", .subject = "RUNNING", .text = "the command runs"};
  const auto start = Clock::now();
  for (int i = 0; i < turns; ++i, ++job.version)
    Must(store.Commit({.job = job, .events = {event}}, 0));
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  fmt::print("{} turns, one transaction each: {:.0f} a second\n", turns, turns / ms * 1000);
  Line("store: commit, each", ms / turns, ms / turns);
  WriteTurnsSql(dir / "turns.sql", turns, std::string(300, 'h'));
  const std::string shell =
      fmt::format("sqlite3 '{}' < '{}' > /dev/null", (dir / "store/jobman.db").string(),
                  (dir / "turns.sql").string());
  if (Shell("command -v sqlite3 > /dev/null"))
    Line("sqlite3 shell, the same as SQL text, each", MedianMs(1, [&] { Shell(shell); }) / turns,
         ms / turns);
}

}  // namespace

int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
  const int turns = argc > 2 ? std::max(1, std::atoi(argv[2])) : 2000;
  const auto now = base::FromMillis(1'767'225'600'000);
  std::string name = (std::filesystem::temp_directory_path() / "store_bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  const base::Path dir(name);
  Fill(dir / "store", std::max(2, jobs), now);
  BenchList(dir, jobs);
  BenchCommits(dir, turns, now);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("peak memory of this program: {} KiB\n", usage.ru_maxrss);
  return base::RemoveAll(dir).ok() ? 0 : 1;
}
