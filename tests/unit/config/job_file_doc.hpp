#pragma once

#include <string>

namespace jobman::config::testing {

/// The content of docs/guide/job-file.md, from the schema table.
std::string JobFileDoc();

}  // namespace jobman::config::testing
