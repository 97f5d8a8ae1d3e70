#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "jobman/base/result.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

/// The process group of a command on a host, which its login shell leads: sshd starts each command
/// in a session of its own. With it the command can be ended over another connection.
struct CommandGroup {
  std::string leader = {};  ///< its pid; empty: not known
  std::string born = {};    ///< when it started, in ticks since boot: pids are reused
  bool known() const { return !leader.empty(); }
  friend bool operator==(const CommandGroup&, const CommandGroup&) = default;
};

/// `line` for any login shell (fish from version 3 on), after a report of its group on stderr. The
/// line itself is run by the same shell. No report comes from a host without /proc, or where
/// something else leads the group.
std::string ReportingLine(const std::string& line);

/// Takes the report out of what the command writes to stderr. What ~/.bashrc prints may come first.
class GroupReport {
 public:
  /// `rest` takes all but the report; may be empty.
  explicit GroupReport(ports::ByteSink rest) : rest_(std::move(rest)) {}
  /// Errors are those of `rest`.
  base::Status Take(std::string_view bytes);
  /// To be called when the command has ended: a line without an end may be left.
  base::Status Finish();
  const CommandGroup& group() const { return group_; }

 private:
  base::Status PassOn(std::string_view bytes);
  bool TakeLine();

  ports::ByteSink rest_;
  std::string line_ = {};  ///< begins as a report does
  bool at_start_ = true;   ///< of a line
  CommandGroup group_ = {};
};

/// A command line that sends "TERM" or "KILL" to the group, and gives it `wait` to end. The group
/// must be known; its leader may have ended.
std::string EndLine(const CommandGroup& group, const std::string& signal, base::Duration wait);

/// What EndLine() found.
enum class GroupEnd {
  kGone,     ///< no process of the group is left
  kLeft,     ///< some are
  kNotOurs,  ///< some are, all of another user (sudo), whom the login may not signal
  kUnknown,  ///< it did not run to its end
};
/// From the result of EndLine().
GroupEnd GroupEndOf(const base::Result<int>& exit_code);

}  // namespace jobman::ssh
