#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"

/// How a host does: what src/remote/top.sh looks at, and what it says. Pure; for one thread.
namespace jobman::remote {

/// The command for a host's login shell that prints a look once (0), or again `every` after each
/// look, until these pauses make an hour; see HostLookReader.
std::string TopCommand(std::chrono::seconds every);

/// In bytes. Hosts say what they like: `used` may be more than `total`.
struct Amount {
  std::int64_t used = 0;
  std::int64_t total = 0;
  friend bool operator==(const Amount&, const Amount&) = default;
};

/// A process that has a chip open. The texts are of one line, cleaned and short.
struct ChipHolder {
  std::int64_t pid = 0;
  std::string user = {};
  std::string command = {};
  friend bool operator==(const ChipHolder&, const ChipHolder&) = default;
};

struct Chip {
  std::string device = {};  ///< "/dev/accel0", cleaned
  std::vector<ChipHolder> holders = {};
  std::optional<double> duty_percent = {};
  std::optional<Amount> hbm = {};
  friend bool operator==(const Chip&, const Chip&) = default;
};

/// A host at one moment. What it could not find out is empty.
struct HostLook {
  enum class TpuInfo {
    kAbsent,  ///< the program is not there, or there are no chips
    kSilent,  ///< it says nothing of chips: no program that uses them runs
    kSays,
  };
  int cpus = 0;                     ///< 0: not known
  std::optional<double> load = {};  ///< of the last minute
  std::optional<double> cpu_percent = {};
  std::optional<Amount> memory = {};
  std::optional<Amount> root_disk = {};
  std::optional<Amount> home_disk = {};
  std::vector<Chip> chips = {};
  /// Whether processes of all users could be looked at for chips that nobody of ours holds.
  bool sees_all = true;
  TpuInfo tpu_info = TpuInfo::kAbsent;
  std::optional<double> duty_percent = {};  ///< the mean of the chips
  std::optional<Amount> hbm = {};           ///< of all chips
  friend bool operator==(const HostLook&, const HostLook&) = default;
};

/// What tpu-info says of a chip or, on v2 and v3, of a core.
struct TpuUse {
  std::int64_t id = 0;
  std::optional<double> duty_percent = {};
  std::optional<Amount> hbm = {};
  friend bool operator==(const TpuUse&, const TpuUse&) = default;
};

/// Reads the tables that tpu-info prints, in the order of their rows; 64 rows at most. A number
/// counts by the header above it ("duty", "HBM"), however the table is drawn; what is not
/// understood is left out.
///
/// Source: the README of tpu-info (github.com/AI-Hypercomputer/cloud-accelerator-diagnostics):
/// `tpu-info` prints "TPU Runtime Utilization" with HBM usage and duty cycle of each chip, and with
/// --metric duty_cycle_percent --metric hbm_usage a table of each. Ids may be global ones (8, 9,
/// 12, 13), and their form has changed between versions.
std::vector<TpuUse> ReadTpuInfo(const std::vector<std::string>& lines);

/// Reads stdout of TopCommand(), which arrives in pieces cut anywhere, with whatever login shells
/// print around it. Its memory is bounded, whatever a host sends: a line counts up to 4 KiB, a look
/// up to 64 chips, 64 holders and 256 lines of tpu-info.
class HostLookReader {
 public:
  /// The last look that this piece completes; nothing if it completes none. kDataLoss once the host
  /// has printed more than 1 MiB since the last look.
  base::Result<std::optional<HostLook>> Take(std::string_view piece);
  /// What it printed instead of a look, the first line of it, cleaned and short; may be empty.
  const std::string& stray() const { return stray_; }

 private:
  void TakeLine(std::string_view line);
  void TakeWord(std::string_view word, std::string_view rest);
  void AddHolder(std::string_view text);
  void End();

  std::string line_ = {};   ///< the beginning of the line that is under way
  std::size_t unread_ = 0;  ///< bytes since the last look
  std::string stray_ = {};
  std::optional<HostLook> begun_ = {};
  std::vector<std::string> info_ = {};  ///< what tpu-info says, of that look
  std::optional<HostLook> done_ = {};
};

}  // namespace jobman::remote
