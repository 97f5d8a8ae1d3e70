#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/schema/reply_view.hpp"
#include "sim/schema/violations.hpp"

namespace jobman::sim {

/// What the parameter `fields` asks for: "nodes(name,state),nextPageToken", "nodes/name".
struct Selection {
  std::map<std::string, Selection> fields = {};  ///< "*": each; none at all: everything
};

/// The selection, or what no field of the message matches.
std::optional<Selection> ReadSelection(const std::string& text, const std::string& message,
                                       const std::string& version, Violations& violations);
/// The selected part of a reply.
Json Selected(const Selection& selection, Json body);

}  // namespace jobman::sim
