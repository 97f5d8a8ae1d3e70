#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/exit_code.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/json.hpp"
#include "jobman/client/context.hpp"
#include "jobman/client/probes.hpp"
#include "jobman/ui/terminal.hpp"

namespace jobman::cli {

/// How results are shown: to people, to programs, or only what a script needs (ids, raw text).
enum class OutputMode { kText, kJson, kQuiet };

/// Options that every command takes.
struct GlobalOptions {
  std::string home = {};      ///< --home; empty: see FindHome()
  std::string endpoint = {};  ///< --endpoint; empty: from the job file or the configuration
  bool json = false;
  bool quiet = false;
  bool no_color = false;
  bool verbose = false;
};

/// What to do about a store that was moved or copied since it was used last.
enum class Elsewhere {
  kRefuse,  ///< the command would act on jobs that another store may have too
  kWarn,    ///< it only reads
  kIgnore,
};

/// What the program needs from its environment. main() passes the real one, tests pass their own.
struct Environment {
  ui::Sink& out;
  ui::Sink& err;
  ui::Surroundings around = {};
  const base::Clock& clock;
  client::StoreOpener open_store = {};
  client::CloudOpener open_cloud = {};
  client::BucketOpener open_buckets = {};
  client::ShellOpener open_shell = {};
  client::ControllerStarter start_controller = {};
  client::SiteLooker look_at_site = {};
  client::Probes probes = {};
  client::Pause pause = {};
  /// The surroundings of now, after a pause: the window may have another size; empty: they stay.
  std::function<ui::Surroundings()> look_again = {};
  /// Asks the user yes or no; empty: on the terminal.
  std::function<base::Result<bool>(const std::string& question)> ask = {};
  /// The descriptor whose content `exec` passes on to the hosts; -1: they get no input.
  int input = -1;
};

/// The program as a command sees it: options, context, output.
class App {
 public:
  App(const Environment& environment, const GlobalOptions& options, ui::Terminal& terminal);

  const GlobalOptions& options() const { return options_; }
  ui::Terminal& terminal() { return terminal_; }
  base::TimePoint Now() const { return environment_.clock.Now(); }
  OutputMode mode() const;
  int input() const { return environment_.input; }
  const client::Probes& probes() const { return environment_.probes; }

  /// Where jobman's files are. kFailedPrecondition if there is no such place.
  base::Result<base::StatePaths> Paths() const;
  /// For commands that read: creates nothing; the store is empty if there is none yet.
  base::Result<client::Context> OpenForReading(Elsewhere elsewhere = Elsewhere::kWarn) {
    return Open(client::StoreUse::kRead, elsewhere);
  }
  /// For commands that write: creates the home folder and the store if they are missing.
  base::Result<client::Context> OpenForWriting(Elsewhere elsewhere = Elsewhere::kRefuse) {
    return Open(client::StoreUse::kWrite, elsewhere);
  }

  /// For a command that is to work where no store opens: a context without stores.
  base::Result<client::Context> WithoutStore();

  /// Waits. False if the user interrupted or stdout's reader went away: the command then ends with
  /// EndOfWait().
  bool Wait(base::Duration duration);
  int EndOfWait() const;
  /// For a command that waits by itself, now and then: takes the window's size of now. False if
  /// stdout's reader went away.
  bool LookAgain();

  /// Shows a view. Needs three functions next to it: RenderText(view, style), RenderQuiet(view),
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
  /// The same while more is to come.
  template <class View>
  void ShowNow(const View& view) {
    Show(view);
    terminal_.Flush();
  }
  /// One JSON document, indented.
  void ShowJson(const base::OrderedJson& json);
  /// One JSON document on one line, for streams of documents.
  void ShowJsonLine(const base::OrderedJson& json);
  /// Asks on the terminal. An error if there is nobody to ask.
  base::Result<bool> Ask(const std::string& question);
  /// A message for people, on stderr; nothing with --quiet.
  void Say(std::string_view line);
  /// Prints an error in the output mode and returns its exit code.
  int Fail(const base::Error& error);

 private:
  base::Result<client::Context> Open(client::StoreUse use, Elsewhere elsewhere);
  base::Status CheckSite(const client::Context& context, client::StoreUse use, Elsewhere elsewhere);

  const Environment& environment_;
  const GlobalOptions& options_;
  ui::Terminal& terminal_;
  ports::Stores stores_ = {};                  ///< must outlive what the loop holds
  std::optional<asio::io_context> loop_ = {};  ///< created when a store is opened
};

}  // namespace jobman::cli
