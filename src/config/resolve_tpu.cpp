#include <filesystem>

#include "config/named_text.hpp"
#include "config/names.hpp"
#include "config/project.hpp"
#include "config/resolve.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::config {
namespace {

/// The limit of Compute Engine for a metadata value.
constexpr std::size_t kLongestScript = std::size_t{256} << 10;

/// The table here ends with the day this program was made: the API knows what there is.
void CheckUnknownType(Reader& reader, const core::TpuSpec& tpu, const base::Error& unknown) {
  if (tpu.version.empty() && core::GenerationOf(tpu.accelerator).empty()) {
    return reader.Complain(
        "tpu.version",
        "tpu.version is missing, and the type " + tpu.accelerator + " is not known here",
        "what a zone offers: jobman zones ZONE\n  " + unknown.hint);
  }
  reader.Warn("tpu.accelerator", tpu.accelerator + " is not known here: the API decides",
              "its hosts and chips come from the API; " + unknown.hint);
}

/// tpu.topology, and tpu.accelerator that may be a generation with it.
void ResolveTopology(Reader& reader, core::TpuSpec& tpu) {
  if (tpu.accelerator.empty()) return;  // reported
  const std::string generation = core::GenerationOf(tpu.accelerator);
  if (tpu.topology.empty()) {
    if (generation != tpu.accelerator) return;
    return reader.Complain("tpu.accelerator",
                           "tpu.accelerator: " + generation + " is a generation, and not a type",
                           "write the type, or how its chips lie: tpu.topology");
  }
  if (generation.empty()) {
    return reader.Complain(
        "tpu.topology",
        "tpu.topology: of the type " + tpu.accelerator + " no topology is known here",
        "remove it: the type is enough");
  }
  const auto found = core::FindTopology(generation, tpu.topology);
  if (!found.ok()) return reader.Complain("tpu.topology", found.error());
  if (tpu.accelerator == generation) tpu.accelerator = found->type;
  if (tpu.accelerator == found->type) return;
  reader.Complain("tpu.topology",
                  "tpu.topology: " + tpu.topology + " is a " + found->type +
                      ", and tpu.accelerator is " + tpu.accelerator,
                  "remove one of them, or write tpu.accelerator: " + found->type);
}

void ResolveVersion(Reader& reader, core::TpuSpec& tpu) {
  if (tpu.accelerator.empty()) return;  // reported
  const std::string generation = core::GenerationOf(tpu.accelerator);
  const auto found = core::FindAccelerator(tpu.accelerator);
  if (!found.ok() && !core::MayBeType(tpu.accelerator)) {
    return reader.Complain("tpu.accelerator", found.error());
  }
  if (!found.ok()) CheckUnknownType(reader, tpu, found.error());
  if (!tpu.version.empty() || generation.empty()) return;
  tpu.version = core::DefaultRuntime(generation);
  reader.Note("tpu.version", "default for " + generation);
}

/// Who only looks at a job file may have no project: published files name none.
void ReportNoProject(Reader& reader) {
  const std::string message = "tpu.project is missing, and nothing else names a project";
  const std::string hint =
      "write it, set GOOGLE_CLOUD_PROJECT, or run: gcloud config set project ID";
  if (reader.request().needs_no_project) return;
  if (!reader.request().may_lack_project) return reader.Complain("tpu.project", message, hint);
  reader.Warn("tpu.project", message, "create and run need one: " + hint);
}

void ResolveProject(Reader& reader, const core::CloudSpec& cloud, core::TpuSpec& tpu) {
  if (reader.Has("tpu.project")) return;
  // What the variable names is looked up as such.
  const bool named = reader.Has("cloud.credentials_file");
  const std::string key = named ? cloud.credentials_file : std::string();
  if (const auto found = DefaultProject(reader.defaults(), key)) {
    tpu.project = found->text;
    reader.Note("tpu.project", found->where);
    reader.Complain("tpu.project", CheckProject(tpu.project));
  } else if (cloud.endpoint == "local") {
    tpu.project = "local-project";
  } else if (CheckEndpoint(cloud.endpoint).ok()) {  // else it may be meant to be local
    ReportNoProject(reader);
  }
}

bool IsQueued(const core::TpuSpec& tpu) {
  return tpu.allocation_mode == core::AllocationMode::kQueuedResources;
}

void CheckReservedPricing(Reader& reader, const core::TpuSpec& tpu) {
  const bool bound = tpu.pricing == core::Pricing::kReservationBound;
  if (bound && tpu.reservation.empty()) {
    reader.Complain("tpu.pricing", "tpu.pricing: reservation-bound needs tpu.reservation",
                    "name the reservation that was made in calendar mode");
  }
  if (!tpu.reservation.empty() && !bound && tpu.pricing != core::Pricing::kReserved) {
    reader.Complain("tpu.reservation",
                    "tpu.reservation needs tpu.pricing: reserved or reservation-bound",
                    "write tpu.pricing: reserved, or remove the reservation");
  }
}

/// The limit of flex-start. Source: Cloud TPU documentation, "Request Cloud TPUs using Flex-start".
constexpr core::Duration kLongestFlexStart = std::chrono::hours{7 * 24};

void CheckFlexStart(Reader& reader, const core::TpuSpec& tpu) {
  if (tpu.pricing != core::Pricing::kFlexStart) return;
  if (!IsQueued(tpu)) {
    return reader.Complain("tpu.pricing", "tpu.pricing: flex-start needs a queued resource",
                           "write tpu.allocation_mode: queued-resources");
  }
  if (!tpu.max_run_duration) {
    return reader.Complain("tpu.pricing", "tpu.pricing: flex-start needs tpu.max_run_duration",
                           "for example 4h; at most 7 days");
  }
  if (*tpu.max_run_duration > kLongestFlexStart) {
    reader.Complain("tpu.max_run_duration",
                    "tpu.max_run_duration, " + base::FormatDuration(*tpu.max_run_duration) +
                        ", is too long: flex-start lends a slice for at most 7 days",
                    "shorten it: the job goes on with a new slice when it is over");
  }
}

void CheckRunDuration(Reader& reader, const core::TpuSpec& tpu) {
  CheckFlexStart(reader, tpu);
  // Only a queued resource has one: QueuedResource.runDuration.
  if (!tpu.max_run_duration || IsQueued(tpu)) return;
  reader.Complain("tpu.max_run_duration",
                  "tpu.max_run_duration: a TPU VM that is created directly has no run duration",
                  "write tpu.allocation_mode: queued-resources, or remove it");
}

void ResolvePricing(Reader& reader, core::TpuSpec& tpu) {
  const bool queued = IsQueued(tpu);
  // Queued resources have only spot, the successor of preemptible.
  if (queued && tpu.pricing == core::Pricing::kPreemptible) tpu.pricing = core::Pricing::kSpot;
  CheckReservedPricing(reader, tpu);
  CheckRunDuration(reader, tpu);
  if (reader.Has("tpu.valid_until") && !queued) {
    reader.Complain("tpu.valid_until",
                    "tpu.valid_until: a TPU VM that is created directly does not wait in a queue",
                    "write tpu.allocation_mode: queued-resources, or remove it");
  } else if (tpu.valid_until && *tpu.valid_until <= reader.defaults().now) {
    reader.Complain("tpu.valid_until",
                    "tpu.valid_until, " + base::FormatRfc3339(*tpu.valid_until) + ", has passed",
                    "set a later time, or a duration such as 6h");
  }
}

/// The limit of Google Cloud for a resource, less jobman's own. Source: Compute Engine
/// documentation, "Organize resources using labels".
void CheckLabels(Reader& reader, const core::TpuSpec& tpu) {
  constexpr std::size_t kMostLabels = 64;
  constexpr std::size_t kOwn = 3;  // core::OwnerLabels
  if (tpu.labels.size() <= kMostLabels - kOwn) return;
  reader.Complain("tpu.labels",
                  "tpu.labels has " + std::to_string(tpu.labels.size()) +
                      " labels; a slice can carry 64, and 3 of them are jobman's own",
                  "remove some; job.labels has no such limit");
}

/// The text if it is a script, else the content of the file it names. One line with blanks that
/// names no file is a script too.
std::string ReadScript(Reader& reader, const std::string& path, const std::string& text) {
  if (text.starts_with("#!")) return text;
  if (base::Trim(text).empty()) return {};
  const bool one_line = base::Contains(text, " ") && !base::Contains(text, "\n");
  std::error_code problem;
  const std::string file = ResolvePath(reader.defaults(), reader.FolderOf(path), text);
  if (one_line && !std::filesystem::exists(file, problem)) {
    reader.Warn(path, path + " names no file here, so it is taken as a command",
                "begin it with #! if it is one");
    return text + "\n";
  }
  return ReadNamedText(reader, path, text, kLongestScript,
                       "name a file, or write the script itself, beginning with #!");
}

void ResolveScript(Reader& reader, core::TpuSpec& tpu) {
  const auto in_metadata = tpu.metadata.find("startup-script");
  if (reader.Has("tpu.startup_script")) {
    tpu.startup_script = ReadScript(reader, "tpu.startup_script", tpu.startup_script);
    if (in_metadata != tpu.metadata.end()) {
      reader.Complain("tpu.startup_script",
                      "tpu.startup_script and tpu.metadata.startup-script cannot be used together",
                      "remove one of them");
    }
  } else if (in_metadata != tpu.metadata.end()) {
    tpu.startup_script = in_metadata->second;
    if (!base::Contains(tpu.startup_script, "\n")) tpu.startup_script += "\n";
    tpu.metadata.erase(in_metadata);
  }
  if (tpu.startup_script.size() > kLongestScript) {
    reader.Complain("tpu.startup_script", "tpu.startup_script is longer than 256 KiB");
  }
}

/// tpu.name is a prefix, and each attempt's slice has a name of its own: what cannot begin one is
/// made fit.
void ResolveSliceName(Reader& reader, const std::string& job, core::TpuSpec& tpu) {
  if (tpu.name.empty()) return;
  const base::Status checked = CheckSliceName(tpu.name);
  if (checked.ok()) return;
  const bool is_jobs = tpu.name == job;
  tpu.name = MakeValidName(tpu.name);
  if (is_jobs) return;
  reader.Warn("tpu.name", "tpu.name: " + checked.error().message,
              "names of slices will begin with " + tpu.name);
}

/// What only a request says has no meaning for a node that is there.
void ResolveExisting(Reader& reader, const core::TpuSpec& tpu) {
  if (tpu.existing.empty()) return;
  if (tpu.num_slices != 1) {
    reader.Complain("tpu.num_slices", "tpu.num_slices: tpu.existing names one node",
                    "remove one of them");
  }
  std::vector<std::string> idle;
  for (const char* key :
       {"allocation_mode", "topology", "name", "version", "pricing", "reservation",
        "max_run_duration", "network", "subnetwork", "service_account", "tags", "labels",
        "metadata", "startup_script", "valid_until"}) {
    if (reader.Has(std::string("tpu.") + key)) idle.push_back(std::string("tpu.") + key);
  }
  if (idle.empty()) return;
  reader.Warn(idle.front(),
              "no effect on node " + tpu.existing + ", which is there: " + base::Join(idle, ", "),
              "remove tpu.existing to have a slice created");
}

}  // namespace

void ResolveTpu(Reader& reader, core::JobSpec& spec) {
  ResolveSliceName(reader, spec.name, spec.tpu);
  ResolveTopology(reader, spec.tpu);
  ResolveVersion(reader, spec.tpu);
  ResolveProject(reader, spec.cloud, spec.tpu);
  ResolvePricing(reader, spec.tpu);
  ResolveScript(reader, spec.tpu);
  CheckLabels(reader, spec.tpu);
  ResolveExisting(reader, spec.tpu);
}

}  // namespace jobman::config
