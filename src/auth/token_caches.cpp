#include "jobman/auth/token_caches.hpp"

#include <asio/execution/context.hpp>
#include <asio/execution_context.hpp>
#include <asio/query.hpp>
#include <utility>

namespace jobman::auth {
namespace {

/// Asio's form for what a loop owns.
class LoopCaches final : public asio::execution_context::service {
 public:
  static asio::execution_context::id id;
  explicit LoopCaches(asio::execution_context& loop) : service(loop) {}
  TokenCaches caches = {};

 private:
  void shutdown() override { caches = {}; }
};

asio::execution_context::id LoopCaches::id;

}  // namespace

std::shared_ptr<TokenSource> TokenCaches::Find(const std::string& name,
                                               const std::string& version) const {
  const auto found = kept_.find(name);
  const bool same = found != kept_.end() && found->second.version == version;
  return same ? found->second.source : nullptr;
}

void TokenCaches::Keep(const std::string& name, std::string version,
                       std::shared_ptr<TokenSource> source) {
  kept_[name] = {.version = std::move(version), .source = std::move(source)};
}

TokenCaches& CachesOf(const asio::any_io_executor& executor) {
  asio::execution_context& loop = asio::query(executor, asio::execution::context);
  return asio::use_service<LoopCaches>(loop).caches;
}

}  // namespace jobman::auth
