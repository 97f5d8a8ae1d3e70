#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/openssh_login.hpp"
#include "cli/whole_number.hpp"
#include "jobman/client/find_jobs.hpp"

namespace jobman::cli {
namespace {

struct SshOptions {
  std::string job = {};
  int host = 0;
  std::vector<std::string> words = {};
};

base::Result<int> RunSsh(App& app, const SshOptions& options) {
  const std::string instead = "jobman exec " + options.job + " -- CMD";
  JM_TRY(CheckUserIsKnown(instead));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  return BecomeOpenSsh(app, context, job,
                       {.host = options.host, .words = options.words, .instead = instead});
}

}  // namespace

void AddSsh(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<SshOptions>();
  CLI::App* command = root.add_subcommand("ssh", "Log in to a host of the job");
  command->add_option("JOB", options->job, "Number or name")->required();
  command->add_option("CMD", options->words, "A command in place of a shell");
  command->add_option("-w,--host", options->host, "Which host")
      ->transform(WholeNumber(0, 100000))
      ->capture_default_str();
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunSsh(app, *options); }; });
}

}  // namespace jobman::cli
