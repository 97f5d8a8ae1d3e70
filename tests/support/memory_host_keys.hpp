#pragma once

#include <map>

#include "jobman/ports/host_key_store.hpp"

namespace jobman::test {

/// Host keys in memory.
class MemoryHostKeys final : public ports::HostKeyStore {
 public:
  base::Task<base::Result<std::optional<std::string>>> PinnedKey(std::string identity) override {
    co_return Find(identity);
  }
  base::Task<base::Status> PinKey(std::string identity, std::string key) override {
    keys[identity] = key;
    co_return base::Ok();
  }

  std::optional<std::string> Find(const std::string& identity) const {
    const auto found = keys.find(identity);
    return found == keys.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<std::string, std::string> keys = {};
};

}  // namespace jobman::test
