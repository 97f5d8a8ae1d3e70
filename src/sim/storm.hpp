#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// What a storm can do: "preempt", "reboot", ..
const std::vector<std::string>& StormKinds();

/// A fault of a storm.
struct Blow {
  std::string kind = {};
  std::string line = {};  ///< a command as on the command line; empty: there was nothing to strike
};

/// Random faults on what exists. The seed settles when they strike and what they choose; which node
/// that is follows from the nodes there are.
class Storm {
 public:
  /// `only` are kinds; empty: all of them.
  static base::Result<Storm> Of(std::uint64_t seed, const std::vector<std::string>& only);

  const std::vector<std::string>& kinds() const { return kinds_; }
  /// How long until the next one when there are `rate` of them a minute.
  Duration Pause(double rate);
  /// The next fault. No kind comes again before each has had its turn: short storms have them all.
  Blow Next(const Json& status);

 private:
  Storm(std::uint64_t seed, std::vector<std::string> kinds)
      : random_(seed), kinds_(std::move(kinds)) {}
  /// From 0 to below 1.
  double Draw();

  std::string NextKind();

  std::mt19937_64 random_;
  std::vector<std::string> kinds_;
  std::vector<std::string> round_ = {};  ///< the kinds whose turn is to come
};

}  // namespace jobman::sim
