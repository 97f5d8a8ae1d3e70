#include "controller/output_watch.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "jobman/base/capped_file.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

/// The position is recorded every so many bytes; a new controller reads at most that much again.
constexpr std::int64_t kRecordEvery = std::int64_t{1} << 20;

/// The modification time; nothing when the file does not exist.
std::optional<core::TimePoint> WrittenAt(const base::Path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return base::FromMillis(std::int64_t{info.st_mtim.tv_sec} * 1000 +
                          info.st_mtim.tv_nsec / 1'000'000);
}

}  // namespace

OutputWatch::OutputWatch(const StageContext& context, StageHosts& hosts)
    : context_(context), hosts_(hosts) {
  if (!context.Computes()) return;
  const auto rules = CompileRules(context.job->spec.watchdog.bad_output);
  const core::Stage& stage = *context.job->stage;
  if (stage.task) {
    strongest_ = stage.task->rule;
    wants_commit_ = !stage.task->definition.url.empty() && stage.task->commit.empty();
  }
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    StageHost& host = hosts[index];
    const auto written = WrittenAt(context.LogPath(host.number));
    if (written) host.wrote_at = std::min(*written, context.Now());
    if (!rules && !stage.task) continue;
    host.scanned = stage.hosts[index].scanned;
    const auto on_match = [this, number = host.number](int rule, std::string line) {
      context_.hooks.observed(core::BadOutput{.attempt = context_.job->attempt,
                                              .host = number,
                                              .rule = rule,
                                              .line = std::move(line),
                                              .stage = context_.job->stage->id});
    };
    OutputScanner::OnLine on_line;
    if (stage.task) on_line = [this](std::string_view line) { JudgeLine(line); };
    scans_.push_back({.scanner = {rules, host.scanned, on_match, on_line}, .told = host.scanned});
  }
}

void OutputWatch::Start() {
  const auto limit = context_.job->spec.watchdog.no_output;
  if (limit && context_.Computes()) base::Spawn(context_.executor, scope_, WatchForSilence(*limit));
}

/// A line of a task's output: the first commit, and only a stronger rule than before, are news.
void OutputWatch::JudgeLine(std::string_view line) {
  std::string commit = wants_commit_ ? core::CommitInLine(line) : std::string();
  if (!commit.empty()) {
    wants_commit_ = false;
    context_.hooks.observed(core::TaskOutput{.attempt = context_.job->attempt,
                                             .stage = context_.job->stage->id,
                                             .commit = std::move(commit)});
  }
  const auto rule = core::RuleForLine(line);
  if (!rule || (strongest_ && static_cast<int>(*rule) >= *strongest_)) return;
  strongest_ = static_cast<int>(*rule);
  context_.hooks.observed(core::TaskOutput{
      .attempt = context_.job->attempt, .stage = context_.job->stage->id, .rule = *strongest_});
}

std::int64_t OutputWatch::Unread(std::size_t index, std::int64_t size) const {
  return scans_.empty() ? 0 : size - scans_[index].scanner.taken();
}

base::Task<base::Status> OutputWatch::ReadOldLog(std::size_t index, std::int64_t size) {
  if (Unread(index, size) <= 0) co_return base::Ok();
  const base::Path path = context_.LogPath(hosts_[index].number);
  const base::FileGap gap = base::ReadGap(path).value_or(base::FileGap{});
  OutputScanner& scanner = scans_[index].scanner;
  std::ifstream log(path, std::ios::binary);
  std::array<char, 65536> chunk = {};
  while (true) {
    scanner.Skip(gap);  // its zeros may be more than anybody can read
    if (Unread(index, size) <= 0) break;
    auto wanted = std::min<std::int64_t>(Unread(index, size), std::ssize(chunk));
    if (scanner.taken() < gap.begin) wanted = std::min(wanted, gap.begin - scanner.taken());
    log.seekg(scanner.taken());
    log.read(chunk.data(), wanted);
    if (log.gcount() <= 0) co_return base::Internal("cannot read " + path.string());
    Feed(index, {chunk.data(), static_cast<std::size_t>(log.gcount())});
    co_await base::Yield();
  }
  co_return base::Ok();
}

void OutputWatch::Feed(std::size_t index, std::string_view bytes) {
  OutputScanner& scanner = scans_[index].scanner;
  scanner.Take(bytes);
  hosts_[index].scanned = scanner.scanned();
}

void OutputWatch::Take(std::size_t index, std::string_view bytes) {
  StageHost& host = hosts_[index];
  if (!bytes.empty()) host.wrote_at = host.last_news;
  if (scans_.empty()) return;
  Feed(index, bytes);
  std::int64_t& told = scans_[index].told;
  if (host.ended || host.scanned - told < kRecordEvery) return;
  told = host.scanned;
  hosts_.ReportRunning(host);
}

void OutputWatch::End(std::size_t index) {
  if (!scans_.empty()) scans_[index].scanner.End();
}

core::TimePoint OutputWatch::LastOutput() const {
  core::TimePoint last = context_.job->stage->started_at;
  for (const StageHost& host : hosts_.all()) last = std::max(last, host.wrote_at);
  return last;
}

/// Since when all hosts are silent, if known: a host without a connection may be writing. The time
/// without a connection counts once it is back and sends nothing new.
std::optional<core::TimePoint> OutputWatch::SilentSince(core::TimePoint now) const {
  bool any = false;
  for (const StageHost& host : hosts_.all()) {
    if (host.ended) continue;
    any = true;
    if (!host.reached || host.stopping || now - host.reached_at < kCatchUp) return std::nullopt;
  }
  return any ? std::optional(LastOutput()) : std::nullopt;
}

base::Task<void> OutputWatch::WatchForSilence(base::Duration limit) {
  while (true) {
    const core::TimePoint now = context_.Now();
    const auto since = SilentSince(now);
    if (since && now - *since >= limit) {
      context_.hooks.observed(core::Silence{
          .attempt = context_.job->attempt, .since = *since, .stage = context_.job->stage->id});
    }
    const base::Duration left = LastOutput() + limit - now;
    co_await base::Sleep(std::clamp(left, kShortestWatch, kLongestWatch));
  }
}

}  // namespace jobman::controller
