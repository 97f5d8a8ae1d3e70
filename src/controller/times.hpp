#pragma once

#include <chrono>

#include "jobman/base/time.hpp"

/// Times for dealing with hosts, and how they depend on each other.
namespace jobman::controller {

/// After a takeover, hosts that were silent before get at least this long to answer.
inline constexpr base::Duration kOwnTries = std::chrono::seconds{5};
/// How long after the grace a stop may fail before the host is given up. Longer than
/// src/remote/host.sh needs to end processes that ignore TERM, so that healthy hosts are never
/// given up (a test compares the two).
inline constexpr base::Duration kStopMargin = std::chrono::seconds{30};
/// Waits between tries to reach a host: the first, and the longest.
inline constexpr base::Duration kFirstReconnect = std::chrono::milliseconds{400};
inline constexpr base::Duration kLongestReconnect = std::chrono::seconds{10};
/// A host without output for this long is silent.
inline constexpr base::Duration kQuiet = std::chrono::milliseconds{1500};

/// Guest attributes appear some seconds after READY.
inline constexpr base::Duration kBetweenHostKeyTries = std::chrono::seconds{1};
/// A cloud that did not answer is not asked for host keys again for this long.
inline constexpr base::Duration kCloudSilence = std::chrono::seconds{5};

static_assert(kLongestReconnect < kStopMargin, "a stop is tried more than once");

}  // namespace jobman::controller
