#include "cli/views/top.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cli/views/top_cells.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::cli::views {
namespace {

using client::TopHost;
using remote::HostLook;
using Hosts = std::vector<const TopHost*>;

constexpr std::size_t kMostCauses = 4;
constexpr std::size_t kLongestRanges = 48;

/// "host 3", "hosts 0-3,7"; many are cut short.
std::string HostsNamed(std::vector<int> hosts) {
  std::sort(hosts.begin(), hosts.end());
  return (hosts.size() == 1 ? "host " : "hosts ") + base::ShortRanges(hosts, kLongestRanges);
}

std::string OneLine(std::string_view text, ui::Tone tone, const ui::Style& style) {
  const std::string clean = ui::Clean(text, style.utf8);
  const bool unlimited = style.width <= 0;
  return ui::Paint(tone, unlimited ? clean : ui::Truncate(clean, style.width, style.utf8), style) +
         "\n";
}

/// A line for each cause, and one for those that have not answered yet.
std::vector<std::string> TroubleLines(const Top& view, const ui::Style& style) {
  std::map<std::string, std::vector<int>> causes;
  std::vector<int> awaited;
  for (const TopHost& host : view.hosts) {
    if (host.trouble) causes[ssh::BriefCause(*host.trouble)].push_back(host.host);
    if (!host.trouble && !host.look) awaited.push_back(host.host);
  }
  std::vector<std::string> lines;
  std::size_t left = 0;
  for (const auto& [cause, hosts] : causes) {
    if (lines.size() < kMostCauses || view.height == 0)
      lines.push_back(OneLine(HostsNamed(hosts) + ": " + cause, ui::Tone::kBad, style));
    else
      left += hosts.size();
  }
  if (left > 0)
    lines.push_back(OneLine(fmt::format("and {} for other reasons",
                                        base::Plural(static_cast<std::int64_t>(left), "host")),
                            ui::Tone::kBad, style));
  if (!awaited.empty())
    lines.push_back(OneLine("waiting for " + HostsNamed(awaited), ui::Tone::kBusy, style));
  return lines;
}

std::vector<int> NumbersIf(const Hosts& hosts, const std::function<bool(const HostLook&)>& is) {
  std::vector<int> numbers;
  for (const TopHost* host : hosts) {
    if (is(*host->look)) numbers.push_back(host->host);
  }
  return numbers;
}

/// What is not known, and why.
std::vector<std::string> NotesBelow(const Hosts& hosts, const ui::Style& style) {
  using Info = HostLook::TpuInfo;
  std::vector<std::string> lines;
  const auto add = [&lines, &style](const std::string& text) {
    lines.push_back(OneLine(text, ui::Tone::kDim, style));
  };
  const auto with_chips =
      NumbersIf(hosts, [](const HostLook& look) { return !look.chips.empty(); });
  const auto blind = NumbersIf(hosts, [](const HostLook& look) { return !look.sees_all; });
  const auto without = NumbersIf(hosts, [](const HostLook& look) {
    return !look.chips.empty() && look.tpu_info == Info::kAbsent;
  });
  const auto silent =
      NumbersIf(hosts, [](const HostLook& look) { return look.tpu_info == Info::kSilent; });
  if (!blind.empty())
    add("chips that other users hold are not seen without sudo: " + HostsNamed(blind));
  if (!without.empty() && without.size() == with_chips.size())
    add("no duty cycle: tpu-info is not on the hosts (pip install tpu-info)");
  else if (!without.empty())
    add("no duty cycle: tpu-info is not on " + HostsNamed(without));
  if (!silent.empty())
    add("no duty cycle: tpu-info names no program that uses the TPU on " + HostsNamed(silent));
  return lines;
}

/// ", load 0.4-0.9": of what is known.
std::string RangeText(const Hosts& hosts, const char* name,
                      const std::function<std::optional<double>(const HostLook&)>& of,
                      const std::function<std::string(double)>& text) {
  std::optional<double> least, most;
  for (const TopHost* host : hosts) {
    const auto value = of(*host->look);
    if (!value) continue;
    least = std::min(least.value_or(*value), *value);
    most = std::max(most.value_or(*value), *value);
  }
  if (!least) return {};
  const std::string from = text(*least), to = text(*most);
  return fmt::format(", {} {}", name, from == to ? to : from + " to " + to);
}

/// "... and 980 more hosts alike, load 0.40 to 0.90, CPU 3% to 5%, duty cycle 98%"
std::string RestLine(const Hosts& rest, const ui::Style& style) {
  const auto apart = std::count_if(rest.begin(), rest.end(),
                                   [](const TopHost* host) { return !host->apart.empty(); });
  const auto percent = [](double value) { return PercentText(value); };
  std::string text =
      fmt::format("... and {} more host{}", rest.size(), rest.size() == 1 ? "" : "s");
  text += apart == 0 ? " alike" : fmt::format(", {} apart from the others", apart);
  text += RangeText(
      rest, "load", [](const HostLook& look) { return look.load; },
      [](double value) { return LoadText(value); });
  text += RangeText(
      rest, "CPU", [](const HostLook& look) { return look.cpu_percent; }, percent);
  text += RangeText(
      rest, "duty cycle", [](const HostLook& look) { return look.duty_percent; }, percent);
  return OneLine(text, apart == 0 ? ui::Tone::kDim : ui::Tone::kBusy, style);
}

/// How many of the hosts, the first ones, fit into so many lines; at least one.
std::size_t CountThatFits(const Hosts& hosts, bool wide, int lines) {
  std::size_t count = 0;
  for (const TopHost* host : hosts) {
    lines -= TopRowsOf(*host, wide) + (host->apart.empty() ? 0 : 1);
    if (lines < 0) break;
    ++count;
  }
  return std::max<std::size_t>(count, 1);
}

/// Of the hosts that have a look, those that the window has room for.
std::size_t CountShown(const Top& view, const Hosts& hosts, std::size_t other_lines) {
  if (view.height == 0 || hosts.empty()) return hosts.size();
  constexpr int kHeader = 1;
  const int room = view.height - kHeader - static_cast<int>(other_lines);
  const std::size_t all = CountThatFits(hosts, view.wide, room);
  return all == hosts.size() ? all : CountThatFits(hosts, view.wide, room - 1);
}

}  // namespace

std::string RenderText(const Top& view, const ui::Style& style) {
  Hosts hosts;
  for (const TopHost& host : view.hosts) {
    if (host.look) hosts.push_back(&host);
  }
  const std::vector<std::string> above = TroubleLines(view, style);
  const std::vector<std::string> below = NotesBelow(hosts, style);
  std::string text = base::Join(above, "");
  if (hosts.empty()) return text;
  const std::size_t shown = CountShown(view, hosts, above.size() + below.size());
  TopTable table = TopTableFor(hosts, view.wide);
  for (std::size_t i = 0; i < shown; ++i) AddTopHost(table, *hosts[i]);
  ui::Style table_style = style;
  if (view.wide && view.height == 0) table_style.width = 0;
  text += table.table.Render(table_style);
  const Hosts rest(hosts.begin() + static_cast<std::ptrdiff_t>(shown), hosts.end());
  if (!rest.empty()) text += RestLine(rest, style);
  return text + base::Join(below, "");
}

std::string RenderQuiet(const Top& view) {
  std::string text;
  for (const TopHost& host : view.hosts) {
    if (host.trouble || !host.apart.empty()) text += std::to_string(host.host) + "\n";
  }
  return text;
}

}  // namespace jobman::cli::views
