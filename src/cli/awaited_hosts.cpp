#include "cli/awaited_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"

namespace jobman::cli {
namespace {

constexpr auto kSilent = std::chrono::seconds{10};
/// Characters of numbers of hosts, so that a line of 80 has the rest too.
constexpr std::size_t kMostNumbers = 40;

}  // namespace

bool AwaitedHosts::Heard(int host) {
  return heard_.insert(host).second && heard_.size() == count_;
}

std::string AwaitedHosts::Line(const std::vector<int>& busy, Time now) const {
  std::vector<int> awaited;
  const bool some_ended = busy.size() < count_;
  std::copy_if(busy.begin(), busy.end(), std::back_inserter(awaited),
               [&](int host) { return some_ended || !heard_.contains(host); });
  if (awaited.empty()) return {};
  return fmt::format("waiting for {}: {}{}", base::Plural(std::ssize(awaited), "host"),
                     base::ShortRanges(awaited, kMostNumbers), Silence(awaited, now));
}

std::string AwaitedHosts::Silence(const std::vector<int>& awaited, Time now) const {
  std::vector<int> silent;
  Time last = {};
  for (const int host : awaited) {
    const auto login = logins_.find(host);
    if (login == logins_.end() || heard_.contains(host) || now - login->second < kSilent) continue;
    silent.push_back(host);
    last = std::max(last, login->second);
  }
  if (silent.empty()) return {};
  const bool one = silent.size() == 1;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - last);
  return fmt::format("; {} {} the login, but printed nothing for {}",
                     (one ? "host " : "hosts ") + base::ShortRanges(silent, kMostNumbers),
                     one ? "accepts" : "accept", base::FormatDuration(seconds));
}

}  // namespace jobman::cli
