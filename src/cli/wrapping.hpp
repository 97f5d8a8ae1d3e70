#pragma once

#include <string>
#include <string_view>

namespace jobman::cli {

// Texts for a terminal of `width` columns; 0: as they are.

/// Where a line goes on whose text begins at the margin.
constexpr int kFurtherIn = 4;

/// ui::WrapFrom(), but a command that may be copied stays whole if it fits into a line, and a
/// number stays with the next word.
std::string WrapText(std::string_view text, int start, int indent, int width);

/// A message of whole lines. One that is too long goes on below its text, which may follow a blank
/// or "jobman: "; otherwise a bit further in. A quoted line of a job file is cut around the
/// caret below it instead, so that the caret stays below what it points at.
std::string WrapMessage(std::string_view text, int width);

/// Lines "key  text": a text goes on below itself, or is all below its key where there is little
/// room beside it. Other lines as in WrapMessage().
std::string WrapKeys(std::string_view text, int width);

}  // namespace jobman::cli
