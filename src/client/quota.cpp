#include "jobman/client/quota.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "client/quota_holders.hpp"
#include "client/quota_rows.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/regions.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using Limits = std::vector<ports::TpuLimit>;

/// So many regions are asked; a project has quota in a few.
constexpr std::size_t kMostRegions = 16;
constexpr const char* kMayLookAtQuota =
    "to see it: the role roles/serviceusage.serviceUsageViewer or roles/compute.viewer, and the "
    "Service Usage API enabled: ";
constexpr const char* kMayLookAtAddresses =
    "to see it: the role roles/compute.viewer, and the Compute Engine API enabled: ";

std::string EnableLink(const std::string& service, const std::string& project) {
  return "https://console.cloud.google.com/apis/library/" + service + "?project=" + project;
}

/// With what the user can do about it.
base::Error WithCureIfForbidden(base::Error error, const std::string& cure) {
  if (error.hint.empty() && error.code == base::Code::kPermissionDenied) error.hint = cure;
  return error;
}

base::Error Without(const std::string& what) {
  return {.code = base::Code::kUnimplemented, .message = "this cloud has no " + what};
}

Task<Result<Limits>> FetchLimits(Context context, QuotaQuery query) {
  if (!context.open_quotas) co_return Without("Service Usage");
  JM_CO_ASSIGN_OR_RETURN(const auto api,
                         context.open_quotas(context.loop->get_executor(), query.cloud));
  if (!api) co_return Without("Service Usage");
  auto limits = co_await api->TpuLimits(query.project);
  if (limits.ok()) co_return limits;
  const std::string link = EnableLink("serviceusage.googleapis.com", query.project);
  co_return WithCureIfForbidden(limits.error(), kMayLookAtQuota + link);
}

std::vector<std::string> RegionsToAsk(const QuotaQuery& query, const std::vector<QuotaRow>& rows) {
  std::set<std::string> regions;
  for (const std::string& zone : query.zones) regions.insert(core::RegionOf(zone));
  for (const QuotaRow& row : rows) {
    const bool zone = row.limit.scope == ports::TpuLimit::Scope::kZone;
    const std::string& place = row.limit.location;
    if (query.zones.empty() && !place.empty()) regions.insert(zone ? core::RegionOf(place) : place);
  }
  std::vector<std::string> chosen(regions.begin(), regions.end());
  chosen.resize(std::min(chosen.size(), kMostRegions));
  return chosen;
}

/// What the coroutines that ask for addresses share.
struct AddressLook {
  std::shared_ptr<ports::ProjectApi> api = {};
  std::string project = {};
  std::vector<AddressRow> rows = {};
  std::size_t asking = 0;
  base::Waiters ended = {};
};

Task<Result<std::vector<ports::RegionQuota>>> FetchRegion(std::shared_ptr<AddressLook> look,
                                                          std::string region) {
  co_return co_await look->api->Quotas(look->project, std::move(region));
}

Task<void> AskRegion(std::shared_ptr<AddressLook> look, std::size_t row) {
  auto asked = FetchRegion(look, look->rows[row].region);
  std::string what = "Compute Engine";
  const auto quotas = co_await base::WithTimeout(std::move(asked), kQuotaAnswer, std::move(what));
  if (!quotas.ok()) {
    const std::string link = EnableLink("compute.googleapis.com", look->project);
    look->rows[row].refused = WithCureIfForbidden(quotas.error(), kMayLookAtAddresses + link);
  } else {
    for (const ports::RegionQuota& quota : *quotas)
      if (quota.metric == "IN_USE_ADDRESSES") look->rows[row].quota = quota;
  }
  --look->asking;
  look->ended.WakeAll();
}

/// A cloud without Compute Engine has no rows.
Task<std::vector<AddressRow>> AskAddresses(Context context, QuotaQuery query,
                                           std::vector<std::string> regions) {
  const auto look = std::make_shared<AddressLook>();
  look->project = query.project;
  if (!context.open_projects) co_return look->rows;
  auto api = context.open_projects(context.loop->get_executor(), query.cloud);
  if (api.ok() && !*api) co_return look->rows;
  for (std::string& region : regions) {
    look->rows.push_back({.region = std::move(region)});
    if (!api.ok()) look->rows.back().refused = api.error();
  }
  if (!api.ok()) co_return look->rows;
  look->api = *std::move(api);
  look->asking = look->rows.size();
  const base::CancelScope scope;
  for (std::size_t i = 0; i < look->rows.size(); ++i)
    base::Spawn(context.loop->get_executor(), scope, AskRegion(look, i));
  while (look->asking > 0) co_await look->ended.Wait();
  co_return look->rows;
}

}  // namespace

Task<QuotaAnswer> AskQuota(Context context, QuotaQuery query) {
  using namespace asio::experimental::awaitable_operators;
  std::string service = "Service Usage";
  std::string cloud = "the Cloud TPU API";
  auto fetching = FetchLimits(context, query);
  auto listing = FetchHolders(context, query);
  auto asked = base::WithTimeout(std::move(fetching), kQuotaAnswer, std::move(service));
  auto listed = base::WithTimeout(std::move(listing), kQuotaAnswer, std::move(cloud));
  const auto both = co_await (std::move(asked) && std::move(listed));
  const auto& limits = std::get<0>(both);
  const auto& holders = std::get<1>(both);
  QuotaAnswer answer;
  QuotaSeen seen;
  if (limits.ok()) seen.limits = *limits;
  if (!limits.ok()) answer.no_limits = limits.error();
  if (holders.ok()) seen.holders = *holders;
  if (!holders.ok()) answer.no_nodes = holders.error();
  QuotaRows made = MakeQuotaRows(seen, query);
  answer.tpus = std::move(made.rows);
  answer.left_out = made.left_out;
  if (query.addresses) {
    std::vector<std::string> regions = RegionsToAsk(query, answer.tpus);
    answer.addresses = co_await AskAddresses(context, query, std::move(regions));
  }
  co_return answer;
}

}  // namespace jobman::client
