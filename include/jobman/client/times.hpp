#pragma once

#include <chrono>

#include "jobman/controller/times.hpp"

/// How long commands wait for the controller, the simulator and hosts, and how often they look.
namespace jobman::client {

/// A controller that was started must hold the lease within this time.
inline constexpr base::Duration kControllerStartLimit = std::chrono::seconds{30};
/// For this long after its lease ended, a controller that runs on this machine is only late: with
/// hundreds of processes for each processor it may not get one in time, nor would another one.
inline constexpr base::Duration kLateController = std::chrono::minutes{1};
/// A controller that was told to stop must give up the lease within this time.
inline constexpr base::Duration kControllerStopLimit = std::chrono::seconds{30};
/// How often to look whether it does.
inline constexpr base::Duration kLookForController = std::chrono::milliseconds{5};
/// How long a controller without a socket is nudged again.
inline constexpr base::Duration kNudgeLimit = std::chrono::milliseconds{200};
/// How often a waiting command checks that a controller is alive: it may have been killed.
inline constexpr base::Duration kLookAtController = std::chrono::seconds{1};
/// How often a waiting command asks the store whether a job changed.
inline constexpr base::Duration kLookAtJobs = std::chrono::milliseconds{50};
/// How often it reads them even without a change.
inline constexpr base::Duration kReadJobsAgain = std::chrono::seconds{1};
/// As long as jobman-sim waits at most: for its daemon, then for the answer of another one.
inline constexpr base::Duration kSimulatorStartLimit = std::chrono::seconds{60};
/// What a zone offers, and the limits of TPUs, are asked again after this time.
inline constexpr base::Duration kOffersKept = std::chrono::hours{24};
/// How long a zone may take to say what it offers.
inline constexpr base::Duration kOfferAnswer = std::chrono::seconds{20};
/// How long Cloud Storage may take to say where all buckets of a job are, tokens for it included.
inline constexpr base::Duration kBucketsAnswer = std::chrono::seconds{20};
/// What Compute Engine says of a project is asked again after this time; after the shorter one if
/// it speaks against the job.
inline constexpr base::Duration kProjectKept = std::chrono::minutes{10};
inline constexpr base::Duration kDoubtKept = std::chrono::seconds{10};
/// How long it may take to say so.
inline constexpr base::Duration kProjectAnswer = std::chrono::seconds{10};
/// How long Service Usage may take to say the limits of TPUs, and the cloud to list who holds them.
inline constexpr base::Duration kLimitsAnswer = std::chrono::seconds{10};
/// How long both may take together, if the limits are asked for again, too.
inline constexpr base::Duration kQuotaCheckLimit = std::chrono::seconds{15};
/// If the questions before a job is stored take so long, the next file's are left out.
inline constexpr base::Duration kSlowCloud = std::chrono::seconds{10};
/// How long each service may take for `quota`.
inline constexpr base::Duration kQuotaAnswer = std::chrono::seconds{8};
/// How long each service may take for `storage`.
inline constexpr base::Duration kStorageAnswer = std::chrono::seconds{20};
/// How long buckets that are named for it may take; what is not seen then does not cost the others.
inline constexpr base::Duration kNamedBucketsAnswer = std::chrono::seconds{18};
/// How long the query of `billing` may take.
inline constexpr base::Duration kBillingAnswer = std::chrono::seconds{60};
/// Time to send TERM to every host after an interrupt.
inline constexpr base::Duration kFarewell = std::chrono::seconds{1};
/// How long `exec` waits for a command to end after each signal.
inline constexpr base::Duration kStopWait = std::chrono::seconds{10};
/// How much longer for what is left of it to be said.
inline constexpr base::Duration kLastWordsWait = std::chrono::seconds{3};
/// Interrupts that follow each other so soon are one: `timeout` signals its child, then the group.
inline constexpr base::Duration kSameInterrupt = std::chrono::milliseconds{500};
/// How often it is looked whether a host has said the group that is to be signalled.
inline constexpr base::Duration kGroupLook = std::chrono::milliseconds{100};
/// How often `exec --follow` tries a host again.
inline constexpr base::Duration kFollowRetry = std::chrono::seconds{1};
/// How long it does without a byte, unless told otherwise.
inline constexpr base::Duration kFollowPatience = std::chrono::seconds{60};
/// How long one host may take to list its runs: it must not hold up the others.
inline constexpr base::Duration kListRunsLimit = std::chrono::seconds{5};
/// How long a connection to a forwarded port waits for a host that is away: it starts again, or
/// there is no slice. A try that has begun by then is not cut short.
inline constexpr base::Duration kForwardPatience = std::chrono::seconds{60};
/// How often the host is tried meanwhile.
inline constexpr base::Duration kForwardRetry = std::chrono::seconds{1};
/// How often `forward` asks the store whether anything changed.
inline constexpr base::Duration kLookAtForwarded = std::chrono::seconds{1};
/// A forward in the background must have logged in, and listen, within this time.
inline constexpr base::Duration kForwardStartLimit = std::chrono::minutes{2};
/// One that is told to stop must end within this time; then it is killed.
inline constexpr base::Duration kForwardStopLimit = std::chrono::seconds{5};
/// How long systemctl, loginctl and crontab may take for an answer.
inline constexpr base::Duration kServiceAnswer = std::chrono::seconds{10};

static_assert(controller::kLeaseTime < kControllerStartLimit,
              "the lease of a controller on another machine may have to run out first");
static_assert(kLookForController < kNudgeLimit && kNudgeLimit < controller::kLookAtStore,
              "a nudge that is lost costs no more than the next look at the store");
static_assert(kSlowCloud <= kProjectAnswer && kSlowCloud <= kOfferAnswer &&
                  kSlowCloud <= kBucketsAnswer && kSlowCloud <= kLimitsAnswer,
              "a cloud that does not answer is slow");
static_assert(kLimitsAnswer < kQuotaCheckLimit, "time is left for who holds what");
static_assert(kLookAtJobs < kReadJobsAgain, "only a change is worth reading all jobs at once");
/// One check of `doctor`, and the answer of an ssh-agent, which is on this machine.
inline constexpr base::Duration kCheckLimit = std::chrono::seconds{10};
inline constexpr base::Duration kAgentAnswer = std::chrono::seconds{2};
static_assert(kQuotaAnswer < kCheckLimit,
              "a check of `doctor` asks for quotas, too, and says which service was silent");
static_assert(kNamedBucketsAnswer < kStorageAnswer, "what was seen must be kept");

}  // namespace jobman::client
