#pragma once

#include <optional>
#include <string>

#include "cli/exit_code.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/json.hpp"
#include "jobman/client/context.hpp"
#include "jobman/ui/terminal.hpp"

namespace jobman::cli {

/// How results are shown: for people, for programs, or only what a script needs (ids, raw text).
enum class OutputMode { kText, kJson, kQuiet };

/// Options that every command takes.
struct GlobalOptions {
  std::string home = {};      ///< --home; empty: see FindHome()
  std::string endpoint = {};  ///< --endpoint; empty: what the job file or the configuration says
  bool json = false;
  bool quiet = false;
  bool no_color = false;
  bool verbose = false;
};

/// What the program needs of its surroundings. main() fills it in with what is real, tests bring
/// their own.
struct Environment {
  ui::Sink& out;
  ui::Sink& err;
  ui::Surroundings around = {};
  const base::Clock& clock;
  client::StoreOpener open_store = {};
  client::CloudOpener open_cloud = {};
  client::ShellOpener open_shell = {};
  client::Pause pause = {};
};

/// The command line for a command: its options, and how it shows what it has done.
class App {
 public:
  App(const Environment& environment, const GlobalOptions& options, ui::Terminal& terminal);

  const GlobalOptions& options() const { return options_; }
  ui::Terminal& terminal() { return terminal_; }
  base::TimePoint Now() const { return environment_.clock.Now(); }
  OutputMode mode() const;

  /// Where jobman's files are. kFailedPrecondition when no place can be named.
  base::Result<base::StatePaths> Paths() const;
  /// For commands that read: the store is an empty one when there is none yet; nothing is created.
  base::Result<client::Context> OpenForReading() { return Open(client::StoreUse::kRead); }
  /// For commands that write: home folder and store are created when absent.
  base::Result<client::Context> OpenForWriting() { return Open(client::StoreUse::kWrite); }

  /// Waits; false when the user interrupted or stdout's reader went away: then end with
  /// EndOfWait().
  bool Wait(base::Duration duration);
  int EndOfWait() const;

  /// Shows a view: three functions found beside it, RenderText(view, style), RenderQuiet(view),
  /// ToJson(view).
  template <class View>
  void Show(const View& view) {
    switch (mode()) {
      case OutputMode::kText:
        terminal_.Out(RenderText(view, terminal_.out_style()));
        break;
      case OutputMode::kQuiet:
        terminal_.Out(RenderQuiet(view));
        break;
      case OutputMode::kJson:
        ShowJson(ToJson(view));
        break;
    }
  }
  /// One JSON document, indented.
  void ShowJson(const base::OrderedJson& json);
  /// One JSON document on one line, for streams of them.
  void ShowJsonLine(const base::OrderedJson& json);
  /// Talk for people, on stderr; nothing with --quiet.
  void Say(std::string_view line);
  /// Prints an error in the mode's form and gives back its exit code.
  int Fail(const base::Error& error);

 private:
  base::Result<client::Context> Open(client::StoreUse use);

  const Environment& environment_;
  const GlobalOptions& options_;
  ui::Terminal& terminal_;
  ports::Stores stores_ = {};                  ///< must outlive what the loop holds
  std::optional<asio::io_context> loop_ = {};  ///< made when a store is opened
};

}  // namespace jobman::cli
