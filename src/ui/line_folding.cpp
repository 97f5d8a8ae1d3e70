#include "jobman/ui/line_folding.hpp"

#include <algorithm>
#include <utility>

namespace jobman::ui {
namespace {

/// What a line takes beside its bytes, roughly.
constexpr std::size_t kBesideLine = 128;

}  // namespace

void LineFolding::Add(int host, std::string_view line, bool continued) {
  const auto known = places_.find(line);
  std::size_t& after = last_[host];
  if (known != places_.end()) {
    const auto& places = known->second;
    for (auto at = std::lower_bound(places.begin(), places.end(), after); at != places.end();
         ++at) {
      Held& held = held_[*at];
      if (held.continued != continued) continue;
      held.hosts.push_back(host);
      after = *at + 1;
      bytes_ += sizeof(int);
      if (bytes_ > kMostBytes) Flush();
      return;
    }
  }
  places_[std::string(line)].push_back(held_.size());
  held_.push_back({.line = std::string(line), .continued = continued, .hosts = {host}});
  after = held_.size();
  bytes_ += 2 * line.size() + kBesideLine;
  if (bytes_ > kMostBytes) Flush();
}

void LineFolding::Flush() {
  const std::vector<Held> held = std::exchange(held_, {});
  places_.clear();
  last_.clear();
  bytes_ = 0;
  for (const Held& one : held) {
    std::vector<int> hosts = one.hosts;
    std::sort(hosts.begin(), hosts.end());
    out_(hosts, one.line, one.continued);
  }
}

}  // namespace jobman::ui
