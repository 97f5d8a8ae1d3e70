#include "sim/command/up.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include "jobman/base/clock.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "sim/command/client.hpp"
#include "sim/command/report.hpp"
#include "sim/command/screen.hpp"
#include "sim/hosts/fuse.hpp"
#include "sim/hosts/metadata_server.hpp"
#include "sim/service/simulator.hpp"
#include "sim/wire/http_server.hpp"
#include "sim/wire/tcp_port.hpp"

namespace jobman::sim {

namespace {

constexpr int kTokenBytes = 32;
constexpr auto kStartLimit = std::chrono::seconds(30);
constexpr auto kLookForOther = std::chrono::milliseconds(20);

int UpFails(const base::Error& error) {
  PrintError(error);
  return 1;
}

void Announce(const UpOptions& options, const SimFile& file, const char* what) {
  if (options.json) {
    std::cout << ToJson(file).dump() << std::endl;
    return;
  }
  const std::string text =
      fmt::format("jobman-sim {}: {} (process {}, hosts on port {}, sandbox {})\n", what,
                  file.endpoint, file.pid, file.ssh_port, file.sandbox);
  std::cout << FitLines(text, ColumnsOf(STDOUT_FILENO)) << std::flush;
}

base::Result<Settings> ReadSettings(const UpOptions& options) {
  Settings settings;
  if (!options.settings_file.empty()) {
    JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(options.settings_file));
    const auto json = ParseJson(text);
    if (!json) return base::InvalidArgument(options.settings_file + " is not JSON");
    if (auto applied = ApplySettings(settings, *json); !applied.ok()) {
      return std::move(applied).error().With(options.settings_file);
    }
  }
  for (const std::string& assignment : options.settings) {
    JM_ASSIGN_OR_RETURN(const Json patch, SettingPatch(assignment));
    JM_TRY(ApplySettings(settings, patch));
  }
  return settings;
}

Sandbox ChooseSandbox(const UpOptions& options) {
  if (options.light) return Sandbox::kLight;
  if (options.no_sandbox) return Sandbox::kNone;
  const base::Status possible = TryBubblewrap();
  if (possible.ok()) return Sandbox::kBubblewrap;
  std::cerr << "jobman-sim: " << possible.error().ToString()
            << "; hosts are plain processes of this machine\n";
  return Sandbox::kNone;
}

std::string AccountName() {
  const passwd* account = getpwuid(geteuid());
  return account == nullptr ? "" : account->pw_name;
}

/// A running simulator with its servers.
struct Server {
  HeldPort ssh_port = {};
  std::unique_ptr<MetadataServer> metadata = {};
  std::unique_ptr<Simulator> simulator = {};
  std::unique_ptr<HttpServer> http = {};
  SimFile file = {};
};

Reply Serve(Server& server, const Request& request) {
  if (request.path == "/sim/shutdown" && request.method == "POST") {
    Reply reply{.body = server.simulator->Shutdown()};
    kill(getpid(), SIGTERM);
    return reply;
  }
  Reply reply = server.simulator->Handle(request);
  if (request.path == "/sim/status") reply.body.update(ToJson(server.file));
  return reply;
}

/// Null if the kernel does not allow listening on the loopback device alone.
std::unique_ptr<MetadataServer> BindMetadata() {
  auto bound = MetadataServer::Bind();
  if (bound.ok()) return std::move(bound).value();
  std::cerr << "jobman-sim: " << bound.error().ToString() << "; hosts have no metadata server\n";
  return nullptr;
}

void ServeMetadata(Server& server) {
  Simulator* simulator = server.simulator.get();
  MetadataServer* metadata = server.metadata.get();
  simulator->OnGuestChange([metadata] { metadata->Wake(); });
  const auto is_own = [simulator](const std::string& address, const Peer& peer) {
    return simulator->IsOwn(address, peer);
  };
  metadata->Serve(is_own, [simulator](const std::string& address, const GuestRequest& request) {
    return simulator->Guest(address, request);
  });
}

/// Hosts must not see the folder with the token and with the disks of other hosts.
base::Status CheckHidden(const base::Path& dir, const base::Path& folder) {
  const base::Path within = dir.lexically_relative(folder);
  if (within.empty() || *within.begin() == "..") return base::Ok();
  return base::InvalidArgument(
      "hosts would see the simulator's own folder " + dir.string() + " in " + folder.string(),
      "share a folder beside it, or choose another with --dir");
}

base::Status AddFolders(const UpOptions& options, FleetOptions& fleet) {
  if (!options.homes.empty()) {
    fleet.homes = std::filesystem::weakly_canonical(std::filesystem::absolute(options.homes));
    JM_TRY(CheckHidden(options.dir, fleet.homes));
  }
  for (const std::string& folder : options.shared) {
    std::error_code failed;
    fleet.shared.push_back(std::filesystem::canonical(folder, failed));
    if (failed) return base::NotFound("--share " + folder + ": " + failed.message());
    JM_TRY(CheckHidden(options.dir, fleet.shared.back()));
  }
  return base::Ok();
}

base::Status StartServer(const UpOptions& options, Server& server) {
  JM_ASSIGN_OR_RETURN(Settings settings, ReadSettings(options));
  JM_ASSIGN_OR_RETURN(server.ssh_port, HoldPort(options.ssh_port));
  server.metadata = BindMetadata();
  FleetOptions fleet{.dir = options.dir,
                     .ssh_port = server.ssh_port.port,
                     .metadata_port = server.metadata ? server.metadata->port() : 0,
                     .sandbox = ChooseSandbox(options),
                     .self = base::SelfExe(),
                     .docker = options.docker};
  fleet.fuse = options.fuse;
  if (options.backlog > 0 && fleet.sandbox == Sandbox::kBubblewrap) {
    return base::InvalidArgument("--backlog is for hosts without a sandbox", "add --light");
  }
  if (options.backlog > 0) fleet.backlog = options.backlog;
  fleet.scripts = fleet.sandbox == Sandbox::kBubblewrap || options.light || options.no_sandbox;
  JM_TRY(AddFolders(options, fleet));
  server.file = {.pid = getpid(),
                 .ssh_port = server.ssh_port.port,
                 .metadata_port = fleet.metadata_port,
                 .sandbox = SandboxName(fleet.sandbox),
                 .user = fleet.sandbox == Sandbox::kBubblewrap ? "" : AccountName(),
                 .started = base::FormatRfc3339(base::SystemClock().Now()),
                 .token = options.token.empty() ? base::RandomHex(kTokenBytes) : options.token};
  JM_ASSIGN_OR_RETURN(server.simulator, Simulator::Start(std::move(settings), std::move(fleet)));
  if (server.metadata) ServeMetadata(server);
  JM_ASSIGN_OR_RETURN(server.http, HttpServer::Bind(options.port));
  server.file.endpoint = fmt::format("http://127.0.0.1:{}", server.http->port());
  server.simulator->OnUnplug([http = server.http.get()](Duration time) { http->Unplug(time); });
  server.http->Serve(Gate(server.file.token),
                     [&server](const Request& request) { return Serve(server, request); });
  if (!options.script.empty()) {
    const Reply begun = server.simulator->Handle(
        {.method = "POST", .path = "/sim/script", .body = options.script.dump()});
    if (begun.status != 200) return base::Internal(begun.body.dump());
  }
  return WriteSimFile(options.dir, server.file);
}

/// Serves in this process until told to end.
int ServeHere(const UpOptions& options, base::UniqueFd lock) {
  for (const char* stale : {"sim.json", "token", "hosts", "logs"}) {
    if (auto gone = base::RemoveAll(options.dir / stale); !gone.ok()) return UpFails(gone.error());
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, stop);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);  // before there are threads, so that all inherit it
  signal(SIGPIPE, SIG_IGN);

