#include "jobman/ui/folding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jobman/base/strings.hpp"

namespace jobman::ui {
namespace {

std::string RenderGroup(const Folding::Group& group) {
  const std::string label = HostsLabel(group.hosts);
  const std::string& text = group.text;
  if (text.empty()) return label + ": (no output)\n";
  const bool one_line = text.find('\n') >= text.size() - 1;
  const std::string_view end = text.back() == '\n' ? "" : "\n";
  return fmt::format("{}:{}{}{}", label, one_line ? " " : "\n", text, end);
}

}  // namespace

void Folding::Add(int host, std::string text) {
  hosts_by_text_[std::move(text)].push_back(host);
}

std::vector<Folding::Group> Folding::Groups() const {
  std::vector<Group> groups;
  for (const auto& [text, hosts] : hosts_by_text_) {
    groups.push_back({.hosts = hosts, .text = text});
    std::sort(groups.back().hosts.begin(), groups.back().hosts.end());
  }
  std::sort(groups.begin(), groups.end(),
            [](const Group& a, const Group& b) { return a.hosts.front() < b.hosts.front(); });
  return groups;
}

std::string Folding::Render() const {
  std::string text;
  for (const Group& group : Groups()) text += RenderGroup(group);
  return text;
}

std::string HostsLabel(const std::vector<int>& sorted_hosts) {
  if (sorted_hosts.size() == 1) return fmt::format("host {}", sorted_hosts.front());
  return fmt::format("hosts {} ({})", base::FormatRanges(sorted_hosts), sorted_hosts.size());
}

}  // namespace jobman::ui
