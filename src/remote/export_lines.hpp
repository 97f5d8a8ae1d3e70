#pragma once

#include <map>
#include <string>

#include "jobman/base/result.hpp"

namespace jobman::remote {

using Variables = std::map<std::string, std::string>;

/// Lines of sh that export the variables; `secrets` take precedence. In JOBMAN_* variables a
/// leading
/// "~/" becomes the host's home folder. kInvalidArgument for a bad name, or a NUL byte.
base::Result<std::string> ExportLines(const Variables& env, const Variables& secrets);

}  // namespace jobman::remote
