#pragma once

#include <asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"

namespace jobman::auth {

/// Sources of tokens, so that all who act with the same credentials share one cache.
class TokenCaches {
 public:
  /// The source of this name, if it was made of the same version of its credentials; else null.
  std::shared_ptr<TokenSource> Find(const std::string& name, const std::string& version) const;
  /// Takes the place of another version.
  void Keep(const std::string& name, std::string version, std::shared_ptr<TokenSource> source);

 private:
  struct Kept {
    std::string version = {};
    std::shared_ptr<TokenSource> source = {};
  };
  std::map<std::string, Kept> kept_ = {};
};

/// Those of the loop on which the executor runs. They end with the loop, whose transports they use.
TokenCaches& CachesOf(const asio::any_io_executor& executor);

}  // namespace jobman::auth
