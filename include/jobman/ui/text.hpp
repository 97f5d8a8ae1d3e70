#pragma once

#include <string>
#include <string_view>

namespace jobman::ui {

/// How text may look where it goes.
struct Style {
  int width = 0;        ///< columns; 0: no limit
  bool utf8 = false;    ///< characters beyond ASCII can be shown
  bool colour = false;  ///< escape sequences for colour are welcome
};

/// What a piece of text means; the colour follows from it.
enum class Tone {
  kPlain,
  kGood,  ///< it works, it worked
  kBad,   ///< it failed
  kBusy,  ///< it is on its way
  kDim,   ///< beside the point
};

/// The text in the colour of its meaning, or unchanged where colour is not welcome.
std::string Paint(Tone tone, std::string_view text, const Style& style);

/// One line that cannot do harm to a terminal: line breaks and tabs become blanks, other control
/// characters and invalid UTF-8 become '?', and so does everything beyond ASCII without UTF-8.
std::string Clean(std::string_view text, bool utf8);
/// Clean() for each line, which is cut at 2,000 bytes; line breaks stay. For what others wrote and
/// jobman passes on: errors of a service, names of a file. Letters stay whatever the locale.
std::string CleanLines(std::string_view text);

/// Columns that a terminal needs for a cleaned text: 0 for combining marks, 2 for wide characters.
int DisplayWidth(std::string_view text);

/// The text in lines of at most `width` columns, broken between words, for a place that begins at
/// column `indent`: so do the lines after the first. A longer word keeps its line; width 0 is none.
std::string Wrap(std::string_view text, int indent, int width);

/// At most `width` columns of a cleaned text, ended by "…" (or "...") where something was cut off.
std::string Truncate(std::string_view text, int width, bool utf8);

}  // namespace jobman::ui
