// A storm of faults over many jobs, of one node and of two, while the controller is killed
// repeatedly: all jobs succeed, nothing runs twice at the same time, and nothing is left.
//
// JOBMAN_STORM_JOBS, _SECONDS, _RATE (faults a minute) and _SEED make it longer or repeat it; the
// long form is 20 jobs and 300 seconds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <random>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

unsigned FromEnv(const char* name, unsigned otherwise) {
  const char* const text = getenv(name);
  const auto number = base::ParseNumber(text == nullptr ? "" : text);
  return number ? static_cast<unsigned>(*number) : otherwise;
}

/// How much output may be lost with a host: it is cut off for at most 5 s, and a controller is dead
/// a little longer.
constexpr std::ptrdiff_t kLostMs = 12'000;
/// Without the time for which controllers are dead: one may be killed up to 4 s after its start,
/// before it has fetched the rest.
constexpr std::ptrdiff_t kLostBesidesMs = 9'000;

std::ptrdiff_t Lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

/// The hardware of a job: 1, 2 or 4 hosts in all.
struct Shape {
  int nodes = 1;
  int hosts = 1;  ///< of each node
};

/// Jobs alternate between these and between both allocation modes: ten jobs have every combination.
constexpr std::array kShapes = {Shape{1, 1}, Shape{1, 2}, Shape{1, 4}, Shape{2, 1}, Shape{2, 2}};

Shape ShapeOf(unsigned number) {
  return kShapes[number % kShapes.size()];
}

int HostsOf(unsigned number) {
  return ShapeOf(number).nodes * ShapeOf(number).hosts;
}

std::string ModeOf(unsigned number) {
  return number % 2 == 0 ? "queued-resources" : "tpu-vm";
}

class Storm : public testing::Test {
 protected:
  Storm() {
    std::filesystem::create_directories(share_);
    std::filesystem::permissions(share_, std::filesystem::perms::all);
    place_.StartSim({"--delays", "50ms", "--share", share_.string()});
    place_.StartController({"--poll", "1", "--host-limit", "4"});
    std::printf("JOBMAN_STORM_SEED=%u\n", seed_);
  }

  /// Every host takes a lock that ends with its process, continues where the last attempt ended,
  /// and also writes each line to a file for the test. To that file first: the machine may be lost
  /// between the two, and the log must not have more than the file (tee guarantees no order). A
  /// shell's message about a TERM is not a step.
  void Create(unsigned number) {
    const std::string cmd = fmt::format(
        "exec 2>/dev/null; share={0}; me=$share/{1}-$JOBMAN_HOST_INDEX\n"
        "exec 9>$me.lock; flock -w 1 9 || echo \"$me twice\" >>$share/twice\n"
        "step=$(cat $me.step 2>/dev/null || echo 0)\n"
        "while [ $step -lt {2} ]; do\n"
        "  step=$((step + 1)); echo $step >$me.new; mv $me.new $me.step\n"
        "  echo \"attempt $JOBMAN_ATTEMPT step $step\" >>$me.a$JOBMAN_ATTEMPT\n"
        "  echo \"attempt $JOBMAN_ATTEMPT step $step\"\n"
        "  sleep {3}\n"
        "done",
        share_.string(), number, Steps(), pause_ms_ / 1000.0);
    const auto [nodes, hosts] = ShapeOf(number);
    const std::string file = place_.JobFile(fmt::format("storm-{}", number), hosts, cmd,
                                            "retries: {infra: unlimited, backoff: 1s}\n");
    const Ran ran = place_.Jobman({"create", file, "--set", "tpu.allocation_mode=" + ModeOf(number),
                                   "--set", fmt::format("tpu.num_slices={}", nodes)});
    ASSERT_EQ(ran.code, 0) << ran.All();
  }

