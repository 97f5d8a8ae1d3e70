#pragma once

#include <string>
#include <vector>

namespace jobman::ui {

/// A record of comma-separated values, with a line break at its end. Fields with a comma, a quote
/// or a line break are quoted as in RFC 4180; the line ends with LF, as all output of jobman, where
/// that RFC has CRLF.
std::string CsvLine(const std::vector<std::string>& fields);

}  // namespace jobman::ui
