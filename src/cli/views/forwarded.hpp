#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/forward.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// The ports that `forward` listens on.
struct Forwards {
  core::JobId job = {};
  int host = 0;
  std::vector<client::ForwardedPort> ports = {};
  std::int64_t process = 0;  ///< that forwards in the background; 0: this one
};

/// "127.0.0.1:6006"
std::string LocalAddress(const client::ForwardedPort& port);

/// "127.0.0.1:6006 -> host 0, port 6006", a line each.
std::string RenderText(const Forwards& view, const ui::Style& style);
/// "127.0.0.1:6006", a line each.
std::string RenderQuiet(const Forwards& view);
/// {"job": 42, "host": 0, "forwards": [{"local": "127.0.0.1:6006", "port": 6006}]}, with "process"
/// if one in the background forwards.
base::OrderedJson ToJson(const Forwards& view);

}  // namespace jobman::cli::views
