#pragma once

#include <optional>

#include "jobman/base/waiters.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

using base::Deadline;

/// How long a command may go on: the limit, silence and linger of RemoteCommand. Time in which
/// nobody takes its output does not count: its pace does not let it be read, whoever takes it holds
/// this process up, or this process is suspended. What the host has sent is looked at first. Only
/// the limit goes on then, while the command runs.
class CommandTimes {
 public:
  CommandTimes(const ports::RemoteCommand& command, Deadline now);

  /// What was seen since the last look.
  struct Look {
    Deadline woken = {};  ///< the wait was over
    Deadline now = {};    ///< all was passed on
    bool any = false;     ///< bytes were moved
    bool out = false;     ///< on stdout
    bool held = false;    ///< output is not to be read now
    bool exited = false;  ///< the exit code has arrived
  };
  void Note(const Look& look);
  /// Until when the next look may wait; asked right before that.
  Deadline Await() { return due_ = End(); }

  /// The limit or the silence that has passed.
  std::optional<base::Duration> Passed(Deadline now) const;
  /// Whether an output that nobody needs any more has been open for long enough.
  bool Lingered(Deadline now) const { return now >= LingerEnd(); }

 private:
  Deadline End() const;
  Deadline LimitEnd() const;
  Deadline SilenceEnd() const;
  Deadline LingerEnd() const;
  /// On the steady clock, of a time that counts.
  Deadline OnClock(Deadline counted) const;

  std::optional<base::Duration> limit_;
  std::optional<base::Duration> silence_;
  std::optional<base::Duration> linger_;
  std::optional<Deadline> held_since_ = {};  ///< on the steady clock, as is `due_`
  Deadline due_ = base::kNever;              ///< what the wait before the next look is for
  Deadline::duration uncounted_ = {};
  // In time that counts.
  Deadline began_;
  Deadline heard_;
  Deadline out_;
  std::optional<Deadline> exited_ = {};
  /// Of `uncounted_`, what passed while the command ran: the limit does not get it back.
  Deadline::duration ran_uncounted_ = {};
};

}  // namespace jobman::ssh
