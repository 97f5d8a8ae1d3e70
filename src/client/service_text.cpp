#include <algorithm>

#include "jobman/base/env.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/service.hpp"

namespace jobman::client {
namespace {

constexpr std::string_view kBegin = "# jobman controller install: begin ";
constexpr std::string_view kEnd = "# jobman controller install: end ";

/// A word of a unit: systemd.syntax(7), systemd.unit(5) for "%".
std::string UnitQuote(std::string_view word) {
  std::string quoted = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '%') quoted += '%';
    quoted += c;
  }
  return quoted + "\"";
}

/// A word of ExecStart=, where variables are put in, too.
std::string ExecQuote(std::string_view word) {
  return base::ReplaceAll(UnitQuote(word), "$", "$$");
}

/// A command of the crontab: "%" would end it.
std::string CronQuote(const base::Path& path) {
  return base::ReplaceAll(base::ShellQuote(path.string()), "%", "\\%");
}

bool IsPrintable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ServiceEnvironment() {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name : {"PATH",
                           "JOBMAN_CONFIG",
                           "JOBMAN_ENDPOINT",
                           "JOBMAN_STORAGE_ENDPOINT",
                           "JOBMAN_BREVO_ENDPOINT",
                           "JOBMAN_IAM_ENDPOINT",
                           "XDG_CONFIG_HOME",
                           "GOOGLE_CLOUD_PROJECT",
                           "CLOUDSDK_CORE_PROJECT",
                           "CLOUDSDK_CONFIG",
                           "CLOUDSDK_ACTIVE_CONFIG_NAME",
                           "GCLOUD_PROJECT",
                           "GOOGLE_APPLICATION_CREDENTIALS",
                           "GOOGLE_CLOUD_QUOTA_PROJECT",
                           "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES",
                           "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT",
                           "GCE_METADATA_HOST",
                           "GCE_METADATA_ROOT",
                           "NO_GCE_CHECK",
                           "SSL_CERT_FILE",
                           "https_proxy",
                           "HTTPS_PROXY",
                           "http_proxy",
                           "no_proxy",
                           "NO_PROXY"}) {
    const auto value = base::GetEnv(name);
    const bool proxy = base::ToLower(name).ends_with("_proxy");
    const bool secret = proxy && value && base::Contains(*value, "@");
    if (value && !secret && IsPrintable(*value)) found.emplace_back(name, *value);
  }
  return found;
}

std::string ServiceName(const base::Path& home, const base::Path& usual) {
  if (home == usual) return "jobman.service";
  return "jobman-" + base::Sha256Hex(home.string()).substr(0, 8) + ".service";
}

std::string UnitText(const ServiceOrder& order) {
  std::string text =
      "# Written by `jobman controller install`; `jobman controller uninstall` removes it.\n"
      "[Unit]\nDescription=jobman controller\n"
      "# Whatever keeps it from starting may pass.\nStartLimitIntervalSec=0\n";
  if (!order.only_host.empty())
    text +=
        "# Several machines see this home folder, and one controller is enough.\n"
        "ConditionHost=" +
        order.only_host + "\n";
  text += "\n[Service]\n";
  for (const auto& [name, value] : order.environment)
    text += "Environment=" + UnitQuote(name + "=" + value) + "\n";
  return text + "ExecStart=" + ExecQuote(order.program.string()) + " --home " +
         ExecQuote(order.home.string()) +
         " controller run\n"
         "# Until another controller has ended, which was started by a command, it tries again. "
         "Exit\n"
         "# code 2 needs a person: the store was moved, or is somebody else's.\n"
         "Restart=on-failure\nRestartSec=60\nRestartPreventExitStatus=2\n"
         "# Commands of hooks end by themselves, and a local simulator stays.\n"
         "KillMode=process\n\n[Install]\nWantedBy=default.target\n";
}

std::string ScriptText(const ServiceOrder& order) {
  std::string text =
      "#!/bin/sh\n# Written by `jobman controller install`, and run by cron; `jobman controller "
      "uninstall` removes it.\n";
  for (const auto& [name, value] : order.environment)
    text += "export " + name + "=" + base::ShellQuote(value) + "\n";
  return text + "exec " +
         base::ShellJoin({order.program.string(), "--home", order.home.string(), "--quiet",
                          "controller", "start"}) +
         "\n";
}

std::string CronLines(const base::Path& script, const base::Path& home) {
  const std::string command = CronQuote(script) + "\n";
  return std::string(kBegin) + home.string() + "\n@reboot " + command + "*/5 * * * * " + command +
         std::string(kEnd) + home.string() + "\n";
}

std::string WithoutCronLines(const std::string& crontab, const base::Path& home) {
  const std::string begin = std::string(kBegin) + home.string() + "\n";
  const std::string end = std::string(kEnd) + home.string() + "\n";
  std::string text = crontab;
  for (;;) {
    const std::size_t from = text.starts_with(begin) ? 0 : text.find("\n" + begin);
    if (from == std::string::npos) return text;
    const std::size_t first = text.starts_with(begin) ? 0 : from + 1;
    const std::size_t last = text.find("\n" + end, first);
    // Without its end nobody knows where it ends: only the mark goes.
    const std::size_t count =
        last == std::string::npos ? begin.size() : last + 1 + end.size() - first;
    text.erase(first, count);
  }
}

std::string WithCronLines(const std::string& crontab, const base::Path& script,
                          const base::Path& home) {
  std::string text = WithoutCronLines(crontab, home);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text + CronLines(script, home);
}

}  // namespace jobman::client
