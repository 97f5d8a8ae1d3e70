#include "jobman/controller/file_relay.hpp"

#include <algorithm>
#include <utility>

namespace jobman::controller {
namespace {

/// Hosts that read from one host at once. sshd begins to refuse logins when ten are not done
/// (MaxStartups of sshd_config).
constexpr int kReadersOfOneHost = 4;
/// Turns in a row without a use for others before it is taken that there is none.
constexpr int kRefusals = 2;

}  // namespace

void FileRelay::Turn::End(Outcome outcome) {
  if (const auto relay = std::exchange(relay_, nullptr)) relay->End(from_, outcome);
}

void FileRelay::Turn::Kept(Source kept) {
  if (!relay_) return;
  relay_->Has(std::move(kept));
  End(Outcome::kKept);
}

void FileRelay::Turn::Refused() {
  End(Outcome::kRefused);
  from_.reset();
}

base::Task<FileRelay::Turn> FileRelay::Next() {
  const auto self = shared_from_this();
  const auto began = std::chrono::steady_clock::now();
  while (true) {
    if (refused_ >= kRefusals) co_return Turn();
    if (Giving* const free = Free()) {
      ++free->readers;
      co_return Turn(self, free->source);
    }
    const bool given =
        std::any_of(sources_.begin(), sources_.end(), [](const Giving& one) { return one.gives; });
    const auto now = std::chrono::steady_clock::now();
    const auto due = given ? std::max(next_sending_, began + patience_) : next_sending_;
    if ((!given && sending_ == 0) || now >= due) {
      ++sending_;
      next_sending_ = now + patience_;
      co_return Turn(self, std::nullopt);
    }
    co_await changed_.Wait(due);
  }
}

void FileRelay::Has(Source source) {
  if (Giving* const known = Find(source.host)) {
    known->source = std::move(source);
    known->gives = true;
  } else {
    sources_.push_back({.source = std::move(source)});
  }
  changed_.WakeAll();
}

void FileRelay::Gone(int host) {
  if (Giving* const known = Find(host)) known->gives = false;
  changed_.WakeAll();  // who waited for it may be the next to be sent it
}

void FileRelay::End(const std::optional<Source>& from, Outcome outcome) {
  if (from) {
    Giving* const giver = Find(from->host);
    --giver->readers;
    if (outcome == Outcome::kKept) refused_ = 0;
    if (outcome == Outcome::kRefused && giver->gives) {
      ++refused_;
      giver->gives = false;
    }
  } else {
    --sending_;
    if (outcome != Outcome::kKept) ++refused_;
  }
  changed_.WakeAll();
}

FileRelay::Giving* FileRelay::Find(int host) {
  const auto found = std::find_if(sources_.begin(), sources_.end(),
                                  [host](const Giving& one) { return one.source.host == host; });
  return found == sources_.end() ? nullptr : &*found;
}

FileRelay::Giving* FileRelay::Free() {
  const auto free = std::min_element(
      sources_.begin(), sources_.end(), [](const Giving& one, const Giving& other) {
        return std::pair(!one.gives, one.readers) < std::pair(!other.gives, other.readers);
      });
  const bool found = free != sources_.end() && free->gives && free->readers < kReadersOfOneHost;
  return found ? &*free : nullptr;
}

}  // namespace jobman::controller
