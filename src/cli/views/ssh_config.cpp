#include "cli/views/ssh_config.hpp"

namespace jobman::cli::views {

std::string RenderText(const SshConfig& view, const ui::Style&) {
  return view.names.config.config;
}

std::string RenderQuiet(const SshConfig& view) {
  std::string lines;
  for (const auto& [job, hosts] : view.names.config.names) {
    for (const auto& [host, names] : hosts) {
      for (const std::string& name : names) lines += name + "\n";
    }
  }
  return lines;
}

base::OrderedJson ToJson(const SshConfig& view) {
  base::OrderedJson hosts = base::OrderedJson::array();
  for (const core::SshJob& job : view.names.jobs) {
    const auto named = view.names.config.names.find(job.id);
    if (named == view.names.config.names.end()) continue;
    for (const core::SshHost& host : job.hosts) {
      const auto names = named->second.find(host.number);
      if (names == named->second.end()) continue;
      hosts.push_back({{"job", job.id.value},
                       {"name", job.name},
                       {"host", host.number},
                       {"names", names->second},
                       {"user", job.user},
                       {"address", host.address},
                       {"port", job.port},
                       {"pinned", host.key.has_value()}});
    }
  }
  return {{"file", view.file},
          {"known_hosts", view.known_hosts},
          {"config", view.names.config.config},
          {"hosts", std::move(hosts)}};
}

std::string RenderText(const SshInclude& view, const ui::Style&) {
  return view.plan.line + "\n";
}

std::string RenderQuiet(const SshInclude& view) {
  return view.plan.line + "\n";
}

base::OrderedJson ToJson(const SshInclude& view) {
  return {
      {"file", view.plan.file.string()}, {"line", view.plan.line}, {"changes", view.plan.changes}};
}

}  // namespace jobman::cli::views
