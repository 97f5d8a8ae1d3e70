#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tests/property/random.hpp"

namespace jobman::test {

/// What may go wrong in a walk.
enum class Risk {
  kRefusal,      ///< a request is refused
  kLostCall,     ///< a call of the API does not arrive, or its answer is lost
  kLateArrival,  ///< a request takes effect late, or is seen late
  kSilence,      ///< the cloud, or a host, does not answer for a while
  kStockout,     ///< an accepted request finds no capacity
  kStrike,       ///< something happens to a slice
  kTakenName,    ///< somebody else takes a name
  kHost,         ///< a connection to a host breaks, a host cannot start a run
  kCommand,      ///< a command fails, or is lost
  kNews,         ///< what the controller hears comes late, twice, or never
  kHold,         ///< another job was refused
  kCrash,        ///< the controller is killed, or falls asleep
  kStore,        ///< the store is slow, out of reach or full
  kHook,         ///< a hook fails
  kCount,
};

/// How often it does: drawn from the walk's seed, so that rare faults come together in some walks
/// and are absent in others.
class Odds {
 public:
  explicit Odds(std::uint64_t seed);

  /// Whether it goes wrong this time; `usual` in `of` is how often it does on average.
  bool Strikes(Random& random, Risk risk, int usual, int of = 100) const;
  /// "refusal x3, silence never": all that are not the usual ones.
  std::string Text() const;

 private:
  std::array<int, static_cast<std::size_t>(Risk::kCount)> quarters_ = {};  ///< of the usual odds
};

}  // namespace jobman::test
