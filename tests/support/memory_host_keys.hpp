#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "jobman/ports/host_key_store.hpp"

namespace jobman::test {

/// Host keys in memory.
class MemoryHostKeys final : public ports::HostKeyStore {
 public:
  base::Task<base::Result<std::optional<std::string>>> PinnedKey(std::string identity) override {
    ++reads;
    std::optional<std::string> read = Find(identity);
    if (after_read) std::exchange(after_read, {})();
    co_return read;
  }
  base::Task<base::Result<std::map<std::string, std::string>>> PinnedKeys(
      std::vector<std::string> identities) override {
    std::map<std::string, std::string> read;
    for (const std::string& identity : identities) {
      const auto found = keys.find(identity);
      if (found != keys.end()) read.insert(*found);
    }
    co_return read;
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
  int reads = 0;
  std::function<void()> after_read = {};  ///< called once, after the next one
};

}  // namespace jobman::test
