#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/exit_code.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/ports/stores.hpp"
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

/// Commands that read must not create anything.
enum class StoreUse { kRead, kWrite };
/// Opens the store of a home folder. kRead: gives an empty store when there is none yet. kWrite:
/// creates what is absent below the home folder, which exists.
using StoreOpener = std::function<base::Result<ports::Stores>(const base::StatePaths&, StoreUse)>;
/// Waits; false when the user interrupted, at once or meanwhile.
using Pause = std::function<bool(base::Duration)>;

/// What the program needs of the world around it; tests bring their own.
struct World {
  ui::Sink& out;
  ui::Sink& err;
  ui::Surroundings around = {};
  const base::Clock& clock;
  StoreOpener open_store = {};
  Pause pause = {};
};

/// What a command works with. Everything is made when it is first asked for: a command pays only
/// for what it uses.
class App {
 public:
  App(const World& world, const GlobalOptions& options, ui::Terminal& terminal);

  const GlobalOptions& options() const { return options_; }
  ui::Terminal& terminal() { return terminal_; }
  base::TimePoint Now() const { return world_.clock.Now(); }
  const base::Clock& clock() const { return world_.clock; }
  OutputMode mode() const;

  /// Where jobman's files are. kFailedPrecondition when no place can be named.
  base::Result<base::StatePaths> Paths();
  /// The store for commands that read: an empty one when there is none yet; nothing is created.
  base::Result<ports::Stores> StoresForReading();
  /// The store for commands that write: home folder and store are created when absent.
  base::Result<ports::Stores> StoresForWriting();
  /// Runs a call of a store, or a task made of such calls, to its end.
  template <class T>
  T Await(base::Task<T> task) {
    if (!loop_) loop_ = std::make_unique<asio::io_context>();
    return base::RunTask(*loop_, std::move(task));
  }

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
  const World& world_;
  const GlobalOptions& options_;
  ui::Terminal& terminal_;
  std::unique_ptr<asio::io_context> loop_ = {};
  std::optional<ports::Stores> stores_ = {};
  bool writable_ = false;
};

/// --home, $JOBMAN_HOME, $XDG_STATE_HOME/jobman, ~/.local/state/jobman: the first that is given.
/// Absolute.
base::Result<base::Path> FindHome(const std::string& option);

}  // namespace jobman::cli
