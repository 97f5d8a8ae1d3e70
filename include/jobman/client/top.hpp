#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/job.hpp"
#include "jobman/remote/top_script.hpp"
#include "jobman/ssh/fan_out.hpp"

/// How the hosts of a job do: `jobman top`.
namespace jobman::client {

/// One host. Without a look and without trouble it has not answered yet.
struct TopHost {
  int host = 0;
  std::optional<remote::HostLook> look = {};  ///< the latest, while the host says more
  std::optional<base::Error> trouble = {};    ///< why there is no look
  std::string apart = {};                     ///< in what it differs from the others; see below
  double distance = 0;                        ///< by how much: 1 is where `apart` begins
};

/// Sets `apart` and `distance` of hosts whose duty cycle or CPU is far from the median of all: by
/// more than 10 (20) points, and three times as far as the median of such distances. So where half
/// of the hosts differ from the other half, none stands apart.
void MarkStragglers(std::vector<TopHost>& hosts);

enum class TopOrder { kStragglers, kHost, kLoad, kCpu, kMemory, kDisk, kDuty };
/// Sorts by number, by distance (the farthest first), or by a measure: the highest first, of the
/// duty cycle the lowest. Where that is the same or not known, by number.
void SortHosts(std::vector<TopHost>& hosts, TopOrder order);

/// How long one look may take: tpu-info is a Python program, and may be started twice.
inline constexpr base::Duration kLookLimit = std::chrono::seconds{60};

/// Asks each host once, in their order; nothing if SIGINT, SIGTERM or SIGHUP came. The hosts' own
/// sinks and commands are not used. Not from a coroutine.
std::optional<std::vector<TopHost>> LookAtHosts(const Context& context,
                                                std::vector<ssh::FanOutHost> hosts,
                                                ssh::FanOutOptions options);

/// Told each second what is known of all hosts, and whether that has changed. False: enough.
using ShowHosts = std::function<bool(const std::vector<TopHost>&, bool changed)>;
enum class WatchEnd {
  kInterrupted,  ///< by SIGINT, SIGTERM or SIGHUP
  kEnough,
  kMoved,  ///< the job has other hosts now, or none
};
/// Keeps one command running on each host, which says more each `every`. A host that cannot be
/// reached or falls silent is tried again, with jitter, half a minute apart at most, for as long as
/// this goes on. Not from a coroutine.
WatchEnd WatchHosts(const Context& context, const core::Job& job,
                    std::vector<ssh::FanOutHost> hosts, std::chrono::seconds every, ShowHosts show);

}  // namespace jobman::client
