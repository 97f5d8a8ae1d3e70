#include "sim/schema/selection.hpp"

#include "sim/schema/api_schema.hpp"

namespace jobman::sim {

namespace {

constexpr int kDeepest = 20;

class SelectionParser {
 public:
  explicit SelectionParser(const std::string& text) : text_(text) {}

  std::optional<Selection> Parse() {
    Selection selection;
    if (!List(selection, 0) || at_ != text_.size()) return std::nullopt;
    return selection;
  }

 private:
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool List(Selection& into, int depth) {
    do {
      if (!Path(into, depth)) return false;
    } while (Take(','));
    return true;
  }
  bool Path(Selection& into, int depth) {
    if (depth > kDeepest) return false;
    const std::size_t end = std::min(text_.find_first_of(",()/.", at_), text_.size());
    if (end == at_) return false;
    Selection& field = into.fields[text_.substr(at_, end - at_)];
    at_ = end;
    if (Take('/') || Take('.')) return Path(field, depth + 1);
    return !Take('(') || (List(field, depth + 1) && Take(')'));
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

/// The same with the names in lowerCamelCase; notes those that the message does not have.
Selection Known(const Selection& selection, const std::string& message, const std::string& version,
                const std::string& path, Violations& violations) {
  Selection known;
  const SchemaMessage* fields = ApiSchema::Get().Message(message);
  if (fields == nullptr) return selection;  // inside a map or an Any
  for (const auto& [name, inner] : selection.fields) {
    const std::string here = path.empty() ? name : path + "." + name;
    const SchemaField* field = FindField(*fields, name);
    const bool found = field != nullptr && IsIn(field->versions, version);
    if (name == "*") {
      known.fields[name] = inner;
    } else if (found) {
      known.fields[field->name] = Known(inner, field->type, version, here, violations);
    } else {
      violations.push_back({here,
                            "Error expanding 'fields' parameter. Cannot find matching fields for "
                            "path '" +
                                here + "'."});
    }
  }
  return known;
}

}  // namespace

std::optional<Selection> ReadSelection(const std::string& text, const std::string& message,
                                       const std::string& version, Violations& violations) {
  const auto parsed = SelectionParser(text).Parse();
  if (!parsed) {
    violations.push_back(
        {text, "Error expanding 'fields' parameter. Cannot parse '" + text + "'."});
    return std::nullopt;
  }
  return Known(*parsed, message, version, "", violations);
}

Json Selected(const Selection& selection, Json body) {
  if (selection.fields.empty()) return body;
  if (body.is_array()) {
    for (Json& item : body) item = Selected(selection, std::move(item));
    return body;
  }
  if (!body.is_object()) return body;
  Json part = Json::object();
  for (auto& [name, value] : body.items()) {
    const auto named = selection.fields.find(name);
    const auto each = selection.fields.find("*");
    const auto found = named == selection.fields.end() ? each : named;
    if (found != selection.fields.end()) part[name] = Selected(found->second, std::move(value));
  }
  return part;
}

}  // namespace jobman::sim
