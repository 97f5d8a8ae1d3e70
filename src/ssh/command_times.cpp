#include "ssh/command_times.hpp"

#include <algorithm>
#include <chrono>

namespace jobman::ssh {
namespace {

using base::kNever;

/// Less may be this process's own work, which counts: a command that writes for ever must end.
constexpr base::Duration kHeldUp = std::chrono::seconds{1};
/// Of what a command left behind and writes now and then.
constexpr base::Duration kLongestLinger = std::chrono::minutes{1};

}  // namespace

CommandTimes::CommandTimes(const ports::RemoteCommand& command, Deadline now)
    : limit_(command.limit),
      silence_(command.silence),
      linger_(command.linger),
      began_(now),
      heard_(now),
      out_(now) {}

void CommandTimes::Note(const Look& look) {
  const bool exits = look.exited && !exited_;
  // When it exited since the last look is not known, so that time does not count.
  if (exits) ran_uncounted_ = uncounted_;
  const Deadline::duration late = look.now - std::min(due_, look.woken);
  if (held_since_) {
    uncounted_ += look.now - *held_since_;
  } else if (late > kHeldUp) {
    uncounted_ += late;
  }
  held_since_ = look.held ? std::optional(look.now) : std::nullopt;
  due_ = look.now;
  const Deadline counted = look.now - uncounted_;
  if (exits) exited_ = counted;
  if (exits || look.out) out_ = counted;
  if (look.any) heard_ = counted;
}

std::optional<base::Duration> CommandTimes::Passed(Deadline now) const {
  if (now < std::min(LimitEnd(), SilenceEnd())) return std::nullopt;
  return SilenceEnd() < LimitEnd() ? silence_ : limit_;
}

Deadline CommandTimes::End() const {
  return std::min({LimitEnd(), SilenceEnd(), LingerEnd()});
}

Deadline CommandTimes::LimitEnd() const {
  if (!limit_) return kNever;
  return exited_ ? OnClock(began_ + *limit_ - ran_uncounted_) : began_ + *limit_;
}

Deadline CommandTimes::SilenceEnd() const {
  return silence_ ? OnClock(heard_ + *silence_) : kNever;
}

Deadline CommandTimes::LingerEnd() const {
  if (!linger_ || !exited_) return kNever;
  return OnClock(std::min(out_ + *linger_, *exited_ + kLongestLinger));
}

Deadline CommandTimes::OnClock(Deadline counted) const {
  return held_since_ ? kNever : counted + uncounted_;
}

}  // namespace jobman::ssh
