#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jobman/client/top.hpp"

namespace jobman::test {

/// A host of four chips that a program of ann keeps busy.
inline client::TopHost BusyHost(int number, double duty = 97.0) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  remote::HostLook look{.cpus = 240,
                        .load = 12.0 + 0.1 * (number % 10),
                        .cpu_percent = 5.0,
                        .memory = remote::Amount{.used = 12 * kGib, .total = 397 * kGib},
                        .root_disk = remote::Amount{.used = 20 * kGib, .total = 97 * kGib},
                        .home_disk = remote::Amount{.used = 900 * kGib, .total = 1000 * kGib},
                        .tpu_info = remote::HostLook::TpuInfo::kSays,
                        .duty_percent = duty,
                        .hbm = remote::Amount{.used = 74 * kGib, .total = 125 * kGib}};
  for (int chip = 0; chip < 4; ++chip) {
    look.chips.push_back(
        {.device = "/dev/accel" + std::to_string(chip),
         .holders = {{.pid = 4711, .user = "ann", .command = "python train.py --lr 0.1"}},
         .duty_percent = duty,
         .hbm = remote::Amount{.used = 18 * kGib, .total = 31 * kGib}});
  }
  return {.host = number, .look = std::move(look)};
}

inline client::TopHost LostHost(int number) {
  return {.host = number,
          .trouble =
              base::Error{.code = base::Code::kUnavailable,
                          .message = "10.0.0." + std::to_string(number) + ":22: connection refused",
                          .reason = base::Reason::kHostRefused,
                          .hint = "look at the host"}};
}

/// Those that are marked and sorted as the command does.
inline std::vector<client::TopHost> InOrder(std::vector<client::TopHost> hosts) {
  client::MarkStragglers(hosts);
  client::SortHosts(hosts, client::TopOrder::kStragglers);
  return hosts;
}

}  // namespace jobman::test
