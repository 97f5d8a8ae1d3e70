#pragma once

#include <cstddef>
#include <string>

#include "config/reader.hpp"

namespace jobman::config {

/// What a file means that cannot be read.
enum class Missing {
  kIsWrong,
  kMayCome,  ///< `config check` warns; only `create` needs it
};

/// The value of a key that is either a text of several lines, or the name of a file with such a
/// text: the text, with a line break somewhere, so that it is not taken for a name when the
/// resolved job is read again. Reports a file that cannot be read, is empty or has a NUL byte.
std::string ReadNamedText(Reader& reader, const std::string& path, const std::string& text,
                          std::size_t longest, const std::string& hint,
                          Missing rule = Missing::kIsWrong);

}  // namespace jobman::config
