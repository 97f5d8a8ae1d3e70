// Keys of the job file: whom to tell what.
#include "config/schema/rows.hpp"

namespace jobman::config::schema {
namespace {

/// An event for hooks: an item that is not a map is a command, or a URL to post to.
constexpr KeyRow Event(Text path, Text about) {
  return OrOne(ShortFor("run", Key(path, T::kMaps, "", about)));
}

constexpr KeyRow kHookRows[] = {
    Key("on", T::kMap, "", "Hooks: what to do when something happens to the job; see hooks.md."),
    Event("on.ready", "A slice is ready for the first time."),
    Event("on.started", "The command starts, in any attempt."),
    Event("on.preempted", "The slice was taken away."),
    Event("on.restarting", "The command or a setup step ended early, and is tried again."),
    Event("on.task_done", "Of a worker: a run of a task succeeded."),
    Event("on.task_failed", "Of a worker: a run of a task failed, be it tried again or not."),
    Event("on.succeeded", "The job succeeded."),
    Event("on.failed", "The job failed."),
    Event("on.cancelled", "The job was cancelled."),
    Key("on.*[].run", T::kText, "", "Shell command to run on this machine."),
    Key("on.*[].workdir", T::kPath, "the folder of the job file", "Where the command runs."),
    Key("on.*[].post", T::kTextOrSource, "", "URL to post to, or where to read it."),
    Key("on.*[].token", T::kSource, "none", "Where to read the bearer token that post sends."),
    OrOne(Key("on.*[].mail", T::kTextList, "", "Mail addresses.")),
    Key("on.*[].brevo", T::kMap, "", "A mail over Brevo's API; brevo_email is short for these."),
    Required("on.*[].brevo.api_key", T::kSource, "{file: ~/.config/jobman/brevo-key}",
             "Where to read Brevo's API key, before each mail."),
    Required("on.*[].brevo.sender", T::kText, "jobman@example.com",
             "The sender's address, which Brevo must know."),
    Required("on.*[].brevo.receiver", T::kText, "ada@example.com", "Who gets the mail."),
    Key("on.*[].timeout", T::kLimit, "1m", "How long it may take."),
    Key("smtp", T::kMap, "", "The mail server for hooks."),
    Required("smtp.host", T::kText, "smtp.example.com", "Its name or address."),
    Among("smtp.port", T::kNumber, "1-65535", "587, with tls: tls 465", "Its port."),
    Among("smtp.tls", T::kWord, "starttls|tls|none", "starttls",
          "Encryption. starttls requires STARTTLS; none is for a server on this machine."),
    Required("smtp.from", T::kText, "jobman@example.com", "The sender's address."),
    Key("smtp.user", T::kText, "none", "Login name; needs smtp.password."),
    Key("smtp.password", T::kSource, "none", "Where to read the password, before each mail."),
    OrEmpty(Translated(
        Key("brevo_email", T::kMap, "",
            "Mail over Brevo's API when the slice is ready, when the command starts, and when the "
            "job succeeded or failed: on.*[].brevo of these events. Nothing is sent while a key "
            "has no value, or with DISABLE_EMAIL=1 in the environment of create."))),
    OrEmpty(Translated(Key("brevo_email.api_key", T::kSource, "", "As on.*[].brevo.api_key."))),
    OrEmpty(Translated(Key("brevo_email.sender", T::kText, "", "As on.*[].brevo.sender."))),
    OrEmpty(Translated(Key("brevo_email.receiver", T::kText, "", "As on.*[].brevo.receiver."))),
};

}  // namespace

std::span<const KeyRow> HookRows() {
  return kHookRows;
}

}  // namespace jobman::config::schema
