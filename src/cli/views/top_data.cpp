#include <cmath>

#include "cli/views/top.hpp"

namespace jobman::cli::views {
namespace {

/// Two decimals: more would be noise.
base::OrderedJson NumberJson(const std::optional<double>& number) {
  if (!number) return nullptr;
  return std::round(*number * 100) / 100;
}

base::OrderedJson AmountJson(const std::optional<remote::Amount>& amount) {
  if (!amount) return nullptr;
  return {{"used", amount->used}, {"total", amount->total}};
}

base::OrderedJson ChipJson(const remote::Chip& chip) {
  base::OrderedJson holders = base::OrderedJson::array();
  for (const remote::ChipHolder& holder : chip.holders) {
    holders.push_back({{"pid", holder.pid}, {"user", holder.user}, {"command", holder.command}});
  }
  return {{"device", chip.device},
          {"duty_percent", NumberJson(chip.duty_percent)},
          {"hbm", AmountJson(chip.hbm)},
          {"holders", holders}};
}

base::OrderedJson HostJson(const client::TopHost& host) {
  base::OrderedJson json = {{"host", host.host}, {"error", nullptr}};
  if (host.trouble) json["error"] = host.trouble->ToString();
  if (!host.look) return json;
  const remote::HostLook& look = *host.look;
  json["apart"] = host.apart.empty() ? base::OrderedJson() : base::OrderedJson(host.apart);
  json["cpus"] = look.cpus == 0 ? base::OrderedJson() : base::OrderedJson(look.cpus);
  json["load"] = NumberJson(look.load);
  json["cpu_percent"] = NumberJson(look.cpu_percent);
  json["memory"] = AmountJson(look.memory);
  json["root_disk"] = AmountJson(look.root_disk);
  json["home_disk"] = AmountJson(look.home_disk);
  json["duty_percent"] = NumberJson(look.duty_percent);
  json["hbm"] = AmountJson(look.hbm);
  json["sees_all"] = look.sees_all;
  base::OrderedJson chips = base::OrderedJson::array();
  for (const remote::Chip& chip : look.chips) chips.push_back(ChipJson(chip));
  json["chips"] = std::move(chips);
  return json;
}

}  // namespace

base::OrderedJson ToJson(const Top& view) {
  base::OrderedJson hosts = base::OrderedJson::array();
  for (const client::TopHost& host : view.hosts) hosts.push_back(HostJson(host));
  return {{"job", view.job.value}, {"hosts", std::move(hosts)}};
}

}  // namespace jobman::cli::views
