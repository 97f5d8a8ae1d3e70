#include "controller/clouds.hpp"

namespace jobman::controller {

std::string CloudKey(const core::CloudSpec& spec) {
  return spec.endpoint + '\n' + spec.token_file + '\n' + spec.token_command;
}

base::Result<std::shared_ptr<ports::SliceApi>> Clouds::Get(const core::CloudSpec& spec) {
  const std::string key = CloudKey(spec);
  const auto found = open_.find(key);
  if (found != open_.end()) return found->second;
  JM_ASSIGN_OR_RETURN(auto cloud, world_.open_cloud(spec));
  open_.emplace(key, cloud);
  return cloud;
}

void Clouds::Forget(const core::CloudSpec& spec) {
  open_.erase(CloudKey(spec));
}

}  // namespace jobman::controller
