#include "jobman/config/schema.hpp"

#include "config/value.hpp"

namespace jobman::config {
namespace {

using T = Type;
using Text = std::string_view;

constexpr KeyRow Key(Text path, Type type, Text fallback, Text about) {
  return {.path = path, .type = type, .fallback = fallback, .about = about};
}
constexpr KeyRow Required(Text path, Type type, Text example, Text about) {
  return {.path = path, .type = type, .fallback = "required", .about = about, .example = example};
}
/// `allowed` has the words, the least and greatest number, or what takes the place of a map.
constexpr KeyRow Among(Text path, Type type, Text allowed, Text fallback, Text about) {
  return {.path = path, .type = type, .fallback = fallback, .about = about, .allowed = allowed};
}
constexpr KeyRow Translated(KeyRow row) {
  row.status = KeyStatus::kTranslated;
  return row;
}
constexpr KeyRow NotYet(Text path, Type type, Text about) {
  KeyRow row = Key(path, type, "", about);
  row.status = KeyStatus::kNotYet;
  return row;
}
constexpr KeyRow ShortFor(Text key, KeyRow row) {
  row.short_for = key;
  return row;
}
constexpr KeyRow OrOne(KeyRow row) {
  row.or_one = true;
  return row;
}
constexpr KeyRow OrEmpty(KeyRow row) {
  row.empty_is_none = true;
  return row;
}
/// A list of texts; a single one, or none, may be written as a text.
constexpr KeyRow Texts(Text path, Text example, Text about) {
  KeyRow row = OrEmpty(OrOne(Key(path, T::kTextList, "", about)));
  row.example = example;
  return row;
}
constexpr KeyRow Ignored(Text path) {
  KeyRow row = Key(path, T::kAny, "", "Of a snapshot of Python jobman; ignored, with a warning.");
  row.status = KeyStatus::kIgnored;
  return row;
}
/// An event for hooks: an item that is not a map is a command, or a URL to post to.
constexpr KeyRow Event(Text path, Text about) {
  return OrOne(ShortFor("run", Key(path, T::kMaps, "", about)));
}

constexpr KeyRow kRows[] = {
    Key("job", T::kMap, "", "The job as a whole."),
    Key("job.name", T::kText, "the file's name",
        "Any text of one line; the names of slices are made from its letters and digits."),
    OrEmpty(Among(
        "job.env_type", T::kWord, "none|docker|conda|venv", "none",
        "Where the command runs; none is the host itself. Of these sections only the one named is "
        "read.")),
    Translated(
        Key("job.loop", T::kBool, "",
            "true: try again without limit until the command succeeds, after a preemption, a "
            "failure or a fault of the cloud; false: not after a preemption.")),
    OrEmpty(Translated(
        Key("job.remote_user", T::kText, "", "Login name on the hosts, unless ssh.user is set."))),
    Key("job.environment", T::kTextMap, "",
        "Environment variables of every setup step and of the command."),
    Key("job.worker_num", T::kText, "none",
        "Suffix of job.name and tpu.name, to tell jobs of one file apart: any text or number; auto "
        "is the smallest free number, also for a worker of a queue whose file does not say. No "
        "number of hosts."),
    Key("job.labels", T::kTextMap, "",
        "Labels of the job, to filter by in list and other commands."),
    ShortFor("do", Key("job.when_done", T::kMap, "keep",
                       "What becomes of the slice once the job is over: keep, delete, or a map.")),
    Among("job.when_done.do", T::kWord, "keep|delete", "keep",
          "delete: as soon as the job has succeeded or failed. A cancelled job keeps its slice."),
    Key("job.when_done.keep", T::kLimit, "without limit",
        "How long a job that is over, cancelled ones too, keeps its slice; then it is deleted."),
    Key("job.group", T::kText, "job.name, of the file",
        "Jobs that job.max_running counts together; the jobs of an array are one group."),
    Among("job.max_running", T::kNumber, "1-10000", "without limit",
          "How many jobs of the group are at work at a time; the others wait for their turn. "
          "A job that is over is not counted, though it may keep its slice: see job.when_done."),
    Key("job.queue", T::kMap, "",
        "The task queue that the job works off, in place of a command: it is a worker."),
    Key("job.queue.enabled", T::kBool, "false",
        "Whether it does: the job holds a slice and runs one task of the queue after the other."),
    Key("job.queue.config", T::kPath, "",
        "The queue file; it is read again when it changes. Without one, the tasks of task submit."),
    OrOne(ShortFor("run", Translated(Key("job.queue.prefix", T::kMaps, "",
                                         "Scripts that prepare the hosts before the first task: "
                                         "setup steps after those of setup.")))),
    Translated(Key("job.queue.prefix[].name", T::kText, "prefix-1, prefix-2, ...",
                   "Name of the step in logs and messages.")),
    Translated(Required("job.queue.prefix[].run", T::kText, "pip install -e .", "Shell script.")),
    Translated(Key("job.queue.prefix[].workers", T::kHosts, "0", "The hosts it runs on.")),
    Translated(Key("job.queue.prefix[].required", T::kBool, "false",
                   "Whether its failure fails the job.")),
    Key("job.queue.idle", T::kLimit, "never",
        "The slice is given back, and the job has succeeded, when there was no task for so long."),
    Ignored("job.id"),
    Ignored("job.user"),
    Ignored("job.dir"),

    Among(
        "array", T::kMap, "a list, or text", "",
        "Values, as a list, or as in 0-9 or a,b: the file makes a job for each, named NAME-INDEX. "
        "In the file ${array.value} stands for it, on the hosts JOBMAN_ARRAY_VALUE."),
    Among("array.index", T::kNumber, "0-999", "",
          "Of one job: which it is, from 0. On the hosts, JOBMAN_ARRAY_INDEX."),
    Among("array.size", T::kNumber, "1-1000", "",
          "Of one job: how many the file makes. On the hosts, JOBMAN_ARRAY_SIZE."),
    Key("array.value", T::kText, "", "Of one job: its value."),
    Among("matrix", T::kTextMap, "a map of lists or texts", "",
          "Names, each with values as in array: the file makes a job for each combination. In the "
          "file ${matrix.NAME} stands for a value, on the hosts the environment variable NAME."),

    ShortFor("endpoint",
             Key("cloud", T::kMap, "google",
                 "Which API creates the slices: google, local (the simulator), a URL, or a map.")),
    Key("cloud.endpoint", T::kText, "JOBMAN_ENDPOINT, else google",
        "google, local, or an http(s) URL; --endpoint takes precedence. local gets no token but "
        "the simulator's own, whatever the keys below and the environment say."),
    Key("cloud.token_file", T::kPath, "", "File with an access token."),
    Key("cloud.token_command", T::kText, "", "Shell command that prints an access token."),
    Key("cloud.credentials_file", T::kPath, "GOOGLE_APPLICATION_CREDENTIALS, for google",
        "File with credentials, as Google's tools write them: a service account's key, a login, "
        "workload identity federation."),
    Key("cloud.impersonate_service_account", T::kText,
        "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT, for google",
        "Service account to act as: its address; those of delegates may stand before it, with "
        "commas."),
    Translated(Key("loop", T::kBool, "", "job.loop, in old job files.")),

    Required("tpu", T::kMap, "", "The slice."),
    Among("tpu.allocation_mode", T::kWord, "queued-resources|tpu-vm", "queued-resources",
          "Request a queued resource, or create the TPU VM directly."),
    Required("tpu.accelerator", T::kText, "v4-32",
             "Accelerator type, such as v4-32. One that jobman does not know is asked of the API."),
    Translated(Key("tpu.acceleratorType", T::kText, "", "tpu.accelerator, in old job files.")),
    NotYet("tpu.topology", T::kText, "Shape in chips, such as 2x2x4."),
    Key("tpu.existing", T::kText, "",
        "Name of a node of the zone to run on, instead of a slice of the job's own. It gets this "
        "machine's SSH key, and is never deleted or stopped; when it is lost, the job fails."),
    Key("tpu.name", T::kText, "job.name",
        "Prefix of slice names: lower-case letters, digits and -, at most 40. What is not fit is "
        "made "
        "so, with a warning."),
    Required("tpu.zone", T::kText, "us-central2-b",
             "Zone, such as us-central2-b. A list of candidates is not supported yet."),
    Key("tpu.version", T::kText, "by generation", "Runtime version (software image)."),
    Among("tpu.pricing", T::kWord,
          "spot|ondemand|preemptible|reserved|flex-start|reservation-bound", "ondemand",
          "What the slice costs, and whether it can be preempted. flex-start and reservation-bound "
          "are of Google's API v2alpha1."),
    Key("tpu.reservation", T::kText, "any",
        "Name of the reservation, with pricing reserved or reservation-bound. A TPU VM that is "
        "created directly asks for it through Google's API v2alpha1."),
    Key("tpu.max_run_duration", T::kLimit, "none",
        "For how long the cloud lends the slice (4h); then it takes it away, and the job goes on "
        "with a new one, as after a preemption. With pricing flex-start at most 7d. For queued "
        "resources, through Google's API v2alpha1."),
    Among("tpu.num_slices", T::kNumber, "1-256", "1",
          "Number of nodes of this type that the command runs on together: a multislice."),
    Key("tpu.network", T::kText, "default", "VPC network."),
    Key("tpu.subnetwork", T::kText, "default", "Subnetwork of the zone's region."),
    Key("tpu.external_ips", T::kBool, "true", "Whether hosts get external addresses."),
    Key("tpu.service_account", T::kText, "the project's own", "Service account of the hosts."),
    NotYet("tpu.data_disks", T::kAny, "Disks to attach."),
    Texts("tpu.tags", "[ssh]", "Network tags."),
    Key("tpu.labels", T::kTextMap, "", "Labels of the slice in the cloud."),
    Key("tpu.metadata", T::kTextMap, "", "Metadata of the hosts."),
    Key("tpu.startup_script", T::kText, "",
        "Runs at every boot: the script itself (several lines, or beginning with #!), or its "
        "file."),
    Key("tpu.valid_until", T::kDeadline, "none",
        "How long a queued resource may wait. After a duration (6h) another one is requested; at a "
        "time (2026-11-21T08:00:00Z) the job fails."),
    Key("tpu.project", T::kText, "GOOGLE_CLOUD_PROJECT, CLOUDSDK_CORE_PROJECT, gcloud's own",
        "Google Cloud project; not needed with cloud: local."),
    Translated(Texts("tpu.flags", "[--network=default, --spot]",
                     "Flags of gcloud's create, translated to the keys above; others are refused "
                     "by name.")),
    Ignored("tpu.num_workers"),
    Ignored("tpu.ips"),

    Key("ssh", T::kMap, "", "How to reach the hosts."),
    Key("ssh.user", T::kText, "job.remote_user, else your login name", "Login name on the hosts."),
    OrEmpty(Key("ssh.private_key", T::kPath, "jobman's own key",
                "Private key file; generated if it does not exist, never overwritten.")),
    OrEmpty(Translated(
        Key("ssh.public_key", T::kPath, "",
            "Public half of ssh.private_key. It is not needed, as the key itself tells it."))),
    Among("ssh.port", T::kNumber, "0-65535", "22", "Port of the hosts' SSH servers."),
    Among("ssh.host_keys", T::kWord, "first-use|strict", "first-use",
          "Whether a host key that the cloud does not vouch for is pinned when first seen, and "
          "shown in history, or the host refused."),
    Among("ssh.address", T::kWord, "external|internal", "external",
          "Which address of the hosts is used; external: where a host has one."),
    OrEmpty(Key("ssh.proxy_jump", T::kText, "none",
                "Jump hosts on the way to the hosts, `[user@]host[:port]` with commas between "
                "them, as OpenSSH's ProxyJump.")),
    OrEmpty(Key("ssh.proxy_command", T::kText, "none",
                "A command whose standard input and output are the connection, as OpenSSH's "
                "ProxyCommand; %h is the host's address, %p its port, %r the login name, %n the "
                "name of its VM.")),
    Key("ssh.identities", T::kMaps, "",
        "Keys of this machine that are copied to ~/.ssh of every host."),
    Required("ssh.identities[].private_key", T::kPath, "~/.ssh/id_ed25519", "The private key."),
    OrEmpty(Key("ssh.identities[].public_key", T::kPath, "none",
                "Its public half. Both keep their file names there.")),
    Key("ssh.identities[].config_entry", T::kText, "",
        "Lines for ~/.ssh/config of the hosts; what else is there is kept."),
    Key("ssh.identities[].authorize", T::kBool, "false",
        "Whether the hosts let this key log in, so that they reach each other."),
    Translated(Key("ssh.tpu_private_key", T::kPath, "",
                   "A key with which the hosts reach each other, in old job files.")),
    Translated(Key("ssh.tpu_public_key", T::kPath, "", "Its public half.")),
    Key("ssh.host_to_host", T::kBool, "false",
        "Whether the hosts reach each other by ssh, with a key made for this job."),
    Key("ssh.os_login", T::kBool, "false",
        "Whether hosts are logged in to by OS Login, where an organisation requires it: create "
        "adds "
        "the job's public key to the login profile of the account whose credentials it uses, for a "
        "year, and ssh.user becomes the name that the profile gives; the slice gets "
        "enable-oslogin: "
        "TRUE. The account needs the role roles/compute.osAdminLogin in the project."),
    Key("ssh.agent_forwarding", T::kBool, "false",
        "Whether your SSH agent is forwarded to the hosts, so that no key is copied: setup steps, "
        "the command (unless it is in a container), exec and ssh can use its keys, and so can root "
        "there. The agent is that of the controller's SSH_AUTH_SOCK, and is away while no "
        "controller is connected."),

    Key("code", T::kMap, "",
        "Files that every host gets before anything else runs there. `create` takes a snapshot, "
        "which every attempt uses; the command and the steps of setup start in their folder."),
    Key("code.dir", T::kPath, "none",
        "A folder of this machine. What git ignores there is left out. This, or code.git."),
    OrOne(Key("code.exclude", T::kTextList, "",
              "What else to leave out of code.dir, also if git tracks it: patterns as in "
              ".gitignore.")),
    Key("code.git", T::kText, "none",
        "URL or path of a Git repository. It is fetched by `create`, on this machine, with your "
        "own credentials."),
    Key("code.ref", T::kText, "HEAD", "Branch, tag or commit of code.git."),
    Key("code.submodules", T::kBool, "false", "Whether the submodules of code.git are taken too."),
    Key("code.path", T::kText, "~/NAME, named as code.dir or code.git",
        "The folder on the hosts. What earlier snapshots put there is replaced, and nothing else."),
    Among("code.max_size", T::kSize, "1-2147483648", "100M",
          "Largest snapshot, packed, at most 2G."),
    Key("code.snapshot", T::kMap, "",
        "What `create` took, for show --json. Each `create` takes it anew."),
    Key("code.snapshot.sha256", T::kText, "", "SHA-256 of the archive."),
    Key("code.snapshot.files", T::kNumber, "", "How many files it has."),
    Key("code.snapshot.packed", T::kSize, "", "Size of the archive."),
    Key("code.snapshot.unpacked", T::kSize, "", "Size of the files."),
    Key("code.snapshot.commit", T::kText, "", "The commit, if one is known."),
    Key("code.snapshot.changed", T::kBool, "",
        "Whether code.dir had changes that the commit lacks."),

    Key("setup", T::kMaps, "",
        "Steps that run on the hosts before the command, in order; each once per machine, boot and "
        "content."),
    Key("setup[].name", T::kText, "step-1, step-2, ...", "Name of the step in logs and messages."),
    Required("setup[].run", T::kText, "pip install -r requirements.txt", "Shell script."),
    Key("setup[].strict", T::kBool, "true",
        "Whether it ends at the first command that fails (set -e, and pipefail where the shell has "
        "it). A script that begins with #! sets its own."),
    Key("setup[].hosts", T::kHosts, "all", "The hosts it runs on."),
    Key("setup[].required", T::kBool, "true", "Whether its failure fails the job."),
    Key("setup[].timeout", T::kLimit, "none", "How long it may take."),
    NotYet("setup[].when", T::kText, "Condition under which it runs."),

    Key("allow_cross_region", T::kBool, "false",
        "Whether buckets (gcsfuse, gs://BUCKET) may be outside of the region of the slice, from "
        "where reading is billed, or hidden from you. If not, `create` stops, and says where such "
        "a bucket is named and what a TB costs."),
    Key("gcsfuse", T::kMap, "",
        "A Cloud Storage bucket mounted as a folder of every host; installs gcsfuse if need be."),
    Required("gcsfuse.bucket_name", T::kText, "my-bucket", "The bucket."),
    Required("gcsfuse.mount_path", T::kText, "/home/me/bucket", "The folder on the hosts."),
    OrEmpty(Key("gcsfuse.cache", T::kMap, "", "Caches of gcsfuse, by the names of its flags.")),
    OrEmpty(Key("gcsfuse.cache.dir", T::kText, "none", "Folder on the hosts for the file cache.")),
    OrEmpty(Key("gcsfuse.cache.metadata_ttl_secs", T::kText, "-1",
                "How long metadata is believed; -1 without limit.")),
    OrEmpty(Key("gcsfuse.cache.stat_cache_max_size_mb", T::kText, "-1",
                "Cache of attributes; -1 without limit.")),
    OrEmpty(Key("gcsfuse.cache.type_cache_max_size_mb", T::kText, "-1",
                "Cache of names; -1 without limit.")),
    OrEmpty(Key("gcsfuse.cache.file_cache_max_size_mb", T::kText, "gcsfuse's own",
                "Cache of content; -1 without limit.")),
    OrEmpty(Key("gcsfuse.cache.cache_file_for_range_read", T::kBool, "gcsfuse's own",
                "Whether reading a part of a file caches it.")),
    OrEmpty(Key("gcsfuse.cache.enable_parallel_downloads", T::kBool, "gcsfuse's own",
                "Whether a file is fetched in several parts at once.")),
    Key("gcsfuse.cache.prefix", T::kText, "", "Shell script that runs before the mount."),
    Key("gcsfuse.extra_mounts", T::kMaps, "", "More mounts."),
    Key("gcsfuse.extra_mounts[].bucket_name", T::kText, "gcsfuse.bucket_name", "The bucket."),
    Required("gcsfuse.extra_mounts[].mount_path", T::kText, "/home/me/data",
             "The folder on the hosts."),
    OrEmpty(Key("gcsfuse.extra_mounts[].cache", T::kMap, "", "As gcsfuse.cache.")),
    OrEmpty(Key("gcsfuse.extra_mounts[].cache.dir", T::kText, "none", "As gcsfuse.cache.dir.")),
    OrEmpty(Key("gcsfuse.extra_mounts[].cache.metadata_ttl_secs", T::kText, "-1",
                "As gcsfuse.cache.metadata_ttl_secs.")),
    OrEmpty(Key("gcsfuse.extra_mounts[].cache.stat_cache_max_size_mb", T::kText, "-1",
                "As gcsfuse.cache.stat_cache_max_size_mb.")),
    OrEmpty(Key("gcsfuse.extra_mounts[].cache.type_cache_max_size_mb", T::kText, "-1",
                "As gcsfuse.cache.type_cache_max_size_mb.")),
    OrEmpty(Key("gcsfuse.extra_mounts[].cache.file_cache_max_size_mb", T::kText, "gcsfuse's own",
                "As gcsfuse.cache.file_cache_max_size_mb.")),
    OrEmpty(Key("gcsfuse.extra_mounts[].cache.cache_file_for_range_read", T::kBool, "gcsfuse's own",
                "As gcsfuse.cache.cache_file_for_range_read.")),
    OrEmpty(Key("gcsfuse.extra_mounts[].cache.enable_parallel_downloads", T::kBool, "gcsfuse's own",
                "As gcsfuse.cache.enable_parallel_downloads.")),
    Key("gcsfuse.extra_mounts[].cache.prefix", T::kText, "", "As gcsfuse.cache.prefix."),
    Key("nfs", T::kMap, "", "A folder that all hosts share over NFS."),
    Required("nfs.path", T::kText, "/srv/shared", "The folder on the hosts."),
    Key("nfs.export", T::kText, "host 0 exports nfs.path",
        "What is mounted there instead, SERVER:/FOLDER."),
    Key("docker", T::kMap, "", "The command runs in a container on every host."),
    Required("docker.image", T::kText, "python:3.10", "The image; pulled once."),
    Texts("docker.flags", "[--privileged, --network=host]",
          "Flags of docker run; a flag and its value may be one text, \"-v a:b\". No shell reads "
          "them: $HOME and quotes stay as they are."),
    Texts(
        "docker.env_vars", "[HF_HOME=/data]",
        "Variables of the container: NAME=VALUE, or NAME for the value that it has outside. A map "
        "is read too."),
    Texts("docker.mount_dirs", "[/home/me/data]",
          "Folders of the host that the container has: HOST, or HOST:CONTAINER."),
    Key("docker.workdir", T::kText, "command.workdir, or the image's own",
        "Working folder in the container."),
    Key("conda", T::kMap, "", "The command runs in a conda environment."),
    Required("conda.name", T::kText, "train", "Name of the environment."),
    Required("conda.config_file", T::kText, "environment.yaml",
             "What it contains: a file of this machine for `conda env`, or its text in several "
             "lines."),
    Key("venv", T::kMap, "", "The command runs in a Python virtual environment."),
    Required("venv.name", T::kText, "train",
             "Name of the environment, a folder of the home folder, or below one: envs/train."),
    Key("venv.requirements_file", T::kText, "none",
        "What it contains: a file of this machine for `pip install -r`, or its text in several "
        "lines."),
    OrEmpty(Key("venv.python", T::kText, "python3.10", "Its Python: 3.N or python3.N.")),

    Key("checks", T::kMap, "",
        "What every host proves before the command runs, after all other setup steps."),
    Key("checks.devices", T::kBool, "false",
        "Whether it must have the device files of as many chips as its type."),
    Key("checks.jax", T::kBool, "false",
        "Whether JAX, if the command would find it, must see all chips of the slice."),

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

/// The parts of a path without list indices.
std::vector<std::string> NamesOf(std::string_view path) {
  std::vector<std::string> names;
  for (std::string& part : SplitPath(path)) {
    if (part.find_first_not_of("0123456789") != std::string::npos) names.push_back(std::move(part));
  }
  return names;
}

bool Matches(const std::vector<std::string>& names, const KeyRow& row) {
  const std::vector<std::string> row_names = NamesOf(row.path);
  return std::equal(names.begin(), names.end(), row_names.begin(), row_names.end(),
                    [](const std::string& name, const std::string& row_name) {
                      return name == row_name || row_name == "*";
                    });
}

Text TypeName(Type type) {
  switch (type) {
    case Type::kText:
      return "text";
    case Type::kPath:
      return "a path";
    case Type::kWord:
      return "a word";
    case Type::kBool:
      return "true or false";
    case Type::kNumber:
      return "a number";
    case Type::kSize:
      return "a size";
    case Type::kCount:
      return "a number or \"unlimited\"";
    case Type::kDuration:
    case Type::kLimit:
      return "a duration";
    case Type::kDeadline:
      return "a duration or a time";
    case Type::kHosts:
      return "hosts";
    case Type::kTextList:
      return "a list of texts";
    case Type::kTextMap:
      return "a map of texts";
    case Type::kSource:
      return "{env: NAME} or {file: PATH}";
    case Type::kTextOrSource:
      return "text, {env: NAME} or {file: PATH}";
    case Type::kMap:
      return "a map";
    case Type::kMaps:
      return "a list of maps";
    case Type::kNamed:
      return "a map of maps";
    case Type::kAny:
      return "anything";
  }
  return {};
}

}  // namespace

std::span<const KeyRow> Schema() {
  return kRows;
}

const KeyRow* FindKey(std::string_view path) {
  const std::vector<std::string> names = NamesOf(path);
  for (const KeyRow& row : kRows) {
    if (Matches(names, row)) return &row;
  }
  return nullptr;
}

std::string ChildPrefix(const KeyRow& row) {
  if (row.type == Type::kMap) return std::string(row.path) + ".";
  if (row.type == Type::kNamed) return std::string(row.path) + ".*.";
  return row.path.starts_with("on.") ? "on.*[]." : std::string(row.path) + "[].";
}

std::string ItemText(const KeyRow& row) {
  if (row.short_for.empty()) return "a map";
  const KeyRow* value = FindKey(ChildPrefix(row) + std::string(row.short_for));
  return (value == nullptr ? "text" : TypeText(*value)) + " or a map";
}

std::string TypeText(const KeyRow& row) {
  if (row.type == Type::kMap) return ItemText(row);
  if (row.type == Type::kMaps && !row.short_for.empty()) {
    return row.or_one ? ItemText(row) + ", or a list of these" : "a list of texts or maps";
  }
  return (row.or_one ? "text, or " : "") + std::string(TypeName(row.type));
}

}  // namespace jobman::config
