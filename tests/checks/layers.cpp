#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/checks/source.hpp"

namespace jobman::checks {
namespace {

namespace fs = std::filesystem;

constexpr char kTable[] = "docs/layers.txt";

/// What each module may include, and each room of a module: "sim/wire" is a folder of src/sim.
using Layers = std::map<std::string, std::set<std::string>>;

/// Reads the table. A line may name only modules above it, so the graph cannot have a circle.
Layers ReadLayers(const fs::path& root, Findings& findings) {
  Layers layers;
  std::ifstream stream(root / kTable);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::size_t colon = line.find(':');
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    const std::string module = line.substr(0, colon);
    std::istringstream rest(line.substr(colon + 1));
    std::set<std::string> may;
    for (std::string other; rest >> other;) {
      if (!layers.contains(other)) {
        findings.push_back(
            {kTable, number, module + " names " + other + ", which is not above it"});
      }
      may.insert(other);
    }
    layers[module] = may;
  }
  if (layers.empty()) findings.push_back({kTable, 0, "names no module"});
  return layers;
}

std::string FirstFolder(const std::string& path) {
  return path.substr(0, path.find('/'));
}

/// "sim/wire" of "src/sim/wire/json.cpp" or "sim/wire/json.hpp", where the table has rooms of the
/// module; empty where it has none.
std::string RoomOf(const std::string& path, const std::string& module, const Layers& layers) {
  const auto room = layers.upper_bound(module + "/");
  if (room == layers.end() || !room->first.starts_with(module + "/")) return {};
  const std::string rest = path.substr(path.find(module + "/") + module.size() + 1);
  return module + "/" + FirstFolder(rest);
}

/// What is wrong with the include of a private header of the same module.
std::string RoomComplaint(const Source& source, const Include& include, const Layers& layers) {
  const std::string from = RoomOf(source.path, source.module, layers);
  const std::string to = RoomOf(include.path, source.module, layers);
  if (from == to || layers.at(from).contains(to)) return {};
  return from + " may not include " + to + " (" + include.path + ")";
}

/// What is wrong with one include; empty when nothing is.
std::string Complaint(const Source& source, const Include& include, const Layers& layers,
                      const fs::path& root) {
  constexpr std::string_view kPublic = "jobman/";
  if (include.path.starts_with(kPublic)) {
    const std::string module = FirstFolder(include.path.substr(kPublic.size()));
    const auto& may = layers.at(source.module);
    if (module != source.module && !may.contains(module)) {
      return source.module + " may not include " + module + " (" + include.path + ")";
    }
    if (!fs::exists(root / "include" / include.path)) return "no such header: " + include.path;
    return {};
  }
  const std::string module = FirstFolder(include.path);
  if (layers.contains(module) && fs::exists(root / "src" / include.path)) {
    if (source.InPublicHeaders()) return "public header includes private " + include.path;
    if (module != source.module) return include.path + " is private to " + module;
    return RoomComplaint(source, include, layers);
  }
  if (!include.angled) return "\"" + include.path + "\" does not start at include/ or src/";
  return {};
}

}  // namespace

Findings CheckLayers(const fs::path& root) {
  Findings findings;
  const Layers layers = ReadLayers(root, findings);
  for (const char* folder : {"include", "src"}) {
    for (const Source& source : LoadSources(root, folder)) {
      if (!layers.contains(source.module)) {
        findings.push_back({source.path, 1, "lies in no module of docs/layers.txt"});
        continue;
      }
      if (const std::string room = RoomOf(source.path, source.module, layers);
          !source.InPublicHeaders() && !room.empty() && !layers.contains(room)) {
        findings.push_back({source.path, 1, "lies in no room of its module in docs/layers.txt"});
        continue;
      }
      for (const Include& include : source.includes) {
        const std::string complaint = Complaint(source, include, layers, root);
        if (!complaint.empty()) findings.push_back({source.path, include.line, complaint});
      }
    }
  }
  return findings;
}

}  // namespace jobman::checks
