#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/wire/api_error.hpp"
#include "sim/wire/route.hpp"

namespace jobman::sim {

/// The long-running operations.
class Operations {
 public:
  struct Start {
    ResourceKey where = {};  ///< project and zone; the id is ignored
    std::string verb = {};
    std::string target = {};    ///< full name of the resource it works on
    std::string version = {};   ///< "v2"
    std::string metadata = {};  ///< type of the metadata: guesses.operation_metadata
  };
  using Key = ResourceKey;

  Key Begin(const Start& start, TimePoint now);
  // An operation ends once: later calls, and calls for a deleted one, have no effect.

  void Succeed(const Key& key, Json response, TimePoint now);
  void Fail(const Key& key, const ApiError& error, TimePoint now);
  /// Records the request to cancel. The work goes on, as in the real service.
  bool Cancel(const Key& key);
  bool Erase(const Key& key);

  /// Null when there is none.
  Json Render(const Key& key) const;
  const std::map<Key, Json>& all() const { return operations_; }

 private:
  Json* Open(const Key& key);

  std::map<Key, Json> operations_ = {};
  std::uint64_t count_ = 0;
};

/// The `response` of an operation without a result.
Json EmptyResponse();

}  // namespace jobman::sim
