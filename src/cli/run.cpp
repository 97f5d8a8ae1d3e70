#include "cli/run.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <optional>
#include <sstream>
#include <vector>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/help.hpp"
#include "cli/man_page.hpp"
#include "cli/views/version.hpp"
#include "cli/whole_words.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

constexpr const char* kFooter =
    "A job is named by its number (42, 000042) or its name (the newest that is not deleted).\n"
    "Exit codes: 0 success, 1 the job failed, 2 usage or bad job file, 3 not found, 4 refused by "
    "the cloud, 5 credentials, 70 internal error, 75 try again later, 130 interrupted.\n"
    "run, --wait and --follow end with the exit code of the job's own command, exec with that of "
    "its command if it runs on one host: it may be any number.";

void AddGlobalOptions(CLI::App& root, GlobalOptions& options) {
  root.add_option("--home", options.home,
                  "Folder of jobman's files (default: $JOBMAN_HOME, else "
                  "$XDG_STATE_HOME/jobman, else ~/.local/state/jobman)")
      ->type_name("DIR");
  root.add_option("--endpoint", options.endpoint, "Address of the Cloud TPU API, or \"local\"")
      ->type_name("URL");
  root.add_flag("--json", options.json, "Print JSON, as documented in docs/guide/json.md");
  root.add_flag("-q,--quiet", options.quiet, "Print ids and raw output only");
  root.add_flag("--no-color", options.no_color, "No colours, as with NO_COLOR=1");
  root.add_flag("--verbose", options.verbose, "Say on stderr what is being done");
  root.set_version_flag("--version", "jobman " + views::Version{}.number, "Print the version");
}

// The command: the first word that is neither an option nor the value of one.
std::optional<std::string> CommandWord(const std::vector<std::string>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--home" || args[i] == "--endpoint") {
      ++i;
    } else if (args[i] == "--") {
      return std::nullopt;
    } else if (!args[i].empty() && args[i].front() != '-') {
      return args[i];
    }
  }
  return std::nullopt;
}

/// What other tools call it; empty if they do not.
std::string_view OurWordFor(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"kill", "cancel"}, {"start", "resume"}, {"ps", "list"},
      {"ls", "list"},     {"attach", "logs"},  {"submit", "create"},
      {"launch", "run"},  {"down", "delete"},  {"restart", "reboot"}};
  for (const auto& [theirs, ours] : kWords)
    if (word == theirs) return ours;
  return {};
}

// CLI11 would only say that an argument was not expected.
std::optional<base::Error> CheckCommandWord(const CLI::App& root,
                                            const std::vector<std::string>& args) {
  const auto word = CommandWord(args);
  if (!word) return std::nullopt;
  std::vector<std::string> known;
  for (const CLI::App* command : root.get_subcommands({})) {
    known.push_back(command->get_name());
    for (const std::string& alias : command->get_aliases()) known.push_back(alias);
  }
  if (std::find(known.begin(), known.end(), *word) != known.end()) return std::nullopt;
  const std::string ours(OurWordFor(*word));
  const auto near = ours.empty() ? base::Nearest(*word, known) : std::optional(ours);
  return base::InvalidArgument(
      "there is no command \"" + *word + "\"",
      near ? "did you mean \"" + *near + "\"?" : "jobman --help lists the commands");
}

// Whether a flag is among jobman's own arguments: those before "--".
bool HasFlag(const std::vector<std::string>& args, std::string_view flag) {
  const auto end = std::find(args.begin(), args.end(), "--");
  return std::find(args.begin(), end, flag) != end;
}

// For a command without its subcommand: which there are.
std::string UsageHint(const CLI::App& root) {
  for (const CLI::App* command : root.get_subcommands()) {
    std::vector<std::string> names;
    for (const CLI::App* inner : command->get_subcommands({})) names.push_back(inner->get_name());
    const bool lacks_one = command->get_require_subcommand_min() > 0;
    if (!names.empty() && lacks_one && command->get_subcommands().empty())
      return "jobman " + command->get_name() + " has the commands " + base::Join(names, ", ");
  }
  const auto given = root.get_subcommands();
  return "jobman " + (given.empty() ? "" : given.front()->get_name() + " ") + "--help";
}

/// The command that was given last: `jobman config check` is `check`.
const CLI::App& GivenCommand(const CLI::App& root) {
  const CLI::App* command = &root;
  for (auto given = command->get_subcommands(); !given.empty(); given = command->get_subcommands())
    command = given.back();
  return *command;
}

