#include "jobman/client/background_forward.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "client/forward_record.hpp"
#include "client/interrupts.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/times.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Status;
using Forwards = std::vector<BackgroundForward>;

/// Entries of the folder that are looked at; far more than there can be.
constexpr int kMostRecords = 10'000;
/// How often to look whether a process has ended.
constexpr base::Duration kLookForEnd = std::chrono::milliseconds{20};
constexpr std::string_view kRecordEnd = ".json";
constexpr std::string_view kLoopback = "127.0.0.1:";
/// Of what a process wrote that did not begin, in the message that says so.
constexpr std::size_t kMostLastWords = 2000;

/// Its process is certainly the one that wrote the record, and it lives.
bool Lives(const BackgroundForward& forward, bool locked) {
  return locked && !controller::HolderIsDead(forward.process);
}

/// How a record is to be taken.
enum class RecordFate {
  kRuns,
  kEnded,
  kUnclear,  ///< it begins or ends just now; or somebody else holds its lock
};

RecordFate FateOf(const BackgroundForward& forward, bool locked) {
  const bool dead = controller::HolderIsDead(forward.process);
  if (forward.here) {
    if (locked) return dead ? RecordFate::kUnclear : RecordFate::kRuns;
    return RecordFate::kEnded;  // the kernel releases the lock of a process when it ends
  }
  // Locks may not reach from machine to machine.
  return dead ? RecordFate::kEnded : RecordFate::kRuns;
}

std::vector<std::string> RecordIds(const base::StatePaths& paths) {
  std::vector<std::string> ids;
  std::error_code failed;
  std::filesystem::directory_iterator entry(paths.ForwardsDir(), failed);
  const std::filesystem::directory_iterator end;
  for (int seen = 0; !failed && entry != end && seen < kMostRecords; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(kRecordEnd)) ids.push_back(name.substr(0, name.size() - kRecordEnd.size()));
    ++seen;
  }
  return ids;
}

/// Adds what the record says, and removes it if its process has ended.
void LookAtRecord(const base::StatePaths& paths, const std::string& id, SeenForwards& seen) {
  // The lock first: a process writes before it ends.
  const auto locked = IsForwardLocked(paths, id);
  if (!locked) return;
  auto note = ReadForwardNote(paths, id);
  const auto holder = controller::ParseHolder(note ? note->forward.process : "");
  if (!holder) {
    if (!*locked) RemoveForward(paths, id);
    return;
  }
  note->forward.here = controller::IsHere(*holder);
  const RecordFate fate = FateOf(note->forward, *locked);
  if (fate == RecordFate::kRuns && !note->error) seen.running.push_back(std::move(note->forward));
  if (fate != RecordFate::kEnded) return;
  RemoveForward(paths, id);
  const std::string why = note->ended.empty() ? "its process has ended" : note->ended;
  seen.ended.push_back({.forward = std::move(note->forward), .why = why});
}

std::vector<std::string> ArgumentsOf(const Context& context, const ForwardRequest& request,
                                     const std::string& id) {
  std::vector<std::string> argv = {base::SelfExe().string(), "--home", context.paths.home.string()};
  if (context.verbose) argv.emplace_back("--verbose");
  argv.insert(argv.end(), {"forward", "--record", id, "--host", std::to_string(request.host),
                           core::FormatJobId(request.job)});
  for (const ForwardedPort& port : request.ports)
    argv.push_back(fmt::format("{}:{}", port.local, port.remote));
  return argv;
}

base::Path LogOfRecord(const base::StatePaths& paths, const std::string& id) {
  return paths.ForwardsDir() / (id + ".log");
}

/// Of a process that ended without a record.
base::Error DidNotBegin(const base::StatePaths& paths, const std::string& id) {
  const auto said = base::ReadRegularFile(LogOfRecord(paths, id));
  const std::string words = said.ok() ? std::string(base::Trim(*said)) : std::string();
  return {.code = base::Code::kUnavailable,
          .message = "the forward did not begin" +
                     (words.empty() ? "" : ": " + base::Shorten(words, kMostLastWords)),
          .hint = "the same command without --background shows the error"};
}

