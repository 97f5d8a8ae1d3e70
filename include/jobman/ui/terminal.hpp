#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobman/ui/host_bytes.hpp"
#include "jobman/ui/sink.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::ui {

/// Raw facts about the process's environment, separate so that decisions can be tested.
struct Surroundings {
  bool out_tty = false;
  bool err_tty = false;
  bool out_pipe = false;                     ///< what is written may be shown by the next program
  int ioctl_width = 0;                       ///< of the terminal; 0: not known
  int ioctl_height = 0;                      ///< likewise, in lines
  std::optional<std::string> columns = {};   ///< $COLUMNS
  std::optional<std::string> term = {};      ///< $TERM
  std::optional<std::string> no_color = {};  ///< $NO_COLOR; https://no-color.org
  std::optional<std::string> locale = {};    ///< the first set one of $LC_ALL, $LC_CTYPE, $LANG
  bool colour_refused = false;               ///< --no-color
};
/// Queries stdout, stderr and the environment.
Surroundings LookAround();

/// What follows from the surroundings. COLUMNS takes precedence over the terminal's own width;
/// without either there is no limit unless stdout is a terminal, so that pipes get whole lines.
/// Messages have a limit on a terminal only.
struct Facts {
  bool out_tty = false;
  bool out_pipe = false;    ///< its reader may write to the terminal of stderr
  bool err_tty = false;     ///< a terminal that can rewrite a line
  bool err_screen = false;  ///< a terminal of any kind
  int width = 0;            ///< of stdout; 0: no limit
  int err_width = 0;        ///< of stderr; 0: no limit
  int height = 0;           ///< lines of stdout's terminal; 0: no limit
  bool utf8 = false;
  bool out_colour = false;
  bool err_colour = false;
};
Facts Decide(const Surroundings& around);

/// All output of the program goes through here: data to stdout, messages to stderr, one status
/// line.
///
/// Output is buffered until Flush(), a message, or a size limit. A failed write to stdout is
/// remembered and everything after it is dropped; the command runs to its end unless it checks
/// out_error(). Nothing is thrown and no signal ends the process.
class Terminal {
 public:
  Terminal(Facts facts, Sink& out, Sink& err);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Data as text, cleaned by CleanText(): whatever it quotes, it controls nothing.
  void Out(std::string_view data);
  /// A message, cleaned likewise; a line break is added if missing.
  void Err(std::string_view talk);
  /// What hosts wrote, unchanged, for programs; on a terminal cleaned by HostBytes. On stderr whole
  /// lines if a status is shown.
  void OutBytes(std::string_view bytes);
  void ErrBytes(std::string_view bytes);
  /// Shows `line` as the status: rewritten in place, kept clear of other output, removed when
  /// empty. Data for a pipe removes it until the next status: its reader writes when it likes. Does
  /// nothing if stderr is not a terminal.
  void SetStatus(std::string_view line);
  /// For a picture that is painted again. Does nothing if stdout is not a terminal.
  void ClearScreen();
  /// Takes the window's size of now.
  void Resize(const Surroundings& around);
  void Flush();

  const Facts& facts() const { return facts_; }
  Style out_style() const;
  Style err_style() const;
  /// Columns that a status may have; a longer one is cut.
  int status_width() const;
  /// 0, or the errno of the first failed write to stdout: EPIPE when the reader is gone.
  int out_error() const { return out_error_; }

 private:
  void Buffer(std::string_view bytes);
  void Write(std::string_view bytes);
  void WriteErr(std::string_view bytes);
  void Hide();
  void Show();

  Facts facts_;
  Sink& out_;
  Sink& err_;
  HostBytes out_bytes_ = {};
  HostBytes err_bytes_ = {};
  std::string buffer_ = {};
  std::string status_ = {};
  bool status_shown_ = false;
  int out_error_ = 0;
};

}  // namespace jobman::ui
