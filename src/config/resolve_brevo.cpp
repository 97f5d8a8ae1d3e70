// The section brevo_email: mail over Brevo's API at the events that its users know.
#include <algorithm>

#include "config/resolve.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

constexpr core::HookEvent kEvents[] = {core::HookEvent::kReady, core::HookEvent::kStarted,
                                       core::HookEvent::kSucceeded, core::HookEvent::kFailed};

core::BrevoSpec Written(const Reader& reader) {
  core::BrevoSpec brevo{.api_key = {.env = reader.Text("brevo_email.api_key.env")},
                        .sender = reader.Text("brevo_email.sender"),
                        .receiver = reader.Text("brevo_email.receiver")};
  const std::string file = "brevo_email.api_key.file";
  if (reader.Has(file)) {
    brevo.api_key.file = ResolvePath(reader.defaults(), reader.FolderOf(file), reader.Text(file));
  }
  return brevo;
}

/// Whether the environment turns the section off.
bool IsDisabled(const Reader& reader) {
  const std::string word = base::ToLower(reader.Env("DISABLE_EMAIL").value_or(""));
  return word == "1" || word == "true" || word == "yes" || word == "on";
}

void Add(Reader& reader, core::JobSpec& spec, core::HookEvent event, const core::BrevoSpec& brevo) {
  const core::HookSpec hook{.event = event, .brevo = brevo};
  // `config show` prints these hooks: they are there already if the section is too.
  if (std::find(spec.hooks.begin(), spec.hooks.end(), hook) != spec.hooks.end()) return;
  const auto index = std::count_if(spec.hooks.begin(), spec.hooks.end(),
                                   [&](const core::HookSpec& one) { return one.event == event; });
  spec.hooks.push_back(hook);
  const std::string path =
      "on." + std::string(core::HookEventName(event)) + "[" + std::to_string(index) + "].brevo.";
  for (const char* key : {"api_key.env", "api_key.file", "sender", "receiver"}) {
    reader.Note(path + key, "brevo_email");
  }
}

}  // namespace

void ResolveBrevo(Reader& reader, core::JobSpec& spec) {
  const core::BrevoSpec brevo = Written(reader);
  if (brevo.empty() || IsDisabled(reader)) return;
  std::vector<std::string> missing;
  if (brevo.api_key.empty()) missing.emplace_back("brevo_email.api_key");
  if (brevo.sender.empty()) missing.emplace_back("brevo_email.sender");
  if (brevo.receiver.empty()) missing.emplace_back("brevo_email.receiver");
  if (!missing.empty()) {
    const std::string verb = missing.size() == 1 ? " has no value" : " have no values";
    reader.Warn(missing.front(), base::Join(missing, " and ") + verb + ": no mail is sent",
                "write all of api_key, sender and receiver, or none");
    return;
  }
  for (const core::HookEvent event : kEvents) {
    // A job that only holds its slice has started when that is ready.
    const bool twice = event == core::HookEvent::kStarted && spec.command.cmd.empty();
    if (!twice) Add(reader, spec, event, brevo);
  }
  std::stable_sort(
      spec.hooks.begin(), spec.hooks.end(),
      [](const core::HookSpec& a, const core::HookSpec& b) { return a.event < b.event; });
}

}  // namespace jobman::config
