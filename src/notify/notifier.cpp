#include "jobman/notify/notifier.hpp"

#include <fmt/format.h>

#include "jobman/base/clean.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/base/url.hpp"

namespace jobman::notify {
namespace {

using base::Error;
using base::Status;
using ports::Message;

constexpr std::size_t kLongestSecret = 8192;
constexpr const char* kBrevo = "https://api.brevo.com";
constexpr const char* kBrevoVariable = "JOBMAN_BREVO_ENDPOINT";
constexpr base::TrustedUse kOfHook{.what = "the command", .instead = "run one of your own"};

/// The command's output goes straight to the log, whatever its size and origin.
constexpr const char* kShell =
    R"((umask 077; : >>"$0"); exec >>"$0" 2>&1; cd "${2:-.}" || exit; exec /bin/sh -c "$1")";

base::Task<base::Result<int>> RunShell(std::vector<std::string> argv, std::string input) {
  JM_CO_ASSIGN_OR_RETURN(const auto ended, co_await base::RunProcess(argv, input));
  co_return ended.exit_code;
}

/// What the shell means by an exit code of its own.
std::string_view HintOfShell(int code) {
  if (code == 126) return ", is it executable?";
  return code == 127 ? ", is it there?" : ",";
}

/// Says where the command's output is, in the message: history, why and show keep no more of it.
Error FailedCommand(const base::Result<int>& code, const base::Path& log) {
  if (!code.ok()) {
    Error failed = code.error();
    failed.message += ", see " + log.string();
    return failed;
  }
  return {.code = base::Code::kAborted,
          .message = fmt::format("exit code {}{} see {}", *code, HintOfShell(*code), log.string())};
}

base::Task<Status> RunCommand(core::HookSpec hook, Message message) {
  JM_CO_TRY(base::CheckTrustedCommand(hook.command, hook.folder, kOfHook));
  JM_CO_TRY(base::EnsureDir(message.log.parent_path()));
  std::vector<std::string> argv = {"env",
                                   "JOBMAN_EVENT=" + message.event,
                                   "JOBMAN_EVENT_ID=" + message.event_id,
                                   "/bin/sh",
                                   "-c",
                                   kShell,
                                   message.log.string(),
                                   hook.command,
                                   hook.folder};
  auto run = RunShell(std::move(argv), message.body + "\n");
  const auto code = co_await base::WithTimeout(std::move(run), hook.timeout, "the command");
  if (code.ok() && *code == 0) co_return base::Ok();
  co_return FailedCommand(code, message.log);
}

/// The rule for access tokens holds for hooks too.
Error InTheClear(const std::string& secret, const std::string& way, const std::string& cure) {
  return {.code = base::Code::kInvalidArgument,
          .message = fmt::format("{} is not sent over {}", secret, way),
          .hint = cure + "; without encryption, only this machine gets it"};
}

Error Refusal(int status, const std::string& host) {
  Error error{.code = base::Code::kUnavailable,
              .message = fmt::format("{} answered with status {}", host, status)};
  return error;
}

/// With Brevo's own words, but never with the key in them.
Error RefusalOfBrevo(const http::Response& response, const std::string& host,
                     const std::string& key) {
  constexpr std::size_t kShown = 200;
  Error error = Refusal(response.status, host);
  const auto reply = base::ParseJson(response.body);
  const std::string said = reply.ok() ? base::GetString(*reply, "message") : std::string{};
  if (!said.empty() && !base::Contains(said, key)) {
    error.message += ": " + base::Shorten(base::CleanLine(said), kShown);
  }
  if (response.status == 401) {
    error.hint =
        "the API key is wrong, or Brevo does not accept it from this machine's address; "
        "it is read again before each try";
  }
  return error;
}

std::string BrevoMail(const core::BrevoSpec& brevo, const Message& message) {
  const MailWords words = WordsOf(message);
  const base::Json mail = {{"sender", {{"email", brevo.sender}}},
                           {"to", base::Json::array({{{"email", brevo.receiver}}})},
                           {"subject", words.subject},
                           {"textContent", words.body}};
  return mail.dump(-1, ' ', false, base::Json::error_handler_t::replace);
}

/// The event with a sentence for people. Chat services, Slack among them, show this member, and
/// refuse a post without it.
std::string PostBody(const Message& message) {
  const auto event = base::ParseJson(message.body);
  if (!event.ok() || !event->is_object()) return message.body;
  base::Json body = *event;
  body["text"] = WordsOf(message).subject + ": " + base::GetString(*event, "why");
  return body.dump(-1, ' ', false, base::Json::error_handler_t::replace);
}

}  // namespace

base::Task<Status> HookNotifier::Tell(core::HookSpec hook, core::SmtpSpec smtp, Message message) {
  switch (hook.kind()) {
    case core::HookKind::kCommand:
      return RunCommand(std::move(hook), std::move(message));
    case core::HookKind::kWebhook:
      return Post(std::move(hook), std::move(message));
    case core::HookKind::kBrevo:
      return PostMail(std::move(hook), std::move(message));
    case core::HookKind::kMail:
      break;
  }
  return Send(std::move(hook), std::move(smtp), std::move(message));
}

base::Result<std::string> HookNotifier::Read(const core::SecretSource& secret) const {
  if (!secret.file.empty()) {
    JM_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadRegularFile(base::ExpandHome(secret.file), kLongestSecret));
    return std::string(base::Trim(text));
  }
  if (const auto value = get_env_(secret.env)) return *value;
  return Error{.code = base::Code::kFailedPrecondition,
               .message = "the controller's environment has no " + secret.env,
               .hint = "start it with the variable, or name a file"};
}

