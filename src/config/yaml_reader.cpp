#include "config/yaml_reader.hpp"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <sstream>

#include "config/tree_builder.hpp"
#include "config/utf8.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

/// The position of byte number `at`.
Position PositionOf(std::string_view text, std::size_t at, int source, int offset) {
  Position position{.source = source, .line = 1, .column = 1 + offset};
  for (const char c : text.substr(0, at)) {
    ++position.column;
    if (c != '\n') continue;
    ++position.line;
    position.column = 1;
  }
  return position;
}

/// A tab that indents the line where the parser failed, or the line before: the parser may accept a
/// tab and fail later.
std::optional<Position> FindIndentingTab(const Source& source, Position failed) {
  for (int line = failed.line; line >= 1 && line > failed.line - 2; --line) {
    const auto index = static_cast<std::size_t>(line - 1);
    if (index >= source.lines.size()) continue;
    const std::string& text = source.lines[index];
    const std::size_t tab = text.find('\t');
    if (tab == std::string::npos || tab > text.find_first_not_of(" \t")) continue;
    return Position{failed.source, line, static_cast<int>(tab) + 1};
  }
  return std::nullopt;
}

/// Clearer texts for parser errors that common mistakes cause.
std::string Plain(const std::string& message) {
  if (message == YAML::ErrorMsg::END_OF_MAP) return "this line does not fit the map around it";
  if (message == YAML::ErrorMsg::END_OF_SEQ) return "this line does not fit the list around it";
  if (message == YAML::ErrorMsg::MAP_VALUE) return "a \": \" where no key is allowed";
  if (message == YAML::ErrorMsg::MAP_KEY) return "a key where none is allowed";
  if (message == YAML::ErrorMsg::END_OF_MAP_FLOW) return "a \"{\" without \"}\"";
  if (message == YAML::ErrorMsg::END_OF_SEQ_FLOW) return "a \"[\" without \"]\"";
  return message;
}

/// Within {} or [], the parser takes the braces of an unquoted ${tpu.zone} for those of a map.
std::string CureFor(const std::string& message, const Source& source, Position failed) {
  if (message != YAML::ErrorMsg::END_OF_MAP_FLOW && message != YAML::ErrorMsg::END_OF_SEQ_FLOW)
    return {};
  for (int line = failed.line; line >= 1 && line > failed.line - 2; --line) {
    const auto index = static_cast<std::size_t>(line - 1);
    if (index < source.lines.size() && base::Contains(source.lines[index], "${"))
      return "inside {} and [] quote it: \"${...}\"";
  }
  return "close it, or quote text that contains YAML syntax";
}

}  // namespace

// The parser would take some control bytes for its own markers.
bool CheckBytes(std::string_view text, int source, int offset, Diagnostics& out) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control =
        (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    const std::size_t length = control ? 0 : Utf8Length(text.substr(at));
    if (length == 0) {
      out.Report(PositionOf(text, at, source, offset),
                 control ? "a control character" : "a byte that is not UTF-8",
                 "save it as UTF-8 text");
      return false;
    }
    at += length;
  }
  return true;
}

std::optional<Value> ReadYaml(std::string_view text, int source, int offset, Diagnostics& out,
                              const Limits& limits) {
  if (text.size() > limits.bytes) {
    out.Report({.source = source}, "larger than " + std::string(limits.text));
    return std::nullopt;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (!CheckBytes(text, source, offset, out)) return std::nullopt;
  TreeBuilder builder(source, offset, limits, out);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (!builder.failed() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    if (builder.failed()) return std::nullopt;
    const Position at = builder.At(error.mark);
    if (const auto tab = FindIndentingTab(out.source(source), at)) {
      out.Report(*tab, "YAML: a tab indents this line", "indent with spaces");
    } else {
      out.Report(at, "YAML: " + Plain(error.msg), CureFor(error.msg, out.source(source), at));
    }
    return std::nullopt;
  } catch (const std::exception& error) {
    out.Report({.source = source}, std::string("YAML: ") + error.what());
    return std::nullopt;
  }
  return builder.TakeRoot();
}

}  // namespace jobman::config
