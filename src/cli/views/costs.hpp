#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/job_costs.hpp"
#include "jobman/core/prices.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What jobs have cost at list price.
struct Costs {
  enum class By { kJob, kUser, kDay, kZone };
  By by = By::kJob;
  std::vector<client::HeldCost> parts = {};
  std::optional<core::TimePoint> since = {};
  std::vector<core::JobId> simulated = {};  ///< left out, as nobody pays for them
  std::vector<core::PriceSource> price_lists = core::BuiltInPrices().sources;
};

/// A line for each job, user, day (UTC) or zone, and the total; below them what they leave out. A
/// price that is not known is "-", and a sum without it ends in "+". If any price is another than
/// that on demand, so are what the same would cost on demand, and how much less it was, in percent.
std::string RenderText(const Costs& view, const ui::Style& style);
/// The total, as "12.30"; "-" if no price is known.
std::string RenderQuiet(const Costs& view);
base::OrderedJson ToJson(const Costs& view);
/// The lines without the total: numbers as they are, empty if not known.
std::string RenderCsv(const Costs& view);

}  // namespace jobman::cli::views
