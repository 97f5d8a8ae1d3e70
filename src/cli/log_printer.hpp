#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/app.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/ui/prefixed_output.hpp"

namespace jobman::cli {

/// Prints hosts' output as it arrives: raw for a single host, with prefixes for several, as one
/// JSON object per line with --json. A line on stderr announces each change of stage.
class LogPrinter {
 public:
  /// `one_host`: no prefixes. `announce`: name each stage on stderr.
  LogPrinter(App& app, core::JobId job, bool one_host, bool announce);

  /// Prints output of one host. False if nobody reads it any more.
  bool Print(const client::LogStage& stage, int host, int host_count, std::string_view bytes);
  /// Prints the unfinished lines of all hosts.
  void Finish();

 private:
  void StartStage(const client::LogStage& stage, int host_count);
  void PrintLine(std::string prefix, int host, std::string_view line, bool continued);
  void PrintJsonLine(int host, std::string_view line);

  App& app_;
  core::JobId job_;
  bool one_host_;
  bool announce_;
  std::optional<client::LogStage> stage_ = {};
  std::unique_ptr<ui::PrefixedOutput> lines_ = {};
};

}  // namespace jobman::cli
