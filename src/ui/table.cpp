#include "jobman/ui/table.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "jobman/base/clean.hpp"

namespace jobman::ui {
namespace {

constexpr int kGap = 2;
constexpr int kMinColumnWidth = 8;

std::string Spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

/// `ascii`: it is known to be printable ASCII, as most texts are.
int CellWidth(std::string_view text, bool ascii) {
  return ascii ? static_cast<int>(text.size()) : DisplayWidth(text);
}

/// What is shown: columns by their place in a row, each with its width.
struct Layout {
  std::vector<Column> columns = {};
  std::vector<std::size_t> places = {};
  std::vector<int> widths = {};
  bool ascii = false;  ///< all texts are, see CellWidth()
};

// Most texts fit and are not painted: they are not copied.
void AppendCell(std::string& line, const Cell& cell, const Layout& layout, std::size_t index,
                const Style& style) {
  const Column& column = layout.columns[index];
  const int width = layout.widths[index];
  std::string_view text = cell.text;
  int taken = CellWidth(text, layout.ascii);
  std::string cut;
  if (taken > width) {
    cut =
        column.by_end ? TruncateFront(text, width, style.utf8) : Truncate(text, width, style.utf8);
    text = cut;
    taken = DisplayWidth(text);
  }
  const auto padding = static_cast<std::size_t>(std::max(width - taken, 0));
  if (column.right) line.append(padding, ' ');
  if (style.colour && cell.tone != Tone::kPlain)
    line += Paint(cell.tone, text, style);
  else
    line += text;
  if (!column.right) line.append(padding, ' ');
}

std::string RenderNote(const Cell& note, int indent, const Style& style) {
  const std::string text = Clean(note.text, style.utf8);
  const int room = style.width - indent;
  return Spaces(indent) +
         Paint(note.tone, style.width > 0 ? Truncate(text, room, style.utf8) : text, style) + "\n";
}

int LeastWidth(const Column& column) {
  return std::max(kMinColumnWidth, DisplayWidth(column.header));
}

int Total(const std::vector<int>& widths) {
  const int gaps = kGap * (static_cast<int>(widths.size()) - 1);
  return std::accumulate(widths.begin(), widths.end(), gaps);
}

/// The next column to shorten by one: of the first in order the widest.
std::optional<std::size_t> NextToShrink(const std::vector<int>& widths,
                                        const std::vector<Column>& columns) {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (columns[i].flexible == 0 || widths[i] <= LeastWidth(columns[i])) continue;
    const auto order = [&](std::size_t at) { return std::pair(columns[at].flexible, -widths[at]); };
    if (!next || order(i) < order(*next)) next = i;
  }
  return next;
}

/// What the column needs at least to stay of use, of `width`.
int Enough(const Column& column, int width) {
  if (column.flexible == 0 && !column.wraps) return width;
  return std::min(width, std::max(column.enough, LeastWidth(column)));
}

void Shrink(std::vector<int>& widths, const std::vector<Column>& columns, int limit) {
  // What wraps goes on below.
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (columns[i].wraps) widths[i] = Enough(columns[i], widths[i]);
  for (int surplus = Total(widths) - limit; surplus > 0; --surplus) {
    const auto next = NextToShrink(widths, columns);
    if (!next) return;
    --widths[*next];
  }
}

/// Leaves out columns, in their order, until the rest can be shortened to `limit`.
void Drop(Layout& layout, int limit) {
  for (;;) {
    std::vector<int> least = layout.widths;
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = Enough(layout.columns[i], least[i]);
    if (Total(least) <= limit) return;
    const auto first = std::min_element(
        layout.columns.begin(), layout.columns.end(), [](const Column& a, const Column& b) {
          // Columns that are never dropped come last.
          return (a.drop > 0 ? a.drop : INT_MAX) < (b.drop > 0 ? b.drop : INT_MAX);
        });
    if (first == layout.columns.end() || first->drop == 0) return;
    const auto index = first - layout.columns.begin();
    layout.columns.erase(first);
    layout.places.erase(layout.places.begin() + index);
    layout.widths.erase(layout.widths.begin() + index);
  }
}

/// A cell that wraps goes on below, in its column. In a narrow terminal that would be a column of
/// single words: there the terminal wraps it.
std::string WrappedCell(const Cell& cell, const std::vector<int>& widths, std::size_t column,
                        const Style& style) {
  const int indent = std::accumulate(widths.begin(), widths.begin() + static_cast<int>(column),
                                     kGap * static_cast<int>(column));
  const bool narrow = style.width - indent < kMinColumnWidth * 2;
  return Paint(cell.tone, narrow ? cell.text : Wrap(cell.text, indent, style.width), style);
}

void AppendRow(std::string& text, const std::vector<Cell>& row, const Layout& layout,
               const Style& style) {
  const auto cell = [&](std::size_t i) -> const Cell& { return row[layout.places[i]]; };
  // Trailing empty cells would only add spaces.
  std::size_t used = layout.places.size();
  while (used > 0 && cell(used - 1).text.empty()) --used;
  const std::size_t begin = text.size();
  for (std::size_t i = 0; i < used; ++i) {
    if (i > 0) text.append(kGap, ' ');
    if (layout.columns[i].wraps && style.width > 0)
      text += WrappedCell(cell(i), layout.widths, i, style);
    else
      AppendCell(text, cell(i), layout, i, style);
  }
  while (text.size() > begin && text.back() == ' ') text.pop_back();
  text += '\n';
}

/// For a terminal without UTF-8.
void MakeAscii(std::string& text) {
  if (!base::IsPrintableAscii(text)) text = Clean(text, false);
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) TakeText(column.header);
}

