#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/ui/text.hpp"

namespace jobman::ui {

/// A column of a table.
struct Column {
  std::string header = {};
  bool right = false;  ///< right-aligned, for numbers
  /// May be shortened when the table is too wide: 1 first, then 2, ...; 0: never.
  int flexible = 0;
  int drop = 0;         ///< left out if shortening is not enough: 1 first, then 2, ...; 0: never
  bool wraps = false;   ///< of the last column: goes on in the next line instead of being cut
  int enough = 0;       ///< columns that it keeps while there are others to leave out
  bool by_end = false;  ///< its end tells a cell from others: it is shortened at its beginning
};

/// A cell. Its text is cleaned, so that remote text cannot harm the terminal.
struct Cell {
  std::string text = {};
  Tone tone = Tone::kPlain;

  // Implicit, so that a row reads as a list of texts.
  Cell(std::string cell_text, Tone cell_tone = Tone::kPlain)
      : text(std::move(cell_text)), tone(cell_tone) {}
  Cell(const char* cell_text) : text(cell_text) {}
};

/// Aligned columns under a header (which is cleaned, too), two spaces apart, without trailing
/// spaces. If the table is wider than the style allows, columns are left out that cannot be saved
/// by shortening others; then its flexible columns are shortened in their order, the widest first,
/// none narrower than its header (at least 8 columns), and only if one that wraps has no more than
/// enough.
class Table {
 public:
  explicit Table(std::vector<Column> columns);
  /// Missing cells are empty, extra ones are dropped.
  void AddRow(std::vector<Cell> cells);
  /// A line below the last row that was added, from the second column on, with the width of the
  /// whole table; it is cleaned and cut likewise.
  void AddNote(Cell note);
  bool empty() const { return rows_.empty(); }
  /// Ends with a line break.
  std::string Render(const Style& style, bool with_header = true) const;

 private:
  void TakeText(std::string& text);
  std::vector<int> Widths() const;
  Table InAscii() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_ = {};
  std::map<std::size_t, Cell> notes_ = {};  ///< by the row they are below
  bool ascii_ = true;                       ///< all texts but the notes are
};

}  // namespace jobman::ui
