#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/client/ssh_config.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What the OpenSSH client is to know: `ssh-config`.
struct SshConfig {
  std::string file = {};         ///< where the controller writes it
  std::string known_hosts = {};  ///< where the keys are
  client::HostNames names = {};
};
/// The file as it is.
std::string RenderText(const SshConfig& view, const ui::Style& style);
/// The names, a line each.
std::string RenderQuiet(const SshConfig& view);
/// {"file", "known_hosts", "config", "hosts": [{"job", "name", "host", "names", "user", "address",
/// "port", "pinned"}]}
base::OrderedJson ToJson(const SshConfig& view);

/// The line of the user's own file: `ssh-config install`.
struct SshInclude {
  client::IncludePlan plan = {};
};
/// The line alone, for an editor.
std::string RenderText(const SshInclude& view, const ui::Style& style);
std::string RenderQuiet(const SshInclude& view);
/// {"file", "line", "changes"}
base::OrderedJson ToJson(const SshInclude& view);

}  // namespace jobman::cli::views
