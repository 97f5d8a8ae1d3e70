#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/top.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {

/// The table of `top`, without rows. Columns of what no host has are left out.
struct TopTable {
  ui::Table table;
  bool duty = false;
  bool chips = false;
  bool wide = false;
};
/// For hosts that have a look.
TopTable TopTableFor(const std::vector<const client::TopHost*>& hosts, bool wide);
/// How many rows the host takes.
int TopRowsOf(const client::TopHost& host, bool wide);
/// Adds them.
void AddTopHost(TopTable& table, const client::TopHost& host);

/// "97%"; "-" if it is not known.
std::string PercentText(const std::optional<double>& percent);
/// "0.52", "12.5", "240"; "-" if it is not known.
std::string LoadText(const std::optional<double>& load);
/// "12.3/397 GB", in the unit of the total; "-" if it is not known.
std::string AmountText(const std::optional<remote::Amount>& amount);
/// How much of it is used, in percent.
std::optional<double> SharePercent(const std::optional<remote::Amount>& amount);

}  // namespace jobman::cli::views
