#include "controller/clouds.hpp"

namespace jobman::controller {

std::string CloudKey(const core::CloudSpec& spec) {
  return spec.endpoint + '\n' + spec.token_file + '\n' + spec.token_command + '\n' +
         spec.credentials_file + '\n' + spec.impersonate_service_account;
}

base::Task<Clouds::Opened> Clouds::Get(core::CloudSpec spec) {
  const std::string key = CloudKey(spec);
  for (auto known = clouds_.find(key); known != clouds_.end(); known = clouds_.find(key)) {
    const OpeningPtr opening = known->second;
    if (!opening->over) co_await opening->ended.Wait();
    if (opening->opened) co_return *opening->opened;
    Drop(key, opening);
  }
  co_return co_await Open(key, std::move(spec));
}

base::Task<Clouds::Opened> Clouds::Open(std::string key, core::CloudSpec spec) {
  struct End {  // also when this coroutine is cancelled: a waiting one opens it then
    OpeningPtr opening;
    ~End() {
      opening->over = true;
      opening->ended.WakeAll();
    }
  };
  const End end{std::make_shared<Opening>()};
  clouds_[key] = end.opening;
  Opened opened = co_await ports_.open_cloud(std::move(spec));
  end.opening->opened = opened;
  if (!opened.ok()) Drop(key, end.opening);
  co_return opened;
}

/// Unless it has been replaced already.
void Clouds::Drop(const std::string& key, const OpeningPtr& opening) {
  const auto known = clouds_.find(key);
  if (known != clouds_.end() && known->second == opening) clouds_.erase(known);
}

void Clouds::Forget(const core::CloudSpec& spec) {
  clouds_.erase(CloudKey(spec));
}

}  // namespace jobman::controller
