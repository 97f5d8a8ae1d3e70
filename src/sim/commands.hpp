#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// An order to a simulator that serves: POST /sim/ORDER with the body.
struct Command {
  std::string order = {};
  Json body = Json::object();
};

/// Adds the commands by which things go wrong, or right again; those that are given on the command
/// line are put into `given`, which must outlive the parsing.
void AddCommands(CLI::App& app, std::vector<Command>& given);
/// "preempt t1 --notice 30s": a command as on the command line.
base::Result<std::vector<Command>> ParseCommands(const std::string& line);

/// The body of POST /sim/script for the text of a script: a line for each event, "T COMMAND ARGS",
/// T from the start on; # begins a comment. An error names file and line.
base::Result<Json> ScriptBody(const std::string& file, const std::string& text);

}  // namespace jobman::sim
