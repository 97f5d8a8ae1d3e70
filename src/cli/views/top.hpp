#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/top.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman top`: how the hosts of a job do.
struct Top {
  core::JobId job = {};
  std::vector<client::TopHost> hosts = {};  ///< marked and sorted
  bool wide = false;                        ///< a row per chip; whole where there is no window
  int height = 0;  ///< lines of the window; hosts that do not fit are summed up; 0: no limit
};

/// Hosts without an answer, by cause; a row per host, below it in what it stands apart; what is not
/// known, and why. Empty without hosts.
std::string RenderText(const Top& view, const ui::Style& style);
/// The numbers of the hosts that stand apart or do not answer, one per line.
std::string RenderQuiet(const Top& view);
/// See docs/guide/json.md.
base::OrderedJson ToJson(const Top& view);

}  // namespace jobman::cli::views
