#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

/// The kinds of faults that a storm can choose from, sorted: "cut", "delete", ..
std::vector<std::string> StormKinds();

/// One fault of a storm.
struct StormFault {
  std::string kind = {};
  std::string line = {};  ///< a command as on the command line; empty: nothing is there for it
};

/// Random faults, from the lines of the table of verbs. The seed settles their times and choices;
/// which node that is depends on the nodes there are. In a line,
///
///   NODE    is a READY node that is not somebody else's
///   SPOT    is such a spot node, or the queued resource that created it
///   HOST    is NODE/INDEX of a running host
///   METHOD  is a pattern of methods of the API
///   0.5..3s is a time between these, and 1..4 a number
class Storm {
 public:
  /// `only` are kinds; empty: all of them.
  static base::Result<Storm> Of(std::uint64_t seed, const std::vector<std::string>& only);

  const std::vector<std::string>& kinds() const { return kinds_; }
  /// How long until the next fault when there are `rate` of them a minute.
  Duration Pause(double rate);
  /// The next fault. No kind comes again before every other has had its turn, so that short storms
  /// have them all. `status` is what GET /sim/status says.
  StormFault Next(const Json& status);

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
