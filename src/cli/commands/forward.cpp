// jobman forward: ports of a host, here. Those in the background are listed and stopped by its
// subcommands; a job that has the name of one is named by its number.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/views/forward_list.hpp"
#include "cli/views/forwarded.hpp"
#include "cli/whole_number.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/background_forward.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/forward.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::cli {
namespace {

using base::Result;

constexpr int kMostPorts = 16;

struct ForwardOptions {
  std::string job = {};
  std::vector<std::string> ports = {};
  int host = 0;
  bool background = false;
  std::string record = {};  ///< of the process that `--background` starts
};

Result<std::vector<client::ForwardedPort>> PortsIn(const ForwardOptions& options) {
  if (options.job.empty() || options.ports.empty()) {
    return base::InvalidArgument(
        options.job.empty() ? "JOB and PORT are required" : "PORT is required",
        "jobman forward JOB 6006; jobman forward --help");
  }
  std::vector<client::ForwardedPort> ports;
  for (const std::string& word : options.ports) {
    JM_ASSIGN_OR_RETURN(const client::ForwardedPort port, client::ParseForwardedPort(word));
    ports.push_back(port);
  }
  return ports;
}

/// The cure for a port that is in use is another one, unless a forward of ours has it.
base::Error WithItsUser(base::Error error, const client::Context& context,
                        const std::vector<client::ForwardedPort>& ports) {
  if (error.code != base::Code::kAlreadyExists) return error;
  const auto seen = client::LookAtForwards(context.paths);
  if (!seen.ok()) return error;
  for (const client::ForwardedPort& port : ports) {
    const std::string address = views::LocalAddress(port);
    const auto users = client::ForwardsNamed(seen->running, address);
    const std::string named = "port " + std::to_string(port.local) + " ";
    if (!users.ok() || !base::Contains(error.message, named)) continue;
    error.message +=
        ", by a forward in the background for job " + core::FormatJobId(users->front().request.job);
    error.hint += "; jobman forward stop " + address + " ends that one";
  }
  return error;
}

void ShowForwards(App& app, const views::Forwards& view) {
  if (app.mode() == OutputMode::kJson) {
    app.ShowJsonLine(ToJson(view));
  } else {
    app.Show(view);
  }
  app.terminal().Flush();
}

Result<int> ForwardHere(App& app, const client::Context& context, client::ForwardRequest request) {
  client::Forwarding forwarding(context, request.job, request.host,
                                [&app](const std::string& line) { app.Say(line); });
  auto listening = forwarding.Listen(request.ports);
  if (!listening.ok()) return WithItsUser(listening.error(), context, request.ports);
  JM_TRY(forwarding.Check());
  ShowForwards(app, {.job = request.job, .host = request.host, .ports = *std::move(listening)});
  app.Say("until Ctrl-C");
  const auto over = forwarding.Run();
  if (!over) return app.EndOfWait();
  app.Say(*over + ": nothing is left to forward");
  return kSuccess;
}

Result<int> ForwardBehind(App& app, const client::Context& context,
                          const client::ForwardRequest& request) {
  const auto started = client::StartForward(context, request);
  if (!started.ok()) return WithItsUser(started.error(), context, request.ports);
  const auto& ports = started->request.ports;
  ShowForwards(app, {.job = request.job,
                     .host = request.host,
                     .ports = ports,
                     .process = client::PidOf(*started)});
  app.Say("in the background, process " + std::to_string(client::PidOf(*started)) +
          "; to end it: jobman forward stop " + std::to_string(ports.front().local));
  return kSuccess;
}

/// The process that ForwardBehind() starts.
Result<int> ServeBehind(const App& app, const client::Context& context,
                        client::ForwardRequest request, const std::string& record) {
  if (base::SafeFileName(record) != record) return base::InvalidArgument("--record: no such name");
  base::StartLog(client::LogOf(context.paths, {.id = record}),
                 app.options().verbose ? base::LogLevel::kDebug : base::LogLevel::kInfo,
                 base::GetEnv("JOBMAN_TRACE").value_or(""));
  JM_TRY(client::ServeForward(context, std::move(request), record));
  return kSuccess;
}

Result<int> RunForward(App& app, const ForwardOptions& options) {
  client::ForwardRequest request{.host = options.host};
  JM_ASSIGN_OR_RETURN(request.ports, PortsIn(options));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(request.job,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  ssh::RaiseFileLimit();
  if (!options.record.empty()) return ServeBehind(app, context, std::move(request), options.record);
  if (options.background) return ForwardBehind(app, context, request);
  return ForwardHere(app, context, std::move(request));
}

/// `forward list 6006`: a job was meant.
base::Status CheckAlone(const ForwardOptions& options, const std::string& command) {
  if (options.job.empty()) return base::Ok();
  return base::InvalidArgument(
      "forward " + command + " takes no \"" + options.job + "\"",
      "a job with the name " + command + " is named by its number: jobman forward 42 6006");
}

void SayEnded(App& app, const client::SeenForwards& seen) {
  for (const client::EndedForward& one : seen.ended)
    app.Say("no longer forwarded: " + views::ForwardText(one.forward) + ", as " + one.why);
}

Result<int> RunForwardList(App& app, const ForwardOptions& options) {
  JM_TRY(CheckAlone(options, "list"));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading(Elsewhere::kIgnore));
  views::ForwardList view{.paths = context.paths, .now = context.Now()};
  JM_ASSIGN_OR_RETURN(view.seen, client::LookAtForwards(context.paths));
  app.Show(view);
  if (app.mode() != OutputMode::kText) return kSuccess;
  SayEnded(app, view.seen);
  if (view.seen.running.empty()) app.Say("nothing is forwarded in the background");
  return kSuccess;
}

/// Without those that are named twice.
Result<std::vector<client::BackgroundForward>> ChooseForwards(
    const std::vector<client::BackgroundForward>& running, const std::vector<std::string>& words) {
  std::vector<client::BackgroundForward> chosen;
  for (const std::string& word : words) {
    JM_ASSIGN_OR_RETURN(const auto named, client::ForwardsNamed(running, word));
    for (const client::BackgroundForward& one : named) {
      const bool there = std::any_of(chosen.begin(), chosen.end(),
                                     [&one](const auto& other) { return other.id == one.id; });
      if (!there) chosen.push_back(one);
    }
  }
  return chosen;
}

Result<int> RunForwardStop(App& app, const ForwardOptions& options,
                           const std::vector<std::string>& words) {
  JM_TRY(CheckAlone(options, "stop"));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading(Elsewhere::kIgnore));
  JM_ASSIGN_OR_RETURN(const client::SeenForwards seen, client::LookAtForwards(context.paths));
  SayEnded(app, seen);
  JM_ASSIGN_OR_RETURN(const auto chosen, ChooseForwards(seen.running, words));
  views::ForwardsStopped view;
  std::optional<base::Error> failed;
  for (const client::BackgroundForward& one : chosen) {
    const base::Status stopped = client::StopForward(context, one);
    if (stopped.ok()) {
      view.rows.push_back(one);
    } else if (!failed) {
      failed = base::Error(stopped.error()).With("stopping " + views::ForwardText(one));
    }
  }
  const bool one_document = failed && app.mode() == OutputMode::kJson;
  if (!one_document) app.Show(view);
  if (failed) return *failed;
  if (chosen.empty()) app.Say("nothing is forwarded in the background");
  return kSuccess;
}

