#include "jobman/config/init.hpp"

#include <fmt/format.h>

#include "config/names.hpp"

namespace jobman::config {
namespace {

std::string Or(const std::string& text, std::string_view fallback) {
  return text.empty() ? std::string(fallback) : text;
}

std::string JobPart(const InitOptions& options) {
  return fmt::format(R"(# A jobman job file. What each key means: jobman config explain KEY
# What is wrong with the file: jobman config check FILE
job:
  name: {}

# Which API creates the slice: google, or local for the simulator that comes with jobman.
cloud: {}

)",
                     MakeValidName(Or(options.name, "my-job")), Or(options.cloud, "google"));
}

std::string TpuPart(const InitOptions& options) {
  const std::string project =
      options.project.empty()
          ? "  # project: my-project   # default: GOOGLE_CLOUD_PROJECT, else gcloud's own\n"
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

std::string InitTemplate(const InitOptions& options) {
  return JobPart(options) + TpuPart(options) + std::string(kRest);
}

}  // namespace jobman::config
