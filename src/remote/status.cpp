#include "jobman/base/strings.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::remote {
namespace {

using Kind = RunStatus::Kind;

constexpr std::string_view kPrefix = "jobman: ";
/// No file system of a host holds a longer file; a number beyond it is not of the script.
constexpr std::int64_t kLongestLog = std::int64_t{1} << 43;

std::optional<RunStatus> ParseGap(std::string_view text) {
  const auto words = base::Split(text, ' ');
  if (words.size() != 2) return std::nullopt;
  const auto begin = base::ParseNumber(words[0]);
  const auto end = base::ParseNumber(words[1]);
  if (!begin || !end || *begin >= *end || *end > kLongestLog) return std::nullopt;
  return RunStatus{.kind = Kind::kGap, .gap = {.begin = *begin, .end = *end}};
}

/// Seconds: a century, which is no time of a run.
constexpr std::int64_t kOldestRun = 100LL * 366 * 86400;

std::optional<RunStatus> ParseLine(std::string_view line) {
  if (line.starts_with(kPrefix)) line.remove_prefix(kPrefix.size());
  const auto rest_after = [&line](std::string_view word) -> std::optional<std::string> {
    if (!line.starts_with(word)) return std::nullopt;
    return std::string(base::Trim(line.substr(word.size())));
  };
  if (line == "running") return RunStatus{.kind = Kind::kRunning};
  if (line == "absent") return RunStatus{.kind = Kind::kAbsent};
  if (const auto why = rest_after("lost ")) return RunStatus{.kind = Kind::kLost, .text = *why};
  if (const auto why = rest_after("error ")) return RunStatus{.kind = Kind::kError, .text = *why};
  if (const auto who = rest_after("busy ")) return RunStatus{.kind = Kind::kBusy, .text = *who};
  if (const auto run = rest_after("lapsed ")) return RunStatus{.kind = Kind::kLapsed, .text = *run};
  if (const auto gap = rest_after("gap ")) return ParseGap(*gap);
  if (const auto number = rest_after("exited ")) {
    const auto code = base::ParseNumber(*number);
    if (code && *code <= 255)
      return RunStatus{.kind = Kind::kExited, .exit_code = static_cast<int>(*code)};
  }
  return std::nullopt;
}

/// The status in the last complete line that the script wrote on stderr.
std::optional<RunStatus> LastReport(std::string_view output) {
  auto lines = base::Split(output, '\n');
  lines.pop_back();  // an incomplete last line
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!line->starts_with(kPrefix)) continue;
    if (const auto status = ParseLine(base::Trim(*line))) return status;
  }
  return std::nullopt;
}

}  // namespace

Result<RunStatus> ParseStatus(std::string_view output) {
  const auto lines = base::Split(output, '\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (const auto status = ParseLine(base::Trim(*line))) return *status;
  const std::string shown(base::Trim(output.substr(0, 200)));
  return base::Error{.code = base::Code::kDataLoss,
                     .message = "the host's output has no run status: '" + shown + "'",
                     .hint = "check what the host's login shell prints"};
}

bool SaysRunExists(std::string_view output) {
  const auto status = LastReport(output);
  return status && (status->kind == Kind::kRunning || status->kind == Kind::kExited ||
                    status->kind == Kind::kLost || status->kind == Kind::kGap);
}

bool HoldsReport(std::string_view output) {
  return base::Contains(output, kSignOfLife) || LastReport(output) || ParseNotice(output);
}

std::optional<RunStatus> FinalStatus(std::string_view output) {
  const auto status = LastReport(output);
  const bool open = !status || status->kind == Kind::kRunning || status->kind == Kind::kError;
  return open ? std::nullopt : status;
}

std::vector<std::string> ParseRunningRuns(std::string_view output) {
  std::vector<std::string> ids;
  for (const std::string& line : base::Split(output, '\n')) {
    const auto words = base::Split(base::Trim(line), ' ');
    if (words.size() == 2 && words[1] == "running" && IsRunId(words[0])) ids.push_back(words[0]);
  }
  return ids;
}

std::vector<RunAge> ParseAges(std::string_view output) {
  std::vector<RunAge> runs;
  for (const std::string& line : base::Split(output, '\n')) {
    const auto words = base::Split(base::Trim(line), ' ');
    if (words.size() < 3 || !IsRunId(words[0])) continue;
    const auto seconds = base::ParseNumber(words[1]);
    const std::vector<std::string> rest(words.begin() + 2, words.end());
    const auto status = ParseLine(base::Join(rest, " "));
    if (!seconds || *seconds > kOldestRun || !status) continue;
    runs.push_back({.run_id = words[0],
                    .age = std::chrono::seconds{static_cast<std::int64_t>(*seconds)},
                    .status = *status});
  }
  return runs;
}

std::optional<core::Notice> ParseNotice(std::string_view output) {
  std::optional<core::Notice> worst;
  auto lines = base::Split(output, '\n');
  lines.pop_back();  // an incomplete last line
  for (const std::string& line : lines) {
    const auto words = base::Split(base::Trim(line), ' ');
    if (words.size() != 4 || words[0] != "jobman:" || words[1] != "notice") continue;
    const auto kind = core::NoticeKindFromName(words[2]);
    if (!kind || (worst && worst->kind == core::Notice::Kind::kPreemption)) continue;
    worst = core::Notice{.kind = *kind, .imminent = true, .text = words[3]};
  }
  return worst;
}

}  // namespace jobman::remote