void AddForwardList(CLI::App& forward, const std::shared_ptr<ForwardOptions>& options,
                    Invocation& chosen) {
  CLI::App* command = forward.add_subcommand("list", "What is forwarded in the background");
  command->alias("ls");
  command->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunForwardList(app, *options); };
  });
}

void AddForwardStop(CLI::App& forward, const std::shared_ptr<ForwardOptions>& options,
                    Invocation& chosen) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = forward.add_subcommand("stop", "End what is forwarded in the background");
  command
      ->add_option("WHICH", *words,
                   "A local port, the number or name of a job for all of its, or all")
      ->required();
  command->callback([options, words, &chosen] {
    chosen.run = [options, words](App& app) { return RunForwardStop(app, *options, *words); };
  });
}

}  // namespace

void AddForward(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<ForwardOptions>();
  CLI::App* command = root.add_subcommand("forward",
                                          "Reach ports of a host from here, until Ctrl-C or in the "
                                          "background: jobman forward JOB 6006");
  command->add_option("JOB", options->job, "Number or name");
  command
      ->add_option("PORT", options->ports,
                   "A port of the host, at the same number of 127.0.0.1 here; LOCAL:REMOTE for "
                   "another one, 0:REMOTE for any that is free")
      ->expected(1, kMostPorts);
  command->add_option("-w,--host", options->host, "Which host")
      ->transform(WholeNumber(0, 100000))
      ->capture_default_str();
  command->add_flag("--background", options->background,
                    "Return when the ports listen; a process of its own goes on until forward "
                    "stop, or the job's end");
  command->add_option("--record", options->record)->group("");
  AddForwardList(*command, options, chosen);
  AddForwardStop(*command, options, chosen);
  command->callback([command, options, &chosen] {
    if (!command->get_subcommands().empty()) return;  // it has chosen
    chosen.run = [options](App& app) { return RunForward(app, *options); };
  });
}

}  // namespace jobman::cli
