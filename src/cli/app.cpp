#include "cli/app.hpp"

#include "cli/views/error.hpp"
#include "cli/wrapping.hpp"
#include "jobman/client/shared_shell.hpp"
#include "jobman/client/store_site.hpp"
#include "jobman/ui/ask.hpp"

namespace jobman::cli {

using base::Result;

App::App(const Environment& environment, const GlobalOptions& options, ui::Terminal& terminal)
    : environment_(environment), options_(options), terminal_(terminal) {}

OutputMode App::mode() const {
  if (options_.json) return OutputMode::kJson;
  return options_.quiet ? OutputMode::kQuiet : OutputMode::kText;
}

Result<base::StatePaths> App::Paths() const {
  JM_ASSIGN_OR_RETURN(base::Path home, client::FindHome(options_.home));
  return base::StatePaths{.home = std::move(home)};
}

Result<client::Context> App::Open(client::StoreUse use, Elsewhere elsewhere) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, Paths());
  JM_ASSIGN_OR_RETURN(stores_, client::OpenStores(paths, use, environment_.open_store));
  JM_ASSIGN_OR_RETURN(client::Context context, WithoutStore());
  context.stores = stores_;
  JM_TRY(CheckSite(context, use, elsewhere));
  return context;
}

Result<client::Context> App::WithoutStore() {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, Paths());
  if (!loop_) loop_.emplace();
  return client::Context{.paths = paths,
                         .loop = &*loop_,
                         .clock = &environment_.clock,
                         .pause = [this](base::Duration duration) { return Wait(duration); },
                         .open_cloud = environment_.open_cloud,
                         .open_buckets = environment_.open_buckets,
                         .open_projects = environment_.probes.open_projects,
                         .open_logins = environment_.probes.open_logins,
                         .open_quotas = environment_.probes.open_quotas,
                         .open_bucket_list = environment_.probes.open_bucket_list,
                         .open_bucket_sizes = environment_.probes.open_bucket_sizes,
                         .open_billing = environment_.probes.open_billing,
                         .open_shell = client::ThroughController(environment_.open_shell, paths),
                         .open_own_shell = environment_.open_shell,
                         .start_controller = environment_.start_controller,
                         .look_at_site = environment_.look_at_site,
                         .verbose = options_.verbose};
}

base::Status App::CheckSite(const client::Context& context, client::StoreUse use,
                            Elsewhere elsewhere) {
  if (elsewhere == Elsewhere::kIgnore) return base::Ok();
  const bool record = use == client::StoreUse::kWrite;
  base::Status checked = context.Await(client::CheckSite(context, record));
  if (checked.ok() || elsewhere == Elsewhere::kRefuse) return checked;
  Say("jobman: warning: " + checked.error().ToString() + "\n  " + checked.error().hint);
  return base::Ok();
}

bool App::Wait(base::Duration duration) {
  terminal_.Flush();
  return terminal_.out_error() == 0 && environment_.pause(duration) && LookAgain();
}

bool App::LookAgain() {
  terminal_.Flush();
  if (terminal_.out_error() != 0) return false;
  if (environment_.look_again) terminal_.Resize(environment_.look_again());
  return true;
}

int App::EndOfWait() const {
  // A failed write has its own exit code, which is set at the end of the program.
  return terminal_.out_error() == 0 ? kInterrupted : kSuccess;
}

void App::ShowJson(const base::OrderedJson& json) {
  terminal_.Out(DumpJson(json, 2) + "\n");
}

void App::ShowJsonLine(const base::OrderedJson& json) {
  terminal_.Out(DumpJson(json, -1) + "\n");
}

Result<bool> App::Ask(const std::string& question) {
  terminal_.Flush();
  if (environment_.ask) return environment_.ask(question);
  // " [y/N]" follows.
  return ui::AskYesNo(terminal_, 0, WrapMessage(question, terminal_.err_style().width - 6));
}

void App::Say(std::string_view line) {
  if (options_.quiet) return;
  terminal_.Err(WrapMessage(ui::CleanLines(line), terminal_.err_style().width));
}

int App::Fail(const base::Error& error) {
  const views::Failure view{.error = error, .exit_code = ExitCodeOf(error)};
  if (mode() == OutputMode::kJson) {
    ShowJson(ToJson(view));
  } else {
    terminal_.Err(RenderText(view, terminal_.err_style()));
  }
  return view.exit_code;
}

}  // namespace jobman::cli
