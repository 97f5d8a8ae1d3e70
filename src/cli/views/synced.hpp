#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/base/time.hpp"
#include "jobman/client/sync.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// The result of `sync`.
struct SyncResult {
  core::JobId job = {};
  bool dry_run = false;
  client::Synced synced = {};
  base::Duration took = {};
};

/// Which hosts failed and why, and one line of what was sent.
std::string RenderText(const SyncResult& view, const ui::Style& style);
/// With --dry-run: what would be sent (+), get another mode or time (~) and be removed (-).
std::string RenderChanges(const SyncResult& view);
/// {"job": 42, "files": 2000, "bytes": 10240, "seconds": 0.3, "dry_run": false,
///  "hosts": [{"host": 0, "sent": 2, "changed": 0, "removed": 0, "bytes": 10240, "relayed": 0,
///  "error": null}], "changes": [], "notes": []}
base::OrderedJson ToJson(const SyncResult& view);

}  // namespace jobman::cli::views
