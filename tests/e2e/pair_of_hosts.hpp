#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/place.hpp"

namespace jobman::test {

/// Files between this machine and a job of two hosts: all tests of a suite share the job, and each
/// has a folder here to itself.
class PairOfHosts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Place>();
    place_->StartSim({"--delays", "0"});
    ASSERT_EQ(place_->Jobman({"run", place_->JobFile("pair", 2, "true")}).code, 0);
  }
  static void TearDownTestSuite() { place_.reset(); }

  void SetUp() override { std::filesystem::create_directories(here()); }
  void TearDown() override { std::filesystem::remove_all(here()); }
  static base::Path here() { return place_->path() / "here"; }
  /// Runs `jobman ARGS` in the folder `from`.
  static Ran JobmanIn(const base::Path& from, std::vector<std::string> args) {
    args.insert(args.begin(), {"bash", "-c", "cd \"$0\" && exec \"$@\"", from.string(),
                               JOBMAN_BIN_DIR "/jobman", "--home", place_->home().string()});
    return RunProgram(args);
  }
  static Ran On(const std::string& command, const std::string& hosts = "all") {
    return place_->Jobman({"exec", "1", "-w", hosts, "--", command});
  }
  /// Of a name below here().
  static void Write(const std::string& name, const std::string& text, mode_t mode = 0644) {
    std::filesystem::create_directories((here() / name).parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(here() / name, text, mode).ok());
  }

  static inline std::unique_ptr<Place> place_ = {};
};

}  // namespace jobman::test