  // Detached threads of open connections use it until the process ends.
  auto* server = new Server;
  if (auto started = StartServer(options, *server); !started.ok()) {
    return UpFails(started.error());
  }
  Announce(options, server->file, "serves");
  std::error_code ignored;
  std::filesystem::current_path("/", ignored);  // keeps no folder busy

  int signal_number = 0;
  sigwait(&stops, &signal_number);
  const Json report = server->simulator->Shutdown();
  RemoveSimFile(options.dir);
  (void)base::RemoveAll(options.dir / "hosts").ok();
  std::cout << (options.json ? report.dump() + "\n"
                             : FitLines(LeakReport(report), ColumnsOf(STDOUT_FILENO)))
            << std::flush;
  // Lets the answer to a shutdown request go out, then exits without destructors.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  lock.Reset();
  std::_Exit(0);
}

/// Starts this program again as a daemon and waits until it answers.
int ServeDetached(const UpOptions& options, base::UniqueFd lock) {
  const base::Path log = options.dir / "sim.log";
  if (auto gone = base::RemoveAll(log); !gone.ok()) return UpFails(gone.error());
  RemoveSimFile(options.dir);  // of an earlier one
  lock.Reset();                // the daemon takes it
  std::vector<std::string> argv = options.argv;
  argv[0] = base::SelfExe();
  argv.emplace_back("--attached");
  const auto daemon = base::StartDaemon(std::move(argv), log);
  if (!daemon.ok()) return UpFails(daemon.error());
  const auto serves = [&]() -> base::Result<bool> { return FindRunning(options.dir).ok(); };
  asio::io_context loop;
  const auto ready = base::RunTask(loop, base::AwaitReady(*daemon, serves, kStartLimit));
  if (ready.value_or(false)) {
    const auto file = ReadSimFile(options.dir);
    if (!file.ok()) return UpFails(file.error());
    Announce(options, *file, "serves");
    return 0;
  }
  if (!base::HasEnded(*daemon)) kill(*daemon, SIGTERM);
  std::cerr << "jobman-sim did not start; " << log.string() << " says:\n"
            << base::ReadFile(log).value_or("");
  return 1;
}

