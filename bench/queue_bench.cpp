// What the task queue costs one controller: 10,000 tasks and 50 workers, in its own desk and book
// over the real store. A claim, from the worker that is idle to the record that it runs the task;
// what `jobman queue` reads; the memory of it all. The peer is the rule of Python jobman, on the
// distribution's python3-yaml: under a lock, parse the queue file and the state file, choose, and
// write the state file again.
//
// usage: queue_bench [TASKS [WORKERS]]      10000 tasks, 50 workers by default
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure.hpp"
#include "controller/job_book.hpp"
#include "controller/queue_desk.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/queue_file.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "jobman/ui/table.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"

namespace {

using namespace jobman;
using bench::kMedian;
using Clock = std::chrono::steady_clock;

constexpr double kMostClaimMs = 5;
constexpr double kMostReadMs = 50;
constexpr double kMostMb = 100;
constexpr int kReadRounds = 21;
constexpr int kCommandRounds = 11;
constexpr int kPeerRounds = 3;

double MsOf(const std::function<void()>& call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <class T>
T Must(base::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  throw std::runtime_error(result.error().ToString());
}

void MustBeOk(const base::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().ToString());
}

/// A folder that goes with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "queue_bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = std::filesystem::canonical(name);
  }
  ~Folder() { (void)base::RemoveAll(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const base::Path& path() const { return path_; }

 private:
  base::Path path_ = {};
};

/// Each hundredth task waits for the one before.
std::string QueueText(int tasks) {
  std::string text =
      "repos: {maxtext: 'https://github.com/me/maxtext.git'}\n"
      "defaults: {repo: maxtext, env: train, zone: us-central2-b}\n"
      "accelerators:\n"
      "  v4-16:\n"
      "    tasks:\n";
  for (int i = 0; i < tasks; ++i) {
    const std::string needs =
        i % 100 == 99 ? fmt::format(", depends_on: [lr-{:05}]", i - 1) : std::string();
    text += fmt::format(
        "    - {{id: lr-{0:05}, run: 'python train.py --seed {0} --lr 3e-4', max_retries: 2{1}}}\n",
        i, needs);
  }
  return text;
}

/// The queue file, read as a controller does, but by this thread.
class FileOnDisk final : public ports::QueueFiles {
 public:
  base::Task<std::optional<ports::QueueFileStamp>> Look(std::string file) override {
    std::error_code ignored;
    co_return ports::QueueFileStamp{
        .size = static_cast<std::int64_t>(std::filesystem::file_size(file, ignored))};
  }
  base::Task<ports::QueueFileContent> Read(std::string file) override {
    const std::string text = base::ReadFile(file).value_or("");
    config::QueueFileResult read = config::ReadQueueFile({.file = file, .text = text});
    ports::QueueFileContent content{.fingerprint = base::Sha256Hex(text)};
    content.list = std::move(read.list);
    if (!content.list) content.error = read.problems.front().message;
    co_return content;
  }
};

/// A controller, as far as it hands out tasks.
class Office {
 public:
  Office(const base::Path& store, std::string file)
      : file_(std::move(file)),
        store_(Must(store::SqliteStore::Open(store, store::OpenMode::kReadWrite))) {
    ports_.stores = store_.stores();
    ports_.clock = &clock_;
    ports_.queue_files = &files_;
    policy_.store_id = Must(store_.StoreId());
    controller::JobBook::Hooks hooks;
    hooks.decided = [this](const core::Job&, const std::vector<core::Effect>&) { desk_->Wake(); };
    hooks.lease_lost = [] { throw std::runtime_error("the lease is lost"); };
    hooks.dropped = [](core::JobId) {};
    book_ = std::make_unique<controller::JobBook>(loop_, ports_, policy_, std::move(hooks));
    desk_ = std::make_unique<controller::QueueDesk>(loop_, ports_, *book_);
    const auto lease = Must(base::RunTask(
        loop_, ports_.stores.leases->TakeLease("bench", clock_.Now(), std::chrono::hours{1})));
    token_ = lease.value().token;
    book_->set_lease_token(token_);
  }

  /// A job on a slice that is set up, waiting for tasks; the book has it.
  core::JobId AddWorker() {
    core::Job job = test::SampleJob("worker");
    job.spec.queue = core::QueueSpec{.enabled = true, .config = file_};
    job.spec.command.cmd.clear();
    job.spec.tpu.accelerator = "v4-16";
    const core::JobId id = Must(store_.Create(job, "", clock_.Now()));
    job = Must(store_.Get(id));
    job.wish_new = false;
    job.state = core::Idle{};
    job.since = clock_.Now();
    job.wake_at = clock_.Now() + std::chrono::hours{1};
    job.attempt = 1;
    job.slice = test::SampleSlice("worker-" + core::FormatJobId(id) + "-a1");
    job.slice->unhealthy_since.reset();
    job.slice->not_found_since.reset();
    job.slice->omitted_since.reset();
    job.slice->lacking_since.reset();
    job.slice->lent_until.reset();
    job.slice->delete_requested_at.reset();
    MustBeOk(store_.Commit({.job = job}, token_));
    MustBeOk(base::RunTask(loop_, book_->Load()));
    return id;
  }
  void Start() { desk_->Start(token_); }
  void Wake() { desk_->Wake(); }
  void AwaitTaskOf(core::JobId worker) {
    const auto start = Clock::now();
    loop_.restart();
    while (!HasTask(worker)) {
      loop_.run_one_for(std::chrono::seconds{1});
      if (Clock::now() - start > std::chrono::minutes{1}) {
        throw std::runtime_error("a worker waited in vain for a task");
      }
    }
  }
  const test::DirectStore& store() const { return store_; }

 private:
  bool HasTask(core::JobId worker) const {
    const core::Job* const job = book_->Find(worker);
    return job != nullptr && job->stage && job->stage->task;
  }

  asio::io_context loop_;
  std::string file_;
  base::SystemClock clock_ = {};
  test::DirectStore store_;
  FileOnDisk files_ = {};
  controller::Ports ports_ = {};
  core::Policy policy_ = {};
  std::int64_t token_ = 0;
  std::unique_ptr<controller::JobBook> book_ = {};
  std::unique_ptr<controller::QueueDesk> desk_ = {};
};

struct Result {
  double begin_ms = 0;
  std::vector<double> claims_ms = {};
  double resident_mb = 0;
  double peak_mb = 0;
  std::vector<double> reads_ms = {};
};

double ResidentMb() {
  const auto status = base::ReadFile("/proc/self/status").value_or("");
  const auto line = status.find("VmRSS:");
  return line == std::string::npos ? 0 : std::stod(status.substr(line + 6)) / 1024;
}

/// The first worker's task comes after the file was read, and ten thousand records were written.
void MeasureClaims(Office& office, int workers, Result& result) {
  const core::JobId first = office.AddWorker();
  result.begin_ms = MsOf([&] {
    office.Start();
    office.AwaitTaskOf(first);
  });
  for (int i = 1; i < workers; ++i) {
    const core::JobId worker = office.AddWorker();
    result.claims_ms.push_back(MsOf([&] {
      office.Wake();
      office.AwaitTaskOf(worker);
    }));
  }
  result.resident_mb = ResidentMb();
  result.peak_mb = bench::PeakMbOf(getpid());
}

/// What `queue` makes its table of.
void MeasureReading(const base::Path& store_dir, const std::vector<core::TaskWorker>& workers,
                    Result& result) {
  const core::TimePoint now = base::SystemClock().Now();
  for (int round = 0; round < kReadRounds; ++round) {
    std::size_t sentences = 0;
    result.reads_ms.push_back(MsOf([&] {
      const test::DirectStore store(
          Must(store::SqliteStore::Open(store_dir, store::OpenMode::kReadOnly)));
      const auto queues = Must(store.Queues());
      const core::TaskBoard board(Must(store.Tasks(queues.front().id, 0)).tasks);
      const auto ahead = board.CountsAhead();
      for (const auto& [id, task] : board.tasks()) {
        const auto known = ahead.find(id);
        const auto count = known == ahead.end() ? std::nullopt : std::optional(known->second);
        sentences += core::WhyWaits(board, task, workers, now, count).size();
      }
    }));
    if (sentences == 0) throw std::runtime_error("no task waits");
  }
}

/// argv: FOLDER ROUNDS LOADER; prints the milliseconds of each claim.
constexpr const char* kPeer = R"(import fcntl, os, sys, time, yaml
folder, rounds, c = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "c"
loader = yaml.CSafeLoader if c else yaml.SafeLoader
dumper = yaml.CSafeDumper if c else yaml.SafeDumper
queue, state = folder + "/tasks.yaml", folder + "/tasks_state.yaml"
def read(name):
    with open(name) as file:
        return yaml.load(file, Loader=loader)
def claim(job):
    with open(state + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tasks = read(queue)["accelerators"]["v4-16"]["tasks"]
        known = read(state)
        for task in tasks:
            own = known["tasks"][task["id"]]
            needs = task.get("depends_on", [])
            free = not own["done"] and len(own["running"]) < task.get("max_jobs", 1)
            if free and all(known["tasks"][n]["done"] for n in needs):
                own["running"].append({"job_id": "%06d" % job, "started": "2026-01-01T00:00:00"})
                own["run_count"] += 1
                break
        with open(state + ".new", "w") as file:
            yaml.dump(known, file, Dumper=dumper)
        os.replace(state + ".new", state)
if not os.path.exists(state):
    tasks = yaml.load(open(queue), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    new = {"done": False, "running": [], "run_count": 0, "fail_count": 0, "priority": False,
           "history": []}
    known = {"tasks": {t["id"]: {k: list(v) if k in ("running", "history") else v
                                 for k, v in new.items()}
                       for t in tasks["accelerators"]["v4-16"]["tasks"]}}
    with open(state, "w") as file:
        yaml.dump(known, file, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
for job in range(rounds):
    start = time.monotonic()
    claim(job)
    print("%.3f" % ((time.monotonic() - start) * 1000))
)";

/// Empty when the machine has no such module.
std::vector<double> MeasurePeer(const base::Path& folder, const std::string& loader) {
  const std::string needs = loader == "c" ? "import yaml; yaml.CSafeLoader" : "import yaml";
  if (!bench::Works({"python3", "-c", needs})) {
    fmt::print("skipped: python3 -c '{}' fails (Debian: python3-yaml)\n", needs);
    return {};
  }
  const base::Path script = folder / "peer.py", output = folder / "peer.out";
  MustBeOk(base::WriteFileAtomic(script, kPeer));
  bench::Run({"python3", script.string(), folder.string(), std::to_string(kPeerRounds), loader},
             output);
  std::vector<double> times;
  for (const std::string& line : base::Split(base::ReadFile(output).value_or(""), '\n')) {
    if (!line.empty()) times.push_back(std::stod(line));
  }
  return times;
}

/// `jobman queue FILE --json` as a process, on the same store.
bench::Samples MeasureCommand(const base::Path& folder, const std::string& file) {
  setenv("JOBMAN_HOME", folder.c_str(), 1);
  const std::string jobman = (base::SelfExe().parent_path() / "jobman").string();
  const bench::Words words = {jobman, "--json", "queue", file};
  bench::Samples samples;
  if (!std::filesystem::exists(jobman)) {
    fmt::print("skipped: jobman queue --json: there is no {}\n", jobman);
    return samples;
  }
  for (int round = 0; round < kCommandRounds; ++round) {
    samples.Add(bench::Run(words, folder / "queue.json"));
  }
  return samples;
}

std::string Number(double value) {
  return fmt::format("{:.2f}", value);
}

std::string Verdict(double value, double most, const char* unit) {
  return fmt::format("{:.0f} {}: {}", most, unit, value <= most ? "met" : "MISSED");
}

void AddTimes(ui::Table& table, const std::string& what, const std::vector<double>& times,
              double base_ms, const std::string& verdict) {
  if (times.empty()) return;
  const double median = bench::Quantile(times, kMedian);
  table.AddRow({what, Number(median), Number(bench::Quantile(times, 1)),
                fmt::format("{:.2f}", median / base_ms), verdict});
}

void Report(const Result& result, const bench::Samples& command, const std::vector<double>& peer,
            const std::vector<double>& peer_c) {
  const double claim = bench::Quantile(result.claims_ms, kMedian);
  const double read = bench::Quantile(result.reads_ms, kMedian);
  ui::Table table({{.header = "WHAT"},
                   {.header = "MEDIAN ms", .right = true},
                   {.header = "WORST ms", .right = true},
                   {.header = "RATIO", .right = true},
                   {.header = "TARGET"}});
  AddTimes(table, "a claim, from idle to recorded", result.claims_ms, claim,
           Verdict(claim, kMostClaimMs, "ms"));
  AddTimes(table, "a state file, python3-yaml", peer, claim, "");
  AddTimes(table, "a state file, python3-yaml with libyaml", peer_c, claim, "");
  table.AddRow({});
  AddTimes(table, "what queue reads", result.reads_ms, read, Verdict(read, kMostReadMs, "ms"));
  if (!command.empty()) {
    table.AddRow({"jobman queue FILE --json, a process", Number(command.Wall(kMedian)),
                  Number(command.Wall(1)), Number(command.Wall(kMedian) / read),
                  fmt::format("peak {:.1f} MB", command.Peak())});
  }
  fmt::print("{}", table.Render({}));
  fmt::print("the file read and recorded, and the first claim: {:.0f} ms\n", result.begin_ms);
  fmt::print("memory: {:.1f} MB resident, {:.1f} MB at most; {}\n", result.resident_mb,
             result.peak_mb, Verdict(result.peak_mb, kMostMb, "MB"));
  if (peer.empty()) return;
  fmt::print("ratio to the state file: {:.5f} of its median time of a claim\n",
             claim / bench::Quantile(peer, kMedian));
}

void Bench(int tasks, int workers) {
  const Folder folder;
  const std::string file = (folder.path() / "tasks.yaml").string();
  MustBeOk(base::WriteFileAtomic(file, QueueText(tasks)));
  fmt::print("{} tasks, {} workers; {} claims of jobman, {} of the peer\n", tasks, workers,
             workers - 1, kPeerRounds);
  Result result;
  std::vector<core::TaskWorker> idle(static_cast<std::size_t>(workers),
                                     {.accelerator = "v4-16", .zone = "us-central2-b"});
  {
    Office office(folder.path() / "store", file);
    MeasureClaims(office, workers, result);
  }
  MeasureReading(folder.path() / "store", idle, result);
  const auto command = MeasureCommand(folder.path(), file);
  const auto peer = MeasurePeer(folder.path(), "safe");
  const auto peer_c = MeasurePeer(folder.path(), "c");
  Report(result, command, peer, peer_c);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("queue_bench", [&] {
    const int workers = bench::Argument(argc, argv, 2, 50);
    Bench(bench::Argument(argc, argv, 1, 10'000), std::max(2, workers));
  });
}
