#pragma once

#include <string>
#include <string_view>

namespace jobman::ui {

/// What the destination of a text can show.
struct Style {
  int width = 0;        ///< columns; 0: no limit
  bool utf8 = false;    ///< characters beyond ASCII can be shown
  bool colour = false;  ///< escape sequences for colour are allowed
};

/// The meaning of a piece of text, which decides its colour.
enum class Tone {
  kPlain,
  kGood,   ///< it works or worked
  kBad,    ///< it failed
  kBusy,   ///< it waits for something
  kMoves,  ///< it is being done
  kDim,    ///< less important
};

/// The text in the colour of its meaning; unchanged without colour.
std::string Paint(Tone tone, std::string_view text, const Style& style);

/// The text in a colour that tells the host from its neighbours; none of them means failure.
std::string PaintHost(int host, std::string_view text, const Style& style);

/// One line that cannot harm a terminal: line breaks and tabs become spaces, other control
/// characters and invalid UTF-8 become '?', and without UTF-8 so does everything beyond ASCII.
std::string Clean(std::string_view text, bool utf8);
/// Clean() for each line, cut at 2,000 bytes; line breaks stay. For text that jobman only passes
/// on: errors of a service, file names. Keeps letters beyond ASCII whatever the locale.
std::string CleanLines(std::string_view text);

/// Text of several lines as a terminal may show it: line breaks and tabs stay, with `colour` what
/// Paint() writes, too; other control characters and invalid UTF-8 become '?'.
std::string CleanText(std::string_view text, bool colour);

/// Columns that a terminal needs for a cleaned text: 0 for combining marks, 2 for wide characters.
int DisplayWidth(std::string_view text);

/// Wraps the text at spaces to lines of at most `width` columns, starting at column `indent`, also
/// after the first line. A longer word gets its own line; width 0: no wrapping.
std::string Wrap(std::string_view text, int indent, int width);
/// The same with the first line from column `start` on.
std::string WrapFrom(std::string_view text, int start, int indent, int width);

/// At most `width` columns of a cleaned text, ending in "…" (or "...") if shortened.
std::string Truncate(std::string_view text, int width, bool utf8);
/// The same of its end, beginning with the mark.
std::string TruncateFront(std::string_view text, int width, bool utf8);

}  // namespace jobman::ui
