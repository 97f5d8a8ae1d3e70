#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/value.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config {

/// A text that values come from: the job file, the user's defaults, one flag.
struct Source {
  std::string name = {};
  bool is_flag = false;  ///< has columns, but no line numbers
  std::vector<std::string> lines = {};
  base::Path folder = {};  ///< base of its relative paths
};

/// Collects problems and the texts that they are in.
class Diagnostics {
 public:
  /// Returns the index for Position::source.
  int AddSource(Source source, std::string_view text);
  const Source& source(int index) const { return sources_[static_cast<std::size_t>(index)]; }

  void Report(Position at, std::string message, std::string hint = {},
              base::Reason reason = base::Reason::kNone);
  /// What is valid, as far as can be known here, but may not be what was meant.
  void Warn(Position at, std::string message, std::string hint = {});
  bool ok() const { return found_.empty(); }

  /// Where `part` begins, at or after `from`; `from` if it is not found.
  Position Locate(Position from, std::string_view part) const;

  /// A problem with this place and its source line, without a message.
  Problem Describe(Position at) const;

  /// "job.yaml:3", "--set": the place in words.
  std::string Where(Position at) const;

  /// The problems, sorted by place, without duplicates.
  std::vector<Problem> Take();
  /// The warnings, likewise.
  std::vector<Problem> TakeWarnings();

 private:
  struct Found {
    Position at = {};
    std::string message = {};
    std::string hint = {};
    base::Reason reason = base::Reason::kNone;
  };
  std::vector<Problem> InOrder(std::vector<Found> found) const;

  std::vector<Source> sources_;
  std::vector<Found> found_;
  std::vector<Found> warnings_;
};

}  // namespace jobman::config
