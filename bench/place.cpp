#include "bench/place.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "jobman/base/state_paths.hpp"

namespace jobman::bench {
namespace {

base::Path NewFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "jobman-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
}

}  // namespace

Place::Place(const Words& sim_options) : dir_(NewFolder()), bin_(base::SelfExe().parent_path()) {
  std::filesystem::create_directory(home());
  setenv("JOBMAN_HOME", home().c_str(), 1);
  unsetenv("JOBMAN_TRACE");
  Words up = {"up", "--detach"};
  up.insert(up.end(), sim_options.begin(), sim_options.end());
  try {
    Take(Sim(up));
    const auto file = base::ParseJson(base::ReadFile(home() / "sim/sim.json").value_or(""));
    if (!file.ok()) throw std::runtime_error("the simulator left no sim.json");
    simulator_ = static_cast<pid_t>(base::GetInt(*file, "pid"));
  } catch (...) {
    EndAll();
    throw;
  }
}

Place::~Place() {
  EndAll();
}

void Place::EndAll() {
  if (controller_ != 0) {
    kill(controller_, SIGTERM);
    waitpid(controller_, nullptr, 0);
  }
  if (!Works(Sim({"down"}))) std::fputs("the simulator did not end well\n", stderr);
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

void Place::StartController() {
  controller_ = Start(Jobman({"controller", "run"}), dir_ / "controller.log");
  Await("the controller to begin", [this] { return Works(Jobman({"controller", "status"})); });
  own_files_ = ExtentOf(controller_).files;
}

/// The simulator goes on breaking connections for a while, also new ones, once its verb has ended.
void Place::HangUp() const {
  constexpr int kFilesBeside = 16;  // libraries, connections to the cloud
  Take(Sim({"host", "*/*", "hangup"}));
  Await("the connections to hosts to end",
        [this] { return ExtentOf(controller_).files <= own_files_ + kFilesBeside; });
}

WithoutSharedSessions::WithoutSharedSessions(const Place& place)
    : socket_(base::StatePaths{.home = place.home()}.ShellSocket()) {
  std::filesystem::rename(socket_, socket_.string() + ".away");
}

WithoutSharedSessions::~WithoutSharedSessions() {
  std::error_code ignored;
  std::filesystem::rename(socket_.string() + ".away", socket_, ignored);
}

Words Place::Jobman(const Words& args) const {
  Words words = {(bin_ / "jobman").string()};
  words.insert(words.end(), args.begin(), args.end());
  return words;
}

Words Place::Sim(const Words& args) const {
  Words words = {(bin_ / "jobman-sim").string(), "--dir", (home() / "sim").string()};
  words.insert(words.end(), args.begin(), args.end());
  return words;
}

Cost Place::Take(const Words& argv) const {
  return Run(argv, dir_ / "output");
}

base::Json Place::Ask(const Words& args) const {
  Words words = Jobman({"--json"});
  words.insert(words.end(), args.begin(), args.end());
  Take(words);
  const auto json = base::ParseJson(base::ReadFile(dir_ / "output").value_or(""));
  if (!json.ok()) throw std::runtime_error("jobman printed no JSON: " + json.error().ToString());
  return *json;
}

std::string Place::Write(const std::string& name, const std::string& text) const {
  const base::Path file = dir_ / name;
  const auto written = base::WriteFileAtomic(file, text);
  if (!written.ok()) throw std::runtime_error(written.error().ToString());
  return file.string();
}

Hosts HostsOf(const Place& place, const std::string& job) {
  const base::Json shown = place.Ask({"show", job})["jobs"][0];
  const auto sim = base::ParseJson(base::ReadFile(place.home() / "sim/sim.json").value_or(""));
  const base::Json& ssh = shown["spec"]["ssh"];
  Hosts hosts{.port = static_cast<int>(base::GetInt(*sim, "ssh_port")),
              .user = base::GetString(ssh, "user"),
              .private_key = base::GetString(ssh, "private_key")};
  hosts.client = fmt::format(
      "ssh -n -F /dev/null -i {} -p {} -l {} -o BatchMode=yes -o StrictHostKeyChecking=no "
      "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
      hosts.private_key, hosts.port, hosts.user);
  for (const base::Json& host : shown["slice"]["hosts"])
    hosts.addresses.push_back(base::GetString(host, "external"));
  return hosts;
}

bool IsUpEverywhere(const Place& place, const std::string& job) {
  const base::Json shown = place.Ask({"show", job})["jobs"][0];
  if (base::GetString(shown, "state") != "RUNNING") return false;
  for (const base::Json& host : shown["stage"]["hosts"])
    if (base::GetString(host, "phase") != "running") return false;
  return true;
}

}  // namespace jobman::bench