/// "did you mean --follow?" for the first word that the command does not take; empty if nothing is
/// near.
std::string NearHint(const CLI::App& root) {
  const std::vector<std::string> extras = root.remaining(true);
  if (extras.empty()) return {};
  const CLI::App& command = GivenCommand(root);
  std::vector<std::string> known;
  for (const CLI::App* app : {&command, &root}) {
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* inner : command.get_subcommands({})) known.push_back(inner->get_name());
  const auto near = base::Nearest(extras.front().substr(0, extras.front().find('=')), known);
  return near ? "did you mean " + *near + "?" : std::string();
}

/// An argument that the command does not take.
std::string Unexpected(const std::string& argument) {
  if (argument.starts_with('-'))
    return "there is no option " + argument.substr(0, argument.find('='));
  return "the argument \"" + Unmarked(argument) + "\" is one too many";
}

/// What is wrong, in our words where CLI11 says only that something is missing, or too much.
std::string WhatIsWrong(const CLI::App& root, const CLI::ParseError& end) {
  const std::vector<std::string> extras = root.remaining(true);
  const bool missing = end.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const bool extra = end.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (extra && !extras.empty()) return Unexpected(extras.front());
  const CLI::App& command = GivenCommand(root);
  if (!missing || extras.empty() || command.get_subcommands({}).empty()) return end.what();
  if (extras.front().starts_with('-')) return "there is no option " + extras.front();
  return "there is no command \"" + command.get_name() + " " + Unmarked(extras.front()) + "\"";
}

bool HasWord(const std::vector<std::string>& args, const std::string& word) {
  return std::find(args.begin(), args.end(), word) != args.end();
}

/// `--workdir /data` in place of `--workdir=/data`.
bool HasFolderApart(const std::vector<std::string>& args) {
  const auto end = std::find(args.begin(), args.end(), "--");
  const auto option = std::find(args.begin(), end, "--workdir");
  if (option == end || option + 1 == end) return false;
  const std::string& next = *(option + 1);
  return next.starts_with('~') || next.starts_with('.') || base::Contains(next, "/");
}

/// The options of what exec runs look like its own.
bool MayLackSeparator(const CLI::App& root, const std::vector<std::string>& args) {
  return GivenCommand(root).get_name() == "exec" && !HasWord(args, "--");
}

constexpr const char* kSeparatorHint = "write -- before the command of the hosts";

/// One that exec would take from the command of the hosts, such as the -i of `sed -i`.
std::optional<base::Error> CheckSeparator(const CLI::App& root,
                                          const std::vector<std::string>& args) {
  if (!MayLackSeparator(root, args)) return std::nullopt;
  const auto words = GivenCommand(root)["CMD"]->results();
  const auto job =
      std::find(args.begin(), args.end(), GivenCommand(root)["JOB"]->results().front());
  if (words.empty() || job == args.end()) return std::nullopt;
  const auto option = std::find_if(
      std::find(job + 1, args.end(), words.front()), args.end(),
      [](const std::string& word) { return word.size() > 1 && word[0] == '-' && word[1] != '-'; });
  if (option == args.end()) return std::nullopt;
  return base::InvalidArgument(*option + " may be an option of jobman or of the command",
                               kSeparatorHint);
}

// Help and version go to stdout and succeed; everything else is a usage error.
int EndParsing(const CLI::App& root, const std::vector<std::string>& args,
               const CLI::ParseError& end, App& app) {
  std::ostringstream text;
  if (root.exit(end, text, text) == 0) {
    app.terminal().Out(WrapHelp(text.str(), app.terminal().out_style().width));
    return kSuccess;
  }
  std::string hint = NearHint(root);
  if (hint.empty() && HasFolderApart(args)) hint = "write the folder after =: --workdir=DIR";
  if (hint.empty() && MayLackSeparator(root, args) && !root.remaining(true).empty())
    hint = kSeparatorHint;
  if (hint.empty()) hint = UsageHint(root);
  return app.Fail(base::InvalidArgument(WhatIsWrong(root, end), hint));
}

/// Starts the program's own log, on stderr. A controller starts it again with more detail.
void StartTalk(const GlobalOptions& options) {
  base::StartLog({}, options.verbose ? base::LogLevel::kDebug : base::LogLevel::kWarn,
                 base::GetEnv("JOBMAN_TRACE").value_or(""));
}

