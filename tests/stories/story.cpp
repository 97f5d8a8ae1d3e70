#include "tests/stories/story.hpp"

#include <fmt/format.h>

#include <array>

#include "jobman/base/strings.hpp"
#include "jobman/core/describe.hpp"
#include "jobman/core/explain.hpp"
#include "jobman/core/job_json.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/sample_task.hpp"

namespace jobman::test {
namespace {

using base::Error;
using base::InvalidArgument;
using base::Result;
using base::Status;

constexpr std::string_view kIndent = "    ";
constexpr int kHosts = 4;         // of a slice of one node
constexpr int kHostsOfANode = 2;  // of a multislice

/// Removes the first word and returns it: "host 1 ends" -> "host", "1 ends".
std::string TakeWord(std::string& rest) {
  const auto end = std::min(rest.find(' '), rest.size());
  std::string word = rest.substr(0, end);
  rest = std::string(base::Trim(rest.substr(end)));
  return word;
}

int Number(const std::string& text, int otherwise) {
  return static_cast<int>(base::ParseNumber(text).value_or(otherwise));
}

/// The code that usually comes with a reason; UNAVAILABLE for the others.
constexpr std::array kCodes = {
    std::pair{base::Reason::kStockout, base::Code::kResourceExhausted},
    std::pair{base::Reason::kQuota, base::Code::kResourceExhausted},
    std::pair{base::Reason::kQuotaZero, base::Code::kResourceExhausted},
    std::pair{base::Reason::kRateLimit, base::Code::kResourceExhausted},
    std::pair{base::Reason::kDiskFull, base::Code::kResourceExhausted},
    std::pair{base::Reason::kPermission, base::Code::kPermissionDenied},
    std::pair{base::Reason::kBadAccelerator, base::Code::kInvalidArgument},
    std::pair{base::Reason::kNoToken, base::Code::kUnauthenticated},
};

base::Code CodeOf(base::Reason reason) {
  for (const auto& [known, code] : kCodes) {
    if (known == reason) return code;
  }
  return base::Code::kUnavailable;
}

/// "stockout: no capacity", "INTERNAL: text", "rate limit, again in 15m: text (next: a cure)".
/// Nothing for an empty text.
Result<std::optional<Error>> ParseError(const std::string& text) {
  if (text.empty()) return std::optional<Error>{};
  const auto colon = text.find(": ");
  if (colon == std::string::npos) return InvalidArgument("an error is WORD: TEXT");
  Error error{.message = text.substr(colon + 2)};
  if (const auto next = error.message.find(" (next: "); next != std::string::npos) {
    error.hint = error.message.substr(next + 8, error.message.size() - next - 9);
    error.message.resize(next);
  }
  std::string word = text.substr(0, colon);
  if (const auto again = word.find(", again in "); again != std::string::npos) {
    JM_ASSIGN_OR_RETURN(const Duration wait, base::ParseDuration(word.substr(again + 11)));
    error.retry_after = std::chrono::duration_cast<std::chrono::seconds>(wait);
    word.resize(again);
  }
  error.reason = base::ReasonFromName(word);
  const bool reason = error.reason != base::Reason::kNone;
  error.code = reason ? CodeOf(error.reason) : base::CodeFromName(word);
  if (!reason && base::CodeName(error.code) != word) {
    return InvalidArgument(word + " is neither a reason nor a code");
  }
  return std::optional(std::move(error));
}

/// A notice as in the API's upcomingMaintenance, or from a host's metadata server.
core::Notice ParseNotice(const std::string& text) {
  const bool preemption = text == "preemption";
  return {.kind = preemption ? core::Notice::Kind::kPreemption : core::Notice::Kind::kMaintenance,
          .imminent = text != "PENDING",
          .text = preemption ? "TRUE" : text};
}

}  // namespace

// --- the job ---

void Story::Begin(core::Job job) {
  tasks_.clear();
  world_.emplace(std::move(job));
  world_->on_step = [this](const core::Job& before, const core::Step& step) { Note(before, step); };
}

Status Story::Set(core::Job& job, const std::string& key, const std::string& value) {
  core::JobSpec& spec = job.spec;
  const auto number = [&](auto& field) {
    field = Number(value, 0);
    return base::Ok();
  };
  const auto duration = [&](auto& field) -> Status {
    JM_ASSIGN_OR_RETURN(field, base::ParseDuration(value));
    return base::Ok();
  };
  const auto action = [&](core::WatchdogAction& field) -> Status {
    const auto found = core::FromWord<core::WatchdogAction>(value);
    if (!found) return InvalidArgument(value + " is not an action of the watchdog");
    field = *found;
    return base::Ok();
  };
  if (key == "command.workers") {
    JM_ASSIGN_OR_RETURN(spec.command.workers, core::ParseHostSet(value));
    return base::Ok();
  }
  if (key == "tpu.num_slices") return number(spec.tpu.num_slices);
  if (key == "retries.preemption") return number(spec.retries.preemption);
  if (key == "retries.failure") return number(spec.retries.failure);
  if (key == "retries.infra") return number(spec.retries.infra);
  if (key == "watchdog.no_output") return duration(spec.watchdog.no_output);
  if (key == "watchdog.max_duration") return duration(spec.watchdog.max_duration);
  if (key == "watchdog.on_max_duration") return action(spec.watchdog.on_max_duration);
  if (key == "command.on_notice.grace") return duration(spec.command.on_notice.grace);
  if (key == "tpu.allocation_mode") {
    const auto mode = core::FromWord<core::AllocationMode>(value);
    if (!mode) return InvalidArgument(value + " is not an allocation mode");
    spec.tpu.allocation_mode = *mode;
    return base::Ok();
  }
  if (key == "tpu.pricing") {
    const auto pricing = core::FromWord<core::Pricing>(value);
    if (!pricing) return InvalidArgument(value + " is not a pricing");
    spec.tpu.pricing = *pricing;
    return base::Ok();
  }
  if (key == "tpu.max_run_duration") return duration(spec.tpu.max_run_duration);
  if (key == "tpu.valid_until") {
    if (!base::Contains(value, "T")) return duration(spec.tpu.valid_for);
    JM_ASSIGN_OR_RETURN(spec.tpu.valid_until, base::ParseRfc3339(value));
    return base::Ok();
  }
  if (key == "setup") {
    for (const std::string& name : base::Split(value, ',')) {
      spec.setup.push_back({.name = name, .run = "true"});
    }
    return base::Ok();
  }
  if (key == "job.queue.config") {
    spec.queue = core::QueueSpec{.enabled = true, .config = value};
    spec.command.cmd.clear();
    return base::Ok();
  }
  if (key == "job.queue.idle") {
    if (!spec.queue) return InvalidArgument("job.queue.config comes first");
    return duration(spec.queue->idle);
  }
  if (key == "setup.timeout") return duration(spec.setup.at(0).timeout);
  if (key == "watchdog.bad_output") {  // MATCH:DO
    const auto parts = base::Split(value, ':');
    spec.watchdog.bad_output.push_back({.match = parts.at(0)});
    const auto found = core::FromWord<core::WatchdogAction>(parts.at(1));
    if (!found) return InvalidArgument(parts.at(1) + " is not an action of the watchdog");
    spec.watchdog.bad_output.back().action = *found;
    return base::Ok();
  }
  return InvalidArgument(key + " is not a key that a story can set");
}

Status Story::NewJob(const std::string& settings) {
  core::Job job = JobBuilder().Build();
  for (std::string rest = settings; !rest.empty();) {
    const std::string setting = TakeWord(rest);
    const auto equals = setting.find('=');
    if (equals == std::string::npos) return InvalidArgument(setting + " is not KEY=VALUE");
    JM_TRY(Set(job, setting.substr(0, equals), setting.substr(equals + 1)));
  }
  Begin(std::move(job));
  return base::Ok();
}

/// "why", "cancel", or "cancel, and", which is decided together with the next observation.
Status Story::Command(const std::string& command) {
  if (command == "why") return Explain(), base::Ok();
  constexpr std::string_view kAnd = ", and";
  const bool unseen = command.ends_with(kAnd);
  const std::string verb = command.substr(0, command.size() - (unseen ? kAnd.size() : 0));
  const auto wish = core::WishFromName(verb == "resume" ? "run" : verb);
  if (!wish) return InvalidArgument(verb + " is not a wish of a user");
  unseen ? world_->WishUnseen(*wish) : world_->WishFor(*wish);
  return base::Ok();
}

void Story::Explain() {
  const core::Explanation told = core::Explain(world_->job(), world_->clock.Now());
  notes_.push_back(told.state + ": " + told.because);
  for (const std::string& fact : told.facts) notes_.push_back("- " + fact);
  if (!told.waits_for.empty()) notes_.push_back("waits for " + told.waits_for);
  if (!told.next_step.empty()) notes_.push_back("next: " + told.next_step);
}

void Story::ToRunning(const std::string& hosts) {
  quiet_ = true;
  world_->ToRunning(Number(hosts, 4));
  quiet_ = false;
  notes_.push_back(fmt::format("{}; {}", world_->state(), world_->job().why));
}

// --- observations ---

/// One part of a look: "queued ACTIVE", "node READY", "node 1 READY elsewhere", "taken 0",
/// "foreign", "by name", "listed only" (asked by name, the cloud says nothing yet).
Status Story::LookPart(std::string words, core::SliceSeen& seen) {
  const std::string kind = TakeWord(words);
  if (kind == "by") {
    seen.by_name = true;
  } else if (kind == "listed") {
    world_->confirms = false;
  } else if (kind == "foreign") {
    seen.foreign = true;
  } else if (kind == "queued") {
    seen.queued = core::QueuedSeen{
        .id = seen.slice, .state = core::QueuedStateFromName(words), .raw_state = words};
  } else if (kind == "taken") {
    seen.taken.push_back(seen.slice + "-" + words);
  } else if (kind == "node") {
    const auto number = base::ParseNumber(words.substr(0, words.find(' ')));
    core::NodeSeen node{.id = seen.slice + (number ? "-" + TakeWord(words) : std::string{})};
    node.uid = "uid-" + node.id;
    node.raw_state = TakeWord(words);
    node.state = core::NodeStateFromName(node.raw_state);
    const int subnet = static_cast<int>(number.value_or(0)) + (words == "elsewhere" ? 10 : 0);
    const int hosts = number ? kHostsOfANode : kHosts;
    if (node.state == core::NodeState::kReady) node.hosts = Addresses(hosts, subnet);
    seen.nodes.push_back(node);
  } else {
    return InvalidArgument(kind + " is not a part of a look");
  }
  return base::Ok();
}

Status Story::Look(const std::string& rest) {
  const core::Job& job = world_->job();
  if (!job.slice) return InvalidArgument("there is no slice to look at");
  core::SliceSeen seen{.slice = job.slice->ref.name};
  for (const std::string& part : base::Split(rest, ';')) {
    JM_TRY(LookPart(std::string(base::Trim(part)), seen));
  }
  world_->See(seen);
  world_->confirms = true;
  return base::Ok();
}

Status Story::Host(const std::string& text) {
  std::string rest = text;
  const int host = Number(TakeWord(rest), 0);
  const std::string verb = TakeWord(rest);
  if (verb == "runs") return world_->HostRuns(host), base::Ok();
  if (verb == "ends") return world_->HostEnds(host, Number(rest, 0)), base::Ok();
  if (verb == "settles") return world_->HostSettles(host), base::Ok();
  if (verb == "notices") return world_->HostNotices(host, ParseNotice(rest)), base::Ok();
  if (verb != "lost" && verb != "silent")
    return InvalidArgument(verb + " is not something a host does");
  JM_ASSIGN_OR_RETURN(std::optional<Error> error, ParseError(rest));
  if (verb == "lost") return world_->HostLost(host, std::move(error)), base::Ok();
  const auto& now = world_->job().stage;
  const core::StageId stage = now && now->task ? now->id : core::StageId{core::CommandStage{}};
  world_->See(core::HostReport{
      .attempt = world_->job().attempt,
      .stage = stage,
      .run = {.host = host, .phase = core::HostPhase::kRunning, .error = std::move(error)}});
  return base::Ok();
}

Status Story::BadOutput(const std::string& rest) {
  world_->See(core::BadOutput{.attempt = world_->job().attempt, .host = 2, .line = rest});
  return base::Ok();
}

Status Story::Act(const std::string& line) {
  Reconciling& r = *world_;
  struct Word {
    std::string_view name;
    std::function<Status(const std::string& rest)> act;
  };
  const auto time = [&](auto act) {
    return [act](const std::string& rest) -> Status {
      JM_ASSIGN_OR_RETURN(const Duration length, base::ParseDuration(rest));
      act(length);
      return base::Ok();
    };
  };
  const auto error = [&](auto act) {
    return [act](const std::string& rest) -> Status {
      JM_ASSIGN_OR_RETURN(std::optional<Error> failure, ParseError(rest));
      if (!failure) return InvalidArgument("which error?");
      act(*std::move(failure));
      return base::Ok();
    };
  };
  const auto plain = [&](auto act) {
    return [act](const std::string& rest) { return act(rest), base::Ok(); };
  };
  // Longer words come before their prefixes.
  const std::array kWords = {
      Word{"job", [&](const std::string& rest) { return NewJob(rest); }},
      Word{"jobman", [&](const std::string& rest) { return Command(rest); }},
      Word{"to running", plain([&](const std::string& hosts) { ToRunning(hosts); })},
      Word{"tick", plain([&](const std::string&) { r.Tick(); })},
      Word{"after", time([&](Duration length) { r.After(length); })},
      Word{"sleep", time([&](Duration length) { r.clock.Advance(length); })},
      Word{"hold", error([&](Error refusal) {
             r.policy.hold =
                 core::RequestHold{.not_before = r.clock.Now() + std::chrono::minutes{2},
                                   .error = std::move(refusal)};
           })},
      Word{"accepted", plain([&](const std::string&) { r.Answered(); })},
      Word{"refused", error([&](Error why) { r.Refused(std::move(why)); })},
      Word{"operation failed", error([&](Error why) { r.Failed(std::move(why)); })},
      Word{"no look", error([&](Error why) { r.NoAnswer(std::move(why)); })},
      Word{"queued",
           [&](const std::string& text) -> Status {
             std::string rest = text;
             const core::QueuedState state = core::QueuedStateFromName(TakeWord(rest));
             JM_ASSIGN_OR_RETURN(std::optional<Error> failure, ParseError(rest));
             return r.Queued(state, std::move(failure)), base::Ok();
           }},
      Word{"node",
           plain([&](const std::string& state) { r.Node(core::NodeStateFromName(state)); })},
      Word{"ready elsewhere", plain([&](const std::string&) { r.Ready(4, /*subnet=*/1); })},
      Word{"ready", plain([&](const std::string& hosts) { r.Ready(Number(hosts, 4)); })},
      Word{"unhealthy", plain([&](const std::string& health) { r.Unhealthy(health); })},
      Word{"maintained", plain([&](const std::string&) { r.Maintained(); })},
      Word{"announced", plain([&](const std::string& what) { r.Announced(ParseNotice(what)); })},
      Word{"absent", plain([&](const std::string&) { r.Absent(); })},
      Word{"foreign", plain([&](const std::string&) { r.Foreign(); })},
      Word{"not found", plain([&](const std::string&) { r.NotFound(); })},
      Word{"delete refused", error([&](Error why) { r.DeleteRefused(std::move(why)); })},
      Word{"delete accepted", plain([&](const std::string&) { r.DeleteAccepted(); })},
      Word{"gone", plain([&](const std::string&) { r.Gone(); })},
      Word{"look", [&](const std::string& rest) { return Look(rest); }},
      Word{"offer", plain([&](const std::string& id) { Offer(id); })},
      Word{"host", [&](const std::string& rest) { return Host(rest); }},
      Word{"all end", plain([&](const std::string& code) { r.AllEnd(Number(code, 0)); })},
      Word{"no output", time([&](Duration length) {
             r.See(core::Silence{.attempt = r.job().attempt, .since = r.clock.Now() - length});
           })},
      Word{"bad output", [&](const std::string& rest) { return BadOutput(rest); }},
  };
  for (const Word& word : kWords) {
    if (line == word.name) return word.act("");
    if (line.starts_with(word.name) && line[word.name.size()] == ' ') {
      return word.act(line.substr(word.name.size() + 1));
    }
  }
  return InvalidArgument("not a line of a story");
}

/// The task as it is recorded; a new one runs on host 0.
void Story::Offer(const std::string& id) {
  const auto [task, fresh] = tasks_.try_emplace(id, SampleTask(id));
  world_->Offered(task->second);
}

// --- decisions ---

/// Applies what the decision says of tasks, as the store does.
void Story::NoteTasks(const core::Step& step) {
  for (const core::TaskWrite& write : step.tasks) {
    std::optional<core::TaskChange> change;
    if (const auto* const claimed = std::get_if<core::TaskChange>(&write)) change = *claimed;
    if (const auto* const release = std::get_if<core::TaskRelease>(&write)) {
      change =
          core::ReleaseTask(tasks_.at(release->task), release->claim, release->end, release->at);
    }
    if (!change) continue;
    const std::string& id = change->task.definition.id;
    notes_.push_back(fmt::format("task {}: {}", id, change->task.why));
    tasks_[id] = change->task;
  }
}

void Story::Note(const core::Job& before, const core::Step& step) {
  if (quiet_) return;
  const bool news = !step.effects.empty() || !step.ended.empty() || step.why != before.why ||
                    core::StateName(before.state) != core::StateName(step.job.state) ||
                    !step.tasks.empty();
  if (!news) return;
  notes_.push_back(core::Describe(before, step));
  for (const core::EndedAttempt& one : step.ended) {
    notes_.push_back(fmt::format("attempt {}: {}", one.attempt, core::AttemptEndText(one.end)));
  }
  NoteTasks(step);
  const core::Spent& spent = step.job.spent;
  if (spent.preemption > before.spent.preemption) notes_.push_back("costs retries.preemption");
  if (spent.failure > before.spent.failure) notes_.push_back("costs retries.failure");
  if (spent.infra > before.spent.infra) notes_.push_back("costs retries.infra");
}

Result<std::vector<std::string>> Story::PlayLine(const std::string& line) {
  notes_.clear();
  if (line.empty() || line.starts_with("#")) return notes_;
  if (Status acted = Act(line); !acted.ok()) {
    return InvalidArgument(fmt::format("\"{}\": {}", line, acted.error().ToString()));
  }
  const bool silent = line.starts_with("job ") || line == "job" || line.starts_with("sleep ") ||
                      line.starts_with("hold ") || line.ends_with(", and");
  if (notes_.empty() && !silent) notes_.push_back(fmt::format("{}; as before", world_->state()));
  return notes_;
}

Result<std::string> Play(const std::string& text) {
  Story story;
  std::string told;
  for (const std::string& line : base::Split(text, '\n')) {
    if (line.starts_with(kIndent)) continue;
    told += line + "\n";
    JM_ASSIGN_OR_RETURN(const auto notes, story.PlayLine(line));
    for (const std::string& note : notes) told += fmt::format("{}{}\n", kIndent, note);
  }
  while (told.ends_with("\n\n")) told.pop_back();
  return told;
}

}  // namespace jobman::test
