#include "jobman/client/log_follower.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "jobman/client/background_controller.hpp"
#include "jobman/client/set_wishes.hpp"
#include "jobman/controller/job_folder.hpp"

namespace jobman::client {
namespace {

/// A look may have waited for whoever reads what it printed.
constexpr base::Duration kLongestRest = std::chrono::seconds{1};
/// A job that was read is believed for so many times as long as reading it took, up to
/// kLongestRest: one of a thousand hosts is large, and changes many times a second while it starts.
constexpr int kBelieved = 100;
/// While there is more to be read: only to notice an interrupt.
constexpr base::Duration kNoRest = std::chrono::milliseconds{1};

/// A final job that is told to run again will leave its final state.
bool Over(const core::Job& job) {
  return core::IsFinal(job.state) && !(job.wish_new && RunsAgain(job.wish));
}

}  // namespace

LogFollower::LogFollower(Context context, core::JobId job, Options options)
    : context_(std::move(context)), id_(job), options_(std::move(options)) {}

base::Task<base::Status> LogFollower::Poll(Take take) {
  // The job is read first: once it is over, its log files are complete.
  JM_CO_TRY(co_await LookAtJob());
  bool news = false;
  behind_ = false;
  const bool gone = options_.only_attempt && job_.attempt > *options_.only_attempt;
  const bool last = gone || erased_ || Over(job_);
  const bool asked = options_.hosts.all || !options_.hosts.numbers.empty();
  const bool reads = asked && controller::IsOwnFolder(context_.paths, job_);
  for (const int attempt : reads ? LogAttempts(context_.paths, id_) : std::vector<int>{}) {
    for (const LogStage& stage : LogStages(context_.paths, id_, attempt)) {
      if (!Wants(stage)) continue;
      JM_CO_ASSIGN_OR_RETURN(const bool grew, ReadStage(stage, take, last));
      news = news || grew;
    }
  }
  began_ = true;
  done_ = !news && last;
  co_return base::Ok();
}

base::Task<base::Status> LogFollower::LookAtJob() {
  JM_CO_ASSIGN_OR_RETURN(const std::int64_t change, co_await context_.stores.jobs->ChangeCounter());
  const base::TimePoint began = context_.Now();
  // A clock that was set back must not keep it for longer.
  const bool believed = began < read_again_ && read_again_ - began <= kLongestRest;
  if (seen_change_ == change || believed) co_return base::Ok();
  auto job = co_await context_.stores.jobs->Get(id_);
  const base::TimePoint read = context_.Now();
  read_again_ = read + std::min(kBelieved * (read - began), kLongestRest);
  // Erased since the last look: nothing more comes of it.
  erased_ = seen_change_ && !job.ok() && job.error().code == base::Code::kNotFound;
  seen_change_ = change;
  if (erased_) job_.state = core::Done{.outcome = core::Outcome::kDeleted};
  if (erased_) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(job_, std::move(job));
  co_return base::Ok();
}

bool LogFollower::Wants(const LogStage& stage) const {
  if (options_.only_attempt && stage.attempt != *options_.only_attempt) return false;
  if (options_.only_stage && !core::IsStageCalled(stage.name, *options_.only_stage)) return false;
  if (stage.attempt < options_.first_attempt) return false;
  const bool first = stage.attempt == options_.first_attempt && !options_.first_stage.empty();
  return !first || !core::RunsBefore(stage.name, options_.first_stage);
}

/// The logs of the stage that are wanted; `sure`: also if the folder seems not to have changed.
LogFolder& LogFollower::LogsOf(const LogStage& stage, bool sure) {
  const bool newest = stage.attempt >= job_.attempt;
  const base::Path path = context_.paths.AttemptDir(id_.value, stage.attempt) / stage.name;
  LogFolder& folder = folders_[path.native()];
  if (!folder.MayHaveChanged(path, {.sure = sure, .watched = newest})) return folder;
  std::vector<LogFile> files = LogFiles(context_.paths, id_, stage);
  std::erase_if(files, [this](const LogFile& file) { return !options_.hosts.Contains(file.host); });
  folder.Add(files, [this](const base::Path& log) {
    return began_ || !options_.begin_at ? std::int64_t{0} : options_.begin_at(log);
  });
  return folder;
}

base::Result<bool> LogFollower::ReadStage(const LogStage& stage, const Take& take, bool sure) {
  bool grew = false;
  for (LogPlace& log : LogsOf(stage, sure).logs()) {
    if (!log.may_have_grown) continue;
    log.may_have_grown = base::FileSize(log.file.path).value_or(0) > log.offset;
    if (!log.may_have_grown) continue;
    grew = true;
    JM_TRY(ReadSome(stage, log, take));
  }
  return grew;
}

base::Status LogFollower::ReadSome(const LogStage& stage, LogPlace& log, const Take& take) {
  const auto pass = [&](const LogPiece& piece) { return take(stage, log.file.host, piece); };
  const std::int64_t from = log.offset;
  JM_ASSIGN_OR_RETURN(log.offset,
                      ReadPieces(log.file.path, from, options_.timed, pass, kMostAtOnce));
  behind_ = behind_ || log.offset - from >= kMostAtOnce;
  return base::Ok();
}

base::Result<bool> FollowLogs(const Context& context, const std::vector<Followed>& jobs,
                              base::Duration poll_every) {
  base::TimePoint saw_controller = context.Now();
  for (;;) {
    const base::TimePoint began = context.Now();
    bool all_done = true;
    bool cared_for = true;
    bool behind = false;
    for (const Followed& one : jobs) {
      LogFollower& follower = *one.follower;
      if (follower.done()) continue;
      JM_TRY(context.Await(follower.Poll(one.take)));
      if (one.looked) one.looked();
      all_done = all_done && follower.done();
      behind = behind || follower.behind();
      cared_for = cared_for && !core::NeedsCare(follower.job());
    }
    if (all_done) return true;
    if (!cared_for && context.Now() - saw_controller > kLookAtController) {
      JM_TRY(context.Await(EnsureController(context)));  // it may have been killed
      saw_controller = context.Now();
    }
    // A look at many jobs takes long: half of the time at most is for that.
    const base::Duration rest = std::min(context.Now() - began, kLongestRest);
    if (!context.pause(behind ? kNoRest : std::max(poll_every, rest))) return false;
  }
}

}  // namespace jobman::client
