#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/errors.hpp"
#include "sim/route.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// The long-running operations, each from start to its one end.
class Operations {
 public:
  /// What starts an operation: `target` is the full name of the resource it works on.
  struct Start {
    ResourceKey where = {};  ///< project and zone; the id is ignored
    std::string verb = {};
    std::string target = {};
    std::string version = {};  ///< "v2"
  };
  using Key = ResourceKey;

  Key Begin(const Start& start, TimePoint now);
  /// Later calls for an operation that ended, or was deleted, change nothing.
  void Succeed(const Key& key, Json response, TimePoint now);
  void Fail(const Key& key, const ApiError& error, TimePoint now);
  /// Marks that it was asked to stop; what runs goes on, as with the service.
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

/// The `response` of an operation that gives back nothing.
Json EmptyResponse();

}  // namespace jobman::sim
