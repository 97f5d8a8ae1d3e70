#include "core/hook_spec_json.hpp"

namespace jobman::core {
namespace {

using base::GetMember;
using base::GetString;
using base::Json;

Json SourceToJson(const SecretRef& source) {
  return {{"name", source.name}, {"file", source.file}};
}

SecretRef SourceFromJson(const Json& json) {
  return {.name = GetString(json, "name"), .file = GetString(json, "file")};
}

base::Error UnknownHookWord(const std::string& word) {
  return base::InvalidArgument("\"" + word + "\" is not a word of hooks");
}

base::Result<HookSpec> HookFromJson(const Json& json) {
  HookSpec hook;
  const auto event = HookEventFromName(GetString(json, "event"));
  if (!event) return UnknownHookWord(GetString(json, "event"));
  const auto kind = HookKindFromName(GetString(json, "kind"));
  if (!kind) return UnknownHookWord(GetString(json, "kind"));
  hook.event = *event;
  hook.kind = *kind;
  hook.command = GetString(json, "command");
  hook.folder = GetString(json, "folder");
  hook.url = GetString(json, "url");
  hook.url_from = SourceFromJson(GetMember(json, "url_from"));
  hook.token = SourceFromJson(GetMember(json, "token"));
  for (const Json& to : GetMember(json, "mail_to")) {
    if (to.is_string()) hook.mail_to.push_back(to.get_ref<const std::string&>());
  }
  if (GetMember(json, "timeout_ms").is_number_integer()) {
    hook.timeout = Duration{base::GetInt(json, "timeout_ms")};
  }
  return hook;
}

}  // namespace

Json HooksToJson(const std::vector<HookSpec>& hooks) {
  Json list = Json::array();
  for (const HookSpec& hook : hooks) {
    list.push_back({{"event", HookEventName(hook.event)},
                    {"kind", HookKindName(hook.kind)},
                    {"command", hook.command},
                    {"folder", hook.folder},
                    {"url", hook.url},
                    {"url_from", SourceToJson(hook.url_from)},
                    {"token", SourceToJson(hook.token)},
                    {"mail_to", hook.mail_to},
                    {"timeout_ms", hook.timeout.count()}});
  }
  return list;
}

base::Result<std::vector<HookSpec>> HooksFromJson(const Json& json) {
  std::vector<HookSpec> hooks;
  if (!json.is_array()) return hooks;
  for (const Json& entry : json) {
    JM_ASSIGN_OR_RETURN(HookSpec hook, HookFromJson(entry));
    hooks.push_back(std::move(hook));
  }
  return hooks;
}

Json SmtpToJson(const SmtpSpec& smtp) {
  return {{"host", smtp.host}, {"port", smtp.port}, {"tls", SmtpTlsName(smtp.tls)},
          {"from", smtp.from}, {"user", smtp.user}, {"password", SourceToJson(smtp.password)}};
}

base::Result<SmtpSpec> SmtpFromJson(const Json& json) {
  SmtpSpec smtp;
  if (!json.is_object()) return smtp;
  const std::string word = GetString(json, "tls");
  const auto tls = SmtpTlsFromName(word);
  if (!word.empty() && !tls) return UnknownHookWord(word);
  smtp.tls = tls.value_or(smtp.tls);
  smtp.host = GetString(json, "host");
  if (GetMember(json, "port").is_number_integer()) {
    smtp.port = static_cast<int>(base::GetInt(json, "port"));
  }
  smtp.from = GetString(json, "from");
  smtp.user = GetString(json, "user");
  smtp.password = SourceFromJson(GetMember(json, "password"));
  return smtp;
}

}  // namespace jobman::core
