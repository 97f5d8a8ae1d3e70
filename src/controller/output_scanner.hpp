#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/capped_file.hpp"
#include "jobman/base/regex.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::controller {

/// The patterns of watchdog.bad_output in their order. A pattern that does not compile is empty and
/// matches nothing (the job file was checked when it was read).
using OutputRules = std::vector<std::optional<base::Regex>>;
/// nullptr when there are no rules.
std::shared_ptr<const OutputRules> CompileRules(const std::vector<core::OutputRule>& rules);

/// Looks for the first bad line in one host's log, which arrives in pieces of any length. A line
/// ends at \n or \r (progress bars); only its first kLongestLine bytes count.
class OutputScanner {
 public:
  static constexpr std::size_t kLongestLine = 4096;
  /// The index of the rule, and the line in printable form.
  using OnMatch = std::function<void(int rule, std::string line)>;

  /// Hears each line that is looked at, its first kLongestLine bytes.
  using OnLine = std::function<void(std::string_view line)>;

  /// `scanned`: bytes read before, whole lines. `rules` may be nullptr, `on_line` empty.
  OutputScanner(std::shared_ptr<const OutputRules> rules, std::int64_t scanned, OnMatch on_match,
                OnLine on_line = {})
      : rules_(std::move(rules)),
        on_match_(std::move(on_match)),
        on_line_(std::move(on_line)),
        scanned_(scanned),
        taken_(scanned) {}

  void Take(std::string_view bytes);
  /// This part of the log is gone: if it is the next, goes on after it.
  void Skip(base::FileGap gap);
  /// The log has ended: the rest counts as a line.
  void End();

  /// Bytes taken; of these, bytes in whole lines without a match.
  std::int64_t taken() const { return taken_; }
  std::int64_t scanned() const { return scanned_; }

 private:
  void Add(std::string_view part);
  void Judge(std::string_view line);

  std::shared_ptr<const OutputRules> rules_;
  OnMatch on_match_;
  OnLine on_line_;
  std::int64_t scanned_ = 0;
  std::int64_t taken_ = 0;
  std::string begun_ = {};  ///< an unfinished line
  bool matched_ = false;
};

}  // namespace jobman::controller
