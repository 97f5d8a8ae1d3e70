#pragma once

#include "bench/measure.hpp"
#include "jobman/base/json.hpp"

namespace jobman::bench {

/// A place of its own for a measurement: a JOBMAN_HOME, a simulator and a running controller, of
/// the programs beside this one. They end with it.
class Place {
 public:
  /// `sim_options` go to `jobman-sim up`.
  explicit Place(const Words& sim_options);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// Starts the controller in the foreground, as a child, and waits until it is at work.
  void StartController();

  /// The command line of `jobman ARGS`, and of `jobman-sim ARGS` for this place's simulator.
  Words Jobman(const Words& args) const;
  Words Sim(const Words& args) const;
  /// Runs one of them to its end.
  Cost Take(const Words& argv) const;
  /// Ends all connections to hosts, and waits until the controller has none.
  void HangUp() const;
  /// What `jobman --json ARGS` answers.
  base::Json Ask(const Words& args) const;
  /// Writes a file in this place.
  std::string Write(const std::string& name, const std::string& text) const;

  base::Path home() const { return dir_ / "home"; }
  const base::Path& dir() const { return dir_; }
  pid_t controller() const { return controller_; }
  pid_t simulator() const { return simulator_; }

 private:
  void EndAll();

  base::Path dir_;
  base::Path bin_;
  pid_t controller_ = 0;
  pid_t simulator_ = 0;
  int own_files_ = 0;  ///< of the controller, open without a connection to a host
};

/// While it exists, commands find no controller that lets them use its connections.
class WithoutSharedSessions {
 public:
  explicit WithoutSharedSessions(const Place& place);
  ~WithoutSharedSessions();
  WithoutSharedSessions(const WithoutSharedSessions&) = delete;
  WithoutSharedSessions& operator=(const WithoutSharedSessions&) = delete;

 private:
  base::Path socket_;
};

/// The hosts of a job, for peers that use the OpenSSH client: the client with its options, up to
/// the address, and the addresses.
struct Hosts {
  std::string client = {};
  Words addresses = {};
  int port = 0;
  std::string user = {};
  std::string private_key = {};
};
Hosts HostsOf(const Place& place, const std::string& job);
/// Whether the command of the job runs on every host, by `jobman show`.
bool IsUpEverywhere(const Place& place, const std::string& job);

}  // namespace jobman::bench
