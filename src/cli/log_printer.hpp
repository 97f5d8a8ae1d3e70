#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/app.hpp"
#include "cli/job_label.hpp"
#include "cli/line_filter.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/client/timed_log.hpp"
#include "jobman/ui/line_folding.hpp"
#include "jobman/ui/prefixed_output.hpp"

namespace jobman::cli {

/// Where the beginning of a stage is said.
enum class StageHeading {
  kNone,
  kTold,     ///< on stderr
  kPrinted,  ///< on stdout, before its first line, between what is printed of several jobs
};

/// How the output of a job is printed.
struct LogLook {
  bool one_host = false;  ///< no prefix for the host
  StageHeading heading = StageHeading::kNone;
  bool times = false;   ///< each line begins with the time when it came
  JobLabel label = {};  ///< its prefix comes before that for the host
  /// A line that several hosts write within a second is printed once, with their numbers.
  bool fold = false;
};

/// "== job 000042 (train), attempt 1, run": the heading of a stage; `job` may be empty, or is a
/// JobLabel::title.
std::string StageTitle(const std::string& job, const client::LogStage& stage);

/// Prints hosts' output as it arrives: raw for a single host, with prefixes for several, as one
/// JSON object per line with --json.
class LogPrinter {
 public:
  /// Only lines that the filter keeps are printed.
  LogPrinter(App& app, core::JobId job, LogLook look, LineFilter filter = {});

  /// Prints output of one host. False if nobody reads it any more.
  bool Print(const client::LogStage& stage, int host, int host_count,
             const client::LogPiece& piece);
  /// Prints the lines that are folded, once the first of them is a second old.
  void PrintFolded(base::TimePoint now);
  /// Prints the unfinished lines of all hosts, and what is folded.
  void Finish();
  /// Whether the hosts' output had anything to be printed.
  bool printed() const { return printed_; }

 private:
  void StartStage(const client::LogStage& stage, int host_count);
  void Pass(int host, std::string_view bytes);
  std::string PrefixOf(int host, bool continued) const;
  void PrintLine(int host, std::string_view line, bool continued);
  void PrintJsonLine(int host, std::string_view line);
  void StartFolding();
  void PrintFoldedLine(const std::vector<int>& hosts, std::string_view line, bool continued);

  App& app_;
  core::JobId job_;
  LogLook look_;
  LineFilter filter_;
  std::optional<client::LogStage> stage_ = {};
  int host_count_ = 1;
  bool names_hosts_ = false;
  bool printed_ = false;
  std::string heading_ = {};  ///< to be printed before the first line
  bool line_open_ = false;    ///< raw output ended within a line
  std::unique_ptr<ui::PrefixedOutput> lines_ = {};
  std::unique_ptr<ui::LineFolding> folding_ = {};
  std::optional<base::TimePoint> folded_since_ = {};
  std::map<int, std::optional<base::TimePoint>> came_ = {};  ///< by host: its latest piece
};

}  // namespace jobman::cli
