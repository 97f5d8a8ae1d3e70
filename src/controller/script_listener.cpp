#include "jobman/controller/script_listener.hpp"

#include <fmt/format.h>

#include <utility>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::controller {

using base::Status;

namespace {

/// The script says that the run exists before it sends its log; the two may change places on the
/// way, but not by this much.
constexpr std::size_t kMostHeld = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = 16'384;
constexpr std::size_t kJunkShown = 80;

}  // namespace

ScriptListener::ScriptListener(std::string host, const remote::Call& call, Now now)
    : host_(std::move(host)),
      silence_(call.silence),
      start_(call.start),
      now_(std::move(now)),
      began_(now_()),
      heard_(began_) {}

Status ScriptListener::TakeOut(std::string_view bytes, const ports::ByteSink& out) {
  if (exists_) heard_ = now_();
  if (!start_ || (exists_ && begun_)) return out ? out(bytes) : base::Ok();
  held_.append(bytes);
  if (!begun_) LookForLog();
  if (exists_ && begun_) return PassHeld(out);
  Show(held_);
  if (held_.size() > kMostHeld) return NotTheScript();
  return CheckTime();
}

/// The limits count from the mark on, which the command says first: connecting may have taken long.
void ScriptListener::LookForLog() {
  const std::size_t mark = held_.find(kLogBegins);
  if (mark == std::string::npos) return;
  begun_ = true;
  began_ = heard_ = now_();
  Show(std::string_view(held_).substr(0, mark));
  held_.erase(0, mark + kLogBegins.size());
}

Status ScriptListener::PassHeld(const ports::ByteSink& out) {
  const std::string bytes = std::exchange(held_, {});
  return out && !bytes.empty() ? out(bytes) : base::Ok();
}

base::Result<bool> ScriptListener::TakeErr(std::string_view bytes, const ports::ByteSink& out) {
  line_.append(bytes);
  const bool report = remote::HoldsReport(line_);
  if (report) heard_ = now_();
  if (!exists_ && remote::SaysRunExists(line_)) {
    exists_ = true;
    if (begun_) JM_TRY(PassHeld(out));
  }
  if (!report) Show(bytes);
  line_.erase(0, line_.rfind('\n') + 1);
  if (line_.size() > kLongestLine) line_.clear();
  JM_TRY(CheckTime());
  return report;
}

Status ScriptListener::CheckTime() const {
  const base::TimePoint now = now_();
  if (silence_ && now - heard_ > *silence_) return NotTheScript();
  if (exists_ || !start_ || now - began_ <= *start_) return base::Ok();
  if (heard_ == began_) return NotTheScript();
  return base::Error{.code = base::Code::kDeadlineExceeded,
                     .message = fmt::format("{}: it answers, but did not start the run within {}",
                                            host_, base::FormatDuration(*start_)),
                     .reason = base::Reason::kHostHangs};
}

base::Error ScriptListener::NotTheScript() const {
  return {.code = base::Code::kDeadlineExceeded,
          .message = fmt::format("{}: it answers, but not as jobman's host script does: '{}'",
                                 host_, junk_),
          .reason = base::Reason::kHostHangs,
          .hint = "check ~/.bashrc and ~/.jobman/bin there: something else prints without end"};
}

void ScriptListener::Show(std::string_view bytes) {
  if (!junk_.empty()) return;
  const std::string_view line = base::Trim(bytes);
  junk_ = base::CleanLine(base::Shorten(line.substr(0, line.find('\n')), kJunkShown));
}

}  // namespace jobman::controller
