#include "controller/queue_file_looks.hpp"

#include <algorithm>
#include <utility>

#include "jobman/controller/times.hpp"

namespace jobman::controller {

QueueFileLooks::QueueFileLooks(asio::io_context& loop, ports::QueueFiles* files,
                               const base::Clock& clock, std::function<void()> wake)
    : loop_(loop), files_(files), clock_(clock), wake_(std::move(wake)) {}

QueueFileLook& QueueFileLooks::At(const std::string& file, SeenFile seen) {
  if (QueueFileLook* const known = Find(file)) return *known;
  const auto look = std::make_shared<QueueFileLook>();
  look->begun_at = clock_.Now();
  looks_[file] = look;
  base::Spawn(loop_.get_executor(), scope_, LookAt(this, look, file, std::move(seen)));
  return *look;
}

QueueFileLook* QueueFileLooks::Find(const std::string& file) {
  const auto found = looks_.find(file);
  return found == looks_.end() ? nullptr : found->second.get();
}

std::shared_ptr<QueueFileLook> QueueFileLooks::Take(const std::string& file) {
  const auto found = looks_.find(file);
  const bool ended = found != looks_.end() && found->second->ended;
  if (!ended) return nullptr;
  std::shared_ptr<QueueFileLook> look = std::move(found->second);
  looks_.erase(found);
  return look;
}

void QueueFileLooks::DropUnless(const std::function<bool(const std::string& file)>& wanted) {
  std::erase_if(looks_,
                [&](const auto& look) { return look.second->ended && !wanted(look.first); });
}

bool QueueFileLooks::IsLate(const QueueFileLook& look) const {
  return !look.ended && clock_.Now() - look.begun_at >= kQueueFileLate;
}

bool QueueFileLooks::Busy() const {
  return std::any_of(looks_.begin(), looks_.end(), [this](const auto& look) {
    return !look.second->ended && !IsLate(*look.second);
  });
}

base::Task<void> QueueFileLooks::LookAt(QueueFileLooks* self, std::shared_ptr<QueueFileLook> look,
                                        std::string file, SeenFile seen) {
  const auto stamp = co_await self->files_->Look(file);
  look->stamp = stamp;
  const bool changed = !seen || *seen != stamp;
  if (changed) {
    ports::QueueFileContent content = co_await self->files_->Read(file);
    look->content = std::move(content);
  }
  look->ended = true;
  if (look->awaited) self->wake_();
}

}  // namespace jobman::controller
