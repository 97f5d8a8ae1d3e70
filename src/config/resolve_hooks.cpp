#include "config/resolve.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/base/url.hpp"

namespace jobman::config {
namespace {

constexpr base::TrustedUse kOfHook{.what = "the command", .instead = "run one of your own"};

/// As before each delivery, where the address may come from a file.
void CheckToken(Reader& reader, const std::string& path, const core::HookSpec& hook) {
  if (hook.token.empty() || hook.url.empty()) return;
  const auto url = base::ParseUrl(hook.url);
  if (!url.ok() || !url->IsOpen()) return;
  reader.Complain(
      path + ".post",
      reader.Name(path + ".post") + ": a token is not sent over plain http to " + url->host,
      "use https; http is accepted for this machine only");
}

void ResolveHook(Reader& reader, const std::string& path, core::HookSpec& hook) {
  std::string what;
  for (const std::string kind : {"run", "post", "mail", "brevo"}) {
    if (!reader.IsWritten(path + "." + kind)) continue;
    if (!what.empty()) {
      reader.ComplainOfKey(path + "." + kind,
                           reader.Name(path) + ": " + what + " and " + kind + " in one hook",
                           "write two hooks");
    }
    what = kind;
  }
  if (what.empty()) {
    reader.Complain(path, reader.Name(path) + " has nothing to do",
                    "a hook has one of run, post, mail and brevo");
  }
  if (what == "run" && hook.command.find_first_not_of(" \n\t") == std::string::npos) {
    reader.Complain(path + ".run", reader.Name(path + ".run") + " is empty");
  }
  if (what == "run" && hook.folder.empty()) {
    hook.folder = reader.FolderOf(path + ".run").string();
    reader.Note(path + ".workdir", "the folder of the file");
  }
  if (what == "run") {
    reader.Complain(path + ".run", base::CheckTrustedCommand(hook.command, hook.folder, kOfHook));
  }
  if (what == "post") CheckToken(reader, path, hook);
  if (what == "brevo" && hook.brevo.empty()) {
    reader.Complain(path + ".brevo", reader.Name(path + ".brevo") + " is empty",
                    "write api_key, sender and receiver");
  }
  if (what == "mail" && hook.mail_to.empty()) {
    reader.Complain(path + ".mail", reader.Name(path + ".mail") + " is empty",
                    "write a mail address");
  }
  if (what == "mail" && !reader.Has("smtp.host")) {
    reader.Complain(path + ".mail", reader.Name(path + ".mail") + " needs a mail server",
                    "add smtp: {host: ..., from: ...}, here or in ~/.config/jobman/config.yaml");
  }
}

void ResolveSmtp(Reader& reader, core::SmtpSpec& smtp) {
  if (!reader.Has("smtp.port") && smtp.tls == core::SmtpTls::kTls) smtp.port = 465;
  if (smtp.user.empty() != smtp.password.empty()) {
    reader.Complain("smtp", "smtp.user and smtp.password belong together",
                    "write both, or neither");
  }
  const bool open = smtp.tls == core::SmtpTls::kNone && !smtp.password.empty();
  if (open && !base::IsLoopback(base::ToLower(smtp.host))) {
    reader.Complain("smtp.tls", "smtp.tls: the password is not sent without TLS to " + smtp.host,
                    "use starttls or tls; none is for a server on this machine");
  }
}

}  // namespace

void ResolveHooks(Reader& reader, core::JobSpec& spec) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < spec.hooks.size(); ++i) {
    core::HookSpec& hook = spec.hooks[i];
    index = i > 0 && spec.hooks[i - 1].event == hook.event ? index + 1 : 0;
    const std::string event(core::HookEventName(hook.event));
    ResolveHook(reader, "on." + event + "[" + std::to_string(index) + "]", hook);
  }
  ResolveSmtp(reader, spec.smtp);
  ResolveBrevo(reader, spec);
}

}  // namespace jobman::config
