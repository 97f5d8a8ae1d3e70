// Quotas as JSON and as comma-separated values.
#include <fmt/format.h>

#include "cli/views/error.hpp"
#include "cli/views/quota.hpp"
#include "jobman/ui/csv.hpp"

namespace jobman::cli::views {
namespace {

using base::OrderedJson;
using ports::TpuLimit;

std::string ScopeWord(TpuLimit::Scope scope) {
  switch (scope) {
    case TpuLimit::Scope::kProject:
      return "project";
    case TpuLimit::Scope::kRegion:
      return "region";
    case TpuLimit::Scope::kZone:
      return "zone";
  }
  return {};
}

OrderedJson TextOrNull(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

OrderedJson CountOrNull(const std::optional<std::int64_t>& number) {
  return number ? OrderedJson(*number) : OrderedJson();
}

OrderedJson ErrorOrNull(const std::optional<base::Error>& error) {
  return error ? views::ToJson(*error) : OrderedJson();
}

OrderedJson HolderJson(const client::QuotaHolder& holder) {
  return {{"node", holder.node},
          {"zone", holder.zone},
          {"type", holder.type},
          {"job", holder.job ? OrderedJson(holder.job->value) : OrderedJson()},
          {"units", holder.units > 0 ? OrderedJson(holder.units) : OrderedJson()}};
}

OrderedJson QuotaRowJson(const client::QuotaRow& row) {
  OrderedJson holders = OrderedJson::array();
  for (const client::QuotaHolder& holder : row.holders) holders.push_back(HolderJson(holder));
  const std::string pricing =
      row.counts ? std::string(core::PricingName(row.counts->pricing)) : std::string();
  return {{"metric", TextOrNull(row.limit.metric)},
          {"name", TextOrNull(row.limit.name)},
          {"type", row.counts ? OrderedJson(core::TextOf(*row.counts)) : OrderedJson()},
          {"pricing", TextOrNull(pricing)},
          {"scope", ScopeWord(row.limit.scope)},
          {"location", TextOrNull(row.limit.location)},
          {"locations", row.limit.locations},
          {"limit", CountOrNull(row.limit.limit)},
          {"unlimited", row.limit.unlimited},
          {"held", CountOrNull(row.held)},
          {"holders", std::move(holders)}};
}

OrderedJson AddressJson(const client::AddressRow& row) {
  return {{"region", row.region},
          {"limit", row.quota ? OrderedJson(row.quota->limit) : OrderedJson()},
          {"used", row.quota ? OrderedJson(row.quota->usage) : OrderedJson()},
          {"error", ErrorOrNull(row.refused)}};
}

std::string CsvCount(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

std::string CsvOfRow(const client::QuotaRow& row) {
  const std::string type = row.counts ? core::TextOf(*row.counts) : std::string();
  const std::string pricing =
      row.counts ? std::string(core::PricingName(row.counts->pricing)) : std::string();
  const std::string limit = row.limit.unlimited ? "unlimited" : CsvCount(row.limit.limit);
  return ui::CsvLine({row.limit.metric, type, pricing, ScopeWord(row.limit.scope),
                      row.limit.location, limit, CsvCount(row.held), HoldersText(row.holders), ""});
}

std::string CsvOfAddresses(const client::AddressRow& row) {
  const std::string limit = row.quota ? fmt::format("{:.0f}", row.quota->limit) : std::string();
  const std::string used = row.quota ? fmt::format("{:.0f}", row.quota->usage) : std::string();
  const std::string error = row.refused ? row.refused->message : std::string();
  return ui::CsvLine(
      {"IN_USE_ADDRESSES", "addresses", "", "region", row.region, limit, used, "", error});
}

/// A line for what is not known as a whole.
std::string CsvOfError(const std::optional<base::Error>& error) {
  return error ? ui::CsvLine({"", "", "", "", "", "", "", "", error->message}) : std::string();
}

}  // namespace

OrderedJson ToJson(const Quota& view) {
  OrderedJson quotas = OrderedJson::array();
  for (const client::QuotaRow& row : view.answer.tpus) quotas.push_back(QuotaRowJson(row));
  OrderedJson addresses = OrderedJson::array();
  for (const client::AddressRow& row : view.answer.addresses) addresses.push_back(AddressJson(row));
  return {{"project", view.project},
          {"quotas", std::move(quotas)},
          {"addresses", std::move(addresses)},
          {"left_out", view.answer.left_out},
          {"limits_error", ErrorOrNull(view.answer.no_limits)},
          {"held_error", ErrorOrNull(view.answer.no_nodes)}};
}

std::string RenderCsv(const Quota& view) {
  std::string text = ui::CsvLine(
      {"metric", "type", "pricing", "scope", "location", "limit", "held", "by", "error"});
  for (const client::QuotaRow& row : view.answer.tpus) text += CsvOfRow(row);
  for (const client::AddressRow& row : view.answer.addresses) text += CsvOfAddresses(row);
  return text + CsvOfError(view.answer.no_limits) + CsvOfError(view.answer.no_nodes);
}

}  // namespace jobman::cli::views
