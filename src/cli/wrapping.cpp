#include "cli/wrapping.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "cli/commands.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

/// Stands for a blank where no line may end. Cleaned texts have no such character.
constexpr char kGlue = '\x1f';
/// A text needs so many columns beside its key.
constexpr int kLeastBeside = 30;

constexpr std::string_view kOurs = "jobman";
constexpr std::array<std::string_view, 4> kPrograms = {"gcloud", "chmod", "mkdir", "export"};
constexpr std::array<std::string_view, 3> kHeads = {"jobman: ", "note: ", "warning: "};

constexpr std::string_view kEndOfCommand = ",;:.)`\"";

bool EndsCommand(const std::string& word) {
  return !word.empty() && kEndOfCommand.find(word.back()) != std::string_view::npos;
}

/// Whether the word follows "jobman" in a command. In "jobman does not know it" it does not.
bool IsSubcommandOrOption(std::string_view word) {
  word = word.substr(0, word.find_last_not_of(kEndOfCommand) + 1);
  const auto commands = Commands();
  return word.starts_with('-') ||
         std::any_of(commands.begin(), commands.end(),
                     [word](const Command& command) { return command.name == word; });
}

bool BeginsCommand(const std::vector<std::string>& words, std::size_t at) {
  const std::string& word = words[at];
  const std::size_t first = std::min(word.find_first_not_of("(`\""), word.size());
  const std::string program = word.substr(first);
  if (program == kOurs) return at + 1 < words.size() && IsSubcommandOrOption(words[at + 1]);
  return std::find(kPrograms.begin(), kPrograms.end(), program) != kPrograms.end();
}

/// The last word of the command that begins with word `first`; itself if none does, or none that
/// fits into `room` columns.
std::size_t EndOfCommand(const std::vector<std::string>& words, std::size_t first, int room) {
  if (!BeginsCommand(words, first)) return first;
  std::size_t end = first;
  int width = ui::DisplayWidth(words[end]);
  while (end + 1 < words.size() && !EndsCommand(words[end]))
    width += 1 + ui::DisplayWidth(words[++end]);
  return width <= room ? end : first;
}

/// A number goes with what it counts or names.
bool IsNumber(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

std::string WithGlue(std::string_view text, int room) {
  const std::vector<std::string> words = base::Split(text, ' ');
  std::string glued;
  std::size_t end = 0;  // of a command
  for (std::size_t i = 0; i < words.size(); ++i) {
    end = std::max(end, EndOfCommand(words, i, room));
    glued += words[i];
    if (i + 1 == words.size()) break;
    // Of a list of numbers each stands for itself.
    const bool counts = IsNumber(words[i]) && !IsNumber(words[i + 1]);
    glued += i < end || counts ? kGlue : ' ';
  }
  return glued;
}

/// Where the text of a message's line begins: after blanks, or after its head.
std::size_t TextBegin(std::string_view line) {
  for (const std::string_view head : kHeads)
    if (line.starts_with(head)) return head.size();
  return std::min(line.find_first_not_of(' '), line.size());
}

/// "  12 | cmd: hostname" or the caret below it.
bool IsQuote(std::string_view line) {
  const std::size_t bar = line.find_first_not_of(" 0123456789");
  return line.starts_with("  ") && bar != std::string_view::npos &&
         line.substr(bar).starts_with("| ");
}

std::string_view WithoutFront(std::string_view text, std::size_t characters) {
  for (; characters > 0 && !text.empty(); --characters)
    text.remove_prefix(base::FirstChar(text).size);
  return text;
}

/// Cuts a quoted line that is too long, and the line below it likewise: the caret stays below the
/// same character, in the middle where that is possible.
void CutAroundCaret(std::string& quote, std::string& below, int width) {
  constexpr std::string_view kCut = "...";
  constexpr std::size_t kLeastRoom = 20;
  const std::size_t text = quote.find("| ") + 2;
  const std::size_t caret = below.find('^');
  const auto shown = static_cast<std::size_t>(ui::DisplayWidth(quote));
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t room = columns - std::min(text, columns);
  if (room < kLeastRoom || shown <= text + room || caret == std::string::npos || caret < text)
    return;
  const std::size_t middle = text + room / 2;
  const std::size_t gone = caret > middle ? std::min(caret - middle, shown - text - room) : 0;
  if (gone > 0) {
    const std::string rest(WithoutFront(std::string_view(quote).substr(text), gone + kCut.size()));
    quote = quote.substr(0, text).append(kCut).append(rest);
    below.erase(text, gone);
  }
  quote = ui::Truncate(quote, width, false);
}

void CutQuotes(std::vector<std::string>& lines, int width) {
  for (std::size_t i = 0; i + 1 < lines.size(); ++i)
    if (IsQuote(lines[i]) && IsQuote(lines[i + 1])) CutAroundCaret(lines[i], lines[i + 1], width);
}

std::string WrapMessageLine(std::string_view line, int width) {
  if (ui::DisplayWidth(line) <= width || IsQuote(line)) return std::string(line);
  const std::size_t text = TextBegin(line);
  const int start = static_cast<int>(text);
  return std::string(line.substr(0, text)) +
         WrapText(line.substr(text), start, text == 0 ? kFurtherIn : start, width);
}

std::string WrapKeyLine(std::string_view line, int width) {
  const std::size_t key = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", key);
  const std::size_t text = line.find_first_not_of(' ', gap);
  if (gap == std::string_view::npos || text == std::string_view::npos)
    return WrapMessageLine(line, width);
  const int beside = static_cast<int>(text);
  if (width - beside >= kLeastBeside)
    return std::string(line.substr(0, text)) + WrapText(line.substr(text), beside, beside, width);
  const int below = static_cast<int>(key) + kFurtherIn;
  return std::string(line.substr(0, gap)) + "\n" +
         std::string(static_cast<std::size_t>(below), ' ') +
         WrapText(line.substr(text), below, below, width);
}

std::string EachLine(std::string_view text, int width,
                     std::string (*wrap)(std::string_view line, int width)) {
  if (width <= 0) return std::string(text);
  std::vector<std::string> lines = base::Split(text, '\n');
  for (std::string& line : lines) line = wrap(line, width);
  return base::Join(lines, "\n");
}

}  // namespace

std::string WrapText(std::string_view text, int start, int indent, int width) {
  if (width <= 0) return std::string(text);
  std::string wrapped = ui::WrapFrom(WithGlue(text, width - indent), start, indent, width);
  std::replace(wrapped.begin(), wrapped.end(), kGlue, ' ');
  return wrapped;
}

std::string WrapMessage(std::string_view text, int width) {
  if (width <= 0) return std::string(text);
  std::vector<std::string> lines = base::Split(text, '\n');
  CutQuotes(lines, width);
  return EachLine(base::Join(lines, "\n"), width, WrapMessageLine);
}

std::string WrapKeys(std::string_view text, int width) {
  return EachLine(text, width, WrapKeyLine);
}

}  // namespace jobman::cli
