#include "config/origins.hpp"

#include <fmt/format.h>

namespace jobman::config {
namespace {

using base::OrderedJson;

/// Walks the leaves of the resolved job and names their origins.
class OriginFinder {
 public:
  OriginFinder(const Value& root, const std::map<std::string, std::string>& notes,
               const Diagnostics& sources)
      : root_(root), notes_(notes), sources_(sources) {}

  void Visit(const OrderedJson& json, const std::string& path, std::vector<Origin>& out) const {
    if (!json.is_structured()) {
      out.push_back({.path = path, .where = WhereIs(path)});
      return;
    }
    std::size_t index = 0;
    for (const auto& item : json.items()) {
      const std::string child = json.is_array() ? fmt::format("{}[{}]", path, index++)
                                : path.empty()  ? item.key()
                                                : path + "." + item.key();
      Visit(item.value(), child, out);
    }
  }

 private:
  std::string WhereIs(const std::string& path) const {
    const Value* value = FindAt(root_, SplitPath(path));
    const bool given = value != nullptr && !value->is_null();
    if (given) return sources_.Where(value->pos.line > 0 ? value->pos : value->key_pos);
    const auto note = notes_.find(path);
    return note == notes_.end() ? "default" : note->second;
  }

  const Value& root_;
  const std::map<std::string, std::string>& notes_;
  const Diagnostics& sources_;
};

}  // namespace

std::vector<Origin> OriginsOf(const base::OrderedJson& resolved, const Value& root,
                              const std::map<std::string, std::string>& notes,
                              const Diagnostics& sources) {
  std::vector<Origin> origins;
  OriginFinder(root, notes, sources).Visit(resolved, "", origins);
  return origins;
}

}  // namespace jobman::config
