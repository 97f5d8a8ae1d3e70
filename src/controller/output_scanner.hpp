#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/regex.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::controller {

/// The patterns of watchdog.bad_output in their order. One that does not compile is empty and
/// matches nothing; the job file was checked when it was read.
using OutputRules = std::vector<std::optional<base::Regex>>;
/// nullptr when there are no rules.
std::shared_ptr<const OutputRules> CompileRules(const std::vector<core::OutputRule>& rules);

/// Looks for the first bad line in one host's log, which comes in pieces of any length. A line ends
/// at \n or \r (progress bars); of a longer one the first kLongestLine bytes count.
class OutputScanner {
 public:
  static constexpr std::size_t kLongestLine = 4096;
  /// The rule's number and the line, fit to be shown.
  using OnMatch = std::function<void(int rule, std::string line)>;

  /// `scanned` bytes, whole lines, were read before.
  OutputScanner(std::shared_ptr<const OutputRules> rules, std::int64_t scanned, OnMatch on_match)
      : rules_(std::move(rules)),
        on_match_(std::move(on_match)),
        scanned_(scanned),
        taken_(scanned) {}

  void Take(std::string_view bytes);
  /// The log has ended: what came since the last line's end is a line.
  void End();

  /// Bytes taken, and how many of them are whole lines without a match.
  std::int64_t taken() const { return taken_; }
  std::int64_t scanned() const { return scanned_; }

 private:
  void Add(std::string_view part);
  void Judge(std::string_view line);

  std::shared_ptr<const OutputRules> rules_;
  OnMatch on_match_;
  std::int64_t scanned_ = 0;
  std::int64_t taken_ = 0;
  std::string begun_ = {};  ///< the line that has not ended
  bool matched_ = false;
};

}  // namespace jobman::controller
