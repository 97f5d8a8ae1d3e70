#include "jobman/client/last_words.hpp"

#include <algorithm>
#include <fstream>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/job_folder.hpp"

namespace jobman::client {
namespace {

constexpr std::size_t kMostLines = 5;
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

/// The host that the error names, as hosts that were stopped for it have exit codes, too.
bool IsNamed(const base::Error& error, const ports::ExitRecord& exit) {
  return error.message.starts_with(core::ExitText(exit.host, exit.stage, exit.exit_code));
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
  return text;
}

/// Not within a character.
std::string Cut(const std::string& line) {
  std::size_t size = std::min(line.size(), kLongestLine);
  while (size > 0 && size < line.size() &&
         (static_cast<unsigned char>(line[size]) & 0xC0) == 0x80) {
    --size;
  }
  return line.substr(0, size);
}

std::vector<std::string> LastLines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : base::Split(text, '\n')) {
    // What a progress bar has overwritten is not shown.
    const std::string_view shown = base::Trim(line);
    const std::string clean = base::CleanLine(shown.substr(shown.find_last_of('\r') + 1));
    if (!clean.empty()) lines.push_back(Cut(clean));
  }
  if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
  return lines;
}

}  // namespace

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