int RunCommand(App& app, const Invocation& chosen) {
  StartTalk(app.options());
  base::Result<int> ended = chosen.run(app);
  return ended.ok() ? *ended : app.Fail(ended.error());
}

/// Those that the line may mean. To make all forty takes as long as some commands do.
std::vector<Command> CommandsFor(const std::vector<std::string>& args) {
  const auto all = Commands();
  const auto is = [](const auto& word) {
    return [&word](const Command& command) { return word == command.name; };
  };
  const auto word = CommandWord(args);
  if (!word || std::none_of(all.begin(), all.end(), is(*word))) return {all.begin(), all.end()};
  std::vector<Command> meant;
  for (const Command& command : all)
    if (std::find(args.begin(), args.end(), command.name) != args.end()) meant.push_back(command);
  return meant;
}

/// Adds the global options and the commands to `root`, which is empty.
void BuildCommandLine(CLI::App& root, const std::vector<std::string>& args, GlobalOptions& options,
                      Invocation& chosen) {
  root.name("jobman");
  root.description(
      "Runs jobs on Cloud TPU VMs: slices, setup, commands on every host, logs, retries.");
  root.footer(kFooter);
  root.formatter(HelpFormatter());
  root.require_subcommand(1);
  root.fallthrough();  // global options may follow the command, too
  AddGlobalOptions(root, options);
  for (const Command& command : CommandsFor(args)) command.add(root, chosen);
  AddFooters(root);
}

/// Answers a shell that asks for completions. The typed line may name another home folder.
void AnswerShell(const std::vector<std::string>& args, App& app, CLI::App& root) {
  const auto asked = std::find(args.begin(), args.end(), kCompleteCommand);
  const std::vector<std::string> words(asked + 1, args.end());
  std::vector<std::string> own(args.begin(), asked);
  const auto home = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "--home" || word.starts_with("--home=");
  });
  const auto count = home != words.end() && *home == "--home" ? 2 : 1;
  if (words.end() - home > count) own.assign(home, home + count);
  root.require_subcommand(0);
  root.parse(std::vector<std::string>(own.rbegin(), own.rend()));
  app.terminal().Out(Complete(app, root, words));
}

int ParseAndRun(const std::vector<std::string>& args, const Environment& environment,
                ui::Terminal& terminal, CLI::App& root, const GlobalOptions& options,
                const Invocation& chosen) {
  App app(environment, options, terminal);
  if (args.empty()) {
    terminal.Err(WrapHelp(root.help(), terminal.err_style().width));
    return kUsage;
  }
  if (CommandWord(args) == kManCommand) {
    terminal.Out(ManPage(root));
    return kSuccess;
  }
  const bool completes = CommandWord(args) == kCompleteCommand;
  const auto unknown = completes ? std::nullopt : CheckCommandWord(root, args);
  if (unknown) return app.Fail(*unknown);
  try {
    if (completes) {
      AnswerShell(args, app, root);
      return kSuccess;
    }
    const std::vector<std::string> marked = Marked(args);
    root.parse(std::vector<std::string>(marked.rbegin(), marked.rend()));
  } catch (const CLI::ParseError& end) {
    return EndParsing(root, args, end, app);
  }
  if (const auto unclear = CheckSeparator(root, args)) return app.Fail(*unclear);
  return RunCommand(app, chosen);
}

}  // namespace

int Run(const std::vector<std::string>& given, const Environment& environment) {
  const std::vector<std::string> args =
      HelpAsOption(given, CommandWord(given).value_or(std::string()));
  GlobalOptions options;
  Invocation chosen;
  CLI::App root;
  BuildCommandLine(root, args, options, chosen);
  TakeWholeWords(root);
  ui::Surroundings around = environment.around;
  around.colour_refused = HasFlag(args, "--no-color");
  // Read before the command line is parsed: parse errors are JSON, too.
  options.json = HasFlag(args, "--json");
  ui::Terminal terminal(ui::Decide(around), environment.out, environment.err);
  const int code = ParseAndRun(args, environment, terminal, root, options, chosen);
  terminal.Flush();
  if (terminal.out_error() == 0) return code;
  if (terminal.out_error() == EPIPE) return kReaderGone;
  options.json = false;  // stdout is what failed
  base::Error lost = base::FromErrno(terminal.out_error(), "writing to stdout");
  lost.hint = "its work may be done: see jobman list before you repeat it";
  App(environment, options, terminal).Fail(lost);
  return kOutputLost;
}

}  // namespace jobman::cli
