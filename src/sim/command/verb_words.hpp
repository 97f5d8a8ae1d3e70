#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/faults/orders.hpp"

namespace jobman::sim {

/// Adds every verb as a command. Those on the command line are put into `given`, which must outlive
/// the parsing.
void AddVerbs(CLI::App& app, std::vector<Order>& given);
/// "preempt t1 --notice 30s", as on the command line. `set` gives an order for each setting.
base::Result<std::vector<Order>> ParseOrders(const std::string& line);

/// The body of POST /sim/script for the text of a script: lines of "T VERB ..", T from the start
/// on; # begins a comment. An error names file and line.
base::Result<Json> ParseScript(const std::string& file, const std::string& text);

}  // namespace jobman::sim
