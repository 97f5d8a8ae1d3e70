#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jobman/http/mailer.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/notifier.hpp"

namespace jobman::notify {

/// Runs commands on this machine, posts to webhooks, sends mail over SMTP and over Brevo's API.
class HookNotifier final : public ports::Notifier {
 public:
  using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;
  /// `transport` must log nothing: a webhook's address may be a secret.
  HookNotifier(http::Transport& transport, http::Mailer& mailer, GetEnv get_env)
      : transport_(transport), mailer_(mailer), get_env_(std::move(get_env)) {}

  base::Task<base::Status> Tell(core::HookSpec hook, core::SmtpSpec smtp,
                                ports::Message message) override;

 private:
  base::Task<base::Status> Post(core::HookSpec hook, ports::Message message);
  base::Task<base::Status> PostMail(core::HookSpec hook, ports::Message message);
  base::Task<base::Status> Send(core::HookSpec hook, core::SmtpSpec smtp, ports::Message message);
  base::Result<std::string> Read(const core::SecretSource& secret) const;

  http::Transport& transport_;
  http::Mailer& mailer_;
  GetEnv get_env_;
};

/// What a mail says about a message.
struct MailWords {
  std::string subject = {};
  std::string body = {};
};
MailWords WordsOf(const ports::Message& message);

/// The mail for a message: headers and body, lines ending in CRLF. `at` is now.
std::string MailText(const core::SmtpSpec& smtp, const core::HookSpec& hook,
                     const ports::Message& message, base::TimePoint at);

}  // namespace jobman::notify
