#include "tests/conformance/partial_reply.hpp"

#include <algorithm>
#include <string_view>

namespace jobman::conformance {
namespace {

using PartsJson = nlohmann::json;

constexpr const char* kAnything = "*";

/// The message in a field; empty: it has no fields.
std::string MessageIn(const PartsJson& field) {
  const bool list = field.contains("items");
  const PartsJson& one = list ? field["items"] : field;
  if (one.contains("$ref")) return one["$ref"];
  const bool open = one.value("type", "") == "object" || one.value("type", "") == "any";
  return open ? kAnything : "";
}

class SelectionReader {
 public:
  SelectionReader(const PartsJson& messages, std::string_view text)
      : messages_(messages), text_(text) {}

  std::string Read(const std::string& message) {
    List(message);
    if (wrong_.empty() && !text_.empty()) wrong_ = "it does not end";
    return wrong_;
  }

 private:
  bool Take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void List(const std::string& message) {
    do {
      Item(message);
    } while (wrong_.empty() && Take(','));
  }
  void Item(std::string message) {
    message = Step(message);
    while (wrong_.empty() && Take('/')) message = Step(message);
    if (!wrong_.empty() || !Take('(')) return;
    List(message);
    if (wrong_.empty() && !Take(')')) wrong_ = "a bracket is open";
  }
  /// The message of the field that comes next.
  std::string Step(const std::string& message) {
    const std::size_t end = std::min(text_.find_first_of(",/()"), text_.size());
    const std::string name(text_.substr(0, end));
    text_.remove_prefix(end);
    if (name == "*" || (message == kAnything && !name.empty())) return kAnything;
    if (messages_.contains(message) && messages_[message].contains(name))
      return MessageIn(messages_[message][name]);
    wrong_ = "there is no field '" + name + "' in '" + message + "'";
    return {};
  }

  const PartsJson& messages_;
  std::string_view text_;
  std::string wrong_ = {};
};

}  // namespace

std::string WrongSelection(const nlohmann::json& messages, const std::string& message,
                           const std::string& text) {
  return SelectionReader(messages, text).Read(message);
}

}  // namespace jobman::conformance
