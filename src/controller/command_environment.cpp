#include "jobman/controller/command_environment.hpp"

namespace jobman::controller {

std::string CommandFolder(const core::JobSpec& spec) {
  const bool inside = spec.env_type == core::EnvType::kDocker;
  return inside || spec.command.workdir.empty() ? spec.code.path : spec.command.workdir;
}

}  // namespace jobman::controller
