#include "jobman/client/log_follower.hpp"

#include <utility>
#include <vector>

#include "jobman/client/background_controller.hpp"
#include "jobman/client/set_wishes.hpp"
#include "jobman/controller/job_folder.hpp"

namespace jobman::client {
namespace {

// A final job that is told to run again will leave its final state.
bool Over(const core::Job& job) {
  return core::IsFinal(job.state) && !(job.wish_new && RunsAgain(job.wish));
}

}  // namespace

LogFollower::LogFollower(Context context, core::JobId job, Options options)
    : context_(std::move(context)),
      id_(job),
      options_(std::move(options)),
      saw_controller_(context_.Now()) {}

base::Result<bool> LogFollower::Follow(const Take& take,
                                       const std::function<void(const core::Job& job)>& on_look) {
  for (;;) {
    JM_TRY(context_.Await(Poll(take)));
    if (on_look) on_look(job_);
    if (done_) return true;
    if (core::NeedsCare(job_) && context_.Now() - saw_controller_ > kLookAtController) {
      JM_TRY(context_.Await(EnsureController(context_)));  // it may have been killed
      saw_controller_ = context_.Now();
    }
    if (!context_.pause(options_.poll_every)) return false;
  }
}

base::Task<base::Status> LogFollower::Poll(Take take) {
  // The job is read first: once it is over, its log files are complete.
  JM_CO_TRY(co_await LookAtJob());
  bool news = false;
  const bool own = controller::IsOwnFolder(context_.paths, job_);
  for (const int attempt : own ? LogAttempts(context_.paths, id_) : std::vector<int>{}) {
    for (const LogStage& stage : LogStages(context_.paths, id_, attempt)) {
      if (!Wants(stage)) continue;
      JM_CO_ASSIGN_OR_RETURN(const bool grew, ReadStage(stage, take));
      news = news || grew;
    }
  }
  began_ = true;
  const bool gone = options_.only_attempt && job_.attempt > *options_.only_attempt;
  done_ = !news && (gone || Over(job_));
  co_return base::Ok();
}

base::Task<base::Status> LogFollower::LookAtJob() {
  JM_CO_ASSIGN_OR_RETURN(const std::int64_t change, co_await context_.stores.jobs->ChangeCounter());
  if (seen_change_ == change) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(job_, co_await context_.stores.jobs->Get(id_));
  seen_change_ = change;
  co_return base::Ok();
}

bool LogFollower::Wants(const LogStage& stage) const {
  if (options_.only_attempt && stage.attempt != *options_.only_attempt) return false;
  if (options_.only_stage && !core::IsStageCalled(stage.name, *options_.only_stage)) return false;
  if (stage.attempt < options_.first_attempt) return false;
  const bool first = stage.attempt == options_.first_attempt && !options_.first_stage.empty();
  return !first || !core::RunsBefore(stage.name, options_.first_stage);
}

std::int64_t& LogFollower::OffsetOf(const base::Path& path) {
  const auto [place, fresh] = offsets_.try_emplace(path.native(), 0);
  if (fresh && !began_ && options_.tail) place->second = LastLinesFrom(path, *options_.tail);
  return place->second;
}

base::Result<bool> LogFollower::ReadStage(const LogStage& stage, const Take& take) {
  bool grew = false;
  for (const LogFile& file : LogFiles(context_.paths, id_, stage)) {
    if (!options_.hosts.Contains(file.host)) continue;
    std::int64_t& offset = OffsetOf(file.path);
    if (base::FileSize(file.path).value_or(0) <= offset) continue;
    grew = true;
    JM_ASSIGN_OR_RETURN(offset, ReadLog(file.path, offset, [&](std::string_view bytes) {
                          return take(stage, file.host, bytes);
                        }));
  }
  return grew;
}

}  // namespace jobman::client
