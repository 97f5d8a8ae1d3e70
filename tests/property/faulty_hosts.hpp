#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/ports/host_shell.hpp"
#include "jobman/remote/host_script.hpp"
#include "tests/property/faulty_cloud.hpp"

namespace jobman::test {

/// A run on a machine, as the host script keeps it.
struct ModelRun {
  std::string id = {};
  core::RunId of = {};  ///< the same, parsed
  std::string machine = {};
  int host = 0;  ///< JOBMAN_HOST_INDEX
  int boot = 0;
  base::TimePoint started = {};
  base::TimePoint ends = {};
  int code = 0;         ///< its exit code
  bool killed = false;  ///< ... or its launcher is killed, without an exit code
  int lines = 0;        ///< of output until then
  bool running = false;
  bool lost = false;                   ///< ended without an exit code
  bool stopped = false;                ///< perhaps before its start
  base::TimePoint stop_answered = {};  ///< of its last stop, if any
  std::string log = {};
  std::string status() const;
};

/// The hosts of a FaultyCloud: does what host.sh does, without processes, and ends runs at random.
/// Connections are refused, time out, break, and lose answers; commands hang until their limit.
class FaultyHosts final : public ports::HostShell {
 public:
  FaultyHosts(Random& random, const Odds& odds, const FakeClock& clock, const FaultyCloud& cloud)
      : random_(random), odds_(odds), clock_(clock), cloud_(cloud) {}

  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override;
  void Drop(const ports::HostTarget&) override {}

  void EndFaults();
  /// A random machine stops answering until PlugAll(); returns its name, empty if there is none.
  std::string KillOne();
  void PlugAll() { unplugged_until_.clear(); }
  /// Runs write and end; runs whose machine is gone are lost. To be called whenever time has
  /// passed.
  void Settle();
  /// A random machine cannot be reached for a while.
  void UnplugOne();
  /// Called when a run starts.
  void OnStart(std::function<void(const ModelRun&)> hook) { on_start_ = std::move(hook); }

  /// All runs that a job ever had.
  std::vector<const ModelRun*> RunsOf(core::JobId job) const;

 private:
  /// One connection: the machine when it began, and where the output goes.
  struct Session {
    std::string machine = {};
    int boot = 0;
    std::string input = {};
    ports::ByteSink out = {};
    ports::ByteSink err = {};
  };
  using Words = std::vector<std::string>;
  using Code = base::Result<int>;

  base::Task<Code> Serve(Session session, std::string command);
  std::optional<std::string> LapsedSetup(const Session& session);
  base::Task<Code> StartAndFollow(Session session, Words words);
  base::Task<Code> Follow(Session session, std::string id, std::size_t sent);
  base::Task<Code> Stop(Session session, Words words);
  Code Renew(const Session& session, const std::string& id);
  Code Tell(const Session& session, const Words& words);
  base::Task<void> EndOthers(Session session, std::string prefix, base::Duration grace,
                             std::string except);
  ModelRun* Find(const std::string& machine, const std::string& id);
  void Start(const Session& session, const std::string& id);
  void Terminate(ModelRun& run, base::Duration grace);
  bool Reachable(const Session& session) const;

  Random& random_;
  const Odds& odds_;
  const FakeClock& clock_;
  const FaultyCloud& cloud_;
  bool faultless_ = false;
  std::map<std::string, std::map<std::string, ModelRun>> runs_ = {};  ///< by machine and id
  std::map<std::string, bool> installed_ = {};
  std::map<std::string, base::TimePoint> unplugged_until_ = {};
  std::vector<ModelRun> forgotten_ = {};
  std::function<void(const ModelRun&)> on_start_ = {};
};

}  // namespace jobman::test
