#include "sim/faults/storm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "jobman/base/strings.hpp"
#include "sim/faults/verbs.hpp"

namespace jobman::sim {

namespace {

/// Numbers in [0, 1). All are drawn for every fault, needed or not, so that later choices do not
/// depend on what earlier faults found.
struct Dice {
  double target = 0;
  double way = 0;
  double length = 0;
};

template <class T>
const T& Pick(const std::vector<T>& from, double dice) {
  return from[std::min(from.size() - 1, static_cast<std::size_t>(dice * double(from.size())))];
}

/// One of the nodes that a storm may act on; null if there is none.
Json OneNode(const Json& status, double dice, bool spot_only) {
  std::vector<Json> nodes;
  for (const Json& node : Member(status, "nodes")) {
    const bool ready = Text(node, "state") == "READY" && Text(node, "health").empty();
    if (ready && !Flag(node, "foreign") && (!spot_only || Flag(node, "spot"))) {
      nodes.push_back(node);
    }
  }
  return nodes.empty() ? Json() : Pick(nodes, dice);
}

std::string OneSpot(const Json& status, const Dice& dice) {
  const Json node = OneNode(status, dice.target, true);
  // Of several nodes, sometimes one is taken away, sometimes all of the same request.
  const std::string queued = dice.length < 0.3 ? Text(node, "queued_resource") : "";
  return queued.empty() ? Text(node, "name") : queued;
}

std::string OneHost(const Json& status, const Dice& dice) {
  const Json node = OneNode(status, dice.target, false);
  const Json& hosts = Member(node, "hosts");
  std::vector<std::size_t> running;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (Flag(hosts[i], "running")) running.push_back(i);
  }
  return running.empty() ? "" : fmt::format("{}/{}", Text(node, "name"), Pick(running, dice.way));
}

/// "0.5..3s" or "1..4": a value in between.
std::string InRange(const std::string& word, std::size_t dots, double dice) {
  const double least = std::stod(word.substr(0, dots));
  const double most = std::stod(word.substr(dots + 2));
  if (word.ends_with("s")) {
    return fmt::format("{}ms", static_cast<int>(1000 * (least + (most - least) * dice)));
  }
  return std::to_string(static_cast<int>(least + (most - least + 1) * dice));
}

/// A word of a line with its placeholder filled in; empty if there is no target.
std::string Filled(const std::string& word, const Json& status, const Dice& dice) {
  static const std::vector<std::string> kMethods = {"*",        "*.create", "*.create",
                                                    "*.delete", "*.list",   "*.get"};
  if (word == "NODE") return Text(OneNode(status, dice.target, false), "name");
  if (word == "SPOT") return OneSpot(status, dice);
  if (word == "HOST") return OneHost(status, dice);
  if (word == "METHOD") return Pick(kMethods, dice.target);
  const auto dots = word.find("..");
  return dots == std::string::npos ? word : InRange(word, dots, dice.length);
}

const std::vector<const char*>& LinesOf(const std::string& kind) {
  static const std::vector<const char*> kNone;
  for (const Verb& verb : Verbs()) {
    for (const StormKind& known : verb.storm) {
      if (kind == known.name) return known.lines;
    }
  }
  return kNone;
}

}  // namespace

std::vector<std::string> StormKinds() {
  std::set<std::string> kinds;
  for (const Verb& verb : Verbs()) {
    for (const StormKind& kind : verb.storm) kinds.insert(kind.name);
  }
  return {kinds.begin(), kinds.end()};
}

base::Result<Storm> Storm::Of(std::uint64_t seed, const std::vector<std::string>& only) {
  for (const std::string& kind : only) {
    if (!LinesOf(kind).empty()) continue;
    return base::InvalidArgument("a storm has no kind \"" + kind + "\"",
                                 "known: " + base::Join(StormKinds(), ", "));
  }
  return Storm(seed, only.empty() ? StormKinds() : only);
}

double Storm::Draw() {
  // The engine's numbers are portable; those of the library's distributions are not.
  return static_cast<double>(random_() >> 11) * 0x1.0p-53;
}

Duration Storm::Pause(double rate) {
  const double minutes = -std::log(1 - Draw()) / rate;
  return Duration(static_cast<std::int64_t>(minutes * 60'000));
}

std::string Storm::NextKind() {
  if (round_.empty()) round_ = kinds_;
  std::string kind = Pick(round_, Draw());
  std::erase(round_, kind);
  return kind;
}

StormFault Storm::Next(const Json& status) {
  StormFault fault{.kind = NextKind()};
  Dice dice;
  dice.target = Draw();
  dice.way = Draw();
  dice.length = Draw();
  std::vector<std::string> words = base::Split(Pick(LinesOf(fault.kind), dice.way), ' ');
  for (std::string& word : words) {
    word = Filled(word, status, dice);
    if (word.empty()) return fault;
  }
  fault.line = base::Join(words, " ");
  return fault;
}

}  // namespace jobman::sim
