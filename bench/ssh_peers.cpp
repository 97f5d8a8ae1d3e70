#include "bench/ssh_peers.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::bench {
namespace {

constexpr const char* kClientsAtOnce = "64";

/// Of hosts that are asked all at once on a machine that plays them all.
constexpr const char* kKeyscanSeconds = "120";

void ScanKeys(const Place& place, const Hosts& hosts, const std::string& addresses) {
  const std::string known = (place.dir() / "known_hosts").string();
  const std::string line = fmt::format(
      "ssh-keyscan -T {} -p {} -t ed25519 -f {} > {} 2> /dev/null; true", kKeyscanSeconds,
      hosts.port, base::ShellQuote(addresses), base::ShellQuote(known));
  place.Take({"sh", "-c", line});
  const int count = CountLines(known, "ssh-ed25519");
  if (count == static_cast<int>(hosts.addresses.size())) return;
  throw std::runtime_error(
      fmt::format("only {} of {} hosts told their key", count, hosts.addresses.size()));
}

bool IsInstalled(const std::string& program) {
  return Works({"sh", "-c", "command -v " + program});
}

}  // namespace

SshFiles WriteSshFiles(const Place& place, const Hosts& hosts) {
  SshFiles files{.addresses = place.Write("addresses", base::Join(hosts.addresses, "\n") + "\n")};
  ScanKeys(place, hosts, files.addresses);
  files.config = place.Write(
      "ssh_config", fmt::format("Host *\n  Port {}\n  User {}\n  IdentityFile \"{}\"\n"
                                "  IdentitiesOnly yes\n  BatchMode yes\n"
                                "  StrictHostKeyChecking yes\n  UserKnownHostsFile \"{}\"\n"
                                "  GlobalKnownHostsFile /dev/null\n  LogLevel ERROR\n",
                                hosts.port, hosts.user, hosts.private_key,
                                (place.dir() / "known_hosts").string()));
  return files;
}

std::vector<Peer> PeersOf(const SshFiles& files, const std::string& command) {
  const std::string flags = "-F " + files.config;
  const std::vector<Peer> all = {
      {"pdsh -f 64",
       "pdsh",
       "pdsh",
       {"env", "PDSH_SSH_ARGS_APPEND=" + flags, "pdsh", "-R", "ssh", "-f", kClientsAtOnce, "-w",
        "^" + files.addresses, command}},
      {"clush -f 64",
       "clush",
       "clustershell",
       {"clush", "-f", kClientsAtOnce, "-o", flags, "--hostfile", files.addresses, command}},
      {"parallel-ssh -p 64",
       "parallel-ssh",
       "pssh",
       {"parallel-ssh", "-p", kClientsAtOnce, "-i", "-t", "0", "-x", flags, "-h", files.addresses,
        command}},
      {"ssh in xargs -P 64",
       "ssh",
       "openssh-client",
       {"xargs", "-P", kClientsAtOnce, "-a", files.addresses, "-I", "{}", "ssh", "-n", "-F",
        files.config, "{}", command}}};
  std::vector<Peer> installed;
  for (const Peer& peer : all) {
    if (IsInstalled(peer.program))
      installed.push_back(peer);
    else
      fmt::print("{} is not installed, and left out: apt-get install {}\n", peer.program,
                 peer.package);
  }
  return installed;
}

int CountLines(const base::Path& file, const std::string& text) {
  int count = 0;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) count += base::Contains(line, text) ? 1 : 0;
  return count;
}

}  // namespace jobman::bench
