#include "controller/slice_calls.hpp"

#include "controller/delete_part.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/slice_request.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::controller {
namespace {

bool IsNotFound(const base::Error& error) {
  return error.code == base::Code::kNotFound;
}

/// One delete call each. Nodes that outlive their queued resource hold quota, and deleting the
/// queued resource does not reach them: they come last.
std::vector<core::SliceRef> ToDelete(const core::SliceRef& slice) {
  std::vector<core::SliceRef> parts = core::PartsOf(slice);
  if (slice.mode == core::AllocationMode::kTpuVm) return parts;
  for (const std::string& id : core::NodeIds(slice)) {
    parts.push_back({.mode = core::AllocationMode::kTpuVm, .place = slice.place, .name = id});
  }
  return parts;
}

}  // namespace

SliceCalls::SliceCalls(asio::io_context& loop, const Ports& ports, const Options& options,
                       Clouds& clouds, JobBook& book, ZoneWatch& watch)
    : loop_(loop),
      ports_(ports),
      options_(options),
      clouds_(clouds),
      book_(book),
      watch_(watch),
      guests_(loop, ports, clouds) {}

SliceCalls::~SliceCalls() {
  scope_.Cancel();
}

SliceCalls::Caller SliceCalls::CallerFor(const core::Job& job) const {
  return {.job = job.id,
          .name = job.name,
          .labels = core::OwnerLabels(job, options_.policy.store_id),
          .cloud = job.spec.cloud,
          .ssh = job.spec.ssh,
          .delete_decided = job.slice ? job.slice->delete_requested_at : std::nullopt};
}

void SliceCalls::Do(const core::Job& job, const core::CreateSlice& create) {
  if (!creating_.insert(create.request.ref.name).second) return;
  base::Spawn(loop_.get_executor(), scope_, Create(this, CallerFor(job), create.request));
}

void SliceCalls::Do(const core::Job& job, const core::DeleteSlice& remove) {
  JM_CHECK(!remove.slice.existing, "a node that is the user's is never deleted");
  const std::string& name = remove.slice.name;
  if (deleting_.contains(name)) return;
  const auto answered = answered_.find(name);
  const auto decided = CallerFor(job).delete_decided;
  if (answered != answered_.end() && decided == answered->second) return;
  // A delete that overtakes the create would not find the slice.
  if (!creating_.contains(name)) return StartDelete(CallerFor(job), remove.slice);
  deleting_.emplace(name, Pending{CallerFor(job), remove.slice});
}

void SliceCalls::Do(const core::Job& job, const core::LookUpSlice& look) {
  if (!looking_up_.insert(look.slice.name).second) return;
  base::Spawn(loop_.get_executor(), scope_, LookUp(this, CallerFor(job), look.slice));
}

void SliceCalls::Do(const core::Job& job, const core::AddLogin& add) {
  if (!adding_.insert(add.slice.name).second) return;
  base::Spawn(loop_.get_executor(), scope_, AddLogin(this, CallerFor(job), add.slice));
}

void SliceCalls::StartDelete(Caller caller, core::SliceRef slice) {
  deleting_[slice.name] = std::nullopt;
  base::Spawn(loop_.get_executor(), scope_, Delete(this, std::move(caller), std::move(slice)));
}

base::Task<core::CreateAnswered> SliceCalls::AskForSlice(Caller caller,
                                                         core::SliceRequest request) {
  const core::SliceRef slice = request.ref;
  core::CreateAnswered answer{.slice = slice.name};
  const auto key = ports_.public_key(caller.ssh.private_key);
  auto cloud = co_await clouds_.Get(caller.cloud);
  if (!key.ok() || !cloud.ok()) {
    answer.error = key.ok() ? cloud.error() : key.error();
    co_return answer;
  }
  const auto api = *std::move(cloud);
  request = WithLogin(std::move(request), caller.ssh.user, *key);
  request = co_await guests_.WithGuests(std::move(request), caller.job, caller.name);
  const auto parts = core::PartsOf(slice);
  for (const core::SliceRef& part : parts) {
    request.ref = part;
    const auto created = co_await api->Create(request);
    if (created.ok()) {
      answer.operations.push_back(created->name);
    } else if (parts.size() == 1 || created.error().code != base::Code::kAlreadyExists) {
      answer.error = created.error();
      // The next request asks for the credentials again.
      if (created.error().code == base::Code::kUnauthenticated) clouds_.Forget(caller.cloud);
      break;
    }
    // Created, or there from an earlier request: the next look tells whose it is.
    answer.accepted.push_back(part.name);
  }
  co_return answer;
}

