// Keys of the job file: where slices come from, and what they are.
#include "config/schema/rows.hpp"

namespace jobman::config::schema {
namespace {

constexpr KeyRow kSliceRows[] = {
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
    Key("tpu.topology", T::kText, "the usual one",
        "How the chips of the slice lie, such as 2x2x4, where its type has several topologies. "
        "tpu.accelerator may be the generation alone then: v4."),
    Key("tpu.existing", T::kText, "",
        "Name of a node of the zone to run on, instead of a slice of the job's own. It gets this "
        "machine's SSH key, and is never deleted or stopped; when it is lost, the job fails."),
    Key("tpu.name", T::kText, "job.name",
        "Prefix of slice names: lower-case letters, digits and -, at most 40. What is not fit is "
        "made so, with a warning."),
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
    Key("tpu.project", T::kText,
        "GOOGLE_CLOUD_PROJECT, that of the service account's key, gcloud's own, the machine's",
        "Google Cloud project; not needed with cloud: local."),
    Translated(Texts("tpu.flags", "[--network=default, --spot]",
                     "Flags of gcloud's create, translated to the keys above; others are refused "
                     "by name.")),
    Ignored("tpu.num_workers"),
    Ignored("tpu.ips"),
};

}  // namespace

std::span<const KeyRow> SliceRows() {
  return kSliceRows;
}

}  // namespace jobman::config::schema
