#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/views/forwarded.hpp"
#include "cli/whole_number.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/forward.hpp"
#include "jobman/ssh/host_shell.hpp"

namespace jobman::cli {
namespace {

constexpr int kMostPorts = 16;

struct ForwardOptions {
  std::string job = {};
  std::vector<std::string> ports = {};
  int host = 0;
};

base::Result<int> RunForward(App& app, const ForwardOptions& options) {
  std::vector<client::ForwardedPort> ports;
  for (const std::string& word : options.ports) {
    JM_ASSIGN_OR_RETURN(const client::ForwardedPort port, client::ParseForwardedPort(word));
    ports.push_back(port);
  }
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  ssh::RaiseFileLimit();
  client::Forwarding forwarding(context, id, options.host,
                                [&app](const std::string& line) { app.Say(line); });
  JM_ASSIGN_OR_RETURN(ports, forwarding.Listen(std::move(ports)));
  JM_TRY(forwarding.Check());
  const views::Forwards view{.job = id, .host = options.host, .ports = std::move(ports)};
  if (app.mode() == OutputMode::kJson) {
    app.ShowJsonLine(ToJson(view));
  } else {
    app.Show(view);
  }
  app.terminal().Flush();
  app.Say("until Ctrl-C");
  forwarding.Run();
  return app.EndOfWait();
}

}  // namespace

void AddForward(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<ForwardOptions>();
  CLI::App* command = root.add_subcommand(
      "forward", "Reach ports of a host from here, until Ctrl-C: jobman forward JOB 6006");
  command->add_option("JOB", options->job, "Number or name")->required();
  command
      ->add_option("PORT", options->ports,
                   "A port of the host, at the same number of 127.0.0.1 here; LOCAL:REMOTE for "
                   "another one, 0:REMOTE for any that is free")
      ->required()
      ->expected(1, kMostPorts);
  command->add_option("-w,--host", options->host, "Which host")
      ->transform(WholeNumber(0, 100000))
      ->capture_default_str();
  command->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunForward(app, *options); };
  });
}

}  // namespace jobman::cli
