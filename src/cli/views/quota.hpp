#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/client/quota.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What a project may hold, and who holds what.
struct Quota {
  client::QuotaAnswer answer = {};
  std::string project = {};
};

/// "v5litepod serving", or the metric's own name if what it counts is not known.
std::string WhatIsCounted(const client::QuotaRow& row);
/// "us-central2-b", "37 other zones", "the project".
std::string WhereItCounts(const ports::TpuLimit& limit);
/// "000042, other-node": a job once, however many nodes it has.
std::string HoldersText(const std::vector<client::QuotaHolder>& holders);

/// A table, below it what the numbers are, and what is not known and why.
std::string RenderText(const Quota& view, const ui::Style& style);
/// What is counted where, of which there is more than nothing: "v4 spot us-central2-b".
std::string RenderQuiet(const Quota& view);
base::OrderedJson ToJson(const Quota& view);
/// A line for each row: metric, type, pricing, scope, location, limit, held, by, error. What is not
/// known is empty, and no limit is "unlimited"; addresses have the metric IN_USE_ADDRESSES.
std::string RenderCsv(const Quota& view);

}  // namespace jobman::cli::views
