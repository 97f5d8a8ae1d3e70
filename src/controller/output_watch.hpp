#pragma once

#include <optional>
#include <vector>

#include "controller/output_scanner.hpp"
#include "controller/stage_hosts.hpp"

namespace jobman::controller {

/// What the watchdog sees of the command's output: lines that match, and silence. What follows is
/// core's matter. Goes on where an earlier controller stopped: by how far it had read, and by the
/// times of the logs on disk, which it wrote as the output came. Sees nothing of setup steps.
class OutputWatch {
 public:
  OutputWatch(const StageContext& context, StageHosts& hosts);
  OutputWatch(const OutputWatch&) = delete;
  OutputWatch& operator=(const OutputWatch&) = delete;

  /// Watches for silence, where the job wants that.
  void Start();
  /// Reads what lies on disk, `size` bytes of it, and was not read yet. Nothing is missed when a
  /// controller died between writing a line down and acting on it.
  base::Task<base::Status> ReadOldLog(std::size_t index, std::int64_t size);
  /// Output of the host, which is on disk.
  void Take(std::size_t index, std::string_view bytes);
  /// Its log has ended.
  void End(std::size_t index);

 private:
  struct Scan {
    OutputScanner scanner;
    std::int64_t told = 0;  ///< scanned() as last reported
  };

  void Feed(std::size_t index, std::string_view bytes);
  std::int64_t Unread(std::size_t index, std::int64_t size) const;
  core::TimePoint LastOutput() const;
  std::optional<core::TimePoint> SilentSince(core::TimePoint now) const;
  base::Task<void> WatchForSilence(base::Duration limit);

  const StageContext& context_;
  StageHosts& hosts_;
  std::vector<Scan> scans_ = {};  ///< by host; empty without patterns to look for
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
