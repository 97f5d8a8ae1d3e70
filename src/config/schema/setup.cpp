// Keys of the job file: what is done on the hosts before the command.
#include "config/schema/rows.hpp"

namespace jobman::config::schema {
namespace {

constexpr KeyRow kSetupRows[] = {
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
        "a bucket is named and what a TB costs; also if nobody can say where it is."),
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
};

}  // namespace

std::span<const KeyRow> SetupRows() {
  return kSetupRows;
}

}  // namespace jobman::config::schema
