#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/memory_store.hpp"

namespace jobman::test {

/// The command line in this process, with a store in memory, a stopped clock and a temporary home
/// folder. Each Run() gets a new store, filled by `fill`.
class CliWorld {
 public:
  CliWorld();
  ~CliWorld();
  CliWorld(const CliWorld&) = delete;
  CliWorld& operator=(const CliWorld&) = delete;

  struct Ended {
    int exit_code = 0;
    std::string out = {};
    std::string err = {};
  };
  Ended Run(std::vector<std::string> args);
  /// "$ jobman ..." and its result, for golden files; the home folder reads as HOME.
  std::string Transcript(const std::vector<std::string>& args);

  base::StatePaths paths() const { return {.home = home_}; }
  /// Writes a log as the controller does; without a time, as an older one did.
  void WriteLog(std::int64_t job, int attempt, const std::string& stage, int host,
                const std::string& text, std::optional<base::TimePoint> came = {});

  FakeClock clock = {};
  ui::Surroundings around = {.locale = "C.UTF-8"};
  std::function<void(MemoryStore&)> fill = {};
  /// Called right before a job is erased, to simulate a race.
  std::function<void(MemoryStore&)> before_erase = {};
  /// Answers a question; without it nobody can be asked.
  std::function<bool(MemoryStore&, const std::string& question)> on_ask = {};
  /// Called where the program waits; false means Ctrl-C.
  std::function<bool(MemoryStore&)> on_pause = {};
  /// The clouds and hosts of network commands; without them such a command is a defect of the test.
  client::CloudOpener open_cloud = {};
  client::ShellOpener open_shell = {};
  /// Where the store is; without it, it may be used anywhere.
  client::SiteLooker look_at_site = {};
  /// What `doctor` looks with.
  client::Probes probes = {};

 private:
  std::filesystem::path home_;
};

}  // namespace jobman::test
