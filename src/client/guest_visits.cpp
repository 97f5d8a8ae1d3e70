#include "client/guest_visits.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "client/kept_project.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/controller/change_logins.hpp"
#include "jobman/controller/slice_request.hpp"
#include "jobman/core/slice_name.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::client {
namespace {

using Fate = GuestVisit::Fate;

constexpr int kNodesAtOnce = 8;

/// A row, and what is to be done for it.
struct Errand {
  GuestVisit visit = {};
  core::CloudSpec cloud = {};
  core::Place place = {};
  core::LoginChange change = {};  ///< empty: the row is complete
};

struct VisitRound {
  std::vector<Errand> errands = {};
  std::vector<std::pair<core::CloudSpec, base::Result<CloudClient>>> clouds = {};
  std::size_t next = 0;  ///< the first errand that nobody runs yet
  int runners = 0;
  base::Waiters ended = {};
};

base::Error UsesOsLogin() {
  return {.code = base::Code::kFailedPrecondition,
          .message = "its hosts log people in by OS Login, and take no keys of the node",
          .hint = "give the person's account the role roles/compute.osLogin in the project"};
}

/// The row of a job whose nodes cannot be changed, or need not be; empty if they are to be asked.
std::optional<GuestVisit> WithoutAsking(const core::Job& job, const core::Guest& guest,
                                        const controller::NodeLogins& logins) {
  GuestVisit visit{.job = job.id, .name = job.name, .node = job.slice->ref.name};
  const bool adds = !logins.change.add.empty();
  if (logins.unsure) {
    visit.fate = Fate::kFailed;
    visit.error = logins.unsure;
    return visit;
  }
  if (logins.change.empty()) {
    visit.fate = Fate::kLeft;
    visit.why = "keeps it: " + guest.user + " is the job's own login there";
    return visit;
  }
  if (adds && IsTrueIn(job.spec.tpu.metadata, kEnableOsLogin)) {
    visit.fate = Fate::kFailed;
    visit.error = UsesOsLogin();
    return visit;
  }
  if (core::IsHeld(*job.slice)) return std::nullopt;
  visit.fate = Fate::kLater;
  visit.why = adds ? "gets the key when it is there" : "loses the key when it is there";
  return visit;
}

/// Whether the guest and the job have to do with each other.
bool Concerns(const core::Job& job, const core::Guest& guest) {
  if (job.slice->ref.existing) return false;
  const bool left = core::HasLeft(guest, job.id);
  const bool goes = job.slice->delete_requested_at.has_value();
  return left || (core::IsLetIn(guest, job.id, job.name) && !goes);
}

void AddErrands(const core::Job& job, const core::Guest& guest, std::vector<Errand>& errands) {
  const auto own_key = ssh::PublicKeyLine(job.spec.ssh.private_key);
  const auto logins = controller::LoginsOfNodes({guest}, job.id, job.name, job.spec, own_key);
  Errand errand{.cloud = job.spec.cloud, .place = job.slice->ref.place};
  if (auto row = WithoutAsking(job, guest, logins)) {
    errand.visit = *std::move(row);
    errands.push_back(std::move(errand));
    return;
  }
  errand.change = logins.change;
  for (std::string& node : core::NodeIds(job.slice->ref)) {
    errand.visit = {.job = job.id, .name = job.name, .node = std::move(node)};
    errands.push_back(errand);
  }
}

GuestVisit RowOfUnread(const UnreadJob& job) {
  GuestVisit visit{.job = job.id, .name = job.name, .fate = Fate::kFailed, .error = job.error};
  visit.error->message = "its record cannot be read: " + job.error.message;
  return visit;
}

/// The row of the errand once it was run.
GuestVisit RowAfter(const Errand& errand, const base::Status& changed) {
  GuestVisit visit = errand.visit;
  const bool adds = !errand.change.add.empty();
  if (changed.ok()) {
    visit.why = adds ? "has the key" : "has the key no more";
  } else if (changed.error().code == base::Code::kNotFound) {
    visit.fate = Fate::kLater;
    visit.why =
        adds ? "is gone; the next one gets the key" : "is gone; the next one has no such key";
  } else {
    visit.fate = Fate::kFailed;
    visit.error = changed.error();
  }
  return visit;
}

const base::Result<CloudClient>& CloudFor(const VisitRound& round, const core::CloudSpec& spec) {
  return std::find_if(round.clouds.begin(), round.clouds.end(),
                      [&](const auto& one) { return one.first == spec; })
      ->second;
}

base::Task<void> RunErrand(std::shared_ptr<VisitRound> round, std::size_t row) {
  const Errand errand = round->errands[row];
  const auto& cloud = CloudFor(*round, errand.cloud);
  base::Status changed = base::Ok();
  if (cloud.ok()) {
    changed = co_await controller::ChangeLogins(cloud->slices, errand.place, errand.visit.node,
                                                errand.change);
  } else {
    changed = cloud.error();
  }
  round->errands[row].visit = RowAfter(errand, changed);
}

base::Task<void> RunInTurn(std::shared_ptr<VisitRound> round) {
  while (round->next < round->errands.size()) {
    const std::size_t row = round->next++;
    if (!round->errands[row].change.empty()) co_await RunErrand(round, row);
  }
  --round->runners;
  round->ended.WakeAll();
}

/// One after the other: a simulator may have to be started first.
base::Task<void> OpenClouds(Context context, std::shared_ptr<VisitRound> round) {
  for (const Errand& errand : round->errands) {
    const bool known = std::any_of(round->clouds.begin(), round->clouds.end(),
                                   [&](const auto& one) { return one.first == errand.cloud; });
    if (known || errand.change.empty()) continue;
    auto opened = co_await context.open_cloud(context.paths, errand.cloud);
    round->clouds.emplace_back(errand.cloud, std::move(opened));
  }
}

}  // namespace

base::Task<std::vector<GuestVisit>> VisitNodes(Context context, core::Guest guest,
                                               SliceHolders holders) {
  const auto executor = context.loop->get_executor();
  const auto round = std::make_shared<VisitRound>();
  for (const core::Job& job : holders.jobs) {
    if (Concerns(job, guest)) AddErrands(job, guest, round->errands);
  }
  co_await OpenClouds(std::move(context), round);
  const base::CancelScope scope;
  for (int i = 0; i < kNodesAtOnce; ++i) {
    ++round->runners;
    base::Spawn(executor, scope, RunInTurn(round));
  }
  while (round->runners > 0) co_await round->ended.Wait();
  std::vector<GuestVisit> visits;
  for (Errand& errand : round->errands) visits.push_back(std::move(errand.visit));
  for (const UnreadJob& job : holders.unreadable) {
    const bool concerns = core::HasLeft(guest, job.id) || core::IsLetIn(guest, job.id, job.name);
    if (concerns) visits.push_back(RowOfUnread(job));
  }
  co_return visits;
}

}  // namespace jobman::client
