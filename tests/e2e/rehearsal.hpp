#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/place.hpp"

namespace jobman::test {

/// Rows of docs/states.md, each rehearsed with a job of its own; what comes before and after is the
/// same. The tests of a suite share a place, whose simulator has no delays, and look at what the
/// user sees, at what jobman asked for, and that nothing is left.
class Rehearsal : public testing::Test {
 protected:
  static void StartSuite(std::vector<std::string> controller = {});
  static void SetUpTestSuite() { StartSuite(); }
  static void TearDownTestSuite() { place_.reset(); }
  void SetUp() override;
  /// Lets the simulator calm down, deletes the job, and sees that the cloud holds nothing of it.
  void TearDown() override;

  static Place& place() { return *place_; }
  static Ran Jobman(std::vector<std::string> args) { return place_->Jobman(std::move(args)); }
  static void Sim(std::vector<std::string> args);

  static constexpr const char* kDirect = "tpu.allocation_mode=tpu-vm";
  /// Creates the test's job, with these settings on top of a spot v4-8 (or more hosts).
  void Create(const std::string& cmd, std::vector<std::string> settings = {}, int hosts = 1);
  /// What the command of a first attempt that is to be ended runs: later ones end at once.
  static constexpr const char* kUntilLost =
      "echo attempt $JOBMAN_ATTEMPT; [ $JOBMAN_ATTEMPT != 1 ] || sleep 600";
  /// ... and waits until it runs on every host.
  void CreateAndRun(std::vector<std::string> settings = {}, int hosts = 1);

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
  /// What `wait` ends with: the exit code of a job that is over.
  int ExitCode() { return Jobman({"wait", id_}).code; }

  // How often jobman asked, in this test.
  std::int64_t Creates() { return Calls(".create"); }
  std::int64_t Deletes() { return Calls(".delete"); }
  /// What the simulator has.
  static std::string Cloud() { return place_->Sim({"status"}).out; }

 private:
  std::int64_t Calls(const std::string& verb);
  static std::map<std::string, std::int64_t> Counts();

  static std::unique_ptr<Place> place_;
  std::map<std::string, std::int64_t> before_ = {};
  std::string id_ = {};
};

/// The same in both allocation modes.
class RehearsalInBothModes : public Rehearsal, public testing::WithParamInterface<const char*> {
 protected:
  static std::string Mode() { return std::string("tpu.allocation_mode=") + GetParam(); }
  static bool Direct() { return GetParam() == std::string("tpu-vm"); }
  /// "nodes" or "queuedResources".
  static std::string Kind() { return Direct() ? "nodes" : "queuedResources"; }
};
inline const auto kBothModes = testing::Values("queued-resources", "tpu-vm");
inline std::string ModeName(const testing::TestParamInfo<const char*>& mode) {
  return std::string(mode.param) == "tpu-vm" ? "Direct" : "Queued";
}

}  // namespace jobman::test
