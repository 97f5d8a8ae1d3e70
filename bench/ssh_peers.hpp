#pragma once

#include <string>
#include <vector>

#include "bench/place.hpp"

/// Other programs that run a command on many hosts, with the same login on the same hosts.
namespace jobman::bench {

/// `client FLAGS.. HOSTS COMMAND` of a program; what it needs is in files of the place.
struct Peer {
  std::string name = {};
  std::string program = {};
  std::string package = {};  ///< Debian's, that has the program
  Words argv = {};
};

/// What the OpenSSH client reads for the hosts of a job, written into the place.
struct SshFiles {
  std::string config = {};     ///< for ssh -F
  std::string addresses = {};  ///< an address a line
};

/// Asks each host for its key, so that the peers can check it, as jobman does.
/// std::runtime_error if not all of them answer.
SshFiles WriteSshFiles(const Place& place, const Hosts& hosts);

/// pdsh, clush, parallel-ssh and xargs, each with 64 clients at once; those that are installed.
/// Says of the others, on stdout, which package they are in.
std::vector<Peer> PeersOf(const SshFiles& files, const std::string& command);

/// How many lines of a file contain `text`.
int CountLines(const base::Path& file, const std::string& text);

}  // namespace jobman::bench
