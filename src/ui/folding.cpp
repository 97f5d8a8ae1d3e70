#include "jobman/ui/folding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jobman/base/strings.hpp"

namespace jobman::ui {
namespace {

base::Status PrintGroup(const Folding::Group& group, Terminal& terminal) {
  const TextFacts& facts = group.text.facts;
  const std::string label = HostsLabel(group.hosts);
  if (facts.empty()) {
    terminal.Out(label + ": (no output)\n");
    return base::Ok();
  }
  terminal.Out(label + (facts.one_line() ? ": " : ":\n"));
  const TakePiece print = [&terminal](std::string_view piece) {
    terminal.OutBytes(piece);
    return base::Ok();
  };
  JM_TRY(group.text.read(print));
  if (!facts.ends_line()) terminal.OutBytes("\n");
  return base::Ok();
}

}  // namespace

void TextFacts::Add(std::string_view piece) {
  if (piece.empty()) return;
  hash_.Add(piece);
  size_ += static_cast<std::int64_t>(piece.size());
  // A line break before this piece, or in it, was not the last byte.
  if (ends_line_ || piece.find('\n') < piece.size() - 1) one_line_ = false;
  ends_line_ = piece.back() == '\n';
}

void Folding::Add(int host, HostText text) {
  Group& group = groups_[text.facts.Digest()];
  if (group.hosts.empty()) group.text = std::move(text);
  group.hosts.push_back(host);
}

std::vector<Folding::Group> Folding::Groups() const {
  std::vector<Group> groups;
  for (const auto& [digest, group] : groups_) {
    groups.push_back(group);
    std::sort(groups.back().hosts.begin(), groups.back().hosts.end());
  }
  std::sort(groups.begin(), groups.end(),
            [](const Group& a, const Group& b) { return a.hosts.front() < b.hosts.front(); });
  return groups;
}

base::Status Folding::Print(Terminal& terminal) const {
  for (const Group& group : Groups()) JM_TRY(PrintGroup(group, terminal));
  return base::Ok();
}

std::string HostsLabel(const std::vector<int>& sorted_hosts) {
  if (sorted_hosts.size() == 1) return fmt::format("host {}", sorted_hosts.front());
  return fmt::format("hosts {} ({})", base::FormatRanges(sorted_hosts), sorted_hosts.size());
}

}  // namespace jobman::ui
