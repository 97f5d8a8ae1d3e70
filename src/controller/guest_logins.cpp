#include "controller/guest_logins.hpp"

#include <algorithm>
#include <utility>

#include "jobman/base/log.hpp"
#include "jobman/controller/change_logins.hpp"
#include "jobman/controller/slice_request.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::controller {
namespace {

void Warn(core::JobId job, const base::Error& error) {
  base::Log(base::LogLevel::kWarn, "cloud", "job {}: the keys of guests: {}",
            core::FormatJobId(job), error.ToString());
}

}  // namespace

base::Task<core::SliceRequest> GuestLogins::WithGuests(core::SliceRequest request, core::JobId job,
                                                       std::string name) {
  const auto guests = co_await ports_.stores.guests->Guests();
  if (!guests.ok()) {
    Warn(job, guests.error());
    co_return request;
  }
  co_return controller::WithGuests(std::move(request), *guests, job, name);
}

void GuestLogins::Bring(const core::Job& job) {
  if (!job.slice || job.slice->ref.existing) return;
  if (!bringing_.insert(job.id).second) return;
  Visit visit{.job = job.id, .name = job.name, .spec = job.spec, .slice = job.slice->ref};
  base::Spawn(loop_.get_executor(), scope_, Run(this, std::move(visit)));
}

base::Task<void> GuestLogins::Run(GuestLogins* self, Visit visit) {
  const core::JobId job = visit.job;
  const auto changed = co_await self->Change(std::move(visit));
  self->bringing_.erase(job);
  if (!changed.ok()) Warn(job, changed.error());
}

base::Task<base::Status> GuestLogins::Change(Visit visit) {
  JM_CO_ASSIGN_OR_RETURN(auto guests, co_await ports_.stores.guests->Guests());
  if (guests.empty()) co_return base::Ok();
  const core::JobSpec& spec = visit.spec;
  const std::string kept = KeptLogins(spec, ports_.public_key(spec.ssh.private_key));
  const auto change = core::LoginsFor(guests, visit.job, visit.name, kept);
  if (!change.empty()) {
    JM_CO_ASSIGN_OR_RETURN(const auto api, co_await clouds_.Get(spec.cloud));
    for (const std::string& node : core::NodeIds(visit.slice)) {
      JM_CO_TRY(co_await ChangeLogins(api, visit.slice.place, node, change));
    }
  }
  co_return co_await NoteLeft(std::move(guests), visit.job);
}

/// A guest is forgotten once no node has the key.
base::Task<base::Status> GuestLogins::NoteLeft(std::vector<core::Guest> guests, core::JobId job) {
  for (const core::Guest& guest : guests) {
    core::Guest now = guest;
    if (!now.leaving || std::erase(now.left_on, job) == 0) continue;
    std::optional<core::Guest> next;
    if (!now.left_on.empty()) next = std::move(now);
    JM_CO_TRY(co_await ports_.stores.guests->SetGuest(guest, std::move(next)));
  }
  co_return base::Ok();
}

}  // namespace jobman::controller
