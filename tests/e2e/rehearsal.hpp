#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/place.hpp"

namespace jobman::test {

/// Rows of docs/states.md, each with a job of its own; start and end are the same. The tests of a
/// suite share a Place, whose simulator has no delays. They check what the user sees, what jobman
/// requested, and that nothing is left.
class Rehearsal : public testing::Test {
 protected:
  /// With more arguments of `controller run`.
  static void StartSuite(std::vector<std::string> controller = {});
  static void SetUpTestSuite() { StartSuite(); }
  static void TearDownTestSuite() { place_.reset(); }
  void SetUp() override;
  /// Ends all faults, deletes the jobs, and checks that the cloud holds nothing of them.
  void TearDown() override;

  static Place& place() { return *place_; }
  static Ran Jobman(std::vector<std::string> args) { return place_->Jobman(std::move(args)); }
  static void Sim(std::vector<std::string> args);

  /// Creates the test's job, with these settings on top of a spot v4-8 (or more hosts).
  void Create(const std::string& cmd, std::vector<std::string> settings = {}, int hosts = 1);
  /// A command whose first attempt runs until it is ended; later attempts end at once.
  static constexpr const char* kUntilLost =
      "echo attempt $JOBMAN_ATTEMPT; [ $JOBMAN_ATTEMPT != 1 ] || sleep 600";
  /// ... and waits until it runs on every host.
  void CreateAndRun(std::vector<std::string> settings = {}, int hosts = 1, int nodes = 1);
  /// Waits until kUntilLost runs on so many hosts.
  void AwaitRun(int hosts);

  /// Of a test with several jobs: from now on that of a Create() before is meant.
  void Use(const std::string& id) { id_ = id; }

  const std::string& id() const { return id_; }
  /// The name of the slice of an attempt.
  std::string Slice(int attempt = 1) const;
  bool Reaches(const std::string& state) { return !id_.empty() && place_->Reaches(id_, state); }
  std::string StateOf() { return place_->StateOf(id_); }
  /// Waits until `why` says so.
  bool WhySays(const std::string& text);
  std::string History() { return Jobman({"history", id_}).out; }
  std::string Log(int attempt, int host = 0, const std::string& stage = "run");
  int Attempt() { return static_cast<int>(base::GetInt(place_->Show(id_), "attempt")); }
  /// "preemption 1, failure 0, infra 0": what was spent of the budgets.
  std::string Spent();
  /// The exit code of `wait`: that of the finished job.
  int ExitCode() { return Jobman({"wait", id_}).code; }

  // Numbers of jobman's requests in this test.
  std::int64_t Creates() { return Calls(".create"); }
  std::int64_t Deletes() { return Calls(".delete"); }
  /// State of the simulator.
  static std::string Cloud() { return place_->Sim({"status"}).out; }

 private:
  std::int64_t Calls(const std::string& verb);
  static std::map<std::string, std::int64_t> Counts();

  static std::unique_ptr<Place> place_;
  std::map<std::string, std::int64_t> before_ = {};
  std::string id_ = {};
  std::vector<std::string> created_ = {};
};

/// How a slice is requested: its allocation mode and number of nodes.
struct Way {
  const char* name;
  bool direct = false;
  int nodes = 1;
  const char* setting = nullptr;  ///< one more of its job

  /// Settings of a job for this, plus `more`.
  std::vector<std::string> Settings(std::vector<std::string> more = {}) const;
  /// The number of create calls for one slice.
  int Requests() const { return direct ? nodes : 1; }
  /// The last of its nodes; a fault of one node affects the whole slice.
  std::string Node(const std::string& slice) const {
    return nodes == 1 ? slice : slice + "-" + std::to_string(nodes - 1);
  }
  /// The full name of the created resource: the queued resource, or the last node.
  std::string Resource(const std::string& slice) const;
};
inline constexpr Way kQueued = {.name = "Queued"};
inline constexpr Way kDirectly = {.name = "Direct", .direct = true};
inline constexpr Way kQueuedTwo = {.name = "QueuedTwo", .nodes = 2};
inline constexpr Way kDirectTwo = {.name = "DirectTwo", .direct = true, .nodes = 2};
inline const auto kEachWay = testing::Values(kQueued, kDirectly, kQueuedTwo, kDirectTwo);

/// Runs in both allocation modes, with slices of one and of two nodes.
class RehearsalInEachWay : public Rehearsal, public testing::WithParamInterface<Way> {
 protected:
  static const Way& way() { return GetParam(); }
  void CreateAndRun(std::vector<std::string> more = {}) {
    Rehearsal::CreateAndRun(way().Settings(std::move(more)), 1, way().nodes);
  }
};

/// The same with a job for each way, side by side: what must be waited for is waited for once. A
/// test is a row of steps.
class RehearsalSideBySide : public Rehearsal {
 protected:
  explicit RehearsalSideBySide(std::vector<Way> ways = {kQueued, kDirectly, kQueuedTwo,
                                                        kDirectTwo});
  /// Takes a step for one job after the other, unless one has failed for good: way(), id() and
  /// whatever is about "the job" mean that one meanwhile. Creates() and Deletes() are of all jobs.
  void Each(const std::function<void()>& step);
  const Way& way() const { return parts_[now_].way; }
  /// The number of create calls for one slice of each job.
  std::int64_t Requests() const;
  void CreateAndRunEach(const std::vector<std::string>& more = {});

 private:
  struct Part {
    Way way;
    std::string job = {};  ///< its id; empty: not created yet
  };
  std::vector<Part> parts_ = {};
  std::size_t now_ = 0;
};

inline std::string NameOf(const testing::TestParamInfo<Way>& way) {
  return way.param.name;
}

}  // namespace jobman::test
