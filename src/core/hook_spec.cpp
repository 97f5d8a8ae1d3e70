#include "jobman/core/hook_spec.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// "example.com" of "https://example.com:8443/services/T0/B0": the path may be a secret.
std::string_view UrlHost(std::string_view url) {
  const std::size_t begin = url.find("://");
  if (begin == std::string_view::npos) return {};
  url.remove_prefix(begin + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const std::size_t login = url.rfind('@');  // without user and password
  return login == std::string_view::npos ? url : url.substr(login + 1);
}

}  // namespace

std::string_view HookEventName(HookEvent event) {
  switch (event) {
    case HookEvent::kReady:
      return "ready";
    case HookEvent::kStarted:
      return "started";
    case HookEvent::kPreempted:
      return "preempted";
    case HookEvent::kRestarting:
      return "restarting";
    case HookEvent::kTaskDone:
      return "task_done";
    case HookEvent::kTaskFailed:
      return "task_failed";
    case HookEvent::kSucceeded:
      return "succeeded";
    case HookEvent::kFailed:
      return "failed";
    case HookEvent::kCancelled:
      return "cancelled";
  }
  return {};
}

std::string_view SmtpTlsName(SmtpTls tls) {
  switch (tls) {
    case SmtpTls::kStartTls:
      return "starttls";
    case SmtpTls::kTls:
      return "tls";
    case SmtpTls::kNone:
      return "none";
  }
  return {};
}

HookKind HookSpec::kind() const {
  if (!command.empty()) return HookKind::kCommand;
  if (!brevo.empty()) return HookKind::kBrevo;
  return mail_to.empty() ? HookKind::kWebhook : HookKind::kMail;
}

std::string HookTarget(const HookSpec& hook) {
  constexpr std::size_t kShown = 60;
  switch (hook.kind()) {
    case HookKind::kCommand:
      return "command " + base::Shorten(hook.command, kShown);
    case HookKind::kWebhook:
      return hook.url.empty() ? "webhook" : "webhook " + std::string(UrlHost(hook.url));
    case HookKind::kMail:
      return "mail to " + base::Shorten(base::Join(hook.mail_to, ", "), kShown);
    case HookKind::kBrevo:
      return "mail over Brevo to " + base::Shorten(hook.brevo.receiver, kShown);
  }
  return {};
}

}  // namespace jobman::core
