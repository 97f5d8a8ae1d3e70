#pragma once

#include <chrono>

#include "jobman/base/time.hpp"

/// Times by which the controller deals with hosts, and how they hang together.
namespace jobman::controller {

/// After a controller took over, hosts that were silent before have this long to show otherwise.
inline constexpr base::Duration kOwnTries = std::chrono::seconds{5};
/// Beyond the grace: how long a stop may fail before the host is given up. Longer than src/remote/
/// host.sh needs to end what ignores TERM, so that no healthy host is (a test compares).
inline constexpr base::Duration kStopMargin = std::chrono::seconds{30};
/// Waits between tries to reach a host: the first, and the longest.
inline constexpr base::Duration kFirstReconnect = std::chrono::milliseconds{400};
inline constexpr base::Duration kLongestReconnect = std::chrono::seconds{10};
/// A run whose hosts said nothing for this long has nothing to say at the moment.
inline constexpr base::Duration kQuiet = std::chrono::milliseconds{1500};

/// Guest attributes appear some seconds after READY.
inline constexpr base::Duration kBetweenHostKeyTries = std::chrono::seconds{1};
/// A cloud that did not answer is not asked for host keys during this time.
inline constexpr base::Duration kCloudSilence = std::chrono::seconds{5};

static_assert(kLongestReconnect < kStopMargin, "a stop is tried more than once");

}  // namespace jobman::controller
