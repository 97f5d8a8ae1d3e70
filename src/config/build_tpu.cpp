#include <algorithm>

#include "config/build.hpp"
#include "config/names.hpp"
#include "config/project.hpp"
#include "config/scalars.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::config {
namespace {

constexpr int kMostSlices = 256;
constexpr std::size_t kLongestScript = std::size_t{256}
                                       << 10;  // of a metadata value, as Compute Engine takes

void BuildAccelerator(Reader& reader, core::TpuSpec& tpu) {
  tpu.accelerator = reader.Required("tpu.accelerator", "v4-32");
  tpu.version = reader.Text("tpu.version");
  if (tpu.accelerator.empty()) return;
  const auto found = core::FindAccelerator(tpu.accelerator);
  if (!found.ok()) {
    const base::Error& error = found.error();
    reader.Complain("tpu.accelerator", "tpu.accelerator: " + error.message, error.hint,
                    error.reason);
  } else if (tpu.version.empty()) {
    tpu.version = core::DefaultRuntime(found->generation);
    reader.Note("tpu.version", "default for " + found->generation);
  }
}

void BuildSlices(Reader& reader, core::TpuSpec& tpu) {
  const int count = reader.Number("tpu.num_slices").value_or(1);
  if (count < 1 || count > kMostSlices) {
    reader.Complain("tpu.num_slices", "tpu.num_slices must be 1 to " + std::to_string(kMostSlices));
    return;
  }
  tpu.num_slices = count;
}

void BuildPlace(Reader& reader, const core::CloudSpec& cloud, core::TpuSpec& tpu) {
  tpu.zone = reader.Required("tpu.zone", "us-central2-b");
  if (!tpu.zone.empty()) reader.Complain("tpu.zone", CheckZone(tpu.zone));
  tpu.project = reader.Text("tpu.project");
  if (!reader.Has("tpu.project")) {
    if (const auto found = DefaultProject(reader.defaults())) {
      tpu.project = found->text;
      reader.Note("tpu.project", found->where);
    } else if (cloud.endpoint == "local") {
      tpu.project = "local-project";
    } else {
      reader.Complain("tpu.project", "tpu.project is missing, and nothing else names a project",
                      "write it, set GOOGLE_CLOUD_PROJECT, or run: gcloud config set project ID");
      return;
    }
  }
  reader.Complain("tpu.project", CheckProject(tpu.project));
}

void BuildPricing(Reader& reader, core::TpuSpec& tpu) {
  using core::AllocationMode;
  using core::Pricing;
  if (reader.Has("tpu.allocation_mode")) {
    tpu.allocation_mode = core::AllocationModeFromName(reader.Text("tpu.allocation_mode"))
                              .value_or(tpu.allocation_mode);
  }
  if (reader.Has("tpu.pricing")) {
    tpu.pricing = core::PricingFromName(reader.Text("tpu.pricing")).value_or(tpu.pricing);
  }
  // Queued resources know spot only, which replaced preemptible.
  if (tpu.pricing == Pricing::kPreemptible &&
      tpu.allocation_mode == AllocationMode::kQueuedResources) {
    tpu.pricing = Pricing::kSpot;
  }
  tpu.reservation = reader.Text("tpu.reservation");
  if (!tpu.reservation.empty() && tpu.pricing != Pricing::kReserved) {
    reader.Complain("tpu.reservation", "tpu.reservation needs tpu.pricing: reserved",
                    "write tpu.pricing: reserved, or leave the reservation out");
  } else if (!tpu.reservation.empty() && tpu.allocation_mode == AllocationMode::kTpuVm) {
    // A node says only that it takes reserved capacity.
    reader.Complain("tpu.reservation",
                    "tpu.reservation: a TPU VM that is created directly cannot name a reservation",
                    "write tpu.allocation_mode: queued-resources, or leave the name out to take "
                    "any reservation");
  }
}

void BuildValidUntil(Reader& reader, core::TpuSpec& tpu) {
  const std::string path = "tpu.valid_until";
  if (!reader.Has(path)) return;
  if (tpu.allocation_mode == core::AllocationMode::kTpuVm) {
    reader.Complain(path, path + ": a TPU VM that is created directly waits in no queue",
                    "write tpu.allocation_mode: queued-resources, or leave it out");
    return;
  }
  const auto deadline = ReadDeadline(*reader.Get(path));
  if (!deadline.ok()) return;  // the schema's check has told it
  if (const auto* until = std::get_if<base::TimePoint>(&*deadline)) tpu.valid_until = *until;
  if (const auto* span = std::get_if<base::Duration>(&*deadline)) tpu.valid_for = *span;
  if (tpu.valid_for == base::Duration{0}) {
    reader.Complain(path, path + " must be longer than nothing");
  }
}

/// The script of a path, or the text itself when it is one.
std::string ReadScript(Reader& reader, const std::string& path, const std::string& text) {
  if (base::Contains(text, "\n") || text.starts_with("#!")) return text;
  const base::Path file = reader.ResolvePath(path, text);
  auto script = base::ReadFile(file, kLongestScript);
  if (!script.ok()) {
    reader.Complain(path, path + ": " + script.error().message,
                    "name a file, or write the script itself, beginning with #!");
    return {};
  }
  // Told apart from a path also when it is read again from the resolved job.
  if (!base::Contains(*script, "\n") && !script->starts_with("#!")) *script += "\n";
  if (base::Trim(*script).empty()) reader.Complain(path, path + ": " + file.string() + " is empty");
  return std::move(*script);
}

void BuildScript(Reader& reader, core::TpuSpec& tpu) {
  const auto in_metadata = tpu.metadata.find("startup-script");
  if (reader.Has("tpu.startup_script")) {
    tpu.startup_script =
        ReadScript(reader, "tpu.startup_script", reader.Text("tpu.startup_script"));
    if (in_metadata != tpu.metadata.end()) {
      reader.Complain("tpu.startup_script",
                      "tpu.startup_script and tpu.metadata.startup-script exclude each other",
                      "keep one");
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

void CheckLists(Reader& reader, const core::TpuSpec& tpu) {
  for (std::size_t i = 0; i < tpu.tags.size(); ++i) {
    reader.Complain("tpu.tags[" + std::to_string(i) + "]", CheckTag(tpu.tags[i]));
  }
  for (const auto& [key, value] : tpu.metadata) {
    reader.ComplainOfKey("tpu.metadata", key, CheckMetadataKey(key));
  }
}

}  // namespace

core::TpuSpec BuildTpu(Reader& reader, const core::JobSpec& spec) {
  core::TpuSpec tpu;
  BuildAccelerator(reader, tpu);
  BuildSlices(reader, tpu);
  BuildPlace(reader, spec.cloud, tpu);
  BuildPricing(reader, tpu);
  BuildValidUntil(reader, tpu);
  tpu.name = reader.Text("tpu.name");
  if (reader.Has("tpu.name")) reader.Complain("tpu.name", CheckSliceName(tpu.name));
  tpu.network = reader.Text("tpu.network");
  tpu.subnetwork = reader.Text("tpu.subnetwork");
  tpu.external_ips = reader.Bool("tpu.external_ips").value_or(true);
  tpu.service_account = reader.Text("tpu.service_account");
  tpu.tags = reader.TextList("tpu.tags");
  tpu.labels = reader.TextMap("tpu.labels");
  tpu.metadata = reader.TextMap("tpu.metadata");
  CheckLists(reader, tpu);
  BuildScript(reader, tpu);
  return tpu;
}

}  // namespace jobman::config
