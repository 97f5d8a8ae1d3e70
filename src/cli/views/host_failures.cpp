#include "cli/views/host_failures.hpp"

#include <fmt/format.h>

#include "jobman/base/strings.hpp"

namespace jobman::cli::views {

void HostFailures::Add(int host, const base::Error& error) {
  std::string what = error.ToString();
  if (!error.hint.empty()) what += "\n  " + error.hint;
  hosts_of_[what].push_back(host);
}

std::string HostFailures::Text() const {
  std::map<int, std::string> lines;  // by the first host, which has one error
  for (const auto& [what, hosts] : hosts_of_) {
    lines[hosts.front()] = fmt::format("{} {}: {}\n", hosts.size() == 1 ? "host" : "hosts",
                                       base::FormatRanges(hosts), what);
  }
  std::string text;
  for (const auto& [first, line] : lines) text += line;
  return text;
}

}  // namespace jobman::cli::views
