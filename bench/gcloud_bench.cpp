// One call of the Cloud TPU API, by jobman's client and by gcloud: a node is described once, and 16
// times at once, against the same simulator. Both are whole processes; jobman's is this program
// again, which makes the calls as the controller makes them: credentials, encoding, transport,
// decoding, rate limit and retries.
//
// usage: gcloud_bench [ROUNDS [CALLS]]      5 rounds of each, 16 calls at once by default
//        gcloud_bench create|get ENDPOINT TOKEN_FILE CALLS      what it starts itself
#include <fmt/format.h>
#include <stdlib.h>

#include <asio/io_context.hpp>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/place.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/task.hpp"
#include "jobman/cloud/cloud.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::kMedian;
using bench::Place;
using bench::Words;

constexpr const char* kNode = "n1";
constexpr const char* kProject = "p";
constexpr const char* kZone = "us-central2-b";
constexpr double kLeastRatio = 50;

template <class T>
T Must(base::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  throw std::runtime_error(result.error().ToString());
}

core::Place Zone() {
  return {.project = kProject, .zone = kZone};
}

// ------------------------------------------------------------------- jobman's client, as a child

core::SliceRequest OneNode() {
  core::SliceRequest request;
  request.ref = {.mode = core::AllocationMode::kTpuVm, .place = Zone(), .name = kNode};
  request.tpu.allocation_mode = core::AllocationMode::kTpuVm;
  request.tpu.accelerator = "v4-8";
  request.tpu.project = kProject;
  request.tpu.zone = kZone;
  request.tpu.version = "tpu-ubuntu2204-base";
  return request;
}

struct Progress {
  int ended = 0;
  std::string error = {};
};

base::Task<void> GetOnce(ports::SliceApi* api, Progress* progress) {
  core::Place zone = Zone();
  std::string id = kNode;
  const auto node = co_await api->GetNode(std::move(zone), std::move(id));
  if (!node.ok())
    progress->error = node.error().ToString();
  else if (node->state != core::NodeState::kReady)
    progress->error = "the node is " + node->raw_state;
  ++progress->ended;
}

/// Returns when all have ended: they use `api`.
void GetAtOnce(asio::io_context& loop, ports::SliceApi& api, int calls) {
  Progress progress;
  for (int i = 0; i < calls; ++i) base::Spawn(loop.get_executor(), GetOnce(&api, &progress));
  while (progress.ended < calls && loop.run_one() > 0) {
  }
  if (!progress.error.empty()) throw std::runtime_error(progress.error);
  if (progress.ended < calls) throw std::runtime_error("a call did not end");
}

void Call(const std::string& what, const std::string& endpoint, const std::string& token_file,
          int calls) {
  asio::io_context loop;
  const std::string token = Must(base::ReadFile(token_file));
  cloud::CloudOptions options;
  options.token = std::string(base::Trim(token));
  auto cloud = Must(cloud::MakeCloud(loop.get_executor(), {.endpoint = endpoint}, options));
  if (what == "create")
    Must(base::RunTask(loop, cloud->slices().Create(OneNode())));
  else
    GetAtOnce(loop, cloud->slices(), calls);
}

// ------------------------------------------------------------------------------ the measurement

/// Programs as they are started once, and many times at once by a shell that waits for all.
class Callers {
 public:
  explicit Callers(const Place& place) {
    const base::Path sim = place.home() / "sim";
    const auto file = base::ParseJson(base::ReadFile(sim / "sim.json").value_or(""));
    endpoint_ = file.ok() ? base::GetString(*file, "endpoint") : "";
    token_file_ = (sim / "token").string();
    SetGcloudUp(place.home());
  }

  Words Client(const std::string& what, int calls) const {
    return {base::SelfExe().string(), what, endpoint_, token_file_, std::to_string(calls)};
  }
  static Words Gcloud() {
    return {"gcloud", "compute", "tpus", "tpu-vm", "describe", kNode, "--format=json"};
  }
  static Words AtOnce(const Words& argv, int processes) {
    const std::string script =
        "n=$1; shift; pids=; "
        "while [ $n -gt 0 ]; do \"$@\" & pids=\"$pids $!\"; n=$((n - 1)); done; "
        "for pid in $pids; do wait $pid || exit 1; done";
    Words words = {"sh", "-c", script, "sh", std::to_string(processes)};
    words.insert(words.end(), argv.begin(), argv.end());
    return words;
  }

