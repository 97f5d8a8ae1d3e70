#include "jobman/client/last_words.hpp"

#include <algorithm>
#include <fstream>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

constexpr std::size_t kMostLines = 5;
constexpr std::size_t kLongestLine = 200;
constexpr std::streamoff kTail = 8192;  // bytes of the log that are looked at
constexpr int kStopped = 143;           // 128 + SIGTERM

/// A stage that ended with an exit code leads here; a lost slice, for one, is another error.
bool IsCausedByAnExit(const core::Job& job) {
  const base::Error* error = nullptr;
  if (const auto* const waits = std::get_if<core::BackingOff>(&job.state)) error = &waits->error;
  const auto* const done = std::get_if<core::Done>(&job.state);
  if (done != nullptr && done->outcome == core::Outcome::kFailed && done->error) {
    error = &*done->error;
  }
  return error != nullptr && base::Contains(error->message, " with exit code ");
}

const ports::ExitRecord* FindCulprit(const core::Job& job,
                                     const std::vector<ports::ExitRecord>& exits) {
  const ports::ExitRecord* culprit = nullptr;
  for (const ports::ExitRecord& one : exits) {
    if (one.attempt != job.attempt || one.exit_code == 0 || one.exit_code == kStopped) continue;
    if (culprit == nullptr || core::RunsBefore(culprit->stage, one.stage) ||
        (culprit->stage == one.stage && one.host < culprit->host)) {
      culprit = &one;
    }
  }
  return culprit;
}

std::string EndOf(const base::Path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? std::streamoff(in.tellg()) : 0;
  if (size <= 0) return {};
  in.seekg(std::max(std::streamoff{0}, size - kTail));
  std::string text(static_cast<std::size_t>(std::min(size, kTail)), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::vector<std::string> LastLines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : base::Split(text, '\n')) {
    // What a progress bar has overwritten is not shown.
    const std::string_view shown = base::Trim(line);
    const std::string clean = base::CleanLine(shown.substr(shown.find_last_of('\r') + 1));
    if (!clean.empty()) lines.push_back(clean.substr(0, kLongestLine));
  }
  if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
  return lines;
}

}  // namespace

std::optional<LastWords> FindLastWords(const base::StatePaths& paths, const core::Job& job,
                                       const std::vector<ports::ExitRecord>& exits) {
  if (!IsCausedByAnExit(job)) return std::nullopt;
  const ports::ExitRecord* const culprit = FindCulprit(job, exits);
  if (culprit == nullptr) return std::nullopt;
  LastWords words{.host = culprit->host, .stage = culprit->stage};
  words.lines =
      LastLines(EndOf(paths.LogPath(job.id.value, culprit->attempt, culprit->stage, words.host)));
  return words.lines.empty() ? std::nullopt : std::optional(std::move(words));
}

}  // namespace jobman::client
