// One controller through many preemptions of a job of 16 hosts: open files, SSH sessions and memory
// end where they were after the tenth. A controller that leaks them reaches the limit of open files
// after a day or two, and then every host counts as lost.
//
// JOBMAN_ENDURANCE_PREEMPTIONS makes it longer; by hand it is 200.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

constexpr int kHosts = 8;
/// By then everything that is made only once exists.
constexpr int kSettled = 10;
/// One file for each host of one slice; a leak has at least fifteen times as many.
constexpr int kFilesMargin = kHosts;
/// A leaked slice takes more than half a MB.
constexpr std::int64_t kMemoryMargin = std::int64_t{12} << 20;

int Preemptions() {
  const auto wanted = base::GetEnv("JOBMAN_ENDURANCE_PREEMPTIONS");
  return wanted ? static_cast<int>(base::ParseNumber(*wanted).value_or(200)) : 40;
}

/// Resources of a process, from proc(5).
struct Held {
  int files = 0;
  int sockets = 0;  ///< of these; each SSH session has one
  std::int64_t memory = 0;
};

std::int64_t MemoryOf(const std::string& proc) {
  const auto pages = base::Split(base::ReadFile(proc + "/statm").value_or(""), ' ');
  return pages.size() < 2 ? 0 : base::ParseNumber(pages[1]).value_or(0) * sysconf(_SC_PAGESIZE);
}

Held HeldBy(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  Held held{.memory = MemoryOf(proc)};
  std::error_code gone;
  for (const auto& file : std::filesystem::directory_iterator(proc + "/fd", gone)) {
    ++held.files;
    const std::string target = std::filesystem::read_symlink(file.path(), gone).string();
    held.sockets += target.starts_with("socket:") ? 1 : 0;
  }
  return held;
}

/// A single look may fall between two calls.
Held MostOf(const Held& one, const Held& other) {
  return {.files = std::max(one.files, other.files),
          .sockets = std::max(one.sockets, other.sockets),
          .memory = std::max(one.memory, other.memory)};
}

class Endurance : public testing::Test {
 protected:
  Endurance() {
    // Freed memory must not count: the address sanitizer keeps 256 MB of it by default.
    const std::string options = base::GetEnv("ASAN_OPTIONS").value_or("");
    setenv("ASAN_OPTIONS",
           (options + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64").c_str(), 1);
    place_.StartSim({"--light", "--delays", "0"});
    controller_ = place_.StartController({"--poll", "1"});
  }

  /// Every host has reported that the command of that attempt runs.
  bool Runs(int attempt) {
    return place_.Until("attempt " + std::to_string(attempt) + " on all hosts", [&] {
      for (int host = 0; host < kHosts; ++host) {
        if (place_.Log(1, attempt, "run", host) != "up\n") return false;
      }
      return true;
    });
  }

  Place place_;
  pid_t controller_ = 0;
};

TEST_F(Endurance, AControllerKeepsNothingOfLostSlices) {
  const int preemptions = std::max(Preemptions(), kSettled + 1);
  const std::string file = place_.JobFile("train", kHosts, "echo up; exec sleep 3600",
                                          "retries: {infra: unlimited, backoff: 1s}\n");
  ASSERT_EQ(place_.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(Runs(1));
  Held early;
  for (int done = 1; done <= preemptions; ++done) {
    const Ran preempted = place_.Sim({"preempt", "train-*"});
    ASSERT_EQ(preempted.code, 0) << preempted.All();
    ASSERT_TRUE(Runs(done + 1)) << place_.Jobman({"why", "1"}).All();
    if (done <= kSettled) early = MostOf(early, HeldBy(controller_));
  }
  // Temporary peaks do not count; the value must come down again.
  EXPECT_TRUE(place_.Until("open files and sockets as before", [&] {
    const Held held = HeldBy(controller_);
    return held.files <= early.files + kFilesMargin && held.sockets <= early.sockets + kFilesMargin;
  }));
  const Held late = HeldBy(controller_);
  std::printf(
      "after %d and %d preemptions: %d and %d open files, %d and %d sockets, %.1f and %.1f MB\n",
      kSettled, preemptions, early.files, late.files, early.sockets, late.sockets,
      static_cast<double>(early.memory) / 1e6, static_cast<double>(late.memory) / 1e6);
  EXPECT_LE(late.memory, early.memory + kMemoryMargin);
  EXPECT_EQ(place_.Jobman({"delete", "1", "--wait"}).code, 0);
}

}  // namespace
}  // namespace jobman::test
