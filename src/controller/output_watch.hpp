#pragma once

#include <optional>
#include <vector>

#include "controller/output_scanner.hpp"
#include "controller/stage_hosts.hpp"

namespace jobman::controller {

/// Watches the output of the command or a task for lines that match, and for silence; core decides
/// what follows. Of a task, also for lines that say how its run ends (core::RuleForLine).
/// Continues where an earlier controller stopped: from the recorded position, and from the
/// modification times of the logs on disk. Does not watch setup steps.
class OutputWatch {
 public:
  OutputWatch(const StageContext& context, StageHosts& hosts);
  OutputWatch(const OutputWatch&) = delete;
  OutputWatch& operator=(const OutputWatch&) = delete;

  /// Starts watching for silence, if the job wants that.
  void Start();
  /// Reads the unread part of the log on disk, up to `size` bytes, so that no line is missed when a
  /// controller died between writing it and acting on it.
  base::Task<base::Status> ReadOldLog(std::size_t index, std::int64_t size);
  /// New output of the host, already on disk.
  void Take(std::size_t index, std::string_view bytes);
  /// Its log has ended.
  void End(std::size_t index);

 private:
  struct Scan {
    OutputScanner scanner;
    std::int64_t told = 0;  ///< scanned() as last reported
  };

  void JudgeLine(std::string_view line);
  void Feed(std::size_t index, std::string_view bytes);
  std::int64_t Unread(std::size_t index, std::int64_t size) const;
  core::TimePoint LastOutput() const;
  std::optional<core::TimePoint> SilentSince(core::TimePoint now) const;
  base::Task<void> WatchForSilence(base::Duration limit);

  const StageContext& context_;
  StageHosts& hosts_;
  std::vector<Scan> scans_ = {};       ///< by host; empty if no line is looked for
  std::optional<int> strongest_ = {};  ///< rule of a task's output, as told
  bool wants_commit_ = false;          ///< a task's output has not said it yet
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
