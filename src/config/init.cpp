#include "jobman/config/init.hpp"

#include <fmt/format.h>

#include "config/names.hpp"
#include "config/scalars.hpp"
#include "jobman/base/json.hpp"
#include "jobman/config/schema.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::config {
namespace {

std::string Or(const std::string& text, std::string_view fallback) {
  return text.empty() ? std::string(fallback) : text;
}

/// As text in YAML, whatever it contains.
std::string QuotedName(const std::string& name) {
  return base::Json(name).dump(-1, ' ', false, base::Json::error_handler_t::replace);
}

base::Status CheckPricing(const std::string& pricing) {
  const auto read = ReadScalar(Scalar(pricing, {}), *FindKey("tpu.pricing"));
  return read.ok() ? base::Ok() : base::Status(read.error());
}

/// A type that is newer than this program may have any name, but not the name of a known
/// generation with a size that this one does not have.
base::Status CheckAccelerator(const std::string& type) {
  const auto found = core::FindAccelerator(type);
  const bool newer = core::GenerationOf(type).empty() && core::MayBeType(type);
  return found.ok() || newer ? base::Ok() : base::Status(found.error());
}

/// A name that needs no quotes is written without them.
std::string NameText(const std::string& name) {
  if (name.empty()) return "my-job";
  const bool plain = MakeValidName(name) == name && name != "null";
  return plain ? name : QuotedName(name);
}

std::string JobPart(const InitOptions& options) {
  return fmt::format(R"(# A jobman job file. What each key means: jobman config explain KEY
# What is wrong with the file: jobman config check FILE
job:
  name: {}

# Which API creates the slice: google, or local for the simulator that comes with jobman.
cloud: {}

)",
                     NameText(options.name), Or(options.cloud, "google"));
}

std::string TpuPart(const InitOptions& options) {
  const std::string project =
      options.project.empty()
          ? "  # project: my-project   # default: GOOGLE_CLOUD_PROJECT, the key's, gcloud's own\n"
          : "  project: " + options.project + "\n";
  return fmt::format(R"(tpu:
  accelerator: {}      # type and size
  zone: {}
  pricing: {}             # spot, ondemand, preemptible or reserved
{}  # allocation_mode: tpu-vm # default: queued-resources, which waits in a queue
  # version: tpu-ubuntu2204-base   # default: one that fits the accelerator
  # network: my-network
  # labels: {{team: vision}}

)",
                     Or(options.accelerator, "v4-8"), Or(options.zone, "us-central2-b"),
                     Or(options.pricing, "spot"), project);
}

constexpr std::string_view kRest =
    R"(# Steps that run on the hosts before the command, once per host.
setup:
  - name: dependencies
    run: echo "install what the command needs here"
    # hosts: all          # or 0, [0, 1], "0,3-7"
    # timeout: 20m

# Runs on every host, with JOBMAN_HOST_INDEX, JOBMAN_NUM_HOSTS and others set.
command:
  cmd: |
    echo "host $JOBMAN_HOST_INDEX of $JOBMAN_NUM_HOSTS"
  # workdir: ~/my-code
  # env: {JAX_PLATFORMS: tpu}
  # secrets: [WANDB_API_KEY]   # read from your environment at the start, stored nowhere

# How often to retry, by cause.
retries:
  preemption: unlimited
  failure: 0
)";

}  // namespace

base::Status CheckInitOptions(const InitOptions& options) {
  const auto check = [](const char* flag, const std::string& text, auto form) -> base::Status {
    if (text.empty()) return base::Ok();
    base::Status checked = form(text);
    if (!checked.ok()) checked.error().message.insert(0, std::string(flag) + ": ");
    return checked;
  };
  JM_TRY(check("--name", options.name, CheckJobName));
  JM_TRY(check("--cloud", options.cloud, CheckEndpoint));
  JM_TRY(check("--project", options.project, CheckProject));
  JM_TRY(check("--zone", options.zone, CheckZone));
  JM_TRY(check("--accelerator", options.accelerator, CheckAccelerator));
  return check("--pricing", options.pricing, CheckPricing);
}

std::string InitTemplate(const InitOptions& options) {
  return JobPart(options) + TpuPart(options) + std::string(kRest);
}

}  // namespace jobman::config
