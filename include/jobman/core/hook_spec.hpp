#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/time.hpp"
#include "jobman/core/spec_fields.hpp"

namespace jobman::core {

using base::Duration;

// The sections `on` and `smtp` of a job file: whom to tell what.

/// Where a local secret is read, each time it is needed: one of the two is set.
struct SecretSource {
  std::string env = {};   ///< environment variable
  std::string file = {};  ///< path
  bool empty() const { return env.empty() && file.empty(); }
  static void Fields(auto&& field) {
    field("env", &SecretSource::env);
    field("file", &SecretSource::file);
  }
  friend bool operator==(const SecretSource&, const SecretSource&) = default;
};

/// The events that hooks are told about.
enum class HookEvent {
  kReady,       ///< a slice is ready for the first time
  kStarted,     ///< the command starts, in any attempt
  kPreempted,   ///< the slice was taken away
  kRestarting,  ///< the command or a setup step ended early and is tried again
  kTaskDone,    ///< of a worker: a run of a task succeeded
  kTaskFailed,  ///< of a worker: a run of a task failed, whether or not the task is tried again
  kSucceeded,
  kFailed,
  kCancelled,
};
enum class HookKind { kCommand, kWebhook, kMail, kBrevo };  ///< how it is told

/// A mail that is sent over Brevo's HTTP API.
struct BrevoSpec {
  SecretSource api_key = {};
  std::string sender = {};
  std::string receiver = {};
  bool empty() const { return api_key.empty() && sender.empty() && receiver.empty(); }
  static void Fields(auto&& field) {
    field("api_key", &BrevoSpec::api_key);
    field("sender", &BrevoSpec::sender);
    field("receiver", &BrevoSpec::receiver);
  }
  friend bool operator==(const BrevoSpec&, const BrevoSpec&) = default;
};

/// One thing to do when something happens to the job: a command, a webhook or a mail.
struct HookSpec {
  HookEvent event = HookEvent::kStarted;  ///< the key it is listed under
  std::string command = {};               ///< run by /bin/sh here, with the event on stdin
  std::string folder = {};                ///< where the command runs
  std::string url = {};                   ///< posted to; empty: a secret, see url_from
  SecretSource url_from = {};
  SecretSource token = {};  ///< sent as "Authorization: Bearer"
  std::vector<std::string> mail_to = {};
  BrevoSpec brevo = {};
  Duration timeout = std::chrono::seconds{60};
  HookKind kind() const;
  static void Fields(auto&& field) {
    field("run", &HookSpec::command);
    field("workdir", &HookSpec::folder);
    field("post", OneOf{&HookSpec::url, &HookSpec::url_from});
    field("token", &HookSpec::token);
    field("mail", &HookSpec::mail_to);
    field("brevo", &HookSpec::brevo);
    field("timeout", &HookSpec::timeout);
  }
  friend bool operator==(const HookSpec&, const HookSpec&) = default;
};

enum class SmtpTls { kStartTls, kTls, kNone };
/// The server that hooks send mail through.
struct SmtpSpec {
  std::string host = {};
  int port = 587;
  SmtpTls tls = SmtpTls::kStartTls;
  std::string from = {};
  std::string user = {};
  SecretSource password = {};
  /// No server is set; the other members mean nothing then.
  bool empty() const { return host.empty(); }
  static void Fields(auto&& field) {
    field("host", &SmtpSpec::host);
    field("port", &SmtpSpec::port);
    field("tls", &SmtpSpec::tls);
    field("from", &SmtpSpec::from);
    field("user", &SmtpSpec::user);
    field("password", &SmtpSpec::password);
  }
  friend bool operator==(const SmtpSpec&, const SmtpSpec&) = default;
};

// The word for each enum value in job files; empty for a value out of range.

std::string_view HookEventName(HookEvent event);
std::string_view SmtpTlsName(SmtpTls tls);
inline std::string_view WordOf(HookEvent event) {
  return HookEventName(event);
}
inline std::string_view WordOf(SmtpTls tls) {
  return SmtpTlsName(tls);
}

/// The target of a hook, without secrets: "webhook example.com", "mail to ada@lab.org".
std::string HookTarget(const HookSpec& hook);

}  // namespace jobman::core
