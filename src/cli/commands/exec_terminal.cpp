#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/exec.hpp"
#include "cli/openssh_login.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/run_until_stopped.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/remote/direct_command.hpp"

namespace jobman::cli {

using base::Result;

namespace {

/// What a host says before the path of a file that it was sent; and of how much is looked for it.
constexpr std::string_view kFileIs = "jobman-file ";
constexpr std::size_t kLongestAnswer = std::size_t{64} * 1024;

/// The line for a login shell that has a terminal. What --job-env adds is sent before.
Result<std::string> LineOnTerminal(const client::Context& context, const ExecOptions& options,
                                   const core::Job& job, const ssh::FanOutHost& host) {
  std::vector<ssh::FanOutHost> one = {host};
  if (!options.order.job_env) return client::Prepare(context, job, options.order, one);
  JM_ASSIGN_OR_RETURN(const remote::TerminalCall call,
                      client::PrepareOnTerminal(context, job, options.order, host.host));
  std::string said;
  one.front().command = call.put;
  one.front().input = [text = call.content] { return text; };
  one.front().out = [&said](std::string_view bytes) -> base::Status {
    if (said.size() < kLongestAnswer) said += bytes;
    return base::Ok();
  };
  const client::StoppableRun put =
      client::RunUntilStopped(context, std::move(one), {}, PatienceOf(options), {});
  if (put.interrupted)
    return base::Error{.code = base::Code::kCancelled,
                       .message = "interrupted before the command began, which did not run"};
  if (!put.result.hosts.front().result.ok()) return put.result.hosts.front().result.error();
  for (const std::string& line : base::Split(said, '\n'))
    if (line.starts_with(kFileIs)) return call.LineFor(line.substr(kFileIs.size()));
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "the host did not take the environment of the job",
                     .hint = "is there room in /dev/shm or /tmp?"};
}

}  // namespace

Result<int> RunOnTerminal(App& app, const client::Context& context, const ExecOptions& options,
                          const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  if (hosts.size() != 1)
    return base::InvalidArgument(
        "--tty is for one host, and " + base::Plural(std::ssize(hosts), "host") + " are chosen",
        "choose one: --host 0");
  const std::string instead = "jobman exec " + options.job + " -- CMD";
  JM_TRY(CheckUserIsKnown(instead));
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  auto line = LineOnTerminal(context, options, job, hosts.front());
  for (const std::string& first_use : context.Await(vouching.FirstUses())) app.Say(first_use);
  if (!line.ok()) return std::move(line).error();
  return BecomeOpenSsh(
      app, context, job,
      {.host = hosts.front().host, .words = {*line}, .terminal = true, .instead = instead});
}

}  // namespace jobman::cli
