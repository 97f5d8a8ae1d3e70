#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace jobman::conformance {

/// What is wrong in a value of the parameter `fields`, "nextPageToken,items(name,a/b)", for replies
/// that are such a message; empty: nothing. Source: Google's documentation of partial responses.
std::string WrongSelection(const nlohmann::json& messages, const std::string& message,
                           const std::string& text);

}  // namespace jobman::conformance
