#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::base {

std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view Trim(std::string_view text);
std::string ToLower(std::string_view text);
bool Contains(std::string_view text, std::string_view part);
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);
/// The whole text as a decimal number; nothing for signs, spaces, overflow or an empty text.
std::optional<std::int64_t> ParseNumber(std::string_view text);

/// The candidate nearest to `word` by edit distance, if near enough to be a typo.
std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);
/// Shell-like pattern with * and ?, over the whole text.
bool GlobMatch(std::string_view pattern, std::string_view text);

/// The compact form: {0,1,2,3,7} -> "0-3,7".
std::string FormatRanges(const std::vector<int>& sorted_numbers);
/// The same, unless it is longer than `most` characters: then its beginning and how many numbers
/// there are, "0,2,4,... (512)".
std::string ShortRanges(const std::vector<int>& sorted_numbers, std::size_t most);

/// The text, or its first `most` bytes and "..."; never splits a UTF-8 character.
std::string Shorten(std::string_view text, std::size_t most);

/// The text as a name of a file or folder, of 1 to 120 letters, digits and . _ - + = @ % that
/// begins with neither . nor -. Other characters become "%" and two hexadecimal digits; a text that
/// is too long is cut and gets "%-" and a hash. Different texts have different names.
std::string SafeFileName(std::string_view text);

/// "312 bytes", "4.2 MB": in powers of 1024.
std::string FormatBytes(std::int64_t bytes);

/// "1 host", "4 hosts".
std::string Plural(std::int64_t count, std::string_view singular);

}  // namespace jobman::base
