#include "cli/views/top_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

using client::TopHost;
using remote::Chip;
using remote::ChipHolder;
using remote::HostLook;

/// Three digits, or all of the whole number.
std::string Digits(double number) {
  return fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

/// "0" of "/dev/accel0" and "/dev/vfio/0".
std::string ChipName(const Chip& chip) {
  std::string name = chip.device.substr(chip.device.find_last_of('/') + 1);
  if (name.starts_with("accel") && name.size() > 5) name.erase(0, 5);
  return name;
}

std::string HolderCell(const ChipHolder& holder) {
  return fmt::format("{} {} {}", holder.pid, holder.user, OrDash(holder.command));
}

/// "4711 ann python train.py" if that holds all chips, else "0,1: 4711 ann python train.py; ...".
std::string HoldersCell(const HostLook& look) {
  std::vector<std::pair<std::string, std::vector<std::string>>> chips_of;
  for (const Chip& chip : look.chips) {
    for (const ChipHolder& holder : chip.holders) {
      const std::string text = HolderCell(holder);
      auto found = std::find_if(chips_of.begin(), chips_of.end(),
                                [&text](const auto& one) { return one.first == text; });
      if (found == chips_of.end()) {
        chips_of.emplace_back(text, std::vector<std::string>());
        found = std::prev(chips_of.end());
      }
      found->second.push_back(ChipName(chip));
    }
  }
  if (chips_of.size() == 1 && chips_of[0].second.size() == look.chips.size())
    return chips_of[0].first;
  std::vector<std::string> parts;
  for (const auto& [holder, chips] : chips_of)
    parts.push_back(base::Join(chips, ",") + ": " + holder);
  return OrDash(base::Join(parts, "; "));
}

std::string HeldCell(const HostLook& look) {
  const auto held = std::count_if(look.chips.begin(), look.chips.end(),
                                  [](const Chip& chip) { return !chip.holders.empty(); });
  return look.chips.empty() ? "-" : fmt::format("{}/{}", held, look.chips.size());
}

std::optional<double> LoadPerCpu(const HostLook& look) {
  if (!look.load || look.cpus == 0) return std::nullopt;
  return *look.load / look.cpus;
}

ui::Tone ApartTone(const TopHost& host) {
  return host.apart.empty() ? ui::Tone::kPlain : ui::Tone::kBusy;
}

/// What a row begins with, of a host and of a chip.
std::vector<ui::Cell> FirstCells(const TopHost& host) {
  const HostLook& look = *host.look;
  return {{std::to_string(host.host), ApartTone(host)},
          LoadText(look.load),
          LoadText(LoadPerCpu(look)),
          PercentText(look.cpu_percent),
          AmountText(look.memory)};
}

void AddHost(TopTable& to, const TopHost& host) {
  const HostLook& look = *host.look;
  std::vector<ui::Cell> cells = FirstCells(host);
  cells.emplace_back(PercentText(SharePercent(look.root_disk)));
  cells.emplace_back(PercentText(SharePercent(look.home_disk)));
  if (to.duty) {
    cells.emplace_back(PercentText(look.duty_percent));
    cells.emplace_back(AmountText(look.hbm));
  }
  if (to.chips) {
    cells.emplace_back(HeldCell(look));
    cells.emplace_back(HoldersCell(look));
  }
  to.table.AddRow(std::move(cells));
}

void AddChip(TopTable& to, const TopHost& host, const Chip& chip, const ChipHolder* holder) {
  const HostLook& look = *host.look;
  std::vector<ui::Cell> cells = FirstCells(host);
  cells.emplace_back(AmountText(look.root_disk));
  cells.emplace_back(AmountText(look.home_disk));
  if (to.chips) cells.emplace_back(OrDash(chip.device));
  if (to.duty) {
    cells.emplace_back(PercentText(chip.duty_percent));
    cells.emplace_back(AmountText(chip.hbm));
  }
  if (to.chips) {
    cells.emplace_back(holder == nullptr ? "-" : std::to_string(holder->pid));
    cells.emplace_back(holder == nullptr ? "-" : holder->user);
    cells.emplace_back(holder == nullptr ? "-" : OrDash(holder->command));
  }
  to.table.AddRow(std::move(cells));
}

void AddChips(TopTable& to, const TopHost& host) {
  const std::vector<Chip>& chips = host.look->chips;
  if (chips.empty()) AddChip(to, host, {}, nullptr);
  for (const Chip& chip : chips) {
    if (chip.holders.empty()) AddChip(to, host, chip, nullptr);
    for (const ChipHolder& holder : chip.holders) AddChip(to, host, chip, &holder);
  }
}

std::vector<ui::Column> TopColumns(bool duty, bool chips, bool wide) {
  std::vector<ui::Column> columns = {{.header = "HOST", .right = true},
                                     {.header = "LOAD", .right = true},
                                     {.header = "PER CPU", .right = true, .drop = 1},
                                     {.header = "CPU", .right = true},
                                     {.header = "MEMORY", .right = true},
                                     {.header = "DISK /", .right = true, .drop = 4},
                                     {.header = "HOME", .right = true, .drop = 3}};
  if (wide && chips) columns.push_back({.header = "CHIP"});
  if (duty) {
    columns.push_back({.header = "DUTY", .right = true});
    columns.push_back({.header = "HBM", .right = true, .drop = 2});
  }
  if (wide && chips) {
    columns.push_back({.header = "PID", .right = true});
    columns.push_back({.header = "USER"});
    columns.push_back({.header = "COMMAND", .flexible = 1, .enough = 12});
  } else if (chips) {
    columns.push_back({.header = "CHIPS", .right = true});
    columns.push_back({.header = "HELD BY", .flexible = 1, .enough = 12});
  }
  return columns;
}

}  // namespace

