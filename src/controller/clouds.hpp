#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "jobman/base/waiters.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::controller {

/// One client per cloud and identity, made when it is first needed.
class Clouds {
 public:
  using Opened = base::Result<std::shared_ptr<ports::SliceApi>>;

  explicit Clouds(const Ports& ports) : ports_(ports) {}

  /// Opening may take its time; who asks meanwhile gets the same answer. A failure is not kept.
  base::Task<Opened> Get(core::CloudSpec spec);
  /// Opens it anew at the next Get: after it could not be reached.
  void Forget(const core::CloudSpec& spec);

 private:
  struct Opening {
    bool over = false;
    std::optional<Opened> opened = {};  ///< nothing: whoever opened it was cancelled
    base::Waiters ended = {};
  };
  using OpeningPtr = std::shared_ptr<Opening>;

  base::Task<Opened> Open(std::string key, core::CloudSpec spec);
  void Drop(const std::string& key, const OpeningPtr& opening);

  const Ports& ports_;
  std::map<std::string, OpeningPtr> clouds_ = {};
};

/// Which cloud, as one text: the key of everything kept per cloud.
std::string CloudKey(const core::CloudSpec& spec);

}  // namespace jobman::controller
