#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "jobman/base/waiters.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::controller {

/// One client per cloud and identity, opened on first use.
class Clouds {
 public:
  using Opened = base::Result<std::shared_ptr<ports::SliceApi>>;

  explicit Clouds(const Ports& ports) : ports_(ports) {}

  /// Concurrent calls share one opening, which may be slow. A failure is not cached.
  base::Task<Opened> Get(core::CloudSpec spec);
  /// Drops a client that could not reach its cloud; the next Get() opens it again.
  void Forget(const core::CloudSpec& spec);

 private:
  struct Opening {
    bool over = false;
    std::optional<Opened> opened = {};  ///< nothing: opening was cancelled
    base::Waiters ended = {};
  };
  using OpeningPtr = std::shared_ptr<Opening>;

  base::Task<Opened> Open(std::string key, core::CloudSpec spec);
  void Drop(const std::string& key, const OpeningPtr& opening);

  const Ports& ports_;
  std::map<std::string, OpeningPtr> clouds_ = {};
};

/// Identifies a cloud and identity in maps.
std::string CloudKey(const core::CloudSpec& spec);

}  // namespace jobman::controller
