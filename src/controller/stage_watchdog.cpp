// What the watchdog sees of a stage: lines that match, and silence. What follows is core's matter.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "controller/stage_runner.hpp"

namespace jobman::controller {
namespace {

/// A host that was just reached has so long to send what it wrote while it was not.
constexpr base::Duration kCatchUp = std::chrono::seconds{1};
constexpr base::Duration kShortestWait = std::chrono::milliseconds{250};
constexpr base::Duration kLongestWait = std::chrono::seconds{30};
/// So often is it recorded how far the log was read: a new controller reads no more than that
/// again.
constexpr std::int64_t kRecordEvery = std::int64_t{1} << 20;

/// When the file was written last; nothing when it does not exist.
std::optional<core::TimePoint> WrittenAt(const base::Path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return base::FromMillis(std::int64_t{info.st_mtim.tv_sec} * 1000 +
                          info.st_mtim.tv_nsec / 1'000'000);
}

}  // namespace

/// Goes on where an earlier controller stopped: by how far it had read, and by the times of the
/// logs on disk, which it wrote as the output came.
void StageRunner::BeginWatch() {
  const core::Stage& stage = *job_->stage;
  if (!IsCommand()) return;
  const auto rules = CompileRules(job_->spec.watchdog.bad_output);
  const core::TimePoint now = world_.clock->Now();
  last_output_ = stage.started_at;
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    Host& host = hosts_[index];
    const auto written =
        WrittenAt(options_.paths.LogPath(job_->id.value, job_->attempt, stage.name, host.number));
    if (written) last_output_ = std::max(last_output_, std::min(*written, now));
    if (!rules) continue;
    host.told_scanned = stage.hosts[index].scanned;
    const int number = host.number;
    host.scanner.emplace(rules, host.told_scanned, [this, number](int rule, std::string line) {
      hooks_.notice(core::BadOutput{
          .attempt = job_->attempt, .host = number, .rule = rule, .line = std::move(line)});
    });
  }
}

/// Reads what lies on disk and was not read yet. Nothing is missed when a controller died between
/// writing a line down and acting on it.
base::Task<base::Status> StageRunner::ScanOldLog(Self self, std::size_t index, base::Path path,
                                                 std::int64_t size) {
  const auto behind = [&] {
    const auto& scanner = self->hosts_[index].scanner;
    return scanner ? size - scanner->taken() : 0;
  };
  if (behind() <= 0) co_return base::Ok();
  std::ifstream log(path, std::ios::binary);
  log.seekg(self->hosts_[index].scanner->taken());
  std::array<char, 65536> chunk = {};
  while (behind() > 0) {
    const auto wanted = std::min<std::int64_t>(behind(), std::ssize(chunk));
    log.read(chunk.data(), wanted);
    if (log.gcount() <= 0) co_return base::Internal("cannot read " + path.string());
    self->hosts_[index].scanner->Take({chunk.data(), static_cast<std::size_t>(log.gcount())});
    co_await base::Yield();
  }
  co_return base::Ok();
}

void StageRunner::TakeOutput(Host& host, std::string_view bytes) {
  if (!bytes.empty()) last_output_ = host.last_news;
  if (!host.scanner) return;
  host.scanner->Take(bytes);
  if (host.ended || host.scanner->scanned() - host.told_scanned < kRecordEvery) return;
  host.told_scanned = host.scanner->scanned();
  Report(host, core::HostPhase::kRunning, 0, {});
}

/// Since when nobody has written, if that can be told: a host that is not reached may write what we
/// do not see. The time without a connection counts once it is back and has nothing new to tell.
std::optional<core::TimePoint> StageRunner::SilentSince(core::TimePoint now) const {
  bool any = false;
  for (const Host& host : hosts_) {
    if (host.ended) continue;
    any = true;
    if (!host.reached || host.stopping || now - host.reached_at < kCatchUp) return std::nullopt;
  }
  return any ? std::optional(last_output_) : std::nullopt;
}

base::Task<void> StageRunner::WatchSilence(Self self) {
  const base::Duration limit = *self->job_->spec.watchdog.no_output;
  while (true) {
    const core::TimePoint now = self->world_.clock->Now();
    const auto since = self->SilentSince(now);
    if (since && now - *since >= limit) {
      self->hooks_.notice(core::Silence{.attempt = self->job_->attempt, .since = *since});
    }
    const base::Duration left = self->last_output_ + limit - now;
    co_await base::Sleep(std::clamp(left, kShortestWait, kLongestWait));
  }
}

}  // namespace jobman::controller
