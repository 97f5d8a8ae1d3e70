#pragma once

#include <string>
#include <string_view>

namespace jobman::sim {

/// The columns of the terminal that the file descriptor writes to; 0 if it is none. Never fails.
int ColumnsOf(int fd);

/// Whole lines for a screen of `columns` columns, so that the terminal cuts no word: a line that is
/// too long goes on below its text, or below its key where there is little room beside it. One that
/// begins at the margin goes on a bit further in. A word that is longer than the screen stays
/// whole. 0 columns: as it is. Characters beyond ASCII count as the bytes that they have.
std::string FitLines(std::string_view text, int columns);

}  // namespace jobman::sim
