#include "jobman/client/last_words.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/client/task_logs.hpp"
#include "jobman/controller/job_folder.hpp"

namespace jobman::client {
namespace {

constexpr std::size_t kMostLines = 10;
constexpr std::size_t kLongestLine = 200;
constexpr std::streamoff kTail = 8192;  // bytes of the log that are looked at

/// What went wrong; nothing if nothing did.
const base::Error* ErrorOf(const core::Job& job) {
  const base::Error* error = nullptr;
  if (const auto* const waits = std::get_if<core::BackingOff>(&job.state)) error = &waits->error;
  const auto* const done = std::get_if<core::Done>(&job.state);
  if (done != nullptr && done->outcome == core::Outcome::kFailed && done->error) {
    error = &*done->error;
  }
  return error;
}

/// As an older jobman stored it.
std::string OldExitText(const ports::ExitRecord& exit) {
  return fmt::format("host {} ended {} with exit code {}", exit.host, exit.stage, exit.exit_code);
}

bool BeginsWith(std::string_view message, std::string_view text) {
  // Another number may go on: host 1 is not host 12.
  return message.starts_with(text) && message.substr(text.size()).find_first_of("0123456789") != 0;
}

/// The host that the error names, as hosts that were stopped for it have exit codes, too.
bool IsNamed(const base::Error& error, const ports::ExitRecord& exit) {
  return BeginsWith(error.message, core::ExitText(exit.host, exit.stage, exit.exit_code)) ||
         BeginsWith(error.message, OldExitText(exit));
}

const ports::ExitRecord* FindCulprit(const core::Job& job,
                                     const std::vector<ports::ExitRecord>& exits) {
  const base::Error* const error = ErrorOf(job);
  if (error == nullptr) return nullptr;
  const auto named = std::find_if(exits.begin(), exits.end(), [&](const ports::ExitRecord& one) {
    return one.attempt == job.attempt && IsNamed(*error, one);
  });
  return named == exits.end() ? nullptr : &*named;
}

std::string EndOf(const base::Path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? std::streamoff(in.tellg()) : 0;
  if (size <= 0) return {};
  in.seekg(std::max(std::streamoff{0}, size - kTail));
  std::string text(static_cast<std::size_t>(std::min(size, kTail)), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  // Not the rest of a line whose beginning is out of sight.
  const std::size_t first = size > kTail ? text.find('\n') : std::string::npos;
  return first == std::string::npos ? text : text.substr(first + 1);
}

/// What the terminal would show of it in the end: a progress bar overwrites itself. The
/// indentation stays, since a line may point at a column of the one above.
std::string AsShown(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return base::Shorten(base::CleanLine(line.substr(line.find_last_of('\r') + 1)), kLongestLine);
}

std::vector<std::string> LastLines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : base::Split(text, '\n')) {
    std::string shown = AsShown(line);
    if (!shown.empty()) lines.push_back(std::move(shown));
  }
  if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
  return lines;
}

/// When the file was written last; nothing if there is nothing in it.
std::optional<core::TimePoint> WrittenAt(const base::Path& file) {
  struct stat facts = {};
  if (::stat(file.c_str(), &facts) != 0 || facts.st_size == 0) return std::nullopt;
  constexpr std::int64_t kMillis = 1000;
  constexpr std::int64_t kNanosOfMilli = 1'000'000;
  return base::FromMillis(facts.st_mtim.tv_sec * kMillis + facts.st_mtim.tv_nsec / kNanosOfMilli);
}

std::optional<LastOutput> LastOutputOf(const base::StatePaths& paths, core::JobId job,
                                       const LogStage& stage) {
  std::optional<LastOutput> last;
  base::Path path;
  for (const LogFile& file : LogFiles(paths, job, stage)) {
    const auto at = WrittenAt(file.path);
    if (!at || (last && *at <= last->at)) continue;
    last = LastOutput{.host = file.host, .stage = stage.name, .at = *at};
    path = file.path;
  }
  if (!last) return std::nullopt;
  const auto lines = LastLines(EndOf(path));
  if (!lines.empty()) last->line = base::Trim(lines.back());
  return last;
}

}  // namespace

std::optional<LastWords> FindTaskWords(const base::StatePaths& paths, core::QueueId queue,
                                       const std::string& task, const core::TaskRun& run) {
  if (!run.end) return std::nullopt;
  const base::TaskRunName name{.number = run.number, .job = run.job.value};
  for (const LogFile& file : TaskLogFiles(paths, queue, task, name)) {
    if (!run.end->why.ends_with(fmt::format(" on host {}", file.host))) continue;
    LastWords words{.host = file.host,
                    .stage = core::StageName({}, core::TaskStage{.task = task, .run = run.number}),
                    .lines = LastLines(EndOf(file.path))};
    if (!words.lines.empty()) return words;
  }
  return std::nullopt;
}

std::optional<LastOutput> FindLastOutput(const base::StatePaths& paths, const core::Job& job) {
  if (!job.stage || !controller::IsOwnFolder(paths, job)) return std::nullopt;
  return LastOutputOf(paths, job.id, {.attempt = job.attempt, .name = job.stage->name});
}

std::optional<LastOutput> FindFinalOutput(const base::StatePaths& paths, const core::Job& job) {
  if (!core::IsFinal(job.state) || !controller::IsOwnFolder(paths, job)) return std::nullopt;
  const std::vector<int> attempts = LogAttempts(paths, job.id);
  if (attempts.empty()) return std::nullopt;
  const auto stages = LogStages(paths, job.id, attempts.back());
  return stages.empty() ? std::nullopt : LastOutputOf(paths, job.id, stages.back());
}

std::string LastOutputText(const LastOutput& output, core::TimePoint now) {
  constexpr base::Duration kSecond = std::chrono::seconds{1};
  const auto age = std::max((now - output.at) / kSecond * kSecond, base::Duration{0});
  return fmt::format("{} ago, host {}: {}", base::FormatDuration(age), output.host, output.line);
}

std::optional<LastWords> FindLastWords(const base::StatePaths& paths, const core::Job& job,
                                       const std::vector<ports::ExitRecord>& exits) {
  if (!controller::IsOwnFolder(paths, job)) return std::nullopt;
  const ports::ExitRecord* const culprit = FindCulprit(job, exits);
  if (culprit == nullptr) return std::nullopt;
  LastWords words{.host = culprit->host, .stage = culprit->stage};
  words.lines =
      LastLines(EndOf(paths.LogPath(job.id.value, culprit->attempt, culprit->stage, words.host)));
  return words.lines.empty() ? std::nullopt : std::optional(std::move(words));
}

}  // namespace jobman::client
