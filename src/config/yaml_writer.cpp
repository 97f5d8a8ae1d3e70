#include "config/yaml_writer.hpp"

#include <fmt/format.h>

#include "config/interpolate.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/load.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::config {
namespace {

using base::OrderedJson;

/// The text with the characters that a terminal would not show written as escapes, but for `kept`.
std::string Escaped(std::string_view text, char32_t kept = 0) {
  std::string escaped;
  while (!text.empty()) {
    const base::Utf8Char next = base::FirstChar(text);
    const bool control = base::IsControl(next.code) && next.code != kept;
    if (control) escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(next.code));
    if (!control) escaped += text.substr(0, next.size);
    text.remove_prefix(next.size);
  }
  return escaped;
}

/// Whether a text can be written as a block ("|"): lines of printable characters, the first not
/// indented, so that readers detect the indentation.
bool FitsBlock(const std::string& text) {
  if (!base::Contains(text, "\n") || text.front() == ' ' || text.front() == '\n') return false;
  return Escaped(text, '\n') == text;
}

/// Whether no YAML reader needs quotes around the text.
bool IsPlain(const std::string& text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
  if (text.empty() || text.find_first_not_of(kSafe) != std::string::npos) return false;
  const char first = text.front();
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  const std::string lower = base::ToLower(text);
  for (const std::string_view word :
       {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}) {
    if (lower == word) return false;
  }
  return letter || first == '/';
}

/// As JSON, which is valid YAML once all control characters are escaped.
std::string QuotedText(const std::string& text) {
  if (IsPlain(text)) return text;
  std::string quoted =
      OrderedJson(text).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  return Escaped(quoted);
}

class YamlWriter {
 public:
  explicit YamlWriter(const std::vector<std::string>& notes) : notes_(notes) {}

  std::string Write(const OrderedJson& json) {
    for (const auto& item : json.items()) Member(item.key(), item.value(), "");
    return std::move(text_);
  }

 private:
  /// Writes "key: value" at `indent`; `lead` is "- " for the first member of a map in a list.
  void Member(const std::string& key, const OrderedJson& value, const std::string& indent,
              std::string_view lead = "") {
    text_ += indent;
    text_ += lead;
    const std::string inner = indent + std::string(lead.size(), ' ') + "  ";
    text_ += QuotedText(key) + ":";
    if (!value.is_structured()) return Leaf(value, inner);
    text_ += value.empty() ? (value.is_array() ? " []\n" : " {}\n") : "\n";
    for (const auto& item : value.items()) {
      if (value.is_array()) {
        Item(item.value(), inner);
      } else {
        Member(item.key(), item.value(), inner);
      }
    }
  }

  void Item(const OrderedJson& value, const std::string& indent) {
    if (!value.is_structured()) {
      text_ += indent + "-";
      return Leaf(value, indent + "  ");
    }
    std::string_view lead = "- ";
    for (const auto& member : value.items()) {
      Member(member.key(), member.value(), lead.empty() ? indent + "  " : indent, lead);
      lead = "";
    }
  }

  void Leaf(const OrderedJson& value, const std::string& indent) {
    std::string note = next_ < notes_.size() ? notes_[next_] : "";
    ++next_;
    if (!note.empty()) note.insert(0, "  # ");
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr) {
      text_ += " " + value.dump() + note + "\n";
      return;
    }
    if (FitsBlock(*text)) return Block(*text, indent, note);
    text_ += " " + QuotedText(*text) + note + "\n";
  }

  void Block(std::string text, const std::string& indent, const std::string& note) {
    const bool ends = text.ends_with('\n');
    const bool ends_twice = text.ends_with("\n\n");
    text_ += fmt::format(" |{}{}\n", ends_twice ? "+" : ends ? "" : "-", note);
    if (ends) text.pop_back();
    for (const std::string& line : base::Split(text, '\n')) {
      text_ += line.empty() ? "\n" : indent + line + "\n";
    }
  }

  const std::vector<std::string>& notes_;
  std::size_t next_ = 0;
  std::string text_ = {};
};

}  // namespace

void EscapeTexts(OrderedJson& json) {
  if (const auto* const text = json.get_ptr<const std::string*>()) {
    json = EscapeInterpolation(*text);
    return;
  }
  if (!json.is_structured()) return;
  for (OrderedJson& child : json) EscapeTexts(child);
}

std::string WriteYaml(const OrderedJson& map, const std::vector<std::string>& notes) {
  return YamlWriter(notes).Write(map);
}

std::string ResolvedYaml(const Loaded& loaded, bool origins) {
  std::vector<std::string> notes;
  for (const Origin& origin : loaded.origins) notes.push_back(origins ? origin.where : "");
  OrderedJson spec = core::SpecToJson(loaded.spec);
  EscapeTexts(spec);
  return WriteYaml(spec, notes);
}

}  // namespace jobman::config
