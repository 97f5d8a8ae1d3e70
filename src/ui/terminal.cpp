#include "jobman/ui/terminal.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "jobman/base/clean.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::ui {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{64} * 1024;
constexpr int kDefaultWidth = 80;
// Columns that a status leaves free: a full line would wrap and could not be erased, and the
// terminal shows "^C" behind it when the user types that.
constexpr int kBesideStatus = 3;
// A larger COLUMNS is a mistake, and padding to it would not help.
constexpr int kMaxWidth = 10'000;

winsize WindowSize() {
  winsize size = {};
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size;
  return {};
}

bool IsPipe(int fd) {
  struct stat facts = {};
  return ::fstat(fd, &facts) == 0 && (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode));
}

std::optional<std::string> Locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (auto value = base::GetEnv(name)) return value;
  return {};
}

int DecideWidth(const Surroundings& around, bool tty) {
  const auto columns = around.columns ? base::ParseNumber(*around.columns) : std::nullopt;
  if (columns && *columns > 0 && *columns <= kMaxWidth) return static_cast<int>(*columns);
  if (!tty) return 0;
  return around.ioctl_width > 0 ? around.ioctl_width : kDefaultWidth;
}

bool SpeaksUtf8(const std::optional<std::string>& locale) {
  const std::string lower = base::ToLower(locale.value_or(""));
  return base::Contains(lower, "utf-8") || base::Contains(lower, "utf8");
}

}  // namespace

Surroundings LookAround() {
  const winsize size = WindowSize();
  return {.out_tty = ::isatty(STDOUT_FILENO) == 1,
          .err_tty = ::isatty(STDERR_FILENO) == 1,
          .out_pipe = IsPipe(STDOUT_FILENO),
          .ioctl_width = size.ws_col,
          .ioctl_height = size.ws_row,
          .columns = base::GetEnv("COLUMNS"),
          .term = base::GetEnv("TERM"),
          .no_color = base::GetEnv("NO_COLOR"),
          .locale = Locale()};
}

Facts Decide(const Surroundings& around) {
  const bool dumb = !around.term || *around.term == "dumb";
  const bool colour = !around.colour_refused && !around.no_color && !dumb;
  return {.out_tty = around.out_tty,
          .out_pipe = around.out_pipe,
          .err_tty = around.err_tty && !dumb,
          .err_screen = around.err_tty,
          .width = DecideWidth(around, around.out_tty),
          .err_width = around.err_tty ? DecideWidth(around, true) : 0,
          .height = around.out_tty ? around.ioctl_height : 0,
          .utf8 = SpeaksUtf8(around.locale),
          .out_colour = colour && around.out_tty,
          .err_colour = colour && around.err_tty};
}

Terminal::Terminal(Facts facts, Sink& out, Sink& err) : facts_(facts), out_(out), err_(err) {}

Terminal::~Terminal() {
  SetStatus({});
  Flush();
}

void Terminal::Out(std::string_view data) {
  if (base::PlainLength(data) == data.size())
    Buffer(data);
  else
    Buffer(CleanText(data, facts_.out_colour));
}

void Terminal::OutBytes(std::string_view bytes) {
  if (facts_.out_tty) {
    Buffer(out_bytes_.Take(bytes));
  } else {
    Buffer(bytes);
  }
}

// What is long goes out without another copy.
void Terminal::Buffer(std::string_view bytes) {
  if (out_error_ != 0) return;
  if (bytes.size() >= kFlushBytes) {
    Flush();
    Write(bytes);
    return;
  }
  buffer_.append(bytes);
  if (buffer_.size() >= kFlushBytes) Flush();
}

void Terminal::ClearScreen() {
  if (facts_.out_tty) Buffer("\x1b[H\x1b[2J\x1b[3J");
}

void Terminal::Err(std::string_view talk) {
  std::string line = CleanText(talk, facts_.err_colour);
  if (line.empty() || line.back() != '\n') line += '\n';
  WriteErr(line);
}

void Terminal::ErrBytes(std::string_view bytes) {
  if (facts_.err_screen) {
    WriteErr(err_bytes_.Take(bytes));
  } else {
    WriteErr(bytes);
  }
}

void Terminal::WriteErr(std::string_view bytes) {
  Hide();
  Flush();
  // A failing stderr cannot be reported.
  static_cast<void>(err_.Write(bytes));
  Show();
}

void Terminal::SetStatus(std::string_view line) {
  std::string clean = Clean(line, facts_.utf8);
  if (clean == status_) return;
  Flush();
  Hide();
  status_ = std::move(clean);
  Show();
}

void Terminal::Resize(const Surroundings& around) {
  const Facts now = Decide(around);
  facts_.width = now.width;
  facts_.err_width = now.err_width;
  facts_.height = now.height;
}

void Terminal::Flush() {
  Write(buffer_);
  buffer_.clear();
}

void Terminal::Write(std::string_view bytes) {
  if (bytes.empty()) return;
  const bool covers = facts_.out_tty && status_shown_;
  if (covers) Hide();
  if (facts_.out_pipe) {
    Hide();
    status_.clear();
  }
  if (out_error_ == 0) out_error_ = out_.Write(bytes);
  if (covers) Show();
}

Style Terminal::out_style() const {
  return {.width = facts_.width, .utf8 = facts_.utf8, .colour = facts_.out_colour};
}

Style Terminal::err_style() const {
  return {.width = facts_.err_width, .utf8 = facts_.utf8, .colour = facts_.err_colour};
}

int Terminal::status_width() const {
  return std::max(0, (facts_.err_width > 0 ? facts_.err_width : kDefaultWidth) - kBesideStatus);
}

void Terminal::Hide() {
  if (!status_shown_) return;
  static_cast<void>(err_.Write("\r\x1b[2K"));
  status_shown_ = false;
}

void Terminal::Show() {
  if (!facts_.err_tty || status_.empty() || status_shown_) return;
  static_cast<void>(err_.Write(Truncate(status_, status_width(), facts_.utf8)));
  status_shown_ = true;
}

}  // namespace jobman::ui
