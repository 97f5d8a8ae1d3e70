#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobman/ui/sink.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::ui {

/// What the process finds around it. Raw, so that the decisions over it can be tested.
struct Surroundings {
  bool out_tty = false;
  bool err_tty = false;
  int ioctl_width = 0;                       ///< of the terminal; 0: not known
  std::optional<std::string> columns = {};   ///< $COLUMNS
  std::optional<std::string> term = {};      ///< $TERM
  std::optional<std::string> no_color = {};  ///< $NO_COLOR; https://no-color.org
  std::optional<std::string> locale = {};    ///< the first set one of $LC_ALL, $LC_CTYPE, $LANG
  bool colour_refused = false;               ///< --no-color
};
/// Asks the system about stdout, stderr and the environment.
Surroundings LookAround();

/// What follows from the surroundings. COLUMNS goes before the terminal's own word; without both
/// there is no limit when stdout is no terminal, so that pipes get whole lines.
struct Facts {
  bool out_tty = false;
  bool err_tty = false;  ///< a terminal that can rewrite a line
  int width = 0;         ///< 0: no limit
  bool utf8 = false;
  bool out_colour = false;
  bool err_colour = false;
};
Facts Decide(const Surroundings& around);

/// The only way out of the program: data to stdout, talk to stderr, one status line.
///
/// Output is buffered until Flush(), until talk is printed, or until it is much. A write to stdout
/// that fails is remembered, everything after it is dropped, and the command goes on to its end
/// unless it looks at out_error(): nothing is thrown and no signal ends the process.
class Terminal {
 public:
  Terminal(Facts facts, Sink& out, Sink& err);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Data, as it is.
  void Out(std::string_view data);
  /// Talk; a line break is added where there is none.
  void Err(std::string_view talk);
  /// Shows `line` as the status: rewritten in place, out of the way of other output, gone when
  /// empty. Where stderr is no terminal there is none.
  void SetStatus(std::string_view line);
  void Flush();

  const Facts& facts() const { return facts_; }
  Style out_style() const;
  Style err_style() const;
  /// 0, or the errno of the first failed write to stdout: EPIPE when the reader went away.
  int out_error() const { return out_error_; }

 private:
  void Hide();
  void Show();

  Facts facts_;
  Sink& out_;
  Sink& err_;
  std::string buffer_ = {};
  std::string status_ = {};
  bool status_shown_ = false;
  int out_error_ = 0;
};

}  // namespace jobman::ui