base::Task<void> SliceCalls::Create(SliceCalls* self, Caller caller, core::SliceRequest request) {
  const core::SliceRef slice = request.ref;
  auto answer = co_await self->AskForSlice(caller, std::move(request));
  self->creating_.erase(slice.name);
  if (answer.error) {
    base::Log(base::LogLevel::kWarn, "cloud", "creating slice {}: {}", answer.slice,
              answer.error->ToString());
  }
  self->book_.Post(caller.job, std::move(answer));
  self->watch_.PollNow(caller.cloud, slice.place);
  const auto waiting = self->deleting_.find(slice.name);
  if (waiting == self->deleting_.end() || !waiting->second) co_return;
  Pending pending = *std::move(waiting->second);
  self->StartDelete(std::move(pending.caller), std::move(pending.slice));
}

base::Task<core::DeleteAnswered> SliceCalls::AskToDelete(Caller caller, core::SliceRef slice) {
  core::DeleteAnswered answer{.slice = slice.name, .began = ports_.clock->Now()};
  auto cloud = co_await clouds_.Get(caller.cloud);
  if (!cloud.ok()) {
    answer.error = cloud.error();
    co_return answer;
  }
  const auto api = *std::move(cloud);
  answer.gone = true;
  for (const core::SliceRef& part : ToDelete(slice)) {
    const bool left_over = part.mode != slice.mode;
    if (left_over && !answer.gone) break;
    const auto deleted = co_await DeletePart(api, caller.labels, part, Unfound::kDelete);
    if (!deleted.ok()) answer.error = deleted.error();
    if (!deleted.ok() || *deleted) answer.gone = false;
  }
  co_return answer;
}

base::Task<void> SliceCalls::Delete(SliceCalls* self, Caller caller, core::SliceRef slice) {
  auto answer = co_await self->AskToDelete(caller, slice);
  self->deleting_.erase(slice.name);
  const bool clear = !answer.error || core::IsRefusedDelete(*answer.error);
  if (answer.gone)
    self->answered_.erase(slice.name);
  else if (clear && caller.delete_decided)
    self->answered_[slice.name] = *caller.delete_decided;
  if (answer.error) {
    base::Log(base::LogLevel::kWarn, "cloud", "deleting slice {}: {}", slice.name,
              answer.error->ToString());
  }
  self->book_.Post(caller.job, std::move(answer));
  self->watch_.PollNow(caller.cloud, slice.place);
}

base::Task<base::Result<Listing>> SliceCalls::GetByName(std::shared_ptr<ports::SliceApi> api,
                                                        core::SliceRef slice) {
  Listing found{.place = slice.place, .queued_listed = true};
  for (const std::string& id : core::NodeIds(slice)) {
    auto node = co_await api->GetNode(slice.place, id);
    if (node.ok())
      found.nodes.push_back(*std::move(node));
    else if (!IsNotFound(node.error()))
      co_return node.error();
  }
  if (slice.mode == core::AllocationMode::kTpuVm) co_return found;
  auto queued = co_await api->GetQueued(slice.place, slice.name);
  if (queued.ok())
    found.queued.push_back(*std::move(queued));
  else if (!IsNotFound(queued.error()))
    co_return queued.error();
  co_return found;
}

base::Task<base::Status> SliceCalls::AskForLogin(Caller caller, core::SliceRef slice) {
  JM_CO_ASSIGN_OR_RETURN(const std::string key, ports_.public_key(caller.ssh.private_key));
  JM_CO_ASSIGN_OR_RETURN(const auto api, co_await clouds_.Get(caller.cloud));
  const std::string line = LoginLine(caller.ssh.user, key);
  const auto added = co_await api->AddLogin(slice.place, slice.name, line);
  co_return added.ok() ? base::Ok() : base::Status(added.error());
}

/// Without it the hosts may know our key all the same; if not, their refusal is told.
base::Task<void> SliceCalls::AddLogin(SliceCalls* self, Caller caller, core::SliceRef slice) {
  const auto added = co_await self->AskForLogin(std::move(caller), slice);
  self->adding_.erase(slice.name);
  if (added.ok()) co_return;
  base::Log(base::LogLevel::kWarn, "cloud", "adding the key of this machine to node {}: {}",
            slice.name, added.error().ToString());
}

/// When the API does not answer, later listings will show the slice.
base::Task<void> SliceCalls::LookUp(SliceCalls* self, Caller caller, core::SliceRef slice) {
  const core::TimePoint began = self->ports_.clock->Now();
  base::Result<Listing> found = base::Internal("not asked");
  const auto cloud = co_await self->clouds_.Get(caller.cloud);
  if (cloud.ok()) found = co_await GetByName(*cloud, slice);
  self->looking_up_.erase(slice.name);
  if (!found.ok()) co_return;
  core::SliceSeen seen = SeenIn(*found, slice, caller.labels);
  seen.began = began;
  seen.by_name = true;
  self->book_.Post(caller.job, std::move(seen));
}

}  // namespace jobman::controller
