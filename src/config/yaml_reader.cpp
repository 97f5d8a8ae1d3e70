#include "config/yaml_reader.hpp"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <sstream>

#include "config/tree_builder.hpp"

namespace jobman::config {
namespace {

/// Where in the text byte number `at` is.
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

/// Length of the UTF-8 character at `text`'s begin; 0 when it is none. Overlong forms and
/// surrogates pass: they harm nobody here.
std::size_t Utf8Length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80           ? 1
                             : (lead >> 5) == 0x06 ? 2
                             : (lead >> 4) == 0x0E ? 3
                             : (lead >> 3) == 0x1E ? 4
                                                   : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

/// YAML is text: the first byte that is not ends it. The parser would take some of them for its
/// own signs.
bool CheckBytes(std::string_view text, int source, int offset, Diagnostics& out) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control =
        (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    const std::size_t length = control ? 0 : Utf8Length(text.substr(at));
    if (length == 0) {
      out.Report(PositionOf(text, at, source, offset),
                 control ? "a control character" : "a byte that is not UTF-8",
                 "job files are UTF-8 text");
      return false;
    }
    at += length;
  }
  return true;
}

/// The parser's words in ours, where a job file's usual slips lead to puzzling ones.
std::string Plain(const std::string& message) {
  if (message == YAML::ErrorMsg::TAB_IN_INDENTATION) return "a tab where blanks indent";
  if (message == YAML::ErrorMsg::END_OF_MAP) return "this line does not fit the map around it";
  if (message == YAML::ErrorMsg::END_OF_SEQ) return "this line does not fit the list around it";
  if (message == YAML::ErrorMsg::MAP_VALUE) return "a \": \" in a place where no key can be";
  if (message == YAML::ErrorMsg::MAP_KEY) return "a key in a place where none can be";
  return message;
}

}  // namespace

std::optional<Value> ReadYaml(std::string_view text, int source, int offset, Diagnostics& out) {
  if (text.size() > kLargestFile) {
    out.Report({.source = source}, "larger than 1 MiB, too large for a job file");
    return std::nullopt;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (!CheckBytes(text, source, offset, out)) return std::nullopt;
  TreeBuilder builder(source, offset, out);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (!builder.failed() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    if (!builder.failed()) {
      out.Report(builder.At(error.mark), "YAML: " + Plain(error.msg));
    }
    return std::nullopt;
  } catch (const std::exception& error) {
    out.Report({.source = source}, std::string("YAML: ") + error.what());
    return std::nullopt;
  }
  return builder.TakeRoot();
}

}  // namespace jobman::config
