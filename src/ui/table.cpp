#include "jobman/ui/table.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <optional>
#include <utility>

namespace jobman::ui {
namespace {

constexpr int kGap = 2;
constexpr int kMinColumnWidth = 8;

std::string Spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

void AppendCell(std::string& line, const Cell& cell, const Column& column, int width,
                const Style& style) {
  const std::string text = column.by_end ? TruncateFront(cell.text, width, style.utf8)
                                         : Truncate(cell.text, width, style.utf8);
  const int padding = width - DisplayWidth(text);
  if (column.right) line += Spaces(padding);
  line += Paint(cell.tone, text, style);
  if (!column.right) line += Spaces(padding);
}

std::string RenderRow(const std::vector<Cell>& row, const std::vector<Column>& columns,
                      const std::vector<int>& widths, const Style& style) {
  // Trailing empty cells would only add spaces.
  std::size_t used = row.size();
  while (used > 0 && row[used - 1].text.empty()) --used;
  std::string line;
  for (std::size_t i = 0; i < used; ++i) {
    if (i > 0) line += Spaces(kGap);
    if (columns[i].wraps && style.width > 0) {
      const int indent = std::accumulate(widths.begin(), widths.begin() + static_cast<int>(i),
                                         kGap * static_cast<int>(i));
      // In a narrow terminal it is better to be wrapped by that than to be a column of words.
      const bool narrow = style.width - indent < kMinColumnWidth * 2;
      line +=
          Paint(row[i].tone, narrow ? row[i].text : Wrap(row[i].text, indent, style.width), style);
      continue;
    }
    AppendCell(line, row[i], columns[i], widths[i], style);
  }
  const std::size_t end = line.find_last_not_of(' ');
  line.resize(end == std::string::npos ? 0 : end + 1);
  return line + "\n";
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

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell{""});
  rows_.push_back(std::move(cells));
}

void Table::AddNote(Cell note) {
  if (!rows_.empty()) notes_.insert_or_assign(rows_.size() - 1, std::move(note));
}

std::vector<int> Table::Widths() const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = DisplayWidth(columns_[i].header);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i].text));
    widths.push_back(width);
  }
  return widths;
}

// Leaves out columns, in their order, until the rest can be shortened to `limit`.
void Table::Drop(int limit) {
  for (;;) {
    std::vector<int> least = Widths();
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = Enough(columns_[i], least[i]);
    if (Total(least) <= limit) return;
    const auto first =
        std::min_element(columns_.begin(), columns_.end(), [](const Column& a, const Column& b) {
          // Columns that are never dropped come last.
          return (a.drop > 0 ? a.drop : INT_MAX) < (b.drop > 0 ? b.drop : INT_MAX);
        });
    if (first == columns_.end() || first->drop == 0) return;
    const auto index = first - columns_.begin();
    columns_.erase(first);
    for (auto& row : rows_) row.erase(row.begin() + index);
  }
}

std::string Table::Render(const Style& style, bool with_header) const {
  Table table = *this;
  for (Column& column : table.columns_) column.header = Clean(column.header, style.utf8);
  for (auto& row : table.rows_)
    for (Cell& cell : row) cell.text = Clean(cell.text, style.utf8);
  if (style.width > 0) table.Drop(style.width);
  std::vector<int> widths = table.Widths();
  if (style.width > 0) Shrink(widths, table.columns_, style.width);
  std::vector<Cell> header;
  for (const Column& column : table.columns_) header.emplace_back(column.header, Tone::kDim);
  std::string text;
  if (with_header) text += RenderRow(header, table.columns_, widths, style);
  for (std::size_t i = 0; i < table.rows_.size(); ++i) {
    text += RenderRow(table.rows_[i], table.columns_, widths, style);
    const auto note = table.notes_.find(i);
    if (note != table.notes_.end()) text += RenderNote(note->second, widths.front() + kGap, style);
  }
  return text;
}

}  // namespace jobman::ui
