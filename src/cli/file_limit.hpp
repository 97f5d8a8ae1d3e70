#pragma once

#include <cstddef>
#include <string>

#include "cli/app.hpp"

namespace jobman::cli {

/// Before so many hosts are connected to at once: raises the limit of open files, and says so if
/// even the highest is too low for that. Then they are served in turns. kFailedPrecondition if it
/// is too low for one.
base::Status MakeRoomForHosts(App& app, std::size_t hosts);

/// The same for `what` needs all of them at once: kFailedPrecondition then. `without`: how to do
/// without it.
base::Status MakeRoomForAll(const std::string& what, const std::string& without, std::size_t hosts);

}  // namespace jobman::cli
