// What `doctor` asks the cloud: whether it knows the user, the project and the zone.
#include <fmt/format.h>

#include <algorithm>

#include "client/doctor_parts.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/ownership.hpp"

namespace jobman::client {
namespace {

constexpr base::Duration kClockOdd = std::chrono::minutes{1};
constexpr base::Duration kClockWrong = std::chrono::minutes{5};
constexpr const char* kLogIn = "gcloud auth application-default login; docs/guide/credentials.md";
constexpr const char* kSetClock = "set the clock: timedatectl set-ntp true";
constexpr const char* kReach =
    "is there a network, and does a proxy have to be named (HTTPS_PROXY)?";

/// A key that is deleted signs its tokens still, and the API refuses them: elsewhere the hint of
/// that is to ask doctor.
Finding ApiFailed(const std::string& name, base::Error error) {
  const bool refused = error.code == base::Code::kUnauthenticated;
  if (refused && error.reason == base::Reason::kNone) error.hint.clear();
  return HasFailed(name, std::move(error), refused ? kLogIn : kReach);
}

std::string ServerOf(const core::CloudSpec& cloud) {
  const std::string endpoint = cloud.endpoint.empty() ? core::kDefaultEndpoint : cloud.endpoint;
  const auto url = base::ParseUrl(endpoint);
  return url.ok() ? url->host : endpoint;
}

/// "12s behind the server's", "2m ahead of the server's".
std::string OffsetText(base::Duration ahead) {
  const std::string size = base::FormatDuration(ahead < base::Duration{} ? -ahead : ahead);
  return size + (ahead < base::Duration{} ? " behind" : " ahead of") + " the server's";
}

Finding JudgeClock(const std::string& name, base::Duration ahead, const std::string& server) {
  const base::Duration off = ahead < base::Duration{} ? -ahead : ahead;
  const std::string text = "this machine's clock is " + OffsetText(ahead) + " (" + server + ")";
  if (off <= kClockOdd) return IsFine(name, server + " answers, and the clocks agree");
  if (off <= kClockWrong) return IsOdd(name, text, kSetClock);
  base::Error wrong{.code = base::Code::kFailedPrecondition, .message = text, .hint = kSetClock};
  wrong.message += ": tokens look expired, or not valid yet";
  return HasFailed(name, std::move(wrong));
}

/// What is in the zone.
base::Task<base::Result<std::vector<core::FoundSlice>>> SlicesIn(Context context,
                                                                 core::CloudSpec cloud,
                                                                 core::Place place) {
  JM_CO_ASSIGN_OR_RETURN(const CloudClient client,
                         co_await context.open_cloud(context.paths, cloud));
  JM_CO_ASSIGN_OR_RETURN(const auto nodes, co_await client.slices->ListNodes(place));
  JM_CO_ASSIGN_OR_RETURN(const auto queued, co_await client.slices->ListQueued(place));
  co_return core::FindSlices(place, nodes, queued);
}

base::Task<base::Result<std::vector<std::string>>> ZonesOf(Context context, core::CloudSpec cloud,
                                                           std::string project) {
  JM_CO_ASSIGN_OR_RETURN(const CloudClient client,
                         co_await context.open_cloud(context.paths, cloud));
  co_return co_await client.catalog->Zones(std::move(project));
}

/// "2 zones: a, b"; of many `jobman zones` says more.
std::string ZonesText(const std::vector<std::string>& zones) {
  constexpr std::size_t kMostNames = 8;
  const std::string count = base::Plural(static_cast<std::int64_t>(zones.size()), "zone");
  if (zones.empty()) return count;
  return count + ": " +
         (zones.size() <= kMostNames ? base::Join(zones, ", ") : "jobman zones names them");
}

Finding LacksZone(const std::string& name, const core::Place& place,
                  const std::vector<std::string>& zones) {
  const auto nearest = base::Nearest(place.zone, zones);
  base::Error error{
      .code = base::Code::kNotFound,
      .message = "project " + place.project + " has no zone " + place.zone + " of Cloud TPU",
      .reason = base::Reason::kBadZone,
      .hint = "jobman zones shows zones and what they offer"};
  if (nearest) error.hint = "did you mean " + *nearest + "? " + error.hint;
  return HasFailed(name, std::move(error));
}

/// How many of them this store has asked for.
base::Task<std::int64_t> CountOurs(ports::Stores stores, std::vector<core::FoundSlice> slices) {
  if (stores.jobs == nullptr) co_return 0;
  const auto id = co_await stores.jobs->StoreId();
  if (!id.ok() || id->empty()) co_return 0;
  co_return std::count_if(slices.begin(), slices.end(), [&id](const core::FoundSlice& slice) {
    const auto label = slice.labels.find("jobman-store");
    return label != slice.labels.end() && label->second == *id;
  });
}

}  // namespace

base::Task<bool> AwaitLogin(CheckupPtr checkup) {
  while (!checkup->logged_in) co_await checkup->login_ended.Wait();
  co_return *checkup->logged_in;
}

base::Task<Finding> CheckCredentials(CheckupPtr checkup, std::string name) {
  base::Result<ports::LoginSeen> login = base::Internal("nobody knows how to log in");
  if (checkup->probes.log_in) {
    auto asked = checkup->probes.log_in(checkup->about.spec.cloud);
    std::string what = "getting an access token";
    login = co_await base::WithTimeout(std::move(asked), kCheckLimit, std::move(what));
  }
  checkup->logged_in = login.ok();
  checkup->login_ended.WakeAll();
  if (!login.ok()) co_return HasFailed(name, login.error(), kLogIn);
  std::string found = login->origin;
  if (!login->account.empty()) found += ", as " + login->account;
  if (login->open_file.empty()) co_return IsFine(name, found);
  co_return IsOdd(name, found + "; others may read " + login->open_file,
                  "chmod 600 " + base::ShellQuote(login->open_file));
}

base::Task<Finding> CheckProject(CheckupPtr checkup, std::string name) {
  const std::string& project = checkup->about.spec.tpu.project;
  if (!project.empty()) co_return IsFine(name, project + ", from " + checkup->about.project_from);
  base::Error none = base::InvalidArgument(
      "no project is named",
      "write tpu.project, set GOOGLE_CLOUD_PROJECT, or run: gcloud config set project ID");
  co_return HasFailed(name, std::move(none));
}

base::Task<Finding> CheckClock(CheckupPtr checkup, std::string name) {
  if (!checkup->probes.server_time) co_return IsSkipped(name, "the server cannot be asked");
  const std::string server = ServerOf(checkup->about.spec.cloud);
  auto asked = checkup->probes.server_time(checkup->about.spec.cloud);
  std::string what = server;
  const auto time = co_await base::WithTimeout(std::move(asked), kCheckLimit, std::move(what));
  if (time.ok()) co_return JudgeClock(name, checkup->context.Now() - *time, server);
  const bool answers = time.error().code == base::Code::kUnavailable &&
                       time.error().reason != base::Reason::kUnreachable;
  if (answers)
    co_return IsOdd(name, time.error().ToString(), "compare the clock yourself: date -u");
  co_return HasFailed(name, time.error(), kReach);
}

base::Task<Finding> CheckApi(CheckupPtr checkup, std::string name) {
  const Examination& about = checkup->about;
  const core::Place place{.project = about.spec.tpu.project, .zone = about.spec.tpu.zone};
  const bool logged_in = co_await AwaitLogin(checkup);
  if (!logged_in) co_return IsSkipped(name, "there is no access token, see credentials");
  if (place.project.empty()) co_return IsSkipped(name, "there is no project");
  if (!about.zone_known) co_return IsSkipped(name, "no zone is named: --zone, or a job file");
  std::string what = ServerOf(about.spec.cloud);
  auto asked = SlicesIn(checkup->context, about.spec.cloud, place);
  const auto slices = co_await base::WithTimeout(std::move(asked), kCheckLimit, std::move(what));
  if (!slices.ok()) co_return ApiFailed(name, slices.error());
  const std::int64_t ours = co_await CountOurs(checkup->context.stores, *slices);
  const auto all = static_cast<std::int64_t>(slices->size());
  const std::string count = all == 0 ? "no slices" : base::Plural(all, "slice");
  const std::string own = all == 0 ? "" : fmt::format(", {} of this store", ours);
  co_return IsFine(name, fmt::format("{} of {}: {}{}; they may be listed, creating is not tried",
                                     place.zone, place.project, count, own));
}

base::Task<Finding> CheckZone(CheckupPtr checkup, std::string name) {
  const Examination& about = checkup->about;
  const core::Place place{.project = about.spec.tpu.project, .zone = about.spec.tpu.zone};
  const bool logged_in = co_await AwaitLogin(checkup);
  if (!logged_in) co_return IsSkipped(name, "there is no access token, see credentials");
  if (place.project.empty()) co_return IsSkipped(name, "there is no project");
  std::string what = "the list of zones";
  auto asked = ZonesOf(checkup->context, about.spec.cloud, place.project);
  const auto zones = co_await base::WithTimeout(std::move(asked), kCheckLimit, std::move(what));
  if (!zones.ok()) co_return ApiFailed(name, zones.error());
  if (!about.zone_known) co_return IsFine(name, place.project + " may use " + ZonesText(*zones));
  const bool has_it = std::find(zones->begin(), zones->end(), place.zone) != zones->end();
  if (!has_it) co_return LacksZone(name, place, *zones);
  const std::string count = base::Plural(static_cast<std::int64_t>(zones->size()), "zone");
  co_return IsFine(name, place.zone + ", one of " + count + " of " + place.project);
}

}  // namespace jobman::client
