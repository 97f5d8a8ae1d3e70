// What `logs --grep PATTERN --tail 1` costs on the long logs of many hosts, beside grep and tail in
// the same run: a pattern whose last line is near the end, one that only the first line has, and
// one that no line has.
//
// usage: logs_bench [HOSTS [MEGABYTES [ROUNDS]]]  1024 hosts, 1 MB each, 5 rounds by default
//        logs_bench follow [HOSTS [SECONDS]]      1024 hosts with ten lines a second, for 20 s
//        logs_bench collect [HOSTS [SECONDS]]     128 hosts, as a controller collects them
//        logs_bench host [SECONDS]                what following costs a host, for 30 s
//
// The answers are compared before the first round: then the files are in memory, where that is
// large enough, and all ways find them there.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/logs_follow.hpp"
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

constexpr double kP90 = 0.9;

/// A job that is over, number 1.
base::Status Fill(const base::Path& dir, core::TimePoint now) {
  JM_ASSIGN_OR_RETURN(auto opened, store::SqliteStore::Open(dir, store::OpenMode::kReadWrite));
  const test::DirectStore store(std::move(opened));
  core::Job job{.name = "bench", .user = "ada"};
  job.spec.name = job.name;
  job.spec.tpu.accelerator = "v4-8192";
  job.spec.tpu.zone = "us-central2-b";
  JM_ASSIGN_OR_RETURN(const auto id, store.Create(job, "", now));
  JM_ASSIGN_OR_RETURN(job, store.Get(id));
  job.state = core::Done{.outcome = core::Outcome::kSucceeded};
  job.attempt = 1;
  job.wish_new = false;
  return store.Commit({.job = job, .events = {{.at = now, .kind = "state"}}}, 0);
}

/// The log of a training run, after its first line.
std::string StepsOf(std::size_t bytes) {
  std::string text;
  for (int step = 1; text.size() < bytes; ++step) {
    text += fmt::format("step {} loss {:.6f}, 12345.6 tokens/s\n", step, 1.0 / step);
    if (step % 500 == 0) text += fmt::format("saved checkpoint {}\n", step);
  }
  return text;
}

void WriteLogs(const base::StatePaths& paths, int hosts, std::size_t bytes) {
  const std::string steps = StepsOf(bytes);
  for (int host = 0; host < hosts; ++host) {
    const base::Path file = paths.LogPath(1, 1, "run", host);
    std::ofstream log(file, std::ios::binary);
    log << "devices: 4 of TPU v4 on host " << host << "\n" << steps;
    if (!log.flush()) throw std::runtime_error("cannot write " + file.string());
  }
}