/// Waits for the record of a process that was started. Nothing at an interrupt.
std::optional<Result<bool>> AwaitRecord(const Context& context, pid_t process,
                                        const std::string& id) {
  Interrupts interrupts(*context.loop);
  const base::StatePaths& paths = context.paths;
  const auto written = [&paths, &id]() -> Result<bool> {
    return ReadForwardNote(paths, id).has_value();
  };
  return context.Await(
      UnlessInterrupted(&interrupts, base::AwaitReady(process, written, kForwardStartLimit)));
}

/// What names a port or a job.
struct ForwardWord {
  std::optional<std::int64_t> port = {};
  std::optional<std::int64_t> job = {};
  std::string name = {};
};

ForwardWord ReadWord(const std::string& word) {
  if (word.starts_with(kLoopback))
    return {.port = base::ParseNumber(std::string_view(word).substr(kLoopback.size()))};
  const auto number = base::ParseNumber(word);
  // Nobody writes a port with zeros before it, but job numbers are shown so.
  const bool padded = number && word.size() > 1 && word.front() == '0';
  return {.port = padded ? std::nullopt : number, .job = number, .name = word};
}

bool HasPort(const BackgroundForward& forward, std::optional<std::int64_t> port) {
  const auto& ports = forward.request.ports;
  return port && std::any_of(ports.begin(), ports.end(),
                             [port](const ForwardedPort& one) { return one.local == *port; });
}

bool IsOf(const BackgroundForward& forward, const ForwardWord& word) {
  const bool numbered = word.job && forward.request.job.value == *word.job;
  return numbered || (!word.name.empty() && forward.job_name == word.name);
}

bool HasRecord(const Forwards& forwards, const std::string& id) {
  return std::any_of(forwards.begin(), forwards.end(),
                     [&id](const BackgroundForward& one) { return one.id == id; });
}

/// Looks again: whose process it is may have changed since it was listed.
bool StillLives(const base::StatePaths& paths, const BackgroundForward& forward) {
  const bool locked = IsForwardLocked(paths, forward.id).value_or(false);
  return Lives(forward, locked);
}

/// False when it has not ended within the limit.
Result<bool> AwaitEnd(const Context& context, const BackgroundForward& forward) {
  const auto looks = kForwardStopLimit / kLookForEnd;
  for (auto i = looks; i > 0; --i) {
    if (!StillLives(context.paths, forward)) return true;
    if (context.pause(kLookForEnd)) continue;
    return base::Error{.code = base::Code::kCancelled, .message = "interrupted"};
  }
  return !StillLives(context.paths, forward);
}

}  // namespace

std::int64_t PidOf(const BackgroundForward& forward) {
  const auto holder = controller::ParseHolder(forward.process);
  return holder ? holder->pid : 0;
}

base::Path LogOf(const base::StatePaths& paths, const BackgroundForward& forward) {
  return LogOfRecord(paths, forward.id);
}

Result<SeenForwards> LookAtForwards(const base::StatePaths& paths) {
  SeenForwards seen;
  for (const std::string& id : RecordIds(paths)) LookAtRecord(paths, id, seen);
  const auto older = [](const BackgroundForward& one, const BackgroundForward& other) {
    return std::pair(one.since, one.id) < std::pair(other.since, other.id);
  };
  std::sort(seen.running.begin(), seen.running.end(), older);
  return seen;
}

