#include <fmt/format.h>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/remote/setup_script.hpp"
#include "remote/setup_calls.hpp"
#include "remote/setup_text.hpp"

namespace jobman::remote {
namespace {

/// What JAX calls a device: a chip, or one of its two cores before v4.
int DevicesOf(const core::Accelerator& accelerator) {
  const bool cores = accelerator.generation == "v2" || accelerator.generation == "v3";
  return cores ? accelerator.cores : accelerator.chips;
}

/// JAX waits for all hosts of the slice when it starts.
constexpr const char* kAsk = R"sh(command -v python3 >/dev/null || {
  echo 'jobman: python3 is not there: nobody can ask JAX'
  exit 0
}
timeout -k 10 600 python3 -c {} || {
  code=$?
  [ "$code" != 124 ] || echo 'jobman: JAX did not start in 600 s: does it wait for another host?'
  exit "$code"
}
)sh";

/// Where the command would run, the program that asks JAX: its last line judges the numbers.
std::string AskJax(core::JobSpec spec, const core::Accelerator& accelerator) {
  const int devices = DevicesOf(accelerator);
  const std::string program =
      fmt::format("HERE, ALL, SLICES = {}, {}, {}\n{}", devices / accelerator.hosts,
                  devices * spec.tpu.num_slices, spec.tpu.num_slices, SetupText("ask_jax"));
  spec.command.cmd = base::ReplaceAll(kAsk, "{}", base::ShellQuote(program));
  return CommandScript(spec);
}

}  // namespace

std::string CheckCalls(const core::JobSpec& spec) {
  const auto accelerator = core::FindAccelerator(spec.tpu.accelerator);
  if (!accelerator.ok() || accelerator->hosts == 0) {
    return ShellCall("jb_say", {"nobody here knows how many chips a " + spec.tpu.accelerator +
                                " has: nothing is checked"});
  }
  std::string calls;
  if (spec.checks.devices) {
    calls += ShellCall("jb_devices", {std::to_string(accelerator->chips / accelerator->hosts),
                                      spec.tpu.accelerator});
  }
  if (spec.checks.jax) calls += AskJax(spec, *accelerator);
  return calls;
}

}  // namespace jobman::remote
