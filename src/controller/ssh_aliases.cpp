#include "jobman/controller/ssh_aliases.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/host_target.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::controller {
namespace {

/// How many keys are read in a row, which takes some 100 us, before others have a turn.
constexpr std::size_t kKeysInARow = 32;
/// Of the keys that the OpenSSH client saw itself.
constexpr std::size_t kMostSeen = std::size_t{16} << 20;

std::optional<std::string> PinnedIn(const std::map<std::string, std::string>& keys,
                                    const std::string& identity) {
  const auto found = keys.find(identity);
  return found == keys.end() ? std::nullopt : std::optional(found->second);
}

/// What is there already stays untouched: editors watch these files, and each write is synced.
base::Status WriteIfOther(const base::Path& file, const std::string& text) {
  const auto there = base::ReadFile(file);
  return there.ok() && *there == text ? base::Ok() : base::WriteFileAtomic(file, text);
}

bool IsOnDisk(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Drops lines of machines that are not among `wanted`.
base::Status ForgetSeen(const base::Path& file, const std::vector<std::string>& wanted) {
  if (!IsOnDisk(file.string())) return base::Ok();
  // What is longer was not written by logging in.
  const auto text = base::ReadRegularFile(file, kMostSeen);
  const std::set<std::string> names(wanted.begin(), wanted.end());
  std::string kept;
  for (const std::string& line : base::Split(text.ok() ? *text : "", '\n')) {
    if (names.contains(line.substr(0, line.find(' ')))) kept += line + "\n";
  }
  return text.ok() && kept == *text ? base::Ok() : base::WriteFileAtomic(file, kept);
}

}  // namespace

std::optional<core::SshJob> SshJobOf(const core::Job& job, int default_port) {
  if (!job.slice || !core::IsHeld(*job.slice)) return std::nullopt;
  core::SshJob made{.id = job.id, .name = job.name};
  const int hosts = static_cast<int>(job.slice->hosts.size());
  for (int host = 0; host < hosts; ++host) {
    const ports::HostTarget target = TargetOf(job, host, default_port);
    if (host == 0) {
      made.user = target.user;
      made.port = target.port;
      made.private_key = target.private_key;
      made.strict = target.strict;
      made.forward_agent = target.forward_agent;
      made.proxy_jump = target.proxy_jump;
      made.proxy_command = target.proxy_command;
    }
    made.hosts.push_back({.number = host, .address = target.address, .identity = target.identity});
  }
  return made;
}

base::Task<base::Status> FindPinnedKeys(ports::HostKeyStore* keys,
                                        std::shared_ptr<core::SshJob> job, bool all) {
  for (std::size_t begin = 0; begin < job->hosts.size(); begin += kKeysInARow) {
    const std::size_t end = std::min(begin + kKeysInARow, job->hosts.size());
    std::vector<std::string> machines;
    for (std::size_t at = begin; at < end; ++at) machines.push_back(job->hosts[at].identity);
    JM_CO_ASSIGN_OR_RETURN(const auto found, co_await keys->PinnedKeys(std::move(machines)));
    for (std::size_t at = begin; at < end; ++at) {
      core::SshHost& host = job->hosts[at];
      if (all || !host.key) host.key = PinnedIn(found, host.identity);
    }
    co_await base::Yield();
  }
  co_return base::Ok();
}

base::Task<base::Result<std::vector<core::Job>>> JobsWithHosts(ports::JobStore* jobs,
                                                               std::set<core::JobId> but) {
  ports::JobFilter all;
  JM_CO_ASSIGN_OR_RETURN(const auto rows, co_await jobs->List(std::move(all)));
  std::vector<core::Job> found;
  for (const ports::JobSummary& row : rows) {
    if (row.host0.empty() || but.contains(row.id)) continue;
    auto job = co_await jobs->Get(row.id);
    if (job.ok()) {
      found.push_back(*std::move(job));
    } else if (job.error().code != base::Code::kNotFound && !ports::IsUnusable(job.error())) {
      co_return std::move(job).error();
    }
    co_await base::Yield();
  }
  std::sort(found.begin(), found.end(),
            [](const core::Job& one, const core::Job& other) { return one.id < other.id; });
  co_return found;
}

std::vector<core::SshJob> WithKeysOnDisk(std::vector<core::SshJob> jobs) {
  for (core::SshJob& job : jobs) {
    if (!IsOnDisk(job.private_key)) job.private_key.clear();
  }
  return jobs;
}

core::SshConfig SshConfigOf(const base::StatePaths& paths, const std::vector<core::SshJob>& jobs,
                            std::optional<core::JobId> only) {
  const core::SshFiles files{.known_hosts = paths.SshKnownHosts().string(),
                             .seen_hosts = paths.SshSeenHosts().string()};
  return core::SshConfigFor(jobs, files, only);
}

base::Status WriteSshConfig(const base::StatePaths& paths, const core::SshConfig& config) {
  // First: no name is there before its key.
  JM_TRY(WriteIfOther(paths.SshKnownHosts(), config.known_hosts));
  JM_TRY(WriteIfOther(paths.SshConfig(), config.config));
  return ForgetSeen(paths.SshSeenHosts(), config.unknown);
}

}  // namespace jobman::controller
