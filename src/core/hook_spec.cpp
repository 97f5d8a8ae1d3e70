// The words of hooks.
#include <array>

#include "jobman/base/strings.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::core {
namespace {

constexpr std::array kHookEvents = {HookEvent::kStarted,    HookEvent::kPreempted,
                                    HookEvent::kRestarting, HookEvent::kSucceeded,
                                    HookEvent::kFailed,     HookEvent::kCancelled};

template <class Enum, std::size_t N>
std::optional<Enum> ByName(std::string_view (*name_of)(Enum), const std::array<Enum, N>& all,
                           std::string_view name) {
  for (const Enum one : all) {
    if (name_of(one) == name) return one;
  }
  return std::nullopt;
}

/// "example.com" of "https://example.com:8443/services/T0/B0": the path may be a secret.
std::string_view UrlHost(std::string_view url) {
  const std::size_t begin = url.find("://");
  if (begin == std::string_view::npos) return {};
  url.remove_prefix(begin + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const std::size_t login = url.rfind('@');  // a password is nobody's business
  return login == std::string_view::npos ? url : url.substr(login + 1);
}

}  // namespace

std::string_view HookEventName(HookEvent event) {
  switch (event) {
    case HookEvent::kStarted:
      return "started";
    case HookEvent::kPreempted:
      return "preempted";
    case HookEvent::kRestarting:
      return "restarting";
    case HookEvent::kSucceeded:
      return "succeeded";
    case HookEvent::kFailed:
      return "failed";
    case HookEvent::kCancelled:
      return "cancelled";
  }
  return {};
}

std::span<const HookEvent> HookEvents() {
  return kHookEvents;
}

std::optional<HookEvent> HookEventFromName(std::string_view name) {
  return ByName(&HookEventName, kHookEvents, name);
}

std::string_view HookKindName(HookKind kind) {
  switch (kind) {
    case HookKind::kCommand:
      return "command";
    case HookKind::kWebhook:
      return "webhook";
    case HookKind::kMail:
      return "mail";
  }
  return {};
}

std::optional<HookKind> HookKindFromName(std::string_view name) {
  return ByName(&HookKindName, std::array{HookKind::kCommand, HookKind::kWebhook, HookKind::kMail},
                name);
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

std::optional<SmtpTls> SmtpTlsFromName(std::string_view name) {
  return ByName(&SmtpTlsName, std::array{SmtpTls::kStartTls, SmtpTls::kTls, SmtpTls::kNone}, name);
}

std::string HookTarget(const HookSpec& hook) {
  constexpr std::size_t kShown = 60;
  switch (hook.kind) {
    case HookKind::kCommand:
      return "command " + base::Shorten(hook.command, kShown);
    case HookKind::kWebhook:
      return hook.url.empty() ? "webhook" : "webhook " + std::string(UrlHost(hook.url));
    case HookKind::kMail:
      return "mail to " + base::Shorten(base::Join(hook.mail_to, ", "), kShown);
  }
  return {};
}

}  // namespace jobman::core
