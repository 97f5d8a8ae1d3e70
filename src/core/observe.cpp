// Folds what was observed into the job; decides nothing.
#include <algorithm>

#include "core/decider.hpp"

namespace jobman::core {
namespace {

bool IsAbout(const std::optional<Slice>& slice, const std::string& name) {
  return slice && slice->ref.name == name && slice->phase != SlicePhase::kGone;
}

/// The create may have arrived although no good answer came.
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

/// "READY"; "READY, UNHEALTHY_MAINTENANCE" when that is not all.
std::string WordOf(const NodeSeen& node) {
  const bool well =
      node.health.empty() || node.health == "HEALTHY" || node.health == "HEALTH_UNSPECIFIED";
  return well ? node.raw_state : node.raw_state + ", " + node.health;
}

/// The word of what tells most: of a multislice with the name of the node.
std::string CloudWord(const SliceSeen& seen, const SliceRef& ref) {
  const NodeSeen* const node = TellingNode(seen);
  const bool of_node =
      node != nullptr && (!seen.queued || seen.queued->state == QueuedState::kActive);
  if (!of_node) return seen.queued ? seen.queued->raw_state : std::string{};
  if (IsOrphaned(seen, ref)) return WordOf(*node) + ", without its queued resource";
  const bool one_of_many = ref.nodes > 1 && node->state != NodeState::kReady;
  return one_of_many ? WordOf(*node) + " (node " + node->id + ")" : WordOf(*node);
}

/// Takes the addresses over; tells whether they are other machines than before.
bool TakeHosts(Slice& slice, const std::vector<NodeSeen>& seen) {
  std::vector<SliceNode> nodes;
  std::vector<HostAddress> hosts;
  for (const NodeSeen& node : seen) {
    nodes.push_back({.uid = node.uid, .hosts = static_cast<int>(node.hosts.size())});
    hosts.insert(hosts.end(), node.hosts.begin(), node.hosts.end());
  }
  if (slice.nodes == nodes && slice.hosts == hosts) return false;
  const bool first = slice.hosts.empty();
  slice.nodes = std::move(nodes);
  slice.hosts = std::move(hosts);
  if (first) return false;
  ++slice.generation;
  return true;
}

/// The hosts of the slice on record whose node the look shows READY.
std::vector<int> HostsThatAreUp(const Slice& slice, const std::vector<NodeSeen>& nodes) {
  std::vector<int> up;
  for (int host = 0; host < static_cast<int>(slice.hosts.size()); ++host) {
    const HostPosition position = PositionOf(slice, host);
    const bool ready = std::any_of(nodes.begin(), nodes.end(), [&](const NodeSeen& node) {
      return node.uid == position.node_uid && node.state == NodeState::kReady;
    });
    if (ready) up.push_back(host);
  }
  return up;
}

/// Tells whether anything of it is shown for the first time.
bool NoteShown(Slice& slice, const SliceSeen& seen) {
  const auto before = slice.unshown.size();
  if (slice.ref.mode == AllocationMode::kQueuedResources) slice.unshown.clear();
  for (const NodeSeen& node : seen.nodes) std::erase(slice.unshown, node.id);
  return slice.unshown.size() != before;
}

/// The others were refused, or not asked for.
void KeepUnshown(Slice& slice, const std::vector<std::string>& accepted) {
  std::erase_if(slice.unshown, [&](const std::string& name) {
    return std::find(accepted.begin(), accepted.end(), name) == accepted.end();
  });
}

/// The hosts of the nodes that were replaced while others of the slice were not; none when all may
/// have been.
std::vector<int> ReplacedAmongOthers(const Slice& before, const Slice& after) {
  std::vector<int> replaced;
  if (before.nodes.size() != after.nodes.size()) return replaced;
  int first = 0;
  for (std::size_t node = 0; node < after.nodes.size(); ++node) {
    const int count = after.nodes[node].hosts;
    if (before.nodes[node].hosts != count) return {};
    const auto now = after.hosts.begin() + first;
    const bool same = before.nodes[node].uid == after.nodes[node].uid &&
                      std::equal(now, now + count, before.hosts.begin() + first);
    for (int host = first; !same && host < first + count; ++host) replaced.push_back(host);
    first += count;
  }
  return replaced.size() == after.hosts.size() ? std::vector<int>{} : replaced;
}

/// What is announced of the nodes: what is imminent for one of them is for all.
std::optional<Notice> WorstOf(const std::vector<NodeSeen>& nodes) {
  std::optional<Notice> worst;
  for (const NodeSeen& node : nodes) {
    if (node.notice && (!worst || (node.notice->imminent && !worst->imminent))) worst = node.notice;
  }
  return worst;
}

}  // namespace

base::Error NameTaken(const std::string& name) {
  return {.code = base::Code::kAlreadyExists,
          .message = "the name " + name + " is taken by a resource that is not ours"};
}

void Decider::Observe(const SliceSeen& seen) {
  NoteGivenUp(seen);
  if (!IsAbout(job_.slice, seen.slice)) return;
  Slice& slice = *job_.slice;
  const SliceView view = ViewOf(seen, slice.ref);
  if (seen.began < std::max(slice.asked_at, slice.created_at)) {
    if (view != SliceView::kAbsent && view != SliceView::kForeign) NoteSight(seen);
    return;
  }
  slice.no_answer.reset();
  view_ = view;
  looked_at_ = seen.began;
  suspended_ = seen.queued && (seen.queued->state == QueuedState::kSuspending ||
                               seen.queued->state == QueuedState::kSuspended);
  if (job_.stage && slice.ref.nodes > 1) up_ = HostsThatAreUp(slice, seen.nodes);
  // Somebody else holds the name, so ours does not exist; a delete by name would hit theirs.
  if (view_ == SliceView::kForeign) {
    slice.phase = SlicePhase::kGone;
    slice.unshown.clear();
    return;
  }
  if (view_ == SliceView::kAbsent) {
    slice.absences = std::min(slice.absences + 1, 2);
    return NoteTaken(seen);
  }
  NoteSight(seen);
  slice.cloud_state = CloudWord(seen, slice.ref);
  slice.ready = view_ == SliceView::kReady;
  slice.absences = 0;
  slice.gaps = view_ == SliceView::kPartial ? std::min(slice.gaps + 1, 2) : 0;
  if (IsOrphaned(seen, slice.ref) && slice.gaps >= 2) view_ = SliceView::kHusk;
  // Nodes that are asked for one by one appear one by one: the request may still be under way.
  const bool all_asked_for = view_ != SliceView::kPartial || seen.queued;
  if (slice.phase == SlicePhase::kIntended && all_asked_for) {
    slice.phase = SlicePhase::kCreated;
    slice.created_at = now_;
  }
  if (seen.queued && seen.queued->failure) slice_error_ = seen.queued->failure;
  NoteTaken(seen);
  if (const auto notice = WorstOf(seen.nodes); !seen.nodes.empty() && slice.notice != notice) {
    slice.notice = notice;
    notice_ = notice;
  }
  if (view_ == SliceView::kReady) {
    slice.operations.clear();
    const Slice before = slice;
    moved_ = TakeHosts(slice, seen.nodes);
    if (moved_ && job_.stage) LoseReplaced(ReplacedAmongOthers(before, slice));
  }
}

/// A delete that was under way may have missed what comes into sight only now: "not found" is no
/// fact then.
void Decider::NoteSight(const SliceSeen& seen) {
  Slice& slice = *job_.slice;
  if (NoteShown(slice, seen) && slice.phase == SlicePhase::kDeleting) slice.created_at = now_;
}

/// What came late stays on the list until it was deleted.
void Decider::NoteGivenUp(const SliceSeen& seen) {
  const bool there = !seen.foreign && (seen.queued || !seen.nodes.empty());
  std::erase_if(job_.given_up, [&](const GivenUp& one) {
    return one.ref.name == seen.slice && !there && seen.began >= one.until;
  });
}

/// Nodes that are asked for one by one, and one of their names is somebody else's: it will never be
/// whole. (A queued resource says itself what becomes of it.)
void Decider::NoteTaken(const SliceSeen& seen) {
  Slice& slice = *job_.slice;
  if (seen.taken.empty() || slice.ref.mode != AllocationMode::kTpuVm) return;
  for (const std::string& name : seen.taken) std::erase(slice.unshown, name);
  if (slice.phase != SlicePhase::kCreated || !slice.hosts.empty()) return;
  view_ = SliceView::kFailed;
  slice_error_ = NameTaken(seen.taken.front());
}

/// Nothing runs on new machines; what runs on the others of the slice is to be stopped first.
void Decider::LoseReplaced(const std::vector<int>& hosts) {
  if (hosts.empty()) return;
  moved_ = false;
  job_.stage->moved = true;
  for (HostRun& run : job_.stage->hosts) {
    if (std::find(hosts.begin(), hosts.end(), run.host) == hosts.end()) continue;
    if (run.phase == HostPhase::kPending || run.phase == HostPhase::kRunning) {
      run.phase = HostPhase::kLost;
      run.error = {.code = base::Code::kAborted, .message = "its machine was replaced"};
    }
    run.settled = true;
  }
}

void Decider::Observe(const LookFailed& failed) {
  if (!IsAbout(job_.slice, failed.slice)) return;
  std::optional<NoAnswer>& known = job_.slice->no_answer;
  // The words of one failure vary; to write each of them down would be a commit for every look.
  const bool same =
      known && known->error.code == failed.error.code && known->error.reason == failed.error.reason;
  if (same) return;
  known = NoAnswer{.since = known ? known->since : now_, .error = failed.error};
}

void Decider::Observe(const CreateAnswered& answer) {
  if (!IsAbout(job_.slice, answer.slice)) return;
  Slice& slice = *job_.slice;
  // Seen before the answer came: only its operations are news, which tell of a stockout.
  const bool seen = slice.phase == SlicePhase::kCreated && slice.hosts.empty();
  if (seen && !answer.error && slice.operations.empty()) slice.operations = answer.operations;
  if (slice.phase != SlicePhase::kIntended) {
    // Seen in part, perhaps given up already: what came of the rest is as young as this answer.
    if (!slice.unshown.empty()) slice.created_at = now_;
    return;
  }
  const bool refused = answer.error && !MayHaveArrived(*answer.error);
  if (!answer.error || (refused && !answer.accepted.empty())) {
    if (answer.error && !AskedBefore()) KeepUnshown(slice, answer.accepted);
    slice.phase = SlicePhase::kCreated;
    slice.operations = answer.operations;
    slice.created_at = now_;
    slice.absences = 0;
    if (!answer.error) return;
    // What was accepted must be deleted again. It was not seen yet: that it is absent is no fact.
    slice_error_ = answer.error;
    view_ = SliceView::kFailed;
    return;
  }
  if (refused) {
    create_error_ = answer.error;
    return;
  }
  Say("the request for slice " + answer.slice + " has no clear answer (" + answer.error->message +
      "): looking before asking again");
}

void Decider::Observe(const OperationFailed& failed) {
  // Without an operation on record it is told a second time, or too late to matter.
  if (!IsAbout(job_.slice, failed.slice) || job_.slice->operations.empty()) return;
  job_.slice->operations.clear();
  if (NamesOfParts(job_.slice->ref).size() == 1) {
    job_.slice->cloud_state = "FAILED";
    job_.slice->unshown.clear();
  }
  for (const std::string& node : failed.nodes) std::erase(job_.slice->unshown, node);
  slice_error_ = failed.error;
  view_ = SliceView::kFailed;
}

void Decider::Observe(const DeleteAnswered& answer) {
  if (!IsAbout(job_.slice, answer.slice) || job_.slice->phase != SlicePhase::kDeleting) return;
  if (answer.gone && AbsenceIsFact(answer.began)) job_.slice->phase = SlicePhase::kGone;
  if (answer.error) {
    Say("slice " + answer.slice + " could not be deleted yet: " + answer.error->ToString());
  }
}

void Decider::Observe(const HostReport& report) {
  if (!job_.stage || report.attempt != job_.attempt || report.stage != job_.stage->name) return;
  for (HostRun& run : job_.stage->hosts) {
    if (run.host != report.run.host) continue;
    // The end of a run is recorded once; what comes after it is late, but for the news that nothing
    // of it is left, in a stage that is being stopped or will be.
    const bool ended = run.phase == HostPhase::kExited || run.phase == HostPhase::kLost;
    const bool counts = !ended || job_.stage->stopping || job_.stage->culprit;
    const bool settled = run.settled || (report.run.settled && counts);
    const auto noticed = run.notice;
    if (report.run.notice && report.run.notice != noticed) notice_ = report.run.notice;
    if (!ended) {
      const auto silent_since = run.silent_since.value_or(now_);
      const auto scanned = std::max(run.scanned, report.run.scanned);
      run = report.run;
      run.scanned = scanned;
      if (!run.notice) run.notice = noticed;
      if (run.error && IsUnreachable(*run.error)) run.silent_since = silent_since;
    }
    run.settled = settled;
  }
}

}  // namespace jobman::core
