#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "jobman/base/files.hpp"

namespace jobman::client {

/// Whether a line, given without its end, is one of those that are looked for.
using LineTest = std::function<bool(std::string_view line)>;

/// Where the last `lines` lines of the file that fit begin, of those from `from` on. If there are
/// fewer, where the first of them does; without any, the end, or the last line if it is not
/// finished there. Searches from the end as far back as it has to, in little memory; what a long
/// log has lost is passed over. A missing file is empty.
std::int64_t LastFittingFrom(const base::Path& path, std::int64_t lines, std::int64_t from,
                             const LineTest& fits);

}  // namespace jobman::client
