#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/base/time.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// The result of `cp`.
struct CopyResult {
  core::JobId job = {};
  bool to_hosts = false;
  client::Copied copied = {};
  base::Duration took = {};
};

/// Which hosts failed and why, and one line of what was copied.
std::string RenderText(const CopyResult& view, const ui::Style& style);
/// {"job": 42, "to_hosts": true, "bytes": 10240, "seconds": 0.3, "hosts": [{"host": 0, "bytes":
///  10240, "resumed": 0, "seconds": 0.2, "partly": false, "error": null}], "notes": []}
base::OrderedJson ToJson(const CopyResult& view);

}  // namespace jobman::cli::views
