#include "cli/openssh_login.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "jobman/base/log.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/ssh/openssh.hpp"

namespace jobman::cli {
namespace {

base::Result<std::vector<std::string>> LoginWords(App& app, const client::Context& context,
                                                  const core::Job& job, const OpenSshLogin& login) {
  JM_ASSIGN_OR_RETURN(auto target, client::TargetOf(context.paths, job, login.host));
  client::Vouching vouching(context);
  target = context.Await(vouching.Complete(job, login.host, target));
  JM_ASSIGN_OR_RETURN(const auto host_key, context.Await(client::HostKeyOf(context, target)));
  for (const std::string& line : context.Await(vouching.FirstUses())) app.Say(line);
  JM_ASSIGN_OR_RETURN(auto words,
                      ssh::OpenSshArguments(target, host_key, context.paths.home / "known_hosts"));
  // Before "--" and the address.
  if (login.terminal) words.insert(words.end() - 2, "-t");
  words.insert(words.end(), login.words.begin(), login.words.end());
  return words;
}

}  // namespace

base::Status CheckUserIsKnown(const std::string& instead) {
  if (getpwuid(getuid()) != nullptr) return base::Ok();
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "the OpenSSH client needs an entry in the password file for user " +
                                std::to_string(getuid()),
                     .hint = "use " + instead + ", which does not"};
}

base::Error BecomeOpenSsh(App& app, const client::Context& context, const core::Job& job,
                          const OpenSshLogin& login) {
  auto words = LoginWords(app, context, job, login);
  if (!words.ok()) return std::move(words).error();
  base::Log(base::LogLevel::kDebug, "ssh", "{}", base::ShellJoin(*words));
  std::vector<char*> argv;
  for (std::string& word : *words) argv.push_back(word.data());
  argv.push_back(nullptr);
  app.terminal().Flush();
  // Ignored in this program, and exec would keep them so.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  execvp(argv[0], argv.data());
  base::Error error = base::FromErrno(errno, "starting " + words->front());
  error.hint = "install the OpenSSH client, or use: " + login.instead;
  return error;
}

}  // namespace jobman::cli
