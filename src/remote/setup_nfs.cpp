#include <string_view>

#include "jobman/base/shell.hpp"
#include "remote/setup_calls.hpp"

namespace jobman::remote {
namespace {

/// The command that lets the hosts reach the server. A network may be named with its project, which
/// is another one if it is shared. Empty where only a subnetwork is known.
std::string FirewallCommand(const core::TpuSpec& tpu) {
  if (tpu.network.empty() && !tpu.subnetwork.empty()) return {};
  constexpr std::string_view kProjects = "projects/";
  std::string project = tpu.project;
  std::string network = tpu.network.empty() ? "default" : tpu.network;
  if (const std::size_t at = network.find(kProjects); at != std::string::npos) {
    const std::string rest = network.substr(at + kProjects.size());
    project = rest.substr(0, rest.find('/'));
    network.erase(0, network.rfind('/') + 1);
  }
  std::string command = "gcloud compute firewall-rules create jobman-nfs";
  if (!project.empty()) command += " --project " + base::ShellQuote(project);
  command += " --network " + base::ShellQuote(network);
  return command + " --allow tcp:2049 --source-ranges 10.0.0.0/8";
}

}  // namespace

std::string NfsCalls(const core::JobSpec& spec) {
  return ShellCall("jb_nfs", {spec.nfs.path, spec.nfs.exported, FirewallCommand(spec.tpu)});
}

}  // namespace jobman::remote