  void KillControllersUntil(std::future<Ran>& storm) {
    std::mt19937 random(seed_);
    while (storm.wait_for(std::chrono::seconds{0}) != std::future_status::ready) {
      usleep(std::uniform_int_distribution<useconds_t>(1'000'000, 4'000'000)(random));
      place_.KillController();
      const auto killed = std::chrono::steady_clock::now();
      place_.StartController({"--poll", "1", "--host-limit", "4"});
      const auto dead = std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::steady_clock::now() - killed);
      dead_ms_ = std::max(dead_ms_, static_cast<std::ptrdiff_t>(dead.count()));
    }
  }

  unsigned Steps() const { return seconds_ * 1000 / pause_ms_; }

  /// Hosts are counted over all nodes; each has finished its last step.
  void CheckSteps(unsigned number) {
    for (int host = 0; host < HostsOf(number); ++host) {
      const auto step = base::ReadFile(share_ / fmt::format("{}-{}.step", number, host));
      EXPECT_EQ(step.value_or(""), fmt::format("{}\n", Steps()))
          << "job " << number << " host " << host;
    }
  }

  /// Every kind of fault has occurred, if there was time.
  void CheckKinds(const std::string& told) {
    if (seconds_ * rate_ / 60 < 200) return;
    EXPECT_THAT(told, Not(ContainsRegex("[a-z] 0[,\n]")));
  }

  /// Each attempt's log here equals what the host wrote, from the first byte on. It is complete if
  /// the attempt ended by itself; otherwise output may be missing that was written while the host
  /// was unreachable or no controller was running.
  void CheckLogs(unsigned number) {
    const auto shown = place_.Show(fmt::format("storm-{}", number));
    const int id = static_cast<int>(base::GetInt(shown, "id"));
    const int last = static_cast<int>(base::GetInt(shown, "attempt"));
    for (int attempt = 1; attempt <= last; ++attempt) {
      for (int host = 0; host < HostsOf(number); ++host) {
        const auto wrote = base::ReadFile(share_ / fmt::format("{}-{}.a{}", number, host, attempt));
        const std::string kept = place_.Log(id, attempt, "run", host);
        const std::string log = kept == "(no log)" ? "" : kept;  // it never started
        const std::string whole = wrote.value_or("");
        EXPECT_TRUE(whole.starts_with(log))
            << "job " << id << " attempt " << attempt << " host " << host << ":\n"
            << log << "\nnot\n"
            << whole;
        EXPECT_LE(Lines(whole) - Lines(log), LostMs() / pause_ms_)
            << "job " << id << " attempt " << attempt << " host " << host;
        if (attempt == last) {
          EXPECT_EQ(log.size(), whole.size()) << "job " << id;
        }
      }
    }
  }

  /// More where a controller takes long to start, twice in a row.
  std::ptrdiff_t LostMs() const { return std::max(kLostMs, kLostBesidesMs + 2 * dead_ms_); }

  std::ptrdiff_t dead_ms_ = 0;  ///< of a controller, the longest
  const unsigned jobs_ = FromEnv("JOBMAN_STORM_JOBS", 5);
  const unsigned seconds_ = FromEnv("JOBMAN_STORM_SECONDS", 20);
  /// Between two steps: dozens of hosts on one machine must not keep it busy.
  const int pause_ms_ = seconds_ > 60 ? 1000 : 200;
  const unsigned rate_ = FromEnv("JOBMAN_STORM_RATE", 60);
  const unsigned seed_ = FromEnv("JOBMAN_STORM_SEED", std::random_device{}() % 100'000);
  Place place_;
  const base::Path share_ = place_.path() / "share";
};

TEST_F(Storm, EveryJobSucceedsAndNothingIsLeft) {
  for (unsigned number = 0; number < jobs_; ++number) Create(number);
  auto storm = std::async(std::launch::async, [this] {
    return place_.Sim({"storm", "--seed", std::to_string(seed_), "--rate", std::to_string(rate_),
                       "--for", std::to_string(seconds_) + "s"});
  });
  KillControllersUntil(storm);
  const Ran faults = storm.get();
  EXPECT_EQ(faults.code, 0) << faults.All();
  std::printf("%s", faults.out.c_str());
  CheckKinds(faults.out);
  for (unsigned number = 0; number < jobs_; ++number) {
    const std::string name = fmt::format("storm-{}", number);
    EXPECT_TRUE(place_.Reaches(name, "SUCCEEDED", 180 + static_cast<int>(seconds_)))
        << place_.Jobman({"why", name}).All() << place_.Jobman({"history", name}).All();
    CheckSteps(number);
    CheckLogs(number);
  }
  EXPECT_THAT(base::ReadFile(share_ / "twice").value_or(""), IsEmpty());
  std::vector<std::string> remove = {"delete", "--wait"};
  for (unsigned number = 0; number < jobs_; ++number)
    remove.push_back(fmt::format("storm-{}", number));
  EXPECT_EQ(place_.Jobman(remove).code, 0);
  const Ran left = place_.Sim({"down"});
  EXPECT_THAT(left.out, HasSubstr("nothing was left")) << left.All();
  EXPECT_THAT(left.out, Not(HasSubstr("created without jobman labels"))) << left.All();
  std::printf("%s", left.out.c_str());
}

}  // namespace
}  // namespace jobman::test
