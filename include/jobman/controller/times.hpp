#pragma once

#include <chrono>
#include <cstddef>

#include "jobman/base/time.hpp"
#include "jobman/core/times.hpp"
#include "jobman/remote/host_script.hpp"

/// The controller's times, and how they depend on each other.
namespace jobman::controller {

// The lease and the store.

/// A controller that does not renew its lease for this long may be replaced.
inline constexpr base::Duration kLeaseTime = std::chrono::seconds{15};
/// How often the clock is read to see whether the lease is due: it leaps when a laptop wakes up.
inline constexpr base::Duration kLookAtClock = std::chrono::seconds{1};
/// How often the store is asked for jobs that another process changed.
inline constexpr base::Duration kLookAtStore = std::chrono::seconds{1};
/// The loop wakes up at least this often.
inline constexpr base::Duration kLongestPause = std::chrono::seconds{1};
/// A decision that cannot be recorded is tried again after this time.
inline constexpr base::Duration kRecordAgain = std::chrono::seconds{1};
/// How often queue files and tasks are looked at while nothing wakes the controller: a task is
/// taken within a second of its arrival.
inline constexpr base::Duration kLookAtQueues = std::chrono::milliseconds{500};
/// A task that an idle worker was offered and did not take is offered again after this time.
inline constexpr base::Duration kOfferAgain = std::chrono::seconds{5};
/// How often claims are looked for whose worker is gone.
inline constexpr base::Duration kEndOrphans = std::chrono::minutes{1};
/// A queue file that is not read within this time: its disk hangs. Its workers take tasks as they
/// are recorded, which before might be older than the file.
inline constexpr base::Duration kQueueFileLate = std::chrono::seconds{30};
/// Observations of a large job wait for each other at most this long, to share a commit: for the
/// time of a commit, with 64 hosts or more for several.
inline constexpr base::Duration kLongestGathering = std::chrono::milliseconds{500};
/// How often a single pass checks whether all is quiet.
inline constexpr base::Duration kLookForQuiet = std::chrono::milliseconds{50};

static_assert(3 * kLookAtClock <= kLeaseTime, "the lease is renewed when a third of it has passed");
static_assert(2 * kRecordAgain < kLeaseTime, "a busy store is tried again within the lease");
static_assert(kLookAtQueues < kQueueFileLate, "that a file is late is seen in time");
static_assert(kLookForQuiet < kLongestPause && kLongestPause <= kLookAtStore,
              "no look at the store is late");

// The cloud.

/// The first wait between two looks at a zone after something changed there.
inline constexpr base::Duration kHotPoll = std::chrono::milliseconds{100};
/// A look at a zone may take this long without counting as late.
inline constexpr base::Duration kLookTakes = std::chrono::seconds{5};
/// Guest attributes appear some seconds after READY.
inline constexpr base::Duration kBetweenHostKeyTries = std::chrono::seconds{1};
/// A cloud that did not answer is not asked for host keys again for this long.
inline constexpr base::Duration kCloudSilence = std::chrono::seconds{5};

static_assert(kHotPoll < core::kPoll, "waits between looks grow to the longest one");
static_assert(kLookTakes < core::kPoll, "a look has ended before the next one is due");
static_assert(kBetweenHostKeyTries < kCloudSilence, "a silent cloud is asked less often");

// The hosts.

/// A host of a READY slice that cannot be reached for this long is lost.
inline constexpr base::Duration kUnreachableLimit = std::chrono::minutes{5};
/// How much longer a stop tries a host while the cloud does not answer either. Then it goes on
/// without the host: a delete must not wait for ever.
inline constexpr base::Duration kSilentCloudLimit = std::chrono::minutes{5};
/// After a takeover, hosts that were silent before get at least this long to answer.
inline constexpr base::Duration kOwnTries = std::chrono::seconds{5};
/// Waits between tries to reach a host: the first, and the longest.
inline constexpr base::Duration kFirstReconnect = std::chrono::milliseconds{400};
inline constexpr base::Duration kLongestReconnect = std::chrono::seconds{10};
/// How many hosts are sent a file at the same time.
inline constexpr int kMostTransfers = 32;
/// A host without output for this long is silent.
inline constexpr base::Duration kQuiet = std::chrono::milliseconds{1500};
/// After a reconnect a host has this long to send what it wrote meanwhile.
inline constexpr base::Duration kCatchUp = std::chrono::seconds{1};
/// Shortest and longest wait between two looks of the watchdog at the output.
inline constexpr base::Duration kShortestWatch = std::chrono::milliseconds{250};
inline constexpr base::Duration kLongestWatch = std::chrono::seconds{30};

static_assert(kFirstReconnect < kLongestReconnect && kLongestReconnect < remote::kStopMargin,
              "a stop that fails at once is tried more than once");
static_assert(remote::kLongestSilence < kUnreachableLimit,
              "a host that hangs is tried again before it is lost");
static_assert(kOwnTries < kUnreachableLimit && 2 * kLongestReconnect < kUnreachableLimit,
              "a host is tried several times before it is lost");
static_assert(core::kPoll < kUnreachableLimit,
              "a preempted slice is seen before its hosts count as lost");
static_assert(kShortestWatch < kCatchUp && kCatchUp < kLongestWatch,
              "the watchdog waits until a host that came back has caught up");

/// Changes of hosts wait for each other this long, to share one writing of ssh_config.
inline constexpr base::Duration kGatherSshConfig = std::chrono::milliseconds{300};
/// How often keys are looked for that ssh_config lacks: the first wait, doubled up to the longest.
inline constexpr base::Duration kFirstLookAtKeys = std::chrono::seconds{2};
inline constexpr base::Duration kLongestLookAtKeys = std::chrono::minutes{1};
/// How long a job's names may wait for its cloud to say what its VMs are called.
inline constexpr base::Duration kNameVmsLimit = std::chrono::seconds{5};
static_assert(kGatherSshConfig < kFirstLookAtKeys && kFirstLookAtKeys < kLongestLookAtKeys);
static_assert(kNameVmsLimit < kLongestLookAtKeys);

// Commands that run on hosts for other processes.

/// How much of a command's input, and of its output, waits here for who takes it slowly.
inline constexpr std::size_t kShellWindow = std::size_t{128} << 10;
/// How long a process that has connected may take to say what it wants.
inline constexpr base::Duration kShellRequestLimit = std::chrono::seconds{5};
/// How often a command that has nothing to say shows that the controller is alive.
inline constexpr base::Duration kShellAlive = std::chrono::seconds{15};
/// When no descriptor was free.
inline constexpr base::Duration kAcceptAgain = std::chrono::milliseconds{100};

static_assert(kShellRequestLimit < kShellAlive);

// The hooks.

/// Waits between tries to tell a hook: the first, doubled up to the longest.
inline constexpr base::Duration kFirstHookRetry = std::chrono::seconds{5};
inline constexpr base::Duration kLongestHookRetry = std::chrono::minutes{10};
/// How often the outbox is read when nothing is due, and when it could not be read.
inline constexpr base::Duration kLookAtOutbox = std::chrono::minutes{1};
inline constexpr base::Duration kReadOutboxAgain = std::chrono::seconds{1};

static_assert(kFirstHookRetry < kLongestHookRetry && kReadOutboxAgain < kLookAtOutbox);

/// How long it may take to change who may log in to a node: two requests and an operation. When
/// to ask first whether the operation has ended, and how often at least.
inline constexpr base::Duration kLoginChange = std::chrono::seconds{60};
inline constexpr base::Duration kFirstLookAtOperation = std::chrono::milliseconds{100};
inline constexpr base::Duration kLookAtOperation = std::chrono::seconds{1};

}  // namespace jobman::controller