// Most texts are plain and stay where they are.
void Table::TakeText(std::string& text) {
  if (base::IsPrintableAscii(text)) return;
  text = Clean(text, true);
  ascii_ = ascii_ && base::IsPrintableAscii(text);
}

void Table::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell{""});
  for (Cell& cell : cells) TakeText(cell.text);
  rows_.push_back(std::move(cells));
}

void Table::AddNote(Cell note) {
  if (!rows_.empty()) notes_.insert_or_assign(rows_.size() - 1, std::move(note));
}

std::vector<int> Table::Widths() const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = CellWidth(columns_[i].header, ascii_);
    for (const auto& row : rows_) width = std::max(width, CellWidth(row[i].text, ascii_));
    widths.push_back(width);
  }
  return widths;
}

Table Table::InAscii() const {
  Table table = *this;
  for (Column& column : table.columns_) MakeAscii(column.header);
  for (auto& row : table.rows_)
    for (Cell& cell : row) MakeAscii(cell.text);
  table.ascii_ = true;
  return table;
}

std::string Table::Render(const Style& style, bool with_header) const {
  if (!style.utf8 && !ascii_) return InAscii().Render(style, with_header);
  Layout layout{.columns = columns_, .places = {}, .widths = Widths(), .ascii = ascii_};
  layout.places.resize(columns_.size());
  std::iota(layout.places.begin(), layout.places.end(), std::size_t{0});
  if (style.width > 0) Drop(layout, style.width);
  if (style.width > 0) Shrink(layout.widths, layout.columns, style.width);
  std::vector<Cell> header;
  for (const Column& column : columns_) header.emplace_back(column.header, Tone::kDim);
  std::string text;
  // Room for all rows, as a text that grows is copied; colours come on top.
  text.reserve((rows_.size() + 1) * static_cast<std::size_t>(Total(layout.widths) + 1));
  if (with_header) AppendRow(text, header, layout, style);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    AppendRow(text, rows_[i], layout, style);
    const auto note = notes_.find(i);
    if (note != notes_.end()) text += RenderNote(note->second, layout.widths.front() + kGap, style);
  }
  return text;
}

}  // namespace jobman::ui
