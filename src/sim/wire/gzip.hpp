#pragma once

#include <optional>
#include <string>

namespace jobman::sim {

/// Whether an Accept-Encoding header allows gzip.
bool AcceptsGzip(const std::string& header);
/// The text in gzip's format; nothing if there is no memory for it.
std::optional<std::string> Gzip(const std::string& text);

}  // namespace jobman::sim
