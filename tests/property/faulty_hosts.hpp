#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/ports/host_shell.hpp"
#include "jobman/remote/host_script.hpp"
#include "tests/property/unkind_cloud.hpp"

namespace jobman::test {

/// A run on a machine: what the host script would keep of it.
struct ModelRun {
  std::string id = {};
  core::RunId of = {};  ///< the same, taken apart
  std::string machine = {};
  int host = 0;  ///< JOBMAN_HOST_INDEX
  int boot = 0;
  base::TimePoint started = {};
  base::TimePoint ends = {};
  int code = 0;         ///< with which it ends
  bool killed = false;  ///< ... or its launcher is killed, and nobody knows the code
  int lines = 0;        ///< it writes until then
  bool running = false;
  bool lost = false;                   ///< ended without an exit code
  bool stopped = false;                ///< somebody stopped it, perhaps before its start
  base::TimePoint stop_answered = {};  ///< when a stop of it was answered last, if ever
  std::string log = {};
  std::string status() const;
};

/// The hosts of an UnkindCloud: does what host.sh does at the calls of jobman/remote, without any
/// process, and ends runs by chance. Connections are refused, time out, break, and lose answers.
class UnkindHosts final : public ports::HostShell {
 public:
  UnkindHosts(Random& random, const Odds& odds, const FakeClock& clock, const UnkindCloud& cloud)
      : random_(random), odds_(odds), clock_(clock), cloud_(cloud) {}

  base::Task<base::Result<int>> Run(ports::HostTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override;
  void Drop(const ports::HostTarget&) override {}

  void BeKind();
  /// One of the machines never answers again, by chance, until all do; tells which, if there is
  /// any.
  std::string KillOne();
  void PlugAll() { unplugged_until_.clear(); }
  /// Runs write and end; those whose machine went are lost. To be called whenever time has passed.
  void Settle();
  /// No connection to one of the machines for a while, by chance.
  void Strike();
  /// Called when a run starts.
  void OnStart(std::function<void(const ModelRun&)> hook) { on_start_ = std::move(hook); }

  /// All runs that there ever were of a job.
  std::vector<const ModelRun*> RunsOf(core::JobId job) const;

 private:
  /// One connection: the machine as of its beginning, and where the output goes.
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
  const UnkindCloud& cloud_;
  bool kind_ = false;
  std::map<std::string, std::map<std::string, ModelRun>> runs_ = {};  ///< by machine and id
  std::map<std::string, bool> installed_ = {};
  std::map<std::string, base::TimePoint> unplugged_until_ = {};
  std::vector<ModelRun> forgotten_ = {};
  std::function<void(const ModelRun&)> on_start_ = {};
};

}  // namespace jobman::test
