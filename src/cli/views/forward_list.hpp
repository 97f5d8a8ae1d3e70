#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/background_forward.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What forwards in the background: `forward list`.
struct ForwardList {
  base::StatePaths paths = {};
  client::SeenForwards seen = {};
  core::TimePoint now = {};
};
/// A table with a row for each port; nothing of those that have ended.
std::string RenderText(const ForwardList& view, const ui::Style& style);
/// "127.0.0.1:6006", a line each.
std::string RenderQuiet(const ForwardList& view);
/// {"forwards": [{"job", "name", "host", "forwards": [{"local", "port"}], "process", "here",
/// "since", "log"}], "ended": [the same with "why", without "log"]}
base::OrderedJson ToJson(const ForwardList& view);

/// What `forward stop` has ended.
struct ForwardsStopped {
  std::vector<client::BackgroundForward> rows = {};
};
/// "stopped: 127.0.0.1:6006 -> host 0 of job 000042, port 6006", a line for each port.
std::string RenderText(const ForwardsStopped& view, const ui::Style& style);
/// "127.0.0.1:6006", a line each.
std::string RenderQuiet(const ForwardsStopped& view);
/// {"stopped": [{"job", "name", "host", "forwards", "process", "here", "since"}]}
base::OrderedJson ToJson(const ForwardsStopped& view);

/// "127.0.0.1:6006, 127.0.0.1:8080 (job 000042)": what names a forward in a sentence.
std::string ForwardText(const client::BackgroundForward& forward);

}  // namespace jobman::cli::views
