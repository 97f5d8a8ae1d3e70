#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace jobman::ui {

/// "host 03 | ": the prefix of a host's lines among `host_count` hosts; of a further piece of a
/// line "host 03 + ". All prefixes of a job have the same width.
std::string HostPrefix(int host, int host_count, bool continued = false);

/// Interleaves the output of many hosts line by line, with a prefix for the host.
///
/// After the prefix comes the line exactly as the host wrote it. An unfinished line is held until
/// it is complete, until Finish(), or until it is longer than `max_line`: then the piece is printed
/// as a line, and the prefix of the next piece has '+' instead of '|'. Memory is bounded by
/// max_line bytes per host.
class PrefixedOutput {
 public:
  /// Takes whole lines, with prefix and line break.
  using Out = std::function<void(std::string_view)>;

  struct Options {
    int host_count = 1;  ///< of the job: sets the width of the prefix
    /// For terminals: a carriage return alone ends a line, so that a progress bar cannot overwrite
    /// its prefix or another host's line. Otherwise it is an ordinary byte.
    bool split_carriage_returns = false;
    std::size_t max_line = std::size_t{16} * 1024;
  };

  /// Takes a host's line as written, without prefix; `continued` marks a further piece of a line.
  using Line = std::function<void(int host, std::string_view line, bool continued)>;

  PrefixedOutput(Options options, Out out);
  /// The same lines, to be shown in another form.
  PrefixedOutput(Options options, Line line);
  /// More output of host `host`, cut anywhere. `host` may be beyond host_count.
  void Feed(int host, std::string_view bytes);
  /// Prints the unfinished line of one host, or of all hosts in order of their numbers.
  void Finish(int host);
  void Finish();

 private:
  struct Pending {
    std::string text = {};
    bool continued = false;
  };
  Pending& PendingOf(int host);
  std::size_t LineEnd(std::string_view text) const;
  void Emit(int host, const Pending& pending, std::string_view line);

  Options options_;
  Line line_;
  std::vector<Pending> pending_ = {};
};

}  // namespace jobman::ui
