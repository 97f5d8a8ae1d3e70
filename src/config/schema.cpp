#include "jobman/config/schema.hpp"

#include <array>

#include "config/value.hpp"

namespace jobman::config {
namespace {

using T = Type;
constexpr KeyStatus kOn = KeyStatus::kWorks;
constexpr KeyStatus kOff = KeyStatus::kNotYet;

// path, type, status, fallback, words, later, about
constexpr KeyRow kRows[] = {
    {"job", T::kMap, kOn, "", "", "", "The job as a whole."},
    {"job.name", T::kText, kOn, "the file's name", "", "",
     "Lower-case letters, digits, - and _, at most 40."},
    {"job.env_type", T::kWord, kOn, "none", "none", "docker|conda|venv",
     "Where the command runs; none is the host itself."},
    {"job.loop", T::kBool, kOn, "", "", "",
     "true: after a preemption try again without limit; false: do not try again."},
    {"job.remote_user", T::kText, kOn, "", "", "", "Login name on the hosts, unless ssh.user is."},
    {"job.environment", T::kTextMap, kOn, "", "", "",
     "Environment variables of every setup step and of the command."},
    {"job.worker_num", T::kNumber, kOn, "", "", "",
     "Number of hosts expected; a slice with another number is refused."},
    {"job.labels", T::kTextMap, kOn, "", "", "", "Labels of the job, for list and other filters."},
    {"job.queue", T::kMap, kOn, "", "", "", "The task queue that the job's slice serves."},
    {"job.queue.enabled", T::kBool, kOn, "false", "", "",
     "true, to serve a task queue, is not supported yet."},
    {"job.queue.config", T::kAny, kOn, "", "", "", "Read when the queue is enabled."},
    {"job.queue.prefix", T::kAny, kOn, "", "", "", "Read when the queue is enabled."},

    {"cloud", T::kMap, kOn, "google", "", "",
     "Which API gives the slices: google, local (the simulator), a URL, or a map of these keys."},
    {"cloud.endpoint", T::kText, kOn, "JOBMAN_ENDPOINT, else google", "", "",
     "google, local, or an http(s) URL; --endpoint comes first."},
    {"cloud.token_file", T::kText, kOn, "", "", "", "File that holds an access token."},
    {"cloud.token_command", T::kText, kOn, "", "", "",
     "Shell command that prints an access token."},

    {"tpu", T::kMap, kOn, "required", "", "", "The slice."},
    {"tpu.allocation_mode", T::kWord, kOn, "queued-resources", "queued-resources|tpu-vm", "",
     "Ask through a queued resource, or create the TPU VM directly."},
    {"tpu.accelerator", T::kText, kOn, "required", "", "", "Accelerator type, as in v4-32."},
    {"tpu.topology", T::kText, kOff, "", "", "", "Shape in chips, as in 2x2x4."},
    {"tpu.name", T::kText, kOn, "job.name", "", "",
     "What slice names begin with: lower-case letters, digits and -, at most 40."},
    {"tpu.zone", T::kText, kOn, "required", "", "",
     "Zone, as in us-central2-b. A list of candidates is not supported yet."},
    {"tpu.version", T::kText, kOn, "by generation", "", "",
     "Runtime version (software image); one that fits the accelerator when absent."},
    {"tpu.pricing", T::kWord, kOn, "ondemand", "spot|ondemand|preemptible|reserved", "",
     "What the slice costs, and whether it may be taken away."},
    {"tpu.reservation", T::kText, kOn, "any", "", "",
     "With pricing reserved, through a queued resource: the reservation's name."},
    {"tpu.num_slices", T::kNumber, kOn, "1", "", "",
     "Nodes of that accelerator type that the command runs on as one: a multislice."},
    {"tpu.network", T::kText, kOn, "default", "", "", "VPC network."},
    {"tpu.subnetwork", T::kText, kOn, "default", "", "", "Subnetwork of the zone's region."},
    {"tpu.external_ips", T::kBool, kOn, "true", "", "", "Whether hosts get external addresses."},
    {"tpu.service_account", T::kText, kOn, "the project's own", "", "",
     "Service account of the hosts."},
    {"tpu.data_disks", T::kAny, kOff, "", "", "", "Disks to attach."},
    {"tpu.tags", T::kTextList, kOn, "", "", "", "Network tags."},
    {"tpu.labels", T::kTextMap, kOn, "", "", "", "Labels of the slice in the cloud."},
    {"tpu.metadata", T::kTextMap, kOn, "", "", "", "Metadata of the hosts."},
    {"tpu.startup_script", T::kText, kOn, "", "", "",
     "Runs at every boot: the script itself (several lines, or beginning with #!), or its file."},
    {"tpu.valid_until", T::kDeadline, kOn, "none", "", "",
     "When a queued resource stops waiting: after a duration (6h) another is asked for; at a time "
     "(2026-11-21T08:00:00Z) the job fails, and asks for no slice any more."},
    {"tpu.project", T::kText, kOn, "GOOGLE_CLOUD_PROJECT, CLOUDSDK_CORE_PROJECT, gcloud's own", "",
     "", "Google Cloud project; not needed with cloud local."},
    {"tpu.flags", T::kTextList, kOn, "", "", "",
     "Flags of gcloud's create, translated to the keys above; others are refused by name."},

    {"ssh", T::kMap, kOn, "", "", "", "How to reach the hosts."},
    {"ssh.user", T::kText, kOn, "job.remote_user, else your login name", "", "",
     "Login name on the hosts."},
    {"ssh.private_key", T::kText, kOn, "one of jobman's own", "", "",
     "Private key file; made when it does not exist, never overwritten."},
    {"ssh.port", T::kNumber, kOn, "22", "", "", "Port of the hosts' SSH servers."},
    {"ssh.via", T::kWord, kOff, "external", "external|internal|proxy_jump", "",
     "Which address to use."},
    {"ssh.identities", T::kAny, kOff, "", "", "", "Keys to copy to the hosts."},
    {"ssh.agent_forwarding", T::kBool, kOff, "false", "", "", "Lend the hosts your SSH agent."},

    {"code", T::kMap, kOff, "", "", "", "Code to bring to every host."},
    {"code.git", T::kAny, kOff, "", "", "", "From a Git repository."},
    {"code.dir", T::kAny, kOff, "", "", "", "From a local folder."},

    {"setup", T::kSteps, kOn, "", "", "",
     "Steps to run on the hosts before the command, in order; once per machine, boot and content."},
    {"setup[].name", T::kText, kOn, "step-1, step-2, ...", "", "",
     "Names the step in logs and messages."},
    {"setup[].run", T::kText, kOn, "required", "", "", "Shell script."},
    {"setup[].hosts", T::kHosts, kOn, "all", "", "", "Where it runs."},
    {"setup[].required", T::kBool, kOn, "true", "", "", "Whether its failure fails the job."},
    {"setup[].timeout", T::kDuration, kOn, "none", "", "", "How long it may take."},
    {"setup[].when", T::kText, kOff, "", "", "", "Condition under which it runs."},

    {"gcsfuse", T::kMap, kOff, "", "", "", "A Cloud Storage bucket as a folder."},
    {"gcsfuse.bucket_name", T::kText, kOff, "", "", "", "The bucket."},
    {"gcsfuse.mount_path", T::kText, kOff, "", "", "", "The folder."},
    {"gcsfuse.extra_mounts", T::kAny, kOff, "", "", "", "More buckets."},
    {"gcsfuse.cache", T::kAny, kOff, "", "", "", "File cache."},
    {"nfs", T::kMap, kOff, "", "", "", "A shared folder."},
    {"nfs.path", T::kText, kOff, "", "", "", "The folder on the hosts."},
    {"nfs.export", T::kText, kOff, "", "", "", "What is mounted there."},
    {"docker", T::kMap, kOff, "", "", "", "Run in a container."},
    {"docker.image", T::kText, kOff, "", "", "", "The image."},
    {"docker.env_vars", T::kAny, kOff, "", "", "", "Environment of the container."},
    {"docker.mount_dirs", T::kAny, kOff, "", "", "", "Folders to mount."},
    {"docker.workdir", T::kText, kOff, "", "", "", "Working folder."},
    {"docker.flags", T::kAny, kOff, "", "", "", "Flags of docker run."},
    {"conda", T::kMap, kOff, "", "", "", "Run in a conda environment."},
    {"conda.name", T::kText, kOff, "", "", "", "The environment."},
    {"conda.config_file", T::kText, kOff, "", "", "", "What it consists of."},
    {"venv", T::kMap, kOff, "", "", "", "Run in a Python virtual environment."},
    {"venv.name", T::kText, kOff, "", "", "", "The environment."},
    {"venv.requirements_file", T::kText, kOff, "", "", "", "What it consists of."},
    {"venv.python", T::kText, kOff, "", "", "", "Its interpreter."},

    {"command", T::kMap, kOn, "required", "", "", "What the job is for."},
    {"command.cmd", T::kText, kOn, "required", "", "", "Shell script, run on every worker."},
    {"command.workers", T::kHosts, kOn, "all", "", "", "The hosts it runs on."},
    {"command.workdir", T::kText, kOn, "the home folder", "", "", "Working folder on the hosts."},
    {"command.env", T::kTextMap, kOn, "", "", "", "Environment variables, over job.environment."},
    {"command.secrets", T::kSecrets, kOn, "", "", "",
     "Environment variables whose values are read here at the start, and stored nowhere: names, "
     "or {name, file}."},
    {"command.grace", T::kDuration, kOn, "30s", "", "",
     "Between asking the command to stop (TERM) and killing it."},
    {"command.on_notice", T::kMap, kOn, "", "", "",
     "What the command gets when its machines are about to be taken away (preemption, "
     "maintenance)."},
    {"command.on_notice.signal", T::kWord, kOn, "TERM", "TERM|INT|USR1|USR2|none", "",
     "Sent to the process group on every host, once; none: JOBMAN_NOTICE_FILE alone tells it."},
    {"command.on_notice.grace", T::kDuration, kOn, "30s", "", "",
     "How long the command may go on after that signal before it is stopped."},
    {"command.shell", T::kText, kOff, "", "", "", "Shell that runs cmd."},

    {"retries", T::kMap, kOn, "", "", "", "How often to try again, by cause."},
    {"retries.preemption", T::kCount, kOn, "unlimited", "", "", "After a preemption."},
    {"retries.failure", T::kCount, kOn, "0", "", "", "After the command or a setup step failed."},
    {"retries.infra", T::kCount, kOn, "10", "", "", "After a fault of the cloud or a host."},
    {"retries.backoff", T::kDuration, kOn, "15s", "", "",
     "Bound of the first wait before trying again, which is random below it; doubles, up to 10m."},

    {"watchdog", T::kMap, kOn, "", "", "",
     "When the command is given up although it runs, and what then; see watchdog.md."},
    {"watchdog.no_output", T::kLimit, kOn, "", "", "",
     "No host has written anything for so long; without do: restart."},
    {"watchdog.bad_output", T::kPatterns, kOn, "", "", "",
     "A line of the output matches, by the rules of grep -E; without do: fail."},
    {"watchdog.max_duration", T::kLimit, kOn, "", "", "",
     "The command has run for so long in one attempt; without do: fail."},
    {"health", T::kAny, kOff, "", "", "", "Probe of the hosts before the run."},
    {"on", T::kMap, kOn, "", "", "",
     "What to do when something happens: a command, a URL to post to, {run}, {post} or {mail}; "
     "see hooks.md."},
    {"on.started", T::kHooks, kOn, "", "", "", "The command starts, in any attempt."},
    {"on.preempted", T::kHooks, kOn, "", "", "", "The slice was taken away."},
    {"on.restarting", T::kHooks, kOn, "", "", "",
     "The command or a setup step ended early, and is tried again."},
    {"on.succeeded", T::kHooks, kOn, "", "", "", "The job succeeded."},
    {"on.failed", T::kHooks, kOn, "", "", "", "The job failed."},
    {"on.cancelled", T::kHooks, kOn, "", "", "", "The job was cancelled."},
    {"smtp", T::kMap, kOn, "", "", "", "The server that takes the mail of hooks."},
    {"smtp.host", T::kText, kOn, "required", "", "", "Its name or address."},
    {"smtp.port", T::kNumber, kOn, "587, with tls: tls 465", "", "", "Its port."},
    {"smtp.tls", T::kWord, kOn, "starttls", "starttls|tls|none", "",
     "starttls insists on it; none is for a server on this machine."},
    {"smtp.from", T::kText, kOn, "required", "", "", "The sender's address."},
    {"smtp.user", T::kText, kOn, "none", "", "", "Logs in as; with a password."},
    {"smtp.password", T::kSource, kOn, "none", "", "",
     "Where the password is read from, each time."},
    {"brevo_email", T::kAny, kOff, "", "", "", "Mail through Brevo."},
};

/// "setup[0].run" as the table writes it: "setup[].run".
std::string RowPath(std::string_view path) {
  std::string row;
  for (const std::string& part : SplitPath(path)) {
    const bool index = part.empty() || part.find_first_not_of("0123456789") == std::string::npos;
    if (index) {
      row += "[]";
    } else {
      row += (row.empty() ? "" : ".") + part;
    }
  }
  return row;
}

}  // namespace

std::span<const KeyRow> Schema() {
  return kRows;
}

const KeyRow* FindKey(std::string_view path) {
  const std::string wanted = RowPath(path);
  for (const KeyRow& row : kRows) {
    if (row.path == wanted) return &row;
  }
  return nullptr;
}

std::string_view TypeText(Type type) {
  switch (type) {
    case Type::kText:
      return "text";
    case Type::kWord:
      return "a word";
    case Type::kBool:
      return "true or false";
    case Type::kNumber:
      return "a number";
    case Type::kCount:
      return "a number or \"unlimited\"";
    case Type::kDuration:
      return "a duration";
    case Type::kDeadline:
      return "a duration or a time";
    case Type::kHosts:
      return "hosts";
    case Type::kTextList:
      return "a list of texts";
    case Type::kTextMap:
      return "a map of texts";
    case Type::kSecrets:
      return "a list of secrets";
    case Type::kLimit:
      return "a duration, or {after, do}";
    case Type::kPatterns:
      return "a pattern, or a list of patterns and of {match, do}";
    case Type::kSource:
      return "{env: NAME} or {file: PATH}";
    case Type::kHooks:
      return "a hook, or a list of hooks";
    case Type::kMap:
      return "a map";
    case Type::kSteps:
      return "a list of maps";
    case Type::kAny:
      return "anything";
  }
  return {};
}

}  // namespace jobman::config
