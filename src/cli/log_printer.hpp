#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/app.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/ui/prefixed_output.hpp"

namespace jobman::cli {

/// Prints hosts' output as it comes: raw where one host is shown, behind prefixes otherwise, as a
/// JSON object per line with --json. Where the stage changes, a line on stderr says so.
class LogPrinter {
 public:
  /// `one_host`: no prefixes. `announce`: name each stage on stderr.
  LogPrinter(App& app, core::JobId job, bool one_host, bool announce);

  /// Bytes of one host. False when nobody reads any more.
  bool Print(const client::LogStage& stage, int host, int host_count, std::string_view bytes);
  /// The unfinished lines of all hosts.
  void Finish();

 private:
  void StartStage(const client::LogStage& stage, int host_count);
  void PrintJsonLine(int host, std::string_view line);

  App& app_;
  core::JobId job_;
  bool one_host_;
  bool announce_;
  std::optional<client::LogStage> stage_ = {};
  std::unique_ptr<ui::PrefixedOutput> lines_ = {};
};

}  // namespace jobman::cli
