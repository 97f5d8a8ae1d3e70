#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

/// The kinds of faults in storms, sorted: "cut", "delete", ..
std::vector<std::string> StormKinds();

struct StormFault {
  std::string kind = {};
  std::string line = {};  ///< as on the command line; empty: no target for it
};

/// Random faults, from the lines in the table of verbs. The seed determines times and choices; the
/// target also depends on the nodes that exist. In a line,
///
///   NODE    is a READY node that is not somebody else's
///   SPOT    is such a spot node, or the queued resource that created it
///   HOST    is NODE/INDEX of a running host
///   METHOD  is a pattern of API methods
///   0.5..3s is a time in this range, and 1..4 a number
class Storm {
 public:
  /// `only` are kinds; empty: all of them.
  static base::Result<Storm> Of(std::uint64_t seed, const std::vector<std::string>& only);

  const std::vector<std::string>& kinds() const { return kinds_; }
  /// The time until the next fault at a rate of `rate` faults a minute.
  Duration Pause(double rate);
  /// The next fault. No kind repeats before all others had their turn, so that short storms have
  /// them all. `status` is the answer of GET /sim/status.
  StormFault Next(const Json& status);

 private:
  Storm(std::uint64_t seed, std::vector<std::string> kinds)
      : random_(seed), kinds_(std::move(kinds)) {}
  /// In [0, 1).
  double Draw();
  std::string NextKind();

  std::mt19937_64 random_;
  std::vector<std::string> kinds_;
  std::vector<std::string> round_ = {};  ///< kinds still to come in this round
};

}  // namespace jobman::sim