Result<BackgroundForward> StartForward(const Context& context, const ForwardRequest& request) {
  JM_ASSIGN_OR_RETURN(const SeenForwards seen, LookAtForwards(context.paths));
  if (seen.running.size() >= kMostBackgroundForwards) {
    return base::Error{
        .code = base::Code::kResourceExhausted,
        .message = fmt::format("{} forwards run in the background, the most", seen.running.size()),
        .hint = "jobman forward list shows them, jobman forward stop ends them"};
  }
  JM_TRY(base::EnsureDir(context.paths.ForwardsDir()));
  const std::string id = base::RandomHex(8);
  JM_ASSIGN_OR_RETURN(const pid_t process, base::StartDaemon(ArgumentsOf(context, request, id),
                                                             LogOfRecord(context.paths, id)));
  const auto begun = AwaitRecord(context, process, id);
  auto note = ReadForwardNote(context.paths, id);
  if (begun && begun->ok() && **begun && note && !note->error) return std::move(note->forward);
  base::Error error = DidNotBegin(context.paths, id);
  if (note && note->error) error = *note->error;
  if (!begun) error = {.code = base::Code::kCancelled, .message = "interrupted"};
  if (!base::HasEnded(process)) base::KillGroup(process);
  RemoveForward(context.paths, id);
  return error;
}

Status ServeForward(const Context& context, ForwardRequest request, const std::string& id) {
  JM_ASSIGN_OR_RETURN(ForwardRecord record, ForwardRecord::Create(context.paths, id));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(request.job)));
  ForwardNote note;
  note.forward = {.id = id,
                  .process = controller::LeaseHolder(),
                  .request = request,
                  .job_name = job.name,
                  .since = context.Now()};
  Forwarding forwarding(context, request.job, request.host, [](const std::string& line) {
    base::Log(base::LogLevel::kInfo, "forward", "{}", line);
  });
  auto listening = forwarding.Listen(std::move(request.ports));
  Status checked = listening.ok() ? forwarding.Check() : Status(listening.error());
  if (!checked.ok()) {
    note.error = checked.error();
    JM_TRY(record.Write(note));
    return checked;
  }
  note.forward.request.ports = *std::move(listening);
  JM_TRY(record.Write(note));
  const auto over = forwarding.Run([&record] { return record.IsThere(); });
  if (!over) {
    RemoveForward(context.paths, id);
    return base::Ok();
  }
  base::Log(base::LogLevel::kInfo, "forward", "{}: nothing is left to forward", *over);
  note.ended = *over;
  return record.Write(note);
}

Result<Forwards> ForwardsNamed(const Forwards& forwards, const std::string& word) {
  if (word == "all") return forwards;
  const ForwardWord meant = ReadWord(word);
  Forwards by_port;
  Forwards by_job;
  for (const BackgroundForward& one : forwards) {
    if (HasPort(one, meant.port)) by_port.push_back(one);
    if (IsOf(one, meant)) by_job.push_back(one);
  }
  const bool other = std::any_of(by_job.begin(), by_job.end(), [&by_port](const auto& one) {
    return !HasRecord(by_port, one.id);
  });
  if (!by_port.empty() && other) {
    return base::InvalidArgument(word + " is a port that is forwarded, and a job with another one",
                                 fmt::format("{}{} is the port, {} the job", kLoopback, word,
                                             core::FormatJobId(by_job.front().request.job)));
  }
  if (!by_port.empty()) return by_port;
  if (!by_job.empty()) return by_job;
  base::Error none = base::NotFound("no forward in the background is of \"" + word + "\"");
  none.hint = "jobman forward list shows them";
  return none;
}

Status StopForward(const Context& context, const BackgroundForward& forward) {
  if (!forward.here) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = "it runs elsewhere: " + controller::HolderText(forward.process),
                       .hint = "run the same command there: on that machine, in that container"};
  }
  for (const int signal : {SIGTERM, SIGKILL}) {
    const bool lives = StillLives(context.paths, forward);
    const auto process = static_cast<pid_t>(PidOf(forward));
    if (lives && process > 0 && kill(process, signal) != 0 && errno != ESRCH)
      return base::FromErrno(errno, fmt::format("stopping process {}", process));
    JM_ASSIGN_OR_RETURN(const bool ended, AwaitEnd(context, forward));
    if (!ended) continue;
    const bool released = !IsForwardLocked(context.paths, forward.id).value_or(false);
    if (released) RemoveForward(context.paths, forward.id);
    return base::Ok();
  }
  return base::Error{.code = base::Code::kDeadlineExceeded,
                     .message = fmt::format("process {} does not end", PidOf(forward))};
}

}  // namespace jobman::client
