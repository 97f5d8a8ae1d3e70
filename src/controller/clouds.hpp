#pragma once

#include <map>
#include <memory>
#include <string>

#include "jobman/controller/controller.hpp"

namespace jobman::controller {

/// One client per cloud and identity, made when it is first needed.
class Clouds {
 public:
  explicit Clouds(const World& world) : world_(world) {}

  base::Result<std::shared_ptr<ports::SliceApi>> Get(const core::CloudSpec& spec);
  /// Opens it anew at the next Get: after it could not be reached.
  void Forget(const core::CloudSpec& spec);

 private:
  const World& world_;
  std::map<std::string, std::shared_ptr<ports::SliceApi>> open_ = {};
};

/// Which cloud, as one text: the key of everything kept per cloud.
std::string CloudKey(const core::CloudSpec& spec);

}  // namespace jobman::controller