/// In a process of its own: its memory would count as the least that any child can have.
void FillHome(const Place& place, int hosts, std::size_t bytes) {
  const pid_t child = fork();
  if (child == 0) {
    const base::StatePaths paths{.home = place.home()};
    base::Status filled = base::EnsureDir(paths.StoreDir());
    if (filled.ok()) filled = Fill(paths.StoreDir(), base::SystemClock().Now());
    if (filled.ok()) filled = base::EnsureDir(paths.LogPath(1, 1, "run", 0).parent_path());
    const int code = bench::Main("logs_bench", [&] {
      if (!filled.ok()) throw std::runtime_error(filled.error().ToString());
      WriteLogs(paths, hosts, bytes);
    });
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("the logs could not be written");
}

/// Ways to ask the same.
struct Question {
  std::string what = {};  ///< where the pattern is
  std::string pattern = {};
  std::array<bench::Samples, 3> samples = {};
};

std::array<Words, 3> WaysToAsk(const Place& place, const std::string& pattern) {
  const base::StatePaths paths{.home = place.home()};
  const std::string folder = paths.LogPath(1, 1, "run", 0).parent_path().string();
  const auto shell = [&](const std::string& line) {
    return Words{"sh", "-c", "export LC_ALL=C; " + line, "sh", folder, pattern};
  };
  return {place.Jobman({"logs", "1", "-q", "--grep", pattern, "--tail", "1"}),
          shell("for f in \"$1\"/*.log; do grep -e \"$2\" \"$f\" | tail -n 1; done"),
          shell("grep -h -e \"$2\" \"$1\"/*.log | tail -n 1")};
}

std::string AnswerOf(const Place& place, const Words& argv) {
  const base::Path file = place.home() / "answer";
  bench::Run(argv, file);
  const auto answer = base::ReadFile(file);
  if (!answer.ok()) throw std::runtime_error(answer.error().ToString());
  return *answer;
}

/// Round by round, so that a busy moment of the machine affects all ways alike.
void Measure(const Place& place, Question& question, int rounds) {
  const auto ways = WaysToAsk(place, question.pattern);
  if (AnswerOf(place, ways[0]) != AnswerOf(place, ways[1]))
    throw std::runtime_error("jobman and grep found different lines with \"" + question.pattern +
                             "\"");
  for (int round = 0; round < rounds; ++round)
    for (std::size_t way = 0; way < ways.size(); ++way)
      question.samples[way].Add(place.Take(ways[way]));
}

void AddRows(ui::Table& table, const Question& question) {
  const std::array<std::string, 3> names = {"jobman logs --grep, " + question.what,
                                            "grep FILE | tail for each host",
                                            "grep -h FILES | tail (the least)"};
  for (std::size_t way = 0; way < names.size(); ++way) {
    const bench::Samples& samples = question.samples[way];
    table.AddRow({names[way], fmt::format("{:.0f}", samples.Wall(kMedian)),
                  fmt::format("{:.0f}", samples.Wall(kP90)),
                  fmt::format("{:.0f}", samples.Cpu(kMedian)),
                  fmt::format("{:.1f}", samples.Peak())});
  }
  table.AddRow({});
}

void PrintRatio(const Question& question) {
  const auto& [ours, each, all] = question.samples;
  fmt::print(
      "ratio to grep and tail for each host, {}: {:.2f} of the wall time, {:.2f} of the CPU\n",
      question.what, ours.Wall(kMedian) / each.Wall(kMedian),
      ours.Cpu(kMedian) / each.Cpu(kMedian));
  fmt::print("ratio to one grep of all files, {}: {:.2f} of the wall time, {:.2f} of the CPU\n",
             question.what, ours.Wall(kMedian) / all.Wall(kMedian),
             ours.Cpu(kMedian) / all.Cpu(kMedian));
}

void Bench(int hosts, int megabytes, int rounds) {
  const Place place({"--delays", "0"});
  FillHome(place, hosts, std::size_t{1'000'000} * static_cast<std::size_t>(megabytes));
  std::array<Question, 3> questions = {
      Question{.what = "near the end", .pattern = "saved checkpoint"},
      Question{.what = "in the first line", .pattern = "devices:"},
      Question{.what = "nowhere", .pattern = "out of memory"}};
  for (Question& question : questions) Measure(place, question, rounds);
  fmt::print("the last line that matches, of {} hosts with {} MB each; {} rounds\n", hosts,
             megabytes, rounds);
  ui::Table table({{.header = "WHAT"},
                   {.header = "WALL ms", .right = true},
                   {.header = "p90", .right = true},
                   {.header = "CPU ms", .right = true},
                   {.header = "PEAK MB", .right = true}});
  for (const Question& question : questions) AddRows(table, question);
  fmt::print("{}", table.Render({}));
  for (const Question& question : questions) PrintRatio(question);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("logs_bench", [&] {
    const std::string part = argc > 1 ? argv[1] : "";
    if (part == "follow")
      return bench::FollowGrowingLogs(bench::Argument(argc, argv, 2, 1024),
                                      bench::Argument(argc, argv, 3, 20));
    if (part == "collect")
      return bench::CollectGrowingLogs(bench::Argument(argc, argv, 2, 128),
                                       bench::Argument(argc, argv, 3, 20));
    if (part == "host") return bench::WeighHostScript(bench::Argument(argc, argv, 2, 30));
    Bench(bench::Argument(argc, argv, 1, 1024), bench::Argument(argc, argv, 2, 1),
          bench::Argument(argc, argv, 3, 5));
  });
}