base::Task<Status> HookNotifier::Post(core::HookSpec hook, Message message) {
  http::Request request{.method = "POST",
                        .url = hook.url,
                        .headers = {{"Content-Type", "application/json"},
                                    {"X-Jobman-Event", message.event},
                                    {"X-Jobman-Event-Id", message.event_id}},
                        .body = PostBody(message),
                        .timeout = hook.timeout};
  if (hook.url.empty()) {
    JM_CO_ASSIGN_OR_RETURN(request.url, Read(hook.url_from));
  }
  const auto url = base::ParseUrl(request.url);
  if (!url.ok()) {
    // Without the URL: it may have been read from a secret.
    Error unusable{.code = base::Code::kInvalidArgument,
                   .message = "the address of the webhook is not a usable http(s) URL"};
    co_return unusable;
  }
  // It was kept out of the job file: it is a secret itself.
  if (hook.url.empty() && url->IsOpen()) {
    co_return InTheClear("the webhook's secret address", "plain http to " + url->host, "use https");
  }
  if (!hook.token.empty()) {
    if (url->IsOpen()) co_return InTheClear("the token", "plain http to " + url->host, "use https");
    JM_CO_ASSIGN_OR_RETURN(const std::string token, Read(hook.token));
    request.headers.emplace_back("Authorization", "Bearer " + token);
  }
  JM_CO_ASSIGN_OR_RETURN(const http::Response response,
                         co_await transport_.Send(std::move(request)));
  if (response.status >= 200 && response.status < 300) co_return base::Ok();
  co_return Refusal(response.status, url->host);
}

base::Task<Status> HookNotifier::PostMail(core::HookSpec hook, Message message) {
  std::string endpoint = get_env_(kBrevoVariable).value_or(kBrevo);
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const auto url = base::ParseEndpoint(endpoint);
  if (!url.ok()) co_return base::Error(url.error()).With(kBrevoVariable);
  if (url->IsOpen()) {
    co_return InTheClear("Brevo's API key", "plain http to " + url->host, "use https");
  }
  JM_CO_ASSIGN_OR_RETURN(const std::string key, Read(hook.brevo.api_key));
  http::Request request{.method = "POST",
                        .url = endpoint + "/v3/smtp/email",
                        .headers = {{"Content-Type", "application/json"},
                                    {"Accept", "application/json"},
                                    {"api-key", key}},
                        .body = BrevoMail(hook.brevo, message),
                        .timeout = hook.timeout};
  JM_CO_ASSIGN_OR_RETURN(const http::Response response,
                         co_await transport_.Send(std::move(request)));
  if (response.status >= 200 && response.status < 300) co_return base::Ok();
  co_return RefusalOfBrevo(response, url->host, key);
}

base::Task<Status> HookNotifier::Send(core::HookSpec hook, core::SmtpSpec smtp, Message message) {
  http::MailServer server{.host = smtp.host, .port = smtp.port, .user = smtp.user};
  server.tls = smtp.tls == core::SmtpTls::kTls    ? http::MailServer::Tls::kTls
               : smtp.tls == core::SmtpTls::kNone ? http::MailServer::Tls::kNone
                                                  : http::MailServer::Tls::kStartTls;
  if (!smtp.password.empty()) {
    if (smtp.tls == core::SmtpTls::kNone && !base::IsLoopback(base::ToLower(smtp.host))) {
      co_return InTheClear("the password", "SMTP without TLS to " + smtp.host,
                           "use smtp.tls: starttls or tls");
    }
    JM_CO_ASSIGN_OR_RETURN(server.password, Read(smtp.password));
  }
  const base::SystemClock clock;
  http::Mail mail{.from = smtp.from,
                  .to = hook.mail_to,
                  .text = MailText(smtp, hook, message, clock.Now()),
                  .timeout = hook.timeout};
  co_return co_await mailer_.Send(std::move(server), std::move(mail));
}

}  // namespace jobman::notify
