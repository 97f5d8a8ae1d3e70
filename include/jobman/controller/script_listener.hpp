#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/time.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::controller {

using Now = std::function<base::TimePoint()>;

/// The line on stdout after which the log of a run begins, and what a login shell runs to print it.
/// What ~/.bashrc prints comes before, and would otherwise pass for the log, and count in the
/// offset of the next call.
inline constexpr std::string_view kLogBegins = "jobman-log\n";
inline constexpr std::string_view kSayLogBegins = "echo jobman-log; ";

/// Listens to a call of the host script, and tells the script from whatever else prints on a host:
/// a login shell, or a program in the script's place. Only the script's own reports are contact.
class ScriptListener {
 public:
  /// `host` names it in errors.
  ScriptListener(std::string host, const remote::Call& call, Now now);

  /// Passes stdout on. In a call that follows a run only what comes after kLogBegins, and that
  /// waits here until the script has said that the run exists, so that nothing else gets into the
  /// log.
  base::Status TakeOut(std::string_view bytes, const ports::ByteSink& out);
  /// Whether stderr brought a report. kHostHangs if the host prints, but the script is not heard
  /// for too long; an error of `out`, which gets what waited.
  base::Result<bool> TakeErr(std::string_view bytes, const ports::ByteSink& out);

 private:
  base::Status CheckTime() const;
  base::Error NotTheScript() const;
  void Show(std::string_view bytes);
  void LookForLog();
  base::Status PassHeld(const ports::ByteSink& out);

  std::string host_;
  std::optional<base::Duration> silence_;
  std::optional<base::Duration> start_;
  Now now_;
  base::TimePoint began_;
  base::TimePoint heard_;  ///< the last report, or output of the run
  bool exists_ = false;    ///< the run does
  bool begun_ = false;     ///< the log has
  std::string held_ = {};  ///< stdout
  std::string line_ = {};  ///< of stderr, not complete
  std::string junk_ = {};  ///< the first of what was printed, for messages
};

}  // namespace jobman::controller
