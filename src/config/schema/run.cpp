// Keys of the job file: the command, its retries and limits.
#include "config/schema/rows.hpp"

namespace jobman::config::schema {
namespace {

constexpr KeyRow kRunRows[] = {
    Key("command", T::kMap, "none",
        "The command that the job runs. Without one the job holds its slice until it is "
        "cancelled."),
    Key("command.cmd", T::kText, "none", "Shell script, run on every worker in a login shell."),
    Key("command.workers", T::kHosts, "all", "The hosts it runs on."),
    Key("command.workdir", T::kText, "the home folder",
        "Working folder on the hosts, or in the container."),
    Key("command.env", T::kTextMap, "", "Environment variables; they override job.environment."),
    ShortFor("name", Key("command.secrets", T::kMaps, "",
                         "Secret environment variables: their values are read on this machine when "
                         "a run starts, and stored nowhere.")),
    Required("command.secrets[].name", T::kText, "WANDB_API_KEY", "Name of the variable."),
    Key("command.secrets[].file", T::kPath, "the environment of this machine",
        "File with the value."),
    Key("command.grace", T::kDuration, "30s",
        "Time between asking the command to stop (TERM) and killing it."),
    Key("command.on_notice", T::kMap, "",
        "What the command is told before its hosts are taken away (preemption, "
        "maintenance)."),
    Among(
        "command.on_notice.signal", T::kWord, "TERM|INT|USR1|USR2|none", "TERM",
        "Sent once to the process group on every host; none: only JOBMAN_NOTICE_FILE is written."),
    Key("command.on_notice.grace", T::kDuration, "30s",
        "How long the command may go on after that signal before it is stopped."),
    NotYet("command.shell", T::kText, "Shell that runs cmd."),

    Key("retries", T::kMap, "", "How often to retry, by cause."),
    Key("retries.preemption", T::kCount, "unlimited", "After a preemption."),
    Key("retries.failure", T::kCount, "0", "After a failure of the command or of a setup step."),
    Key("retries.infra", T::kCount, "10", "After a failure of the cloud or of a host."),
    Key("retries.backoff", T::kLimit, "15s",
        "Upper bound of the first wait before a retry; doubles each time. Waits are random below "
        "it."),
    Key("retries.backoff_cap", T::kLimit, "10m, at least retries.backoff",
        "Where the doubling ends."),

    Key("watchdog", T::kMap, "",
        "When to stop a running command, and what to do then; see watchdog.md."),
    ShortFor("after",
             Key("watchdog.no_output", T::kMap, "", "What to do when no host writes output.")),
    Required("watchdog.no_output.after", T::kLimit, "30m", "After how long without output."),
    Among("watchdog.no_output.do", T::kWord, "restart|new_slice|fail", "restart",
          "What to do then."),
    OrOne(ShortFor("match",
                   Key("watchdog.bad_output", T::kMaps, "",
                       "What to do when a line of output matches; the first match counts."))),
    Required("watchdog.bad_output[].match", T::kText, "loss.*nan",
             "Extended regular expression, as for grep -E."),
    Among("watchdog.bad_output[].do", T::kWord, "restart|new_slice|fail", "fail",
          "What to do then."),
    ShortFor("after", Key("watchdog.max_duration", T::kMap, "",
                          "What to do when the command runs too long in one attempt.")),
    Required("watchdog.max_duration.after", T::kLimit, "12h", "After how long."),
    Among("watchdog.max_duration.do", T::kWord, "restart|new_slice|fail", "fail",
          "What to do then."),
    NotYet("health", T::kAny, "Probe of the hosts before the run."),

    Key("logs", T::kMap, "", "The copies of the hosts' output on this machine."),
    Among("logs.max_bytes", T::kNumber, "1048576-2000000000", "1073741824",
          "Of one host in one stage; a longer log loses its middle, here and, while nobody fetches "
          "it, on the host; `logs` says so."),
};

}  // namespace

std::span<const KeyRow> RunRows() {
  return kRunRows;
}

}  // namespace jobman::config::schema
