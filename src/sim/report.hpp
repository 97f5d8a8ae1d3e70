#pragma once

#include <string>

#include "sim/wire.hpp"

namespace jobman::sim {

/// What Simulator::Shutdown found, for people: what nobody deleted, or that nothing is left.
std::string LeakReport(const Json& report);
/// What /sim/status says, for people.
std::string StatusText(const Json& status);

}  // namespace jobman::sim
