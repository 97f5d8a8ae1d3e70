#include "sim/up.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include "jobman/base/clock.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"
#include "sim/control.hpp"
#include "sim/http_server.hpp"
#include "sim/metadata_server.hpp"
#include "sim/ports.hpp"
#include "sim/report.hpp"
#include "sim/simulator.hpp"

namespace jobman::sim {

namespace {

constexpr auto kOtherStarts = std::chrono::seconds(30);  ///< how long another start may take

int Fail(const base::Error& error) {
  std::cerr << "jobman-sim: " << error.ToString() << "\n";
  if (!error.hint.empty()) std::cerr << "  " << error.hint << "\n";
  return 1;
}

void Announce(const UpOptions& options, const SimFile& file, const char* what) {
  if (options.json) {
    std::cout << ToJson(file).dump() << std::endl;
    return;
  }
  std::cout << fmt::format("jobman-sim {}: {} (process {}, hosts on port {}, sandbox {})\n", what,
                           file.endpoint, file.pid, file.ssh_port, file.sandbox)
            << std::flush;
}

base::Result<Settings> ReadSettings(const UpOptions& options) {
  Settings settings;
  if (!options.settings_file.empty()) {
    JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(options.settings_file));
    const auto json = ParseBody(text);
    if (!json) return base::InvalidArgument(options.settings_file + " is no JSON");
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

/// A server that runs, and what it runs with.
struct Service {
  HeldPort ssh_port = {};
  std::unique_ptr<MetadataServer> metadata = {};
  std::unique_ptr<Simulator> simulator = {};
  std::unique_ptr<HttpServer> server = {};
  SimFile file = {};
};

Reply Serve(Service& service, const Request& request) {
  if (request.path == "/sim/shutdown" && request.method == "POST") {
    Reply reply{.body = service.simulator->Shutdown()};
    kill(getpid(), SIGTERM);
    return reply;
  }
  Reply reply = service.simulator->Handle(request);
  if (request.path == "/sim/status") reply.body.update(ToJson(service.file));
  return reply;
}

/// Nothing where the kernel does not let us listen on the loopback device alone.
std::unique_ptr<MetadataServer> BindMetadata() {
  auto bound = MetadataServer::Bind();
  if (bound.ok()) return std::move(bound).value();
  std::cerr << "jobman-sim: " << bound.error().ToString() << "; hosts have no metadata server\n";
  return nullptr;
}

void ServeMetadata(Service& service) {
  Simulator* simulator = service.simulator.get();
  MetadataServer* metadata = service.metadata.get();
  simulator->OnGuestChange([metadata] { metadata->Wake(); });
  metadata->Serve([simulator](const std::string& address, const GuestRequest& request) {
    return simulator->Guest(address, request);
  });
}

base::Status StartService(const UpOptions& options, Service& service) {
  JM_ASSIGN_OR_RETURN(Settings settings, ReadSettings(options));
  JM_ASSIGN_OR_RETURN(service.ssh_port, HoldPort(options.ssh_port));
  service.metadata = BindMetadata();
  FleetOptions fleet{.dir = options.dir,
                     .ssh_port = service.ssh_port.port,
                     .metadata_port = service.metadata ? service.metadata->port() : 0,
                     .sandbox = ChooseSandbox(options),
                     .self = base::SelfExe()};
  for (const std::string& folder : options.shared) {
    std::error_code failed;
    fleet.shared.push_back(std::filesystem::canonical(folder, failed));
    if (failed) return base::NotFound("--share " + folder + ": " + failed.message());
  }
  service.file = {.pid = getpid(),
                  .ssh_port = service.ssh_port.port,
                  .metadata_port = fleet.metadata_port,
                  .sandbox = SandboxName(fleet.sandbox),
                  .user = fleet.sandbox == Sandbox::kBubblewrap ? "" : AccountName(),
                  .started = base::FormatRfc3339(base::SystemClock().Now())};
  JM_ASSIGN_OR_RETURN(service.simulator, Simulator::Start(std::move(settings), std::move(fleet)));
  if (service.metadata) ServeMetadata(service);
  JM_ASSIGN_OR_RETURN(service.server, HttpServer::Bind(options.port));
  service.file.endpoint = fmt::format("http://127.0.0.1:{}", service.server->port());
  service.simulator->OnUnplug(
      [server = service.server.get()](Duration time) { server->Unplug(time); });
  service.server->Serve([&service](const Request& request) { return Serve(service, request); });
  if (!options.script.empty()) {
    const Reply begun = service.simulator->Handle(
        {.method = "POST", .path = "/sim/script", .body = options.script.dump()});
    if (begun.status != 200) return base::Internal(begun.body.dump());
  }
  return WriteSimFile(options.dir, service.file);
}

/// Serves in this process. `ready` gets a byte when the file is there; -1 where nobody waits.
int ServeHere(const UpOptions& options, base::UniqueFd lock, int ready) {
  for (const char* stale : {"sim.json", "hosts", "logs"}) {
    if (auto gone = base::RemoveAll(options.dir / stale); !gone.ok()) return Fail(gone.error());
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, stop);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);  // before there are threads: all inherit it
  signal(SIGPIPE, SIG_IGN);

  // Detached threads of open connections use the service until the very end of the process.
  auto* service = new Service;
  if (auto started = StartService(options, *service); !started.ok()) {
    return Fail(started.error());
  }
  Announce(options, service->file, "serves");
  if (ready >= 0 && write(ready, "y", 1) == 1) close(ready);

  int signal_number = 0;
  sigwait(&stops, &signal_number);
  const Json report = service->simulator->Shutdown();
  (void)base::RemoveAll(SimFilePath(options.dir)).ok();
  (void)base::RemoveAll(options.dir / "hosts").ok();
  std::cout << (options.json ? report.dump() + "\n" : LeakReport(report)) << std::flush;
  // Let the answer to a shutdown request go out; then leave without destructors.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  lock.Reset();
  std::_Exit(0);
}

/// Becomes a process of its own session that writes to sim.log and holds nothing else open.
void Detach(const base::Path& log, int keep) {
  setsid();
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  for (int fd = STDERR_FILENO + 1; fd < 4096; ++fd) {
    if (fd != keep) close(fd);
  }
  if (chdir("/") != 0) return;  // stays where it is: only keeps that folder busy
}

int ServeDetached(UpOptions options, base::UniqueFd lock) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return Fail(base::FromErrno(errno, "making a pipe"));
  const base::Path log = options.dir / "sim.log";
  for (std::string& folder : options.shared) folder = std::filesystem::absolute(folder);
  if (!options.settings_file.empty()) {
    options.settings_file = std::filesystem::absolute(options.settings_file);
  }
  lock.Reset();  // the child takes it again; the descriptor would be closed there
  const pid_t child = fork();
  if (child < 0) return Fail(base::FromErrno(errno, "starting the simulator"));
  if (child == 0) {
    Detach(log, ends[1]);
    base::UniqueFd own = TryLock(options.dir);
    std::_Exit(own ? ServeHere(options, std::move(own), ends[1]) : 75);
  }
  close(ends[1]);
  char ready = 0;
  const bool started = read(ends[0], &ready, 1) == 1;
  close(ends[0]);
  if (started) {
    const auto file = ReadSimFile(options.dir);
    if (!file.ok()) return Fail(file.error());
    Announce(options, *file, "serves");
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 75) return RunUp(options);
  std::cerr << "jobman-sim did not start; " << log.string() << " says:\n"
            << base::ReadFile(log).value_or("");
  return 1;
}

/// Another process holds the lock: it serves, or is about to.
int AwaitOther(const UpOptions& options) {
  const auto deadline = std::chrono::steady_clock::now() + kOtherStarts;
  while (std::chrono::steady_clock::now() < deadline) {
    if (const auto file = FindRunning(options.dir); file.ok()) {
      Announce(options, *file, "serves already");
      return 0;
    }
    if (TryLock(options.dir)) return RunUp(options);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return Fail(
      {.code = base::Code::kUnavailable,
       .message = "another simulator holds " + options.dir.string() + " and does not answer",
       .hint = "see sim.log there"});
}

}  // namespace

int RunUp(const UpOptions& given) {
  UpOptions options = given;
  if (auto made = base::EnsureDir(options.dir); !made.ok()) return Fail(made.error());
  std::error_code failed;
  options.dir = std::filesystem::canonical(options.dir, failed);
  base::UniqueFd lock = TryLock(options.dir);
  if (!lock) return AwaitOther(options);
  return options.detach ? ServeDetached(options, std::move(lock))
                        : ServeHere(options, std::move(lock), -1);
}

}  // namespace jobman::sim
