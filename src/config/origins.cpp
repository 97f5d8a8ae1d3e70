#include "config/origins.hpp"

#include <fmt/format.h>

namespace jobman::config {
namespace {

using base::OrderedJson;

/// Walks the leaves of the resolved job and names their origins.
class OriginFinder {
 public:
  OriginFinder(const Value& root, const Reader& reader, const Diagnostics& sources)
      : root_(root), reader_(reader), sources_(sources) {}

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
    if (given) {
      const std::string place = sources_.Where(value->pos.line > 0 ? value->pos : value->key_pos);
      const auto file = reader_.files().find(path);
      return file == reader_.files().end() ? place : place + ", " + file->second;
    }
    const auto note = reader_.notes().find(path);
    return note == reader_.notes().end() ? "default" : note->second;
  }

  const Value& root_;
  const Reader& reader_;
  const Diagnostics& sources_;
};

}  // namespace

std::vector<Origin> OriginsOf(const base::OrderedJson& resolved, const Value& root,
                              const Reader& reader, const Diagnostics& sources) {
  std::vector<Origin> origins;
  OriginFinder(root, reader, sources).Visit(resolved, "", origins);
  return origins;
}

}  // namespace jobman::config
