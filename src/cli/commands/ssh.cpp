#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <memory>

#include "cli/commands.hpp"
#include "cli/whole_number.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/ssh/openssh.hpp"

namespace jobman::cli {
namespace {

struct SshOptions {
  std::string job = {};
  int host = 0;
  std::vector<std::string> words = {};
};

/// OpenSSH's client refuses users without a passwd entry, and does not say what to do.
base::Status CheckUserIsKnown(const SshOptions& options) {
  if (getpwuid(getuid()) != nullptr) return base::Ok();
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "the OpenSSH client needs an entry in the password file for user " +
                                std::to_string(getuid()),
                     .hint = "use jobman exec " + options.job + " -- CMD, which does not"};
}

base::Result<int> RunSsh(App& app, const SshOptions& options) {
  JM_TRY(CheckUserIsKnown(options));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  JM_ASSIGN_OR_RETURN(auto target, client::TargetOf(context.paths, job, options.host));
  client::Vouching vouching(context);
  target = context.Await(vouching.Complete(job, options.host, target));
  JM_ASSIGN_OR_RETURN(const auto host_key, context.Await(client::HostKeyOf(context, target)));
  for (const std::string& line : context.Await(vouching.FirstUses())) app.Say(line);
  JM_ASSIGN_OR_RETURN(auto words,
                      ssh::OpenSshArguments(target, host_key, context.paths.home / "known_hosts"));
  words.insert(words.end(), options.words.begin(), options.words.end());
  base::Log(base::LogLevel::kDebug, "ssh", "{}", base::ShellJoin(words));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  app.terminal().Flush();
  std::signal(SIGPIPE, SIG_DFL);  // ignored in this program, and exec would keep it so
  execvp(argv[0], argv.data());
  base::Error error = base::FromErrno(errno, "starting " + words[0]);
  error.hint = "install the OpenSSH client, or use: jobman exec " + options.job + " -- CMD";
  return error;
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
