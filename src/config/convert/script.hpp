#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/convert/reports.hpp"
#include "config/diagnostics.hpp"

namespace jobman::config::convert {

/// A variable that another system gives to scripts, and what it is here.
struct TheirVariable {
  std::string_view name = {};
  std::string_view value = {};  ///< as a shell of the hosts writes it; empty: there is none
  std::string_view cure = {};   ///< without a value: what to use instead
};

/// The names in `script` that begin with `prefix`, each once, in their order: variables that it
/// uses, be it in the shell or in a program that it contains.
std::vector<std::string> NamesIn(std::string_view script, std::string_view prefix);

/// A script with its place in the description.
struct Script {
  std::string text = {};
  Position pos = {};
};

/// The script with these lines, each with its line break, at its head, but after "#!". Unchanged if
/// its first line names a program that is no shell.
std::string WithShellLines(const std::string& script, const std::string& lines);

/// The script with a line at its head for each of `known` that it uses and that is not in `given`:
/// "export SLURM_PROCID=$JOBMAN_HOST_INDEX". Others that begin with `prefix` are refused by name.
/// Only what is used is set, as libraries take such variables for a sign of the other system.
std::string WithTheirVariables(const Script& script, std::string_view prefix,
                               std::span<const TheirVariable> known,
                               const std::vector<std::string>& given, const Diagnostics& places,
                               Reports& reports);

}  // namespace jobman::config::convert
