#include "jobman/ssh/known_hosts.hpp"

namespace jobman::ssh {

base::Result<std::optional<std::string>> MemoryKnownHosts::Find(const std::string& identity) {
  const auto found = keys_.find(identity);
  if (found == keys_.end()) return std::optional<std::string>{};
  return std::optional<std::string>{found->second};
}

base::Status MemoryKnownHosts::Pin(const std::string& identity, const std::string& key) {
  keys_[identity] = key;
  return base::Ok();
}

}  // namespace jobman::ssh
