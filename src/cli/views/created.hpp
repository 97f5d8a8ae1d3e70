#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What `create` stored.
struct Created {
  struct Row {
    core::JobId id = {};
    std::string name = {};
    std::string accelerator = {};
    std::string zone = {};
    std::string element = {};  ///< "lr=0.1": of an array or matrix
    int hosts = 0;             ///< predicted by the accelerator type; 0: it is not known here
    std::optional<double> per_hour = {};  ///< of the slice, USD at list price; nothing: not known
    std::string slice = {};
    bool existing = false;  ///< the slice is the user's own node
    core::WhenDoneSpec when_done = {};
    core::CodeSpec code = {};
    bool endless = false;                     ///< tried again without limit until it succeeds
    bool holds = false;                       ///< it has no command: it only holds its slice
    std::string serves = {};                  ///< of a worker: "submitted tasks", or its queue file
    std::optional<base::Duration> idle = {};  ///< of a worker: without a task for so long, it ends
  };
  std::vector<Row> rows = {};
  std::string all = {};  ///< what names the jobs to a command
};

/// A line for each job, and below it what becomes of it; below several jobs once, where it is the
/// same of all.
std::string RenderText(const Created& view, const ui::Style& style);
std::string RenderQuiet(const Created& view);
/// {"jobs": [{"id": 42, "name": ..., "accelerator": ..., "zone": ..., "usd_per_hour": ...,
/// "slice": ...}]}, and "code" as in show --json where there is some.
base::OrderedJson ToJson(const Created& view);

/// What `create --dry-run` would send, per job file.
struct DryRun {
  struct Request {
    std::string file = {};
    std::string method = {};
    std::string url = {};
    base::Json body = {};  ///< null: none
    core::CodeSpec code = {};
  };
  std::vector<Request> requests = {};
};
std::string RenderText(const DryRun& view, const ui::Style& style);
std::string RenderQuiet(const DryRun& view);
/// {"requests": [{"file": ..., "method": "POST", "url": ..., "body": {...}}]}, and "code".
base::OrderedJson ToJson(const DryRun& view);

}  // namespace jobman::cli::views
