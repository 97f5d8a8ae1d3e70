#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <string>
#include <thread>

#include "jobman/base/strings.hpp"
#include "sim/control.hpp"
#include "sim/host_server.hpp"
#include "sim/report.hpp"
#include "sim/spawn.hpp"
#include "sim/up.hpp"

namespace jobman::sim {
namespace {

constexpr int kNotFound = 3;

int Fail(const base::Error& error) {
  std::cerr << "jobman-sim: " << error.ToString() << "\n";
  if (!error.hint.empty()) std::cerr << "  " << error.hint << "\n";
  return error.code == base::Code::kNotFound ? kNotFound : 1;
}

/// Sends one control request to the simulator of `dir` and prints nothing when it went well.
int Order(const base::Path& dir, const std::string& what, const Json& body) {
  const auto file = FindRunning(dir);
  if (!file.ok()) return Fail(file.error());
  const auto reply = Ask(*file, "POST", what, body);
  if (!reply.ok()) return Fail(reply.error());
  return 0;
}

int RunStatus(const base::Path& dir, bool json) {
  const auto file = FindRunning(dir);
  if (!file.ok()) return Fail(file.error());
  const auto status = Ask(*file, "GET", "status");
  if (!status.ok()) return Fail(status.error());
  std::cout << (json ? status->dump(2) + "\n" : StatusText(*status));
  return 0;
}

int RunDown(const base::Path& dir) {
  const auto file = FindRunning(dir);
  if (!file.ok()) {
    std::cout << "no simulator runs in " << dir.string() << "\n";
    (void)base::RemoveAll(SimFilePath(dir)).ok();
    return 0;  // safe to repeat
  }
  const auto report = Ask(*file, "POST", "shutdown");
  if (!report.ok()) return Fail(report.error());
  for (int i = 0; i < 1000 && IsAlive(file->pid); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::cout << LeakReport(*report);
  return 0;
}

int RunHost(const base::Path& dir, const std::string& host, const std::string& action) {
  const auto slash = host.rfind('/');
  const auto index =
      slash == std::string::npos ? std::nullopt : base::ParseNumber(host.substr(slash + 1));
  if (!index) return Fail(base::InvalidArgument("\"" + host + "\" is not NODE/INDEX"));
  return Order(dir, "host",
               {{"node", host.substr(0, slash)}, {"index", *index}, {"action", action}});
}

int RunSet(const base::Path& dir, const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    const auto patch = SettingPatch(assignment);
    if (!patch.ok()) return Fail(patch.error());
    if (const int failed = Order(dir, "settings", *patch); failed != 0) return failed;
  }
  return 0;
}

int RunRequests(const base::Path& dir) {
  const auto file = FindRunning(dir);
  if (!file.ok()) return Fail(file.error());
  const auto log = Ask(*file, "GET", "requests");
  if (!log.ok()) return Fail(log.error());
  std::cout << log->dump(2) << "\n";
  return 0;
}

/// What the command line holds, filled in by CLI11.
struct Arguments {
  std::string dir = DefaultSimDir().string();
  UpOptions up = {};
  std::map<std::string, std::string> delays = {};
  std::string token = {};
  std::string node = {};
  std::string host = {};
  std::string action = {};
  std::string method = {};
  std::string error = {};
  std::vector<std::string> assignments = {};
  int times = 1;
  int port = 0;
  bool json = false;
  bool force = false;
};

CLI::App* AddUp(CLI::App& app, Arguments& args) {
  CLI::App* up = app.add_subcommand("up", "Serve until SIGTERM or `down`");
  up->add_flag("--detach", args.up.detach, "Serve in the background; return when it answers");
  up->add_option("--port", args.up.port, "Port of the API on 127.0.0.1 (0: any free one)");
  up->add_option("--ssh-port", args.up.ssh_port, "Port of all hosts (0: any free one)");
  up->add_flag("--light", args.up.light, "Hosts without processes of their own, for many of them");
  up->add_flag("--no-sandbox", args.up.no_sandbox, "Do not use bubblewrap");
  up->add_option("--settings", args.up.settings_file, "JSON file of settings");
  up->add_option("--set", args.up.settings, "One setting, KEY=VALUE; may be repeated");
  up->add_option("--share", args.up.shared, "Folder that all hosts see and may write to");
  up->add_option("--token", args.token, "The bearer token that requests must carry");
  up->add_flag("--json", args.up.json, "Print what sim.json holds");
  up->add_option("--delays", args.delays[""], "All delays at once, such as 0 or 2s");
  for (const char* name : {"accept", "queue", "provision", "create", "delete", "suspend", "start",
                           "stop", "update", "reset"}) {
    up->add_option("--delay-" + std::string(name), args.delays[name], "Such as 250ms or 2s");
  }
  return up;
}

int Up(Arguments& args) {
  args.up.dir = args.dir;
  // The map begins with the empty name: a single delay overrides all of them.
  std::vector<std::string> settings;
  for (const auto& [name, delay] : args.delays) {
    if (!delay.empty())
      settings.push_back((name.empty() ? "delays=" : "delays." + name + "=") + delay);
  }
  settings.insert(settings.end(), args.up.settings.begin(), args.up.settings.end());
  args.up.settings = std::move(settings);
  if (!args.token.empty()) args.up.settings.push_back("token=" + args.token);
  return RunUp(args.up);
}

int Main(int argc, char** argv) {
  CLI::App app("A Cloud TPU service on this machine, with real SSH hosts", "jobman-sim");
  Arguments args;
  app.add_option("--dir", args.dir, "Where its state is (JOBMAN_SIM_DIR)")->capture_default_str();
  app.require_subcommand(1);
  app.fallthrough();
  const CLI::App* up = AddUp(app, args);
  const CLI::App* down = app.add_subcommand("down", "End it, and report what was left");
  CLI::App* status = app.add_subcommand("status", "Nodes, queued resources and hosts");
  status->add_flag("--json", args.json, "As JSON");
  CLI::App* preempt = app.add_subcommand("preempt", "Take a spot node or queued resource away");
  preempt->add_option("node", args.node, "Its id, or its full name")->required();
  preempt->add_flag("--force", args.force, "Also when it is on demand");
  CLI::App* reboot = app.add_subcommand("reboot", "Restart the machines of a node");
  reboot->add_option("node", args.node, "Its id, or its full name")->required();
  CLI::App* host = app.add_subcommand("host", "Do something to one host");
  host->add_option("host", args.host, "NODE/INDEX")->required();
  host->add_option("action", args.action, "kill")->required();
  CLI::App* set = app.add_subcommand("set", "Change settings while it runs");
  set->add_option("setting", args.assignments, "KEY=VALUE, such as stock.us-central2-b/v4=16")
      ->required();
  CLI::App* fault = app.add_subcommand("fault", "Let the next calls of a method go wrong");
  fault->add_option("method", args.method, "Such as nodes.create; * and ? as in a shell")
      ->required();
  fault->add_option("error", args.error, "Such as unavailable, stockout, drop_reply")->required();
  fault->add_option("--times", args.times, "How many calls")->capture_default_str();
  const CLI::App* requests = app.add_subcommand("requests", "What was asked since the start");
  CLI::App* serve = app.add_subcommand("serve-hosts", "")->group("");
  serve->add_option("dir", args.host)->required();
  serve->add_option("port", args.port)->required();

  CLI11_PARSE(app, argc, argv);
  const base::Path dir = base::ExpandHome(args.dir);
  args.dir = dir.string();
  if (up->parsed()) return Up(args);
  if (down->parsed()) return RunDown(dir);
  if (status->parsed()) return RunStatus(dir, args.json);
  if (preempt->parsed()) return Order(dir, "preempt", {{"node", args.node}, {"force", args.force}});
  if (reboot->parsed()) return Order(dir, "node", {{"node", args.node}, {"reboot", true}});
  if (host->parsed()) return RunHost(dir, args.host, args.action);
  if (set->parsed()) return RunSet(dir, args.assignments);
  if (fault->parsed()) {
    return Order(dir, "faults",
                 {{"method", args.method}, {"error", args.error}, {"times", args.times}});
  }
  if (requests->parsed()) return RunRequests(dir);
  if (serve->parsed()) return HostServer(args.host, args.port).Run();
  return 2;
}

}  // namespace
}  // namespace jobman::sim

int main(int argc, char** argv) {
  try {
    return jobman::sim::Main(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "jobman-sim: internal error, please report: " << failure.what() << "\n";
    return 70;
  }
}
