#pragma once

#include <map>
#include <string>

#include "jobman/base/json.hpp"
#include "jobman/ports/billing_api.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What was billed, after credits.
struct Billing {
  ports::BillingQuestion question = {};
  ports::BillingAnswer answer = {};
};

/// The sum of each currency; none if there are more rows than were read.
std::map<std::string, double> TotalsOf(const Billing& view);

/// A line for each day and SKU or service, and the total of each currency, if all rows were read.
std::string RenderText(const Billing& view, const ui::Style& style);
/// The totals: "12.30 USD".
std::string RenderQuiet(const Billing& view);
base::OrderedJson ToJson(const Billing& view);
/// The lines without the totals: day, sku or service (not by day), cost, currency.
std::string RenderCsv(const Billing& view);

}  // namespace jobman::cli::views
