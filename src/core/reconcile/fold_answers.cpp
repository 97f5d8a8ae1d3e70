// How the API's answers change the record of a slice.
#include <algorithm>

#include "core/reconcile/fold_parts.hpp"
#include "core/reconcile/turn.hpp"
#include "jobman/core/explain.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::core {
namespace {

constexpr int kMostCounted = 1'000'000;

/// The create may have arrived although it was not confirmed.
bool MayHaveArrived(const base::Error& error) {
  switch (error.code) {
    case base::Code::kUnavailable:
    case base::Code::kDeadlineExceeded:
    case base::Code::kInternal:
    case base::Code::kUnknown:
    case base::Code::kAlreadyExists:
    case base::Code::kCancelled:
    case base::Code::kAborted:
    case base::Code::kDataLoss:
      return true;
    case base::Code::kOk:
    case base::Code::kInvalidArgument:
    case base::Code::kNotFound:
    case base::Code::kPermissionDenied:
    case base::Code::kResourceExhausted:
    case base::Code::kFailedPrecondition:
    case base::Code::kOutOfRange:
    case base::Code::kUnimplemented:
    case base::Code::kUnauthenticated:
      return false;
  }
  return true;
}

/// The other names were refused or never requested.
void KeepUnshown(Slice& slice, const std::vector<std::string>& accepted) {
  std::erase_if(slice.unshown, [&](const std::string& name) {
    return std::find(accepted.begin(), accepted.end(), name) == accepted.end();
  });
}

}  // namespace

bool IsRefusal(const base::Error& error) {
  return !MayHaveArrived(error) && error.code != base::Code::kNotFound;
}

bool IsRefusedDelete(const base::Error& error) {
  // What is refused "for now" is as much there as what is refused for good.
  const bool answered = error.code == base::Code::kAborted || error.code == base::Code::kInternal ||
                        error.code == base::Code::kUnknown ||
                        error.code == base::Code::kAlreadyExists ||
                        error.code == base::Code::kDataLoss;
  return answered || IsRefusal(error);
}

Facts FoldCreate(Slice& slice, const CreateAnswered& answer, TimePoint now) {
  Facts facts{.slice = answer.slice};
  // Seen before the answer came. Only the operations are new: they report a stockout.
  const bool seen = slice.phase == SlicePhase::kCreated && slice.hosts.empty();
  if (seen && !answer.error && slice.operations.empty()) slice.operations = answer.operations;
  if (slice.phase != SlicePhase::kIntended) {
    // Seen in part, perhaps given up already: the rest may be as new as this answer.
    if (!slice.unshown.empty()) slice.last_evidence_at = now;
    return facts;
  }
  const bool refused = answer.error && !MayHaveArrived(*answer.error);
  if (!answer.error || (refused && !answer.accepted.empty())) {
    if (answer.error && slice.requests_sent == 1) KeepUnshown(slice, answer.accepted);
    slice.phase = SlicePhase::kCreated;
    slice.operations = answer.operations;
    slice.last_evidence_at = now;
    slice.absences = 0;
    if (!answer.error) return facts;
    // The accepted parts must be deleted. They have not been seen yet, so absence proves nothing.
    facts.failure = answer.error;
    facts.view = SliceView::kFailed;
    return facts;
  }
  if (refused) {
    facts.create_refused = answer.error;
    return facts;
  }
  facts.note = "the request for slice " + answer.slice + " has no clear answer (" +
               answer.error->message + "): looking before asking again";
  return facts;
}

Facts FoldFailure(Slice& slice, const OperationFailed& failed) {
  // Without an operation on record this is a repeat, or too late to matter.
  if (slice.operations.empty()) return {};
  slice.operations.clear();
  const bool one_part = NamesOfParts(slice.ref).size() == 1;
  if (one_part) slice.cloud_state = "FAILED";
  // A failed request creates nothing. Of several requests, another one may still arrive.
  if (slice.requests_sent == 1) {
    if (one_part) slice.unshown.clear();
    for (const std::string& node : failed.nodes) std::erase(slice.unshown, node);
  }
  return {.slice = failed.slice, .view = SliceView::kFailed, .failure = failed.error};
}

namespace {

/// One refusal more.
DeleteRefused RefusedAgain(const std::optional<DeleteRefused>& known, const base::Error& error,
                           TimePoint now) {
  return {.since = known ? known->since : now,
          .times = std::min((known ? known->times : 0) + 1, kMostCounted),
          .error = error};
}

}  // namespace

Facts FoldLateDelete(AbandonedRequest& request, const DeleteAnswered& answer, TimePoint now) {
  std::optional<DeleteRefused>& known = request.delete_refused;
  Facts facts;
  if (!answer.error) {
    if (known) facts.note = "slice " + answer.slice + " of an abandoned request is deleted";
    known.reset();
  } else if (IsRefusedDelete(*answer.error)) {
    known = RefusedAgain(known, *answer.error, now);
    facts.note = "the cloud refuses to delete slice " + answer.slice +
                 " of an abandoned request: " + ErrorSentence(*answer.error);
  }
  return facts;
}

Facts FoldDelete(Slice& slice, const DeleteAnswered& answer, TimePoint now) {
  if (slice.phase != SlicePhase::kDeleting) return {};
  Facts facts{.slice = answer.slice, .looked_at = answer.began, .not_found = answer.gone};
  std::optional<DeleteRefused>& known = slice.delete_refused;
  if (!answer.error) {
    if (known) facts.note = "waiting until slice " + answer.slice + " is deleted";
    known.reset();
  } else if (IsRefusedDelete(*answer.error)) {
    known = RefusedAgain(known, *answer.error, now);
    facts.note = WaitsForDeletion(slice);
  } else {
    facts.note =
        "slice " + answer.slice + " could not be deleted yet: " + ErrorSentence(*answer.error);
  }
  return facts;
}

}  // namespace jobman::core
