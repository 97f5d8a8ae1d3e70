#include "jobman/core/ssh_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/ssh_way.hpp"

namespace jobman::core {
namespace {

constexpr const char* kFileHead =
    "# Written by jobman, and written anew when its jobs' hosts change: see jobman ssh-config.\n"
    "# jobman-12 is host 0 of job 12, jobman-12-w3 its host 3.\n";
constexpr const char* kNamePrefix = "jobman-";
constexpr std::size_t kLongestReason = 200;
/// Old clients refuse a longer one than 4 KiB.
constexpr std::size_t kLongestLine = 3000;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether "jobman-NAME" is one word that can mean nothing else: no number of a job, no host.
bool CanBeNamed(std::string_view name) {
  if (!IsPlainWord(name) || IsDigit(name.front())) return false;
  const std::size_t host = name.rfind("-w");
  return host == std::string_view::npos || !base::ParseNumber(name.substr(host + 2));
}

std::string HostName(std::string_view job, int host) {
  return fmt::format("{}{}-w{}", kNamePrefix, job, host);
}

std::vector<std::string> NamesOf(const SshJob& job, int host, bool named) {
  const std::string number = std::to_string(job.id.value);
  std::vector<std::string> names;
  if (host == 0) names.push_back(kNamePrefix + number);
  names.push_back(HostName(number, host));
  if (named && host == 0) names.push_back(kNamePrefix + job.name);
  if (named) names.push_back(HostName(job.name, host));
  return names;
}

/// A comment: one line, whatever the text is.
std::string LeftOut(const std::string& what, std::string_view why) {
  return fmt::format("# {} is left out: {}\n", what,
                     base::Shorten(base::CleanLine(why), kLongestReason));
}

/// "<type> <base64>": anything else would be another line, or a marker.
bool IsHostKey(std::string_view key) {
  const std::size_t blank = key.find(' ');
  const auto is_word = [](std::string_view word) {
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < '\x7F'; });
  };
  return blank != std::string_view::npos && is_word(key.substr(0, blank)) &&
         is_word(key.substr(blank + 1)) && key.front() != '@' && key.front() != '#';
}

/// The command of a proxy as the OpenSSH client reads it. It knows %h, %p, %r and %% as we do; its
/// %n is another one, so the name of the VM stands for it.
std::string ProxyLine(std::string_view command, const std::string& vm_name) {
  std::string line;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view token = command.substr(i, command[i] == '%' ? 2 : 1);
    line += token == "%n" ? vm_name : std::string(token);
    i += token.size() - 1;
  }
  return line;
}

/// Writes the section of one job after the other.
class Writer {
 public:
  Writer(SshConfig& out, const SshFiles& files, int room) : out_(out), files_(files), room_(room) {}

  void Add(const SshJob& job, bool named, int jobs_to_come);

 private:
  /// What all hosts of a job have in common, in the order in which it is written.
  struct Common {
    std::string known_hosts = {};
    std::string seen_hosts = {};
    std::string key = {};    ///< the private key; empty: none
    std::string proxy = {};  ///< a line as the client reads it; empty: none, or one for each host
  };
  static base::Result<Common> CommonOf(const SshJob& job, const SshFiles& files);
  static base::Status CheckHost(const SshJob& job, const SshHost& host);
  std::string HostBlock(const SshJob& job, const SshHost& host, const Common& common,
                        const std::vector<std::string>& names);
  static std::string JobBlock(const SshJob& job, const Common& common,
                              const std::vector<std::string>& more_names);

  SshConfig& out_;
  const SshFiles& files_;
  int room_;  ///< how many hosts may still get a name
};

base::Result<Writer::Common> Writer::CommonOf(const SshJob& job, const SshFiles& files) {
  Common common;
  JM_ASSIGN_OR_RETURN(common.known_hosts, SshConfigPath(files.known_hosts));
  JM_ASSIGN_OR_RETURN(common.seen_hosts, SshConfigPath(files.seen_hosts));
  // Also for a shell, which reads it as %r.
  if (!IsPlainWord(job.user)) return base::InvalidArgument("its login name is no plain word");
  if (!job.private_key.empty()) {
    JM_ASSIGN_OR_RETURN(common.key, SshConfigPath(job.private_key));
  }
  if (!job.proxy_jump.empty()) {
    JM_ASSIGN_OR_RETURN(const auto jumps, ParseJumpHosts(job.proxy_jump));
    common.proxy = JumpCommand(jumps);
  } else if (!job.proxy_command.empty()) {
    JM_TRY(ExpandProxyCommand(job.proxy_command, {}));
    if (!NamesVm(job.proxy_command))
      common.proxy = ProxyLine(base::Trim(job.proxy_command), /*vm_name=*/"");
  }
  return common;
}

