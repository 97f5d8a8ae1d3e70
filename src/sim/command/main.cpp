#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "jobman/base/strings.hpp"
#include "sim/command/client.hpp"
#include "sim/command/completion.hpp"
#include "sim/command/report.hpp"
#include "sim/command/run_faults.hpp"
#include "sim/command/screen.hpp"
#include "sim/command/up.hpp"
#include "sim/command/verb_words.hpp"
#include "sim/faults/storm.hpp"
#include "sim/hosts/docker.hpp"
#include "sim/hosts/fault_front.hpp"
#include "sim/hosts/host_server.hpp"
#include "sim/hosts/local_fleet.hpp"
#include "sim/hosts/processes.hpp"

namespace jobman::sim {
namespace {

void Print(const std::string& text) {
  std::cout << FitLines(text, ColumnsOf(STDOUT_FILENO));
}

/// Prints the answer of GET /sim/WHAT.
int RunGet(const base::Path& dir, const std::string& what, bool json) {
  const auto file = FindRunning(dir);
  if (!file.ok()) return ExitWith(file.error());
  const auto reply = Ask(*file, "GET", what);
  if (!reply.ok()) return ExitWith(reply.error());
  if (json) {
    std::cout << reply->dump(2) << "\n";
  } else {
    Print(StatusText(*reply));
  }
  return 0;
}

void AwaitEnd(const SimFile& file) {
  constexpr auto kLook = std::chrono::milliseconds(5);
  constexpr int kLooks = 1000;
  for (int i = 0; i < kLooks && IsAlive(file.pid); ++i) std::this_thread::sleep_for(kLook);
}

/// Whether the process is one of the folder's user: sim.json could name any.
bool BelongsToOwnerOf(const base::Path& dir, int pid) {
  struct stat folder {};
  struct stat process {};
  return stat(dir.c_str(), &folder) == 0 &&
         stat(("/proc/" + std::to_string(pid)).c_str(), &process) == 0 &&
         folder.st_uid == process.st_uid;
}

/// No simulator, or its API is unplugged; then a signal ends it.
int EndUnreachable(const base::Path& dir, bool json) {
  const auto file = ReadSimFile(dir);
  if (file.ok() && IsHeld(dir) && BelongsToOwnerOf(dir, file->pid)) {
    kill(file->pid, SIGTERM);
    AwaitEnd(*file);
    std::cerr << "jobman-sim: it was not reachable; its report is in " << (dir / "sim.log").string()
              << ", or where `up` prints\n";
    return 0;
  }
  std::cout << (json ? "{}\n" : "no simulator runs in " + dir.string() + "\n");
  RemoveSimFile(dir);
  return 0;  // safe to repeat
}

int RunDown(const base::Path& dir, bool json) {
  const auto file = FindRunning(dir);
  if (!file.ok()) return EndUnreachable(dir, json);
  const auto report = Ask(*file, "POST", "shutdown");
  if (!report.ok()) return ExitWith(report.error());
  AwaitEnd(*file);
  if (json) {
    std::cout << report->dump(2) << "\n";
  } else {
    Print(LeakReport(*report));
  }
  return 0;
}

/// The command line, filled in by CLI11.
struct Arguments {
  std::string dir = DefaultSimDir().string();
  UpOptions up = {};
  std::map<std::string, std::string> delays = {};
  std::string script = {};
  StormOptions storm = {};
  std::vector<Order> orders = {};
  std::string shell = {};
  std::string served = {};
  int port = 0;
  int backlog = kSshdBacklog;
  std::string fault = {};
  std::int64_t late = 0;
  std::vector<std::string> sshd = {};
  bool attached = false;
  bool json = false;
  bool detach = false;
};

CLI::App* AddUp(CLI::App& app, Arguments& args) {
  CLI::App* up = app.add_subcommand("up", "Serve until SIGTERM or `down`");
  up->add_flag("--detach", args.up.detach, "Serve in the background; return when it answers");
  up->add_flag("--attached", args.attached)->group("");  // passed to the daemon
  up->add_option("--port", args.up.port, "Port of the API on 127.0.0.1 (0: any free one)");
  up->add_option("--ssh-port", args.up.ssh_port, "Port of all hosts (0: any free one)");
  CLI::Option* light =
      up->add_flag("--light", args.up.light, "Hosts without processes while idle, for many hosts");
  CLI::Option* no_sandbox =
      up->add_flag("--no-sandbox", args.up.no_sandbox, "Do not use bubblewrap");
  up->add_option("--backlog", args.up.backlog,
                 "Connections that may wait at each address of a host (128); without a sandbox")
      ->check(CLI::Range(1, 4096));
  up->add_option("--settings", args.up.settings_file, "JSON file of settings")->type_name("FILE");
  up->add_option("--set", args.up.settings, "One setting; may be repeated")->type_name("KEY=VALUE");
  up->add_option("--share", args.up.shared, "Folder that all hosts can read and write")
      ->type_name("DIR");
  up->add_option("--homes", args.up.homes, "Folder for the homes of all hosts, as over NFS")
      ->type_name("DIR");
  up->add_flag("--fuse", args.up.fuse, "Hosts may mount FUSE file systems, as gcsfuse does")
      ->excludes(light)
      ->excludes(no_sandbox);
  up->add_option("--docker", args.up.socket,
                 "Socket of a docker daemon that hosts may use, and with it all of this machine")
      ->expected(0, 1)
      ->type_name("[SOCKET]")
      ->default_str(kDockerSocket);
  up->add_option("--script", args.script, "Script of faults: lines of \"T COMMAND ARGS\"")
      ->type_name("FILE");
  up->add_option("--token", args.up.token,
                 "The bearer token that requests must carry (default: a new random one)");
  up->add_flag("--json", args.up.json, "Print the content of sim.json, without the token");
  up->add_option("--delays", args.delays[""], "All delays at once, such as 0 or 2s")
      ->check(IsDuration());
  for (const char* name : {"accept", "queue", "provision", "create", "delete", "suspend", "start",
                           "stop", "update", "reset"}) {
    up->add_option("--delay-" + std::string(name), args.delays[name], "Such as 250ms or 2s")
        ->check(IsDuration());
  }
  return up;
}

/// What was given of the options that make a simulator what it is.
std::vector<std::string> MakingOptions(const CLI::App& up) {
  std::vector<std::string> given;
  for (const CLI::Option* option : up.get_options()) {
    const std::string name = option->get_name();
    const bool asks = name == "--detach" || name == "--json" || name == "--attached";
    if (option->count() > 0 && !asks) given.push_back(name);
  }
  return given;
}

/// Other users can read the arguments of a process, but not its memory.
void Conceal(const std::string& secret, int argc, char** argv) {
  for (int i = 1; i < argc && !secret.empty(); ++i) {
    if (char* at = std::strstr(argv[i], secret.c_str())) std::memset(at, '*', secret.size());
  }
}

int Up(Arguments& args) {
  args.up.dir = args.dir;
  args.up.detach = args.up.detach && !args.attached;
  // The empty name comes first, so a single delay overrides the common one.
  std::vector<std::string> settings;
  for (const auto& [name, delay] : args.delays) {
    if (!delay.empty())
      settings.push_back((name.empty() ? "delays=" : "delays." + name + "=") + delay);
  }
  settings.insert(settings.end(), args.up.settings.begin(), args.up.settings.end());
  args.up.settings = std::move(settings);
  if (!args.script.empty()) {
    const auto text = base::ReadFile(args.script);
    if (!text.ok()) return ExitWith(text.error());
    auto body = ParseScript(args.script, *text);
    if (!body.ok()) return ExitWith(body.error());
    args.up.script = std::move(body).value();
  }
  return RunUp(args.up);
}

int ServeFault(const Arguments& args) {
  const HostFault fault{.kind = HostFaultNamed(args.fault).value_or(HostFaultKind::kNone),
                        .late = Duration{args.late}};
  return RunFaultFront(fault, args.served, args.sshd);
}

CLI::App* AddStorm(CLI::App& app, Arguments& args) {
  CLI::App* storm = app.add_subcommand("storm", "Random faults, printed as lines of a script");
  storm->add_option("--seed", args.storm.seed, "Determines times and choices")
      ->capture_default_str();
  storm->add_option("--rate", args.storm.rate, "Faults a minute")->capture_default_str();
  storm->add_option("--for", args.storm.time, "How long (default: until interrupted)")
      ->check(IsDuration());
  storm->add_option("--only", args.storm.only, "Kinds, of: " + base::Join(StormKinds(), ", "))
      ->type_name("KIND,...")
      ->delimiter(',');
  return storm;
}

/// A word that is no command, of which CLI11 says only that a command is required.
std::optional<base::Error> CheckCommandWord(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty() || extras.front().starts_with('-') || !app.get_subcommands().empty())
    return std::nullopt;
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) known.push_back(command->get_name());
  const auto near = base::Nearest(extras.front(), known);
  return base::InvalidArgument(
      "there is no command \"" + extras.front() + "\"",
      near ? "did you mean " + *near + "?" : "jobman-sim --help lists the commands");
}

