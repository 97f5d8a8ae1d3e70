#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/core/job.hpp"

namespace jobman::core {

/// A host that ssh_config(5) is to know. Its texts came from the API and from the host itself.
struct SshHost {
  int number = 0;
  std::string address = {};
  std::string identity = {};            ///< ports::HostTarget::identity: the machine
  std::optional<std::string> key = {};  ///< its pinned host key, "<type> <base64>"
  std::string vm_name = {};             ///< for the %n of a proxy command; empty: not known
  friend bool operator==(const SshHost&, const SshHost&) = default;
};

/// A job with hosts: what they have in common, as in ports::HostTarget.
struct SshJob {
  JobId id = {};
  std::string name = {};
  std::string user = {};
  int port = 22;
  std::string private_key = {};  ///< empty: there are only the agent's keys
  bool strict = false;           ///< a key that nobody vouches for is never accepted
  bool forward_agent = false;
  std::string proxy_jump = {};
  std::string proxy_command = {};
  std::vector<SshHost> hosts = {};
  friend bool operator==(const SshJob&, const SshJob&) = default;
};

/// Files that the configuration names, as absolute paths.
struct SshFiles {
  std::string known_hosts = {};  ///< the pinned keys, written by jobman alone
  std::string seen_hosts = {};   ///< where the OpenSSH client notes keys that jobman has not pinned
};

/// What is written for the OpenSSH client.
struct SshConfig {
  std::string config = {};       ///< ssh_config(5): names for hosts
  std::string known_hosts = {};  ///< the keys that jobman has pinned
  /// HostKeyAlias of the hosts whose key nobody knows yet: a line of the seen hosts that is about
  /// none of these is of no more use.
  std::vector<std::string> unknown = {};
  /// The names of each host in `config`, the first one by its job's number; without those left out.
  std::map<JobId, std::map<int, std::vector<std::string>>> names = {};
};

/// How many hosts have names at most. The OpenSSH client reads the whole file at each start: with
/// this many it is 3.5 MB, which cost OpenSSH 9.2 40 ms of CPU. Of jobs for which there is no more
/// room, only host 0 has a name.
inline constexpr int kMostSshHosts = 20'000;

/// The configuration for these jobs. `jobman-12` is host 0 of job 12, `jobman-12-w3` its host 3; if
/// no other of the jobs has its name, and no job's number could be meant, also `jobman-NAME` and
/// `jobman-NAME-w3`. The name under which the OpenSSH client looks for a key is that of the
/// machine, so another machine at the same name or address is nobody whose key has changed. A host
/// or a job with something that cannot be written is left out, which a comment says. `only`: what
/// it says of this job alone.
SshConfig SshConfigFor(const std::vector<SshJob>& jobs, const SshFiles& files,
                       std::optional<JobId> only = {}, int most_hosts = kMostSshHosts);

}  // namespace jobman::core
