#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tests/property/random.hpp"

namespace jobman::test {

/// The kinds of faults in a walk.
enum class Risk {
  kRefusal,      ///< a request is refused
  kLostCall,     ///< an API call does not arrive, or its answer is lost
  kLateArrival,  ///< a request takes effect late, or is seen late
  kSilence,      ///< the cloud, or a host, does not answer for a while
  kStockout,     ///< an accepted request finds no capacity
  kSliceFault,   ///< a slice is preempted, repaired, deleted ...
  kTakenName,    ///< somebody else takes a name
  kHost,         ///< a connection to a host breaks, or the host cannot start a run
  kCommand,      ///< a command fails, or is lost
  kDelivery,     ///< an observation arrives late, twice, or never
  kHold,         ///< another job was refused
  kCrash,        ///< a controller is killed or suspended
  kStore,        ///< the store is slow, unreachable or full
  kHook,         ///< a hook fails
  kCount,
};

/// How often faults occur: drawn from the walk's seed, so that rare faults coincide in some walks
/// and are absent in others.
class Odds {
 public:
  explicit Odds(std::uint64_t seed);

  /// Whether the fault occurs this time; on average it does `usual` times in `of`.
  bool Occurs(Random& random, Risk risk, int usual, int of = 100) const;
  /// "refusal x 3, silence never": the odds that are not as usual.
  std::string Text() const;

 private:
  std::array<int, static_cast<std::size_t>(Risk::kCount)> quarters_ = {};  ///< of the usual odds
};

}  // namespace jobman::test
