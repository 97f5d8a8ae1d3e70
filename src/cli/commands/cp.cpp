#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "cli/commands.hpp"
#include "cli/copy_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/file_limit.hpp"
#include "cli/seconds.hpp"
#include "cli/views/copied.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/client/vouching.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using Clock = std::chrono::steady_clock;

struct CpOptions {
  std::vector<std::string> paths = {};
  std::string hosts = {};  ///< empty: all up, host 0 down
  int patience = 0;        ///< seconds
};

Result<int> RunCp(App& app, const CpOptions& options) {
  JM_ASSIGN_OR_RETURN(client::CopyPlan plan, client::PlanCopy(options.paths));
  plan.patience = std::chrono::seconds{options.patience};
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, plan.job)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  const std::string usual = plan.to_hosts ? "all" : "0";
  JM_ASSIGN_OR_RETURN(
      auto hosts,
      client::ChooseHosts(context.paths, job, options.hosts.empty() ? usual : options.hosts));
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  JM_TRY(MakeRoomForHosts(app, hosts.size()));
  const auto began = Clock::now();
  const client::CopyProgress progress = CopyLine(app);
  const bool folders = hosts.size() > 1;
  auto copied = plan.to_hosts
                    ? client::CopyToHosts(context, std::move(hosts), plan, progress)
                    : client::CopyFromHosts(context, std::move(hosts), plan, folders, progress);
  app.terminal().SetStatus({});
  for (const std::string& line : context.Await(vouching.FirstUses())) app.Say(line);
  if (!copied.ok()) return std::move(copied).error();
  const views::CopyResult view{
      .job = id,
      .to_hosts = plan.to_hosts,
      .copied = std::move(*copied),
      .took = std::chrono::duration_cast<base::Duration>(Clock::now() - began)};
  const int code = ExitCodeOfRows(view.copied.hosts);
  if (app.mode() == OutputMode::kJson) app.ShowJson(ToJson(view));
  // There is no data to print: what is said is a message, with --quiet only if something failed.
  if (app.mode() == OutputMode::kText || (app.mode() == OutputMode::kQuiet && code != kSuccess))
    app.terminal().Err(RenderText(view, app.terminal().err_style()));
  return code;
}

}  // namespace

void AddCp(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<CpOptions>();
  CLI::App* command = root.add_subcommand(
      "cp",
      "Copy files and folders to the job's hosts or from them: jobman cp data JOB:, jobman cp "
      "JOB:out.txt .");
  command
      ->add_option(
          "PATH", options->paths,
          "What, and then where to; JOB:PATH is on the hosts, in the home folder unless it "
          "begins with /")
      ->required()
      ->expected(2, -1);
  command
      ->add_option("-w,--host", options->hosts,
                   "\"all\", or numbers and ranges: 0,3-7; otherwise to all hosts, or from host 0. "
                   "From several hosts, each has a folder host-N")
      ->type_name("HOSTS");
  command
      ->add_option("--patience", options->patience,
                   "Keep trying hosts that cannot be reached or whose connection breaks, and go on "
                   "from what they have: 60s, 5m")
      ->type_name("TIME")
      ->transform(Seconds(0, 86400))
      ->capture_default_str();
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunCp(app, *options); }; });
}

}  // namespace jobman::cli