/// Says what the command line lacks, or its help; the code to exit with.
int EndParsing(const CLI::App& app, const CLI::ParseError& end) {
  constexpr int kUsage = 2;  // as of jobman
  std::ostringstream out;
  std::ostringstream err;
  const bool asked = app.exit(end, out, err) == 0;
  const auto misspelt = asked ? std::nullopt : CheckCommandWord(app);
  if (misspelt) {
    PrintError(*misspelt);
  } else {
    Print(out.str());
    std::cerr << FitLines(err.str(), ColumnsOf(STDERR_FILENO));
  }
  return asked ? 0 : kUsage;
}

/// Answers a shell that asks for completions; false if none does.
bool AnswerShell(const CLI::App& app, std::vector<std::string> words) {
  const auto asked = std::find(words.begin(), words.end(), kCompleteCommand);
  if (asked == words.end()) return false;
  words.erase(asked);
  const auto look = [](const std::string& dir) {
    return StatusAtOnce(dir.empty() ? DefaultSimDir() : base::ExpandHome(dir));
  };
  std::cout << Complete(app, std::move(words), look);
  return true;
}

int Main(int argc, char** argv) {
  CLI::App app("A Cloud TPU service on this machine, with real SSH hosts", "jobman-sim");
  Arguments args;
  args.up.argv = {argv, argv + argc};
  app.add_option("--dir", args.dir, "Folder of its state (JOBMAN_SIM_DIR)")
      ->type_name("DIR")
      ->capture_default_str();
  app.require_subcommand(1);
  app.fallthrough();
  const CLI::App* up = AddUp(app, args);
  CLI::App* down = app.add_subcommand("down", "Stop the simulator and print what is left");
  CLI::App* status = app.add_subcommand("status", "Nodes, queued resources and hosts");
  for (CLI::App* shows : {down, status}) shows->add_flag("--json", args.json, "As JSON");
  const CLI::App* requests = app.add_subcommand("requests", "The requests since the start");
  const CLI::App* storm = AddStorm(app, args);
  CLI::App* script = app.add_subcommand("script", "Faults at given times");
  script->add_option("file", args.script, "Lines of \"T COMMAND ARGS\"")
      ->type_name("FILE")
      ->required();
  script->add_flag("--detach", args.detach, "Do not wait for its end");
  AddVerbs(app, args.orders);
  CLI::App* completion = app.add_subcommand("completion", "A completion script for a shell");
  completion->add_option("SHELL", args.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  CLI::App* serve = app.add_subcommand("serve-hosts", "")->group("");
  serve->add_option("dir", args.served)->required();
  serve->add_option("port", args.port)->required();
  serve->add_option("backlog", args.backlog);
  CLI::App* front = app.add_subcommand("serve-fault", "")->group("");
  front->add_option("fault", args.fault)->required();
  front->add_option("late", args.late)->required();
  front->add_option("log", args.served)->required();
  front->add_option("sshd", args.sshd)->required();

  if (AnswerShell(app, {argv + 1, argv + argc})) return 0;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return EndParsing(app, end);
  }
  if (completion->parsed()) {
    std::cout << CompletionScript(args.shell);
    return 0;
  }
  const base::Path dir = base::ExpandHome(args.dir);
  args.dir = dir.string();
  Conceal(args.up.token, argc, argv);
  args.up.given = MakingOptions(*up);
  if (up->parsed()) return Up(args);
  if (down->parsed()) return RunDown(dir, args.json);
  if (status->parsed()) return RunGet(dir, "status", args.json);
  if (requests->parsed()) return RunGet(dir, "requests", true);
  if (storm->parsed()) return RunStorm(dir, args.storm);
  if (script->parsed()) return RunScript(dir, args.script, args.detach);
  if (serve->parsed()) return HostServer(args.served, args.port, args.backlog).Run();
  if (front->parsed()) return ServeFault(args);
  return RunOrders(dir, args.orders);
}

}  // namespace
}  // namespace jobman::sim

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "jobman-sim");  // not that of the tarball's loader, see base::SelfExe()
  try {
    return jobman::sim::Main(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "jobman-sim: internal error, please report: " << failure.what() << "\n";
    return 70;
  }
}
