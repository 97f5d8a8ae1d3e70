#include "cli/large_json.hpp"

#include <cstdint>
#include <cstdlib>

#include "cli/views/error.hpp"

namespace jobman::cli {
namespace {

/// How many bytes at the end of the text are the beginning of a character.
std::size_t BegunAtEnd(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<std::uint8_t>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    const std::size_t size = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 0;
    if (size > 0) return size > back ? back : 0;
  }
  return 0;
}

/// The inside of a JSON string, from pieces cut anywhere.
class JsonString {
 public:
  std::string Take(std::string_view piece) {
    begun_.append(piece);
    const std::size_t whole = begun_.size() - BegunAtEnd(begun_);
    std::string escaped = Escaped(begun_.substr(0, whole));
    begun_.erase(0, whole);
    return escaped;
  }
  std::string End() const { return Escaped(begun_); }

 private:
  static std::string Escaped(const std::string& text) {
    const std::string quoted = DumpJson(text, -1);
    return quoted.substr(1, quoted.size() - 2);
  }
  std::string begun_ = {};
};

base::Status PrintText(const ui::ReadText& text, ui::Terminal& terminal) {
  JsonString string;
  const ui::TakePiece print = [&](std::string_view piece) {
    terminal.Out(string.Take(piece));
    return base::Ok();
  };
  JM_TRY(text(print));
  terminal.Out(string.End());
  return base::Ok();
}

}  // namespace

std::string LargeJson::Place(ui::ReadText text) {
  texts_.push_back(std::move(text));
  return mark_ + std::to_string(texts_.size() - 1);
}

base::Status LargeJson::Print(const base::OrderedJson& json, ui::Terminal& terminal) const {
  const std::string document = DumpJson(json, 2) + "\n";
  std::string_view rest = document;
  for (std::size_t at = rest.find(mark_); at != std::string_view::npos; at = rest.find(mark_)) {
    terminal.Out(rest.substr(0, at));
    rest.remove_prefix(at + mark_.size());
    const std::size_t end = rest.find('"');
    JM_TRY(PrintText(texts_.at(std::stoul(std::string(rest.substr(0, end)))), terminal));
    rest.remove_prefix(end);
  }
  terminal.Out(rest);
  return base::Ok();
}

}  // namespace jobman::cli
