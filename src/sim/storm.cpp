#include "sim/storm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

/// Numbers from 0 to below 1, drawn for every fault alike, whether its kind needs them or not: so
/// the choices of one fault do not depend on what the ones before it found.
struct Dice {
  double target = 0;
  double way = 0;
  double length = 0;
};

template <class T>
const T& Pick(const std::vector<T>& from, double dice) {
  return from[std::min(from.size() - 1, static_cast<std::size_t>(dice * double(from.size())))];
}

std::string Seconds(double least, double most, double dice) {
  return fmt::format("{}ms", static_cast<int>(1000 * (least + (most - least) * dice)));
}

/// One of the READY nodes that will do; null where there is none.
Json OneNode(const Json& status, double dice, bool spot_only) {
  std::vector<Json> nodes;
  for (const Json& node : Member(status, "nodes")) {
    const bool ready = Text(node, "state") == "READY" && Text(node, "health").empty();
    if (ready && !Flag(node, "foreign") && (!spot_only || Flag(node, "spot")))
      nodes.push_back(node);
  }
  return nodes.empty() ? Json() : Pick(nodes, dice);
}

/// " NAME" of a node for a command, or nothing.
using Strike = std::string (*)(const Json& status, const Dice& dice);

std::string Preempt(const Json& status, const Dice& dice) {
  const Json node = OneNode(status, dice.target, true);
  if (node.is_null()) return {};
  static const std::vector<std::string> kWays = {"",
                                                 "",
                                                 " --as stopping --for 1s",
                                                 " --as repairing --for 1s",
                                                 " --as silent --for 1s",
                                                 " --as gone",
                                                 " --notice 1s"};
  // Of several nodes now one is taken away, now all that were asked for together.
  const std::string queued = dice.length < 0.3 ? Text(node, "queued_resource") : "";
  return "preempt " + (queued.empty() ? Text(node, "name") : queued) + Pick(kWays, dice.way);
}

std::string OnNode(const Json& status, const Dice& dice, const std::string& command) {
  const Json node = OneNode(status, dice.target, false);
  return node.is_null() ? "" : command + " " + Text(node, "name");
}

std::string Reboot(const Json& status, const Dice& dice) {
  return OnNode(status, dice, "reboot");
}

std::string Stop(const Json& status, const Dice& dice) {
  return OnNode(status, dice, dice.way < 0.5 ? "stop" : "terminate");
}

std::string Delete(const Json& status, const Dice& dice) {
  return OnNode(status, dice, "delete");
}

std::string Maintain(const Json& status, const Dice& dice) {
  const std::string line = OnNode(status, dice, "maintain");
  return line.empty() ? line : line + " --notice 1s --for " + Seconds(0.5, 3, dice.length);
}

std::string Repair(const Json& status, const Dice& dice) {
  const std::string line = OnNode(status, dice, "repair");
  return line.empty() ? line : line + " --for " + Seconds(0.5, 3, dice.length);
}

std::string OnHost(const Json& status, const Dice& dice, const std::string& action) {
  const Json node = OneNode(status, dice.target, false);
  if (node.is_null()) return {};
  std::vector<std::size_t> hosts;
  for (std::size_t i = 0; i < node["hosts"].size(); ++i) {
    if (Flag(node["hosts"][i], "running")) hosts.push_back(i);
  }
  if (hosts.empty()) return {};
  return fmt::format("host {}/{} {}", Text(node, "name"), Pick(hosts, dice.way), action);
}

std::string Kill(const Json& status, const Dice& dice) {
  return OnHost(status, dice, "kill --for " + Seconds(1, 5, dice.length));
}

std::string Cut(const Json& status, const Dice& dice) {
  return OnHost(status, dice, "cut --for " + Seconds(1, 5, dice.length));
}

std::string HangUp(const Json& status, const Dice& dice) {
  return OnHost(status, dice, "hangup");
}

/// A fault of calls, once or several times.
std::string OnCalls(const Dice& dice, const std::string& error, int most) {
  static const std::vector<std::string> kMethods = {"*",        "*.create", "*.create",
                                                    "*.delete", "*.list",   "*.get"};
  const int times = 1 + static_cast<int>(dice.length * most);
  return fmt::format("fault {} {} --times {}", Pick(kMethods, dice.way), error, times);
}

std::string DropReply(const Json&, const Dice& dice) {
  return OnCalls(dice, "drop_reply", 2);
}

std::string DropRequest(const Json&, const Dice& dice) {
  return OnCalls(dice, "drop_request", 2);
}

std::string Internal(const Json&, const Dice& dice) {
  return OnCalls(dice, dice.target < 0.5 ? "internal" : "unavailable", 4);
}

std::string RateLimit(const Json&, const Dice& dice) {
  return OnCalls(dice, "rate_limit", 4) + " --retry-after 1";
}

std::string Stockout(const Json&, const Dice& dice) {
  if (dice.way < 0.3) return "fault *.create stockout";
  if (dice.way < 0.4) return "fault *.create gives_up";
  return "stockout --for " + Seconds(0.5, 4, dice.length);
}

std::string Unplug(const Json&, const Dice& dice) {
  return "unplug --for " + Seconds(0.2, 2, dice.length);
}

const std::map<std::string, Strike>& Strikes() {
  static const std::map<std::string, Strike> kStrikes = {
      {"preempt", Preempt},
      {"stop", Stop},
      {"delete", Delete},
      {"reboot", Reboot},
      {"maintain", Maintain},
      {"repair", Repair},
      {"kill", Kill},
      {"cut", Cut},
      {"hangup", HangUp},
      {"drop_reply", DropReply},
      {"drop_request", DropRequest},
      {"error", Internal},
      {"rate_limit", RateLimit},
      {"stockout", Stockout},
      {"unplug", Unplug},
  };
  return kStrikes;
}

}  // namespace

const std::vector<std::string>& StormKinds() {
  static const std::vector<std::string> kKinds = [] {
    std::vector<std::string> kinds;
    for (const auto& [name, strike] : Strikes()) kinds.push_back(name);
    return kinds;
  }();
  return kKinds;
}

base::Result<Storm> Storm::Of(std::uint64_t seed, const std::vector<std::string>& only) {
  for (const std::string& kind : only) {
    if (Strikes().contains(kind)) continue;
    return base::InvalidArgument("a storm has no kind \"" + kind + "\"",
                                 "known: " + base::Join(StormKinds(), ", "));
  }
  return Storm(seed, only.empty() ? StormKinds() : only);
}

double Storm::Draw() {
  // The engine's numbers are the same everywhere; those of the library's distributions are not.
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

Blow Storm::Next(const Json& status) {
  Blow blow{.kind = NextKind()};
  Dice dice;
  dice.target = Draw();
  dice.way = Draw();
  dice.length = Draw();
  blow.line = Strikes().at(blow.kind)(status, dice);
  return blow;
}

}  // namespace jobman::sim