base::Status Writer::CheckHost(const SshJob& job, const SshHost& host) {
  if (!IsHostAddress(host.address))
    return base::InvalidArgument("\"" + host.address + "\" is not the address of a host");
  if (host.key && !IsHostKey(*host.key))
    return base::InvalidArgument("its pinned host key is none: " + *host.key);
  const bool by_name = job.proxy_jump.empty() && NamesVm(job.proxy_command);
  if (by_name && !IsHostAddress(host.vm_name))
    return base::InvalidArgument("the name of its VM is not known, which its proxy command needs");
  return base::Ok();
}

std::string Writer::HostBlock(const SshJob& job, const SshHost& host, const Common& common,
                              const std::vector<std::string>& names) {
  const std::string alias = HostKeyAlias(host.identity);
  std::string text = fmt::format("Host {}\n  HostName {}\n  HostKeyAlias {}\n",
                                 base::Join(names, " "), host.address, alias);
  if (host.key) {
    out_.known_hosts += alias + " " + *host.key + "\n";
  } else if (!job.strict) {
    // The client keeps what it sees in a file of its own: this one is replaced as a whole.
    text += "  UserKnownHostsFile " + common.seen_hosts + "\n";
    text += "  StrictHostKeyChecking accept-new\n";
    out_.unknown.push_back(alias);
  }
  if (common.proxy.empty() && !job.proxy_command.empty())
    text += "  ProxyCommand " + ProxyLine(base::Trim(job.proxy_command), host.vm_name) + "\n";
  return text;
}

/// The first value that the client finds is the one it takes, so this block comes after those of
/// the hosts. It is repeated for names that its first line cannot hold.
std::string Writer::JobBlock(const SshJob& job, const Common& common,
                             const std::vector<std::string>& more_names) {
  std::string options = fmt::format("  User {}\n  Port {}\n", job.user, job.port);
  if (!common.key.empty()) options += "  IdentityFile " + common.key + "\n  IdentitiesOnly yes\n";
  options += "  UserKnownHostsFile " + common.known_hosts + "\n";
  options +=
      "  GlobalKnownHostsFile /dev/null\n"
      "  StrictHostKeyChecking yes\n"
      "  CheckHostIP no\n"
      "  HashKnownHosts no\n"
      "  UpdateHostKeys no\n";
  if (job.forward_agent) options += "  ForwardAgent yes\n";
  if (!common.proxy.empty()) options += "  ProxyCommand " + common.proxy + "\n";
  if (!job.proxy_jump.empty() || !job.proxy_command.empty()) options += "  ProxyUseFdpass no\n";
  std::string text;
  std::string head = fmt::format("Host {0}{1} {0}{1}-w*", kNamePrefix, job.id.value);
  for (const std::string& name : more_names) {
    if (head.size() + name.size() > kLongestLine) {
      text += head + "\n" + options;
      head = "Host";
    }
    head += " " + name;
  }
  return text + head + "\n" + options + "\n";
}

void Writer::Add(const SshJob& job, bool named, int jobs_to_come) {
  const std::string number = std::to_string(job.id.value);
  const auto common = CommonOf(job, files_);
  if (!common.ok()) {
    out_.config += LeftOut("job " + number, common.error().message) + "\n";
    return;
  }
  std::vector<std::string> more_names;
  const bool all = static_cast<int>(job.hosts.size()) + jobs_to_come <= room_;
  if (!all) out_.config += LeftOut("all but host 0 of job " + number, "there are too many hosts");
  for (const SshHost& host : job.hosts) {
    if (host.number != 0 && !all) continue;
    const auto checked = CheckHost(job, host);
    if (!checked.ok()) {
      out_.config += LeftOut(HostName(number, host.number), checked.error().message);
      continue;
    }
    std::vector<std::string> own = NamesOf(job, host.number, named);
    // The pattern of the job's block has the others.
    for (const std::string& name : own) {
      if (!name.starts_with(kNamePrefix + number)) more_names.push_back(name);
    }
    out_.config += HostBlock(job, host, *common, own);
    out_.names[job.id][host.number] = std::move(own);
    --room_;
  }
  if (out_.names.contains(job.id)) out_.config += JobBlock(job, *common, more_names);
}

}  // namespace

SshConfig SshConfigFor(const std::vector<SshJob>& jobs, const SshFiles& files,
                       std::optional<JobId> only, int most_hosts) {
  std::map<std::string, int> with_name;
  for (const SshJob& job : jobs) ++with_name[job.name];
  SshConfig config{.config = std::string(kFileHead) + "\n"};
  Writer writer(config, files, most_hosts);
  int to_come = only ? 1 : static_cast<int>(jobs.size());
  for (const SshJob& job : jobs) {
    if (only && *only != job.id) continue;
    --to_come;  // a name for host 0 of each is kept free
    writer.Add(job, with_name[job.name] == 1 && CanBeNamed(job.name), to_come);
  }
  return config;
}

}  // namespace jobman::core
