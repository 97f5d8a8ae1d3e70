#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jobman/base/files.hpp"

namespace jobman::bench {

/// Writes what the hosts of a job print: ten numbered lines a second to each of many files, which
/// may also be FIFOs that somebody reads.
class LineWriter {
 public:
  static constexpr int kPerSecond = 10;
  /// A line as it is written, without its end.
  static std::string Line(int host, int number);

  explicit LineWriter(std::vector<base::Path> files) : files_(std::move(files)) {}
  /// One more line to each. std::runtime_error if it cannot be written.
  void Write();
  /// At the pace of the class; on a busy machine it takes longer, and writes as much.
  void WriteFor(int seconds);

  int lines() const { return lines_; }
  int hosts() const { return static_cast<int>(files_.size()); }

 private:
  std::vector<base::Path> files_;
  int lines_ = 0;
};

}  // namespace jobman::bench