 private:
  /// The simulator instead of Google, and nothing of the user's own configuration.
  void SetGcloudUp(const base::Path& home) const {
    const std::pair<const char*, std::string> settings[] = {
        {"CLOUDSDK_CONFIG", (home / "gcloud").string()},
        {"CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU", endpoint_ + "/"},
        {"CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE", endpoint_ + "/compute/v1/"},
        {"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", token_file_},
        {"CLOUDSDK_CORE_PROJECT", kProject},
        {"CLOUDSDK_COMPUTE_ZONE", kZone},
        {"CLOUDSDK_CORE_DISABLE_PROMPTS", "1"},
        {"CLOUDSDK_CORE_CHECK_GCE_METADATA", "false"},
        {"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "1"},
        {"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "1"},
        {"CLOUDSDK_SURVEY_DISABLE_PROMPTS", "1"}};
    for (const auto& setting : settings) setenv(setting.first, setting.second.c_str(), 1);
  }

  std::string endpoint_ = {};
  std::string token_file_ = {};
};

struct Row {
  std::string what = {};
  Words argv = {};
  bench::Samples samples = {};
};
/// The last row is gcloud's, if it is installed; the others are compared with it.
using Group = std::vector<Row>;

Group OneCall(const Callers& callers, bool gcloud) {
  Group group = {{.what = "jobman's client", .argv = callers.Client("get", 1)}};
  if (gcloud) group.push_back({.what = "gcloud describe", .argv = Callers::Gcloud()});
  return group;
}

Group CallsAtOnce(const Callers& callers, bool gcloud, int calls) {
  Group group = {{.what = fmt::format("jobman's client, {} calls in one process", calls),
                  .argv = callers.Client("get", calls)},
                 {.what = fmt::format("jobman's client, {} processes", calls),
                  .argv = Callers::AtOnce(callers.Client("get", 1), calls)}};
  if (gcloud)
    group.push_back({.what = fmt::format("gcloud describe, {} processes", calls),
                     .argv = Callers::AtOnce(Callers::Gcloud(), calls)});
  return group;
}

/// Round by round, so that a busy moment of the machine affects all rows alike.
void Measure(const Place& place, Group& group, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : group) row.samples.Add(place.Take(row.argv));
  }
}

/// "112 times: met": how much less CPU the row takes than gcloud. The target is for the
/// controller's way, the first row of a group.
std::string Verdict(const Group& group, std::size_t i, bool gcloud) {
  if (!gcloud || i + 1 == group.size()) return "";
  const double ratio = group.back().samples.Cpu(kMedian) / group[i].samples.Cpu(kMedian);
  if (i > 0) return fmt::format("{:.0f} times less", ratio);
  return fmt::format("{:.0f} times less ({:.0f}: {})", ratio, kLeastRatio,
                     ratio >= kLeastRatio ? "met" : "MISSED");
}

void AddRows(ui::Table& table, const Group& group, bool gcloud) {
  const Row& first = group.front();
  for (std::size_t i = 0; i < group.size(); ++i) {
    const bench::Samples& samples = group[i].samples;
    table.AddRow(
        {group[i].what, fmt::format("{:.1f}", samples.Wall(kMedian)),
         fmt::format("{:.1f}", samples.Cpu(kMedian)), fmt::format("{:.1f}", samples.Peak()),
         fmt::format("{:.1f}", samples.Wall(kMedian) / first.samples.Wall(kMedian)),
         fmt::format("{:.1f}", samples.Cpu(kMedian) / first.samples.Cpu(kMedian)),
         fmt::format("{:.1f}", samples.Peak() / first.samples.Peak()), Verdict(group, i, gcloud)});
  }
  table.AddRow({});
}

void Bench(int rounds, int calls) {
  const Place place({"--delays", "0", "--light"});
  const Callers callers(place);
  place.Take(callers.Client("create", 1));
  bench::Await("the node to be ready", [&] { return bench::Works(callers.Client("get", 1)); });
  const bool gcloud = bench::Works({"gcloud", "version"});
  if (gcloud)
    place.Take(Callers::Gcloud());  // a first run writes its configuration
  else
    fmt::print("skipped, not installed here: gcloud\n");
  Group one = OneCall(callers, gcloud);
  Measure(place, one, rounds);
  Group many = CallsAtOnce(callers, gcloud, calls);
  Measure(place, many, rounds);
  fmt::print("one GET of a node, whole processes, {} rounds\n", rounds);
  ui::Table table({{.header = "PROCESS"},
                   {.header = "WALL ms", .right = true},
                   {.header = "CPU ms", .right = true},
                   {.header = "PEAK MB", .right = true},
                   {.header = "WALL RATIO", .right = true},
                   {.header = "CPU RATIO", .right = true},
                   {.header = "MB RATIO", .right = true},
                   {.header = "CPU BESIDE GCLOUD"}});
  AddRows(table, one, gcloud);
  AddRows(table, many, gcloud);
  fmt::print("{}", table.Render({}));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 5 ? argv[1] : "";
  return bench::Main("gcloud_bench", [&] {
    if (what == "create" || what == "get")
      Call(what, argv[2], argv[3], bench::Argument(argc, argv, 4, 1));
    else
      Bench(bench::Argument(argc, argv, 1, 5), bench::Argument(argc, argv, 2, 16));
  });
}