/// Another process holds the lock: it serves or is about to.
int AwaitOther(const UpOptions& options) {
  const auto deadline = std::chrono::steady_clock::now() + kStartLimit;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto file = FindRunning(options.dir);
    if (file.ok()) {
      Announce(options, *file, "serves already");
      if (options.given.empty()) return 0;
      return UpFails(
          {.code = base::Code::kFailedPrecondition,
           .message = base::Join(options.given, ", ") + ": ignored, since it serves already",
           .hint = "jobman-sim down ends it; jobman-sim set changes settings while it serves"});
    }
    if (file.error().code == base::Code::kPermissionDenied) return UpFails(file.error());
    if (TryLock(options.dir)) return RunUp(options);
    std::this_thread::sleep_for(kLookForOther);
  }
  return UpFails(
      {.code = base::Code::kUnavailable,
       .message = "another simulator holds " + options.dir.string() + " and does not answer",
       .hint = "see sim.log there"});
}

}  // namespace

int RunUp(const UpOptions& given) {
  UpOptions options = given;
  if (auto made = base::EnsureDir(options.dir); !made.ok()) return UpFails(made.error());
  std::error_code failed;
  options.dir = std::filesystem::canonical(options.dir, failed);
  if (auto ours = CheckSimDir(options.dir); !ours.ok()) return UpFails(ours.error());
  base::UniqueFd lock = TryLock(options.dir);
  if (!lock) return AwaitOther(options);
  if (options.fuse) {
    if (auto possible = CheckFuse(); !possible.ok()) return UpFails(possible.error());
  }
  if (!options.socket.empty()) {
    auto docker = FindDocker(options.socket);
    if (!docker.ok()) return UpFails(docker.error());
    options.docker = std::move(docker).value();
  }
  return options.detach ? ServeDetached(options, std::move(lock))
                        : ServeHere(options, std::move(lock));
}

}  // namespace jobman::sim
