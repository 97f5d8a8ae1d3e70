#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/faults/orders.hpp"

namespace jobman::sim {

/// For options that take a time such as 30s or 250ms, with check().
CLI::Validator IsDuration();

/// Adds every verb as a command. Verbs on the command line are added to `given`, which must outlive
/// the parsing.
void AddVerbs(CLI::App& app, std::vector<Order>& given);
/// "preempt t1 --notice 30s", as on the command line. `set` gives one order per setting.
base::Result<std::vector<Order>> ParseOrders(const std::string& line);

/// The body of POST /sim/script for the text of a script: lines of "T VERB ..", with T from the
/// start; # begins a comment. Errors name file and line.
base::Result<Json> ParseScript(const std::string& file, const std::string& text);

}  // namespace jobman::sim
