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

/// How often a record that others change meanwhile is read again.
constexpr int kTries = 3;

base::Error ChangesTooOften() {
  return {.code = base::Code::kAborted,
          .message = "they were changed again and again while the nodes were visited",
          .reason = base::Reason::kStale,
          .hint = "the job's next stage brings them in line"};
}

}  // namespace

base::Task<core::SliceRequest> GuestLogins::WithGuests(core::SliceRequest request, core::JobId job,
                                                       std::string name) {
  const auto guests = co_await ports_.stores.guests->Guests();
  const auto unread = co_await ports_.stores.guests->UnreadGuests();
  if (unread.ok()) {
    for (const ports::UnreadGuest& one : *unread) Warn(job, one.error);
  }
  if (!guests.ok()) {
    Warn(job, guests.error());
    co_return request;
  }
  co_return controller::WithGuests(std::move(request), *guests, job, name);
}

void GuestLogins::Bring(const core::Job& job) {
  if (!job.slice || job.slice->ref.existing) return;
  Visit visit{.job = job.id, .name = job.name, .spec = job.spec, .slice = job.slice->ref};
  const auto [running, first] = bringing_.try_emplace(job.id);
  if (!first) {
    running->second = std::move(visit);
    return;
  }
  base::Spawn(loop_.get_executor(), scope_, Run(this, std::move(visit)));
}

base::Task<void> GuestLogins::Run(GuestLogins* self, Visit visit) {
  const core::JobId job = visit.job;
  for (;;) {
    const auto changed = co_await self->Change(std::move(visit));
    if (!changed.ok()) Warn(job, changed.error());
    const auto running = self->bringing_.find(job);
    if (!running->second) {
      self->bringing_.erase(running);
      co_return;
    }
    visit = *std::move(running->second);
    running->second.reset();
  }
}

/// Commands change the guests meanwhile, and visit the same nodes: whoever writes last must agree
/// with the record. So it is read again afterwards, also if a node failed.
base::Task<base::Status> GuestLogins::Change(Visit visit) {
  const core::JobSpec& spec = visit.spec;
  for (int tries = 0; tries < kTries; ++tries) {
    JM_CO_ASSIGN_OR_RETURN(auto guests, co_await ports_.stores.guests->Guests());
    if (guests.empty()) co_return base::Ok();
    const auto key = ports_.read_public_key(spec.ssh.private_key);
    NodeLogins logins = LoginsOfNodes(guests, visit.job, visit.name, spec, key);
    // Hosts under OS Login take no keys of the metadata.
    if (core::IsTrueIn(spec.tpu.metadata, core::kEnableOsLogin)) logins.change.add.clear();
    const auto changed = co_await ChangeNodes(visit, logins.change);
    JM_CO_ASSIGN_OR_RETURN(const bool stands, co_await StillStands(visit, guests));
    if (!stands) continue;
    if (!changed.ok()) {
      JM_CO_TRY(co_await KeepLeft(std::move(guests), visit));
      co_return changed;
    }
    if (logins.unsure) co_return *std::move(logins.unsure);
    co_return co_await NoteLeft(std::move(guests), visit.job);
  }
  co_return ChangesTooOften();
}

/// The first error; the other nodes are changed all the same. A node that is gone has no key.
base::Task<base::Status> GuestLogins::ChangeNodes(Visit visit, core::LoginChange change) {
  if (change.empty()) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(const auto api, co_await clouds_.Get(visit.spec.cloud));
  base::Status first = base::Ok();
  for (const std::string& node : core::NodeIds(visit.slice)) {
    const auto changed = co_await ChangeLogins(api, visit.slice.place, node, change);
    if (changed.ok() || changed.error().code == base::Code::kNotFound) continue;
    if (first.ok()) first = changed;
  }
  co_return first;
}

/// Whether the same guests are let in to the job as before. Who left meanwhile may have got the key
/// after the command took it away: they are put on record again, as leaving this job.
base::Task<base::Result<bool>> GuestLogins::StillStands(Visit visit,
                                                        std::vector<core::Guest> guests) {
  JM_CO_ASSIGN_OR_RETURN(const auto now, co_await ports_.stores.guests->Guests());
  bool stands = true;
  for (const core::Guest& was : guests) {
    const auto found = core::FindLogin(now, was);
    const bool had = core::IsLetIn(was, visit.job, visit.name);
    const bool has = found && core::IsLetIn(*found, visit.job, visit.name);
    if (had == has) continue;
    stands = false;
    if (had) {
      JM_CO_TRY(co_await PutBack(was, visit));
    }
  }
  co_return stands;
}

base::Task<base::Status> GuestLogins::PutBack(core::Guest was, Visit visit) {
  core::Guest gone = was;
  gone.leaving = true;
  gone.left_on.clear();
  base::Status set = base::Ok();
  for (int tries = 0; tries < kTries; ++tries) {
    JM_CO_ASSIGN_OR_RETURN(const auto now, co_await ports_.stores.guests->Guests());
    auto found = core::FindLogin(now, was);
    core::Guest next = found.value_or(gone);
    // Who is back by now may keep the key.
    const bool is_in = core::IsLetIn(next, visit.job, visit.name);
    if (is_in || core::HasLeft(next, visit.job)) co_return base::Ok();
    next.left_on.push_back(visit.job);
    set = co_await ports_.stores.guests->SetGuest(std::move(found), std::move(next));
    if (set.ok() || set.error().reason != base::Reason::kStale) break;
  }
  co_return set;
}

/// A command may have struck the job off before the key came back to the nodes, which failed now.
base::Task<base::Status> GuestLogins::KeepLeft(std::vector<core::Guest> guests, Visit visit) {
  for (const core::Guest& guest : guests) {
    if (!core::HasLeft(guest, visit.job)) continue;
    JM_CO_TRY(co_await PutBack(guest, visit));
  }
  co_return base::Ok();
}

base::Task<base::Status> GuestLogins::NoteLeft(std::vector<core::Guest> guests, core::JobId job) {
  for (const core::Guest& guest : guests) {
    if (!core::HasLeft(guest, job)) continue;
    JM_CO_TRY(co_await StrikeOff(guest, job));
  }
  co_return base::Ok();
}

/// A guest is forgotten once no node has the key.
base::Task<base::Status> GuestLogins::StrikeOff(core::Guest guest, core::JobId job) {
  base::Status set = base::Ok();
  for (int tries = 0; tries < kTries; ++tries) {
    std::optional<core::Guest> next = guest;
    std::erase(next->left_on, job);
    if (next->leaving && next->left_on.empty()) next.reset();
    set = co_await ports_.stores.guests->SetGuest(guest, std::move(next));
    if (set.ok() || set.error().reason != base::Reason::kStale) co_return set;
    JM_CO_ASSIGN_OR_RETURN(const auto now, co_await ports_.stores.guests->Guests());
    const auto found = core::FindLogin(now, guest);
    // Who came back and left anew may have got the key since.
    if (!found || found->added_at != guest.added_at || !core::HasLeft(*found, job))
      co_return base::Ok();
    guest = *found;
  }
  co_return set;
}

}  // namespace jobman::controller