TopTable TopTableFor(const std::vector<const TopHost*>& hosts, bool wide) {
  const auto any = [&hosts](const auto& has) {
    return std::any_of(hosts.begin(), hosts.end(),
                       [&has](const TopHost* host) { return has(*host->look); });
  };
  const bool duty =
      any([](const HostLook& look) { return look.tpu_info == HostLook::TpuInfo::kSays; });
  const bool chips = any([](const HostLook& look) { return !look.chips.empty(); });
  return {.table = ui::Table(TopColumns(duty, chips, wide)),
          .duty = duty,
          .chips = chips,
          .wide = wide};
}

int TopRowsOf(const TopHost& host, bool wide) {
  if (!wide) return 1;
  int rows = 0;
  for (const Chip& chip : host.look->chips)
    rows += std::max(1, static_cast<int>(chip.holders.size()));
  return std::max(1, rows);
}

void AddTopHost(TopTable& table, const TopHost& host) {
  if (table.wide)
    AddChips(table, host);
  else
    AddHost(table, host);
  if (!host.apart.empty()) table.table.AddNote({host.apart, ui::Tone::kBusy});
}

std::string PercentText(const std::optional<double>& percent) {
  return percent ? fmt::format("{:.0f}%", *percent) : "-";
}

std::string LoadText(const std::optional<double>& load) {
  return load ? Digits(*load) : "-";
}

std::string AmountText(const std::optional<remote::Amount>& amount) {
  if (!amount) return "-";
  constexpr std::array kUnits = {"KB", "MB", "GB", "TB", "PB"};
  double unit = 1024;
  std::size_t name = 0;
  while (name + 1 < kUnits.size() && static_cast<double>(amount->total) >= 1024 * unit) {
    unit *= 1024;
    ++name;
  }
  return fmt::format("{}/{} {}", Digits(static_cast<double>(amount->used) / unit),
                     Digits(static_cast<double>(amount->total) / unit), kUnits[name]);
}

std::optional<double> SharePercent(const std::optional<remote::Amount>& amount) {
  if (!amount) return std::nullopt;
  return 100.0 * static_cast<double>(amount->used) / static_cast<double>(amount->total);
}

}  // namespace jobman::cli::views
