#include <algorithm>

#include "config/build.hpp"
#include "config/scalars.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

bool IsUrl(std::string_view text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

/// Job files, listings and the store show a webhook's address: it may hold no password.
bool HoldsUser(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  return url.substr(0, url.find_first_of("/?#")).find('@') != std::string_view::npos;
}

void CheckUrl(Reader& reader, const std::string& path, const std::string& url) {
  if (!IsUrl(url)) return reader.Complain(path, path + ": \"" + url + "\" is no http(s) URL");
  if (!HoldsUser(url)) return;
  reader.Complain(path, path + ": a URL that holds a user or a password would be shown to all",
                  "keep it in a file, post: {file: PATH}, or send a secret: token: {file: PATH}");
}

/// An address as it goes between < and > in SMTP, and into a header.
base::Status CheckAddress(const std::string& address) {
  const std::size_t at = address.find('@');
  const bool has_parts = at != std::string::npos && at > 0 && at + 1 < address.size();
  const bool clean = std::none_of(address.begin(), address.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 32 || c == '<' || c == '>' || c == ',' || c == 127;
  });
  if (has_parts && clean) return base::Ok();
  return base::InvalidArgument("\"" + address + "\" is no mail address",
                               "write it like ada@example.com");
}

/// {env: NAME} or {file: PATH}: never the secret itself.
core::SecretRef BuildSource(Reader& reader, const std::string& path) {
  core::SecretRef source;
  const Value* value = reader.Get(path);
  if (value == nullptr) return source;
  const bool one = value->is_map() && value->children.size() == 1 &&
                   (value->children[0].key == "env" || value->children[0].key == "file");
  if (!one) {
    reader.Complain(path, path + ": expected {env: NAME} or {file: PATH}",
                    "secrets do not belong into a job file");
    return source;
  }
  source.name = reader.Text(path + ".env");
  if (reader.Has(path + ".file")) {
    source.file = reader.ResolvePath(path + ".file", reader.Text(path + ".file")).string();
  }
  if (source.file.empty() && !base::IsEnvName(source.name)) {
    reader.Complain(path, path + ": \"" + source.name + "\" cannot name a variable");
  }
  return source;
}

void BuildWebhook(Reader& reader, const std::string& path, core::HookSpec& hook) {
  const Value* post = reader.Get(path + ".post");
  hook.kind = core::HookKind::kWebhook;
  hook.token = BuildSource(reader, path + ".token");
  if (!post->is_scalar()) {
    hook.url_from = BuildSource(reader, path + ".post");
    return;
  }
  hook.url = post->text;
  CheckUrl(reader, path + ".post", hook.url);
}

void BuildMail(Reader& reader, const std::string& path, core::HookSpec& hook) {
  hook.kind = core::HookKind::kMail;
  hook.mail_to = reader.TextList(path);
  if (const std::string one = reader.Text(path); !one.empty()) hook.mail_to = {one};
  if (hook.mail_to.empty()) reader.Complain(path, path + ": to whom?", "write a mail address");
  for (const std::string& address : hook.mail_to) reader.Complain(path, CheckAddress(address));
  if (!reader.Has("smtp.host")) {
    reader.Complain(path, path + ": no mail server is known",
                    "add smtp: {host: ..., from: ...}, here or in ~/.config/jobman/config.yaml");
  }
}

/// {run | post | mail: ..., timeout: 60s}.
void BuildLongForm(Reader& reader, const std::string& path, core::HookSpec& hook) {
  std::string what;
  for (const Value& member : reader.Get(path)->children) {
    const bool kind = member.key == "run" || member.key == "post" || member.key == "mail";
    const bool known = kind || member.key == "timeout" || member.key == "token";
    if (!known || (kind && !what.empty())) {
      reader.ComplainOfKey(
          path, member.key,
          base::InvalidArgument(known ? "\"" + member.key + "\" beside \"" + what + "\""
                                      : "unknown key \"" + member.key + "\"",
                                "a hook has one of run, post and mail; and timeout, token"));
    }
    if (kind) what = member.key;
  }
  if (const auto limit = reader.Duration(path + ".timeout")) hook.timeout = *limit;
  if (hook.timeout.count() <= 0)
    reader.Complain(path + ".timeout", path + ".timeout must be longer than nothing");
  if (what == "post" && reader.Has(path + ".post")) return BuildWebhook(reader, path, hook);
  if (what == "mail") return BuildMail(reader, path + ".mail", hook);
  hook.command = reader.Required(path + ".run", "run: ./notify.sh");
  hook.folder = reader.FolderOf(path + ".run").string();
}

void BuildHook(Reader& reader, const std::string& path, core::HookEvent event,
               std::vector<core::HookSpec>& hooks) {
  const Value* value = reader.Get(path);
  if (value == nullptr) return;
  core::HookSpec hook{.event = event};
  if (value->is_map()) {
    BuildLongForm(reader, path, hook);
  } else if (value->is_list()) {
    return reader.Complain(path, path + ": expected a command, a URL or a map, found a list");
  } else if (IsUrl(value->text)) {
    hook.kind = core::HookKind::kWebhook;
    hook.url = value->text;
    CheckUrl(reader, path, hook.url);
  } else {
    hook.command = reader.Required(path, "./notify.sh");
    hook.folder = reader.FolderOf(path).string();
  }
  hooks.push_back(std::move(hook));
}

}  // namespace

std::vector<core::HookSpec> BuildHooks(Reader& reader) {
  std::vector<core::HookSpec> hooks;
  for (const core::HookEvent event : core::HookEvents()) {
    const std::string path = "on." + std::string(core::HookEventName(event));
    const Value* value = reader.Get(path);
    if (value != nullptr && !value->is_list()) BuildHook(reader, path, event, hooks);
    for (std::size_t i = 0; i < reader.Length(path); ++i) {
      BuildHook(reader, path + "[" + std::to_string(i) + "]", event, hooks);
    }
  }
  return hooks;
}

core::SmtpSpec BuildSmtp(Reader& reader) {
  core::SmtpSpec smtp;
  if (!reader.Has("smtp")) return smtp;
  smtp.host = reader.Required("smtp.host", "host: smtp.example.com");
  smtp.tls = core::SmtpTlsFromName(reader.Text("smtp.tls")).value_or(smtp.tls);
  smtp.port = reader.Number("smtp.port").value_or(smtp.tls == core::SmtpTls::kTls ? 465 : 587);
  if (smtp.port < 1 || smtp.port > 65535) {
    reader.Complain("smtp.port", "smtp.port: ports are 1 to 65535");
  }
  smtp.from = reader.Required("smtp.from", "from: jobman@example.com");
  if (!smtp.from.empty()) reader.Complain("smtp.from", CheckAddress(smtp.from));
  smtp.user = reader.Text("smtp.user");
  smtp.password = BuildSource(reader, "smtp.password");
  if (smtp.user.empty() != smtp.password.empty()) {
    reader.Complain("smtp", "smtp.user and smtp.password go together", "give both, or none");
  }
  return smtp;
}

}  // namespace jobman::config
