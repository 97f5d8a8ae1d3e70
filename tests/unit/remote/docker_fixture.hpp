#pragma once

#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <memory>

#include "tests/support/docker_daemon.hpp"
#include "tests/unit/remote/environment_fixture.hpp"

namespace jobman::remote {

using test::DockerDaemon;
using test::MakeBoxRoot;
using test::OutputOf;

/// A registry on the loopback interface, which is also the proxy by which docker reaches Google's,
/// and a metadata server with the token for those. It has one image under many names: .../box/...
inline constexpr const char* kRegistry = R"py(
import base64, hashlib, json, sys
folder = "FOLDER/"
layer = open(folder + "root.tar", "rb").read()
def digest(data): return "sha256:" + hashlib.sha256(data).hexdigest()
config = json.dumps({"architecture": "ARCH", "os": "linux", "config": {}, "rootfs":
    {"type": "layers", "diff_ids": [digest(layer)]}}).encode()
v2 = "application/vnd.docker.distribution.manifest.v2+json"
manifest = json.dumps({"schemaVersion": 2, "mediaType": v2,
    "config": {"mediaType": "application/vnd.docker.container.image.v1+json",
               "size": len(config), "digest": digest(config)},
    "layers": [{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip",
                "size": len(layer), "digest": digest(layer)}]}).encode()
open(folder + "digest", "w").write(digest(manifest))
blobs = {digest(layer): layer, digest(config): config}
login = "Basic " + base64.b64encode(b"oauth2accesstoken:the-token").decode()
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *rest): pass
    def say(self, code, body, kind="application/json"):
        self.send_response(code)
        if code == 401: self.send_header("WWW-Authenticate", "Basic realm=\"r\"")
        self.send_header("Content-Type", kind)
        self.send_header("Docker-Content-Digest", digest(body))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET": self.wfile.write(body)
    def do_HEAD(self): self.do_GET()
    def do_GET(self):
        path = self.path
        if path.endswith("/service-accounts/default/token"):
            good = self.headers["Metadata-Flavor"] == "Google"
            return self.say(200 if good else 403, b"{\"access_token\":\"the-token\",\"expires_in\":9}")
        if "/v2/" not in path: return self.say(404, b"")
        open(folder + "asked", "a").write(path + "\n")
        if "pkg.dev" in path and self.headers["Authorization"] != login: return self.say(401, b"{}")
        if path.endswith("/v2/"): return self.say(200, b"{}")
        if "/secret/" in path:
            return self.say(403, b"{\"errors\":[{\"code\":\"DENIED\",\"message\":\"not you\"}]}")
        if "/box/" in path and "/manifests/" in path: return self.say(200, manifest, v2)
        blob = blobs.get(path.rpartition("/")[2])
        if blob: return self.say(200, blob, "application/octet-stream")
        self.say(404, b"{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\",\"message\":\"no such\"}]}")
serve(Handler)
)py";

/// A daemon, an image "box" made of busybox, and a registry; for all tests of a suite.
class DockerTest : public HostScriptTest {
 protected:
  static void SetUpTestSuite() {
    why_not_ = Missing();
    if (!why_not_.empty()) return;
    folder_ = OutputOf("mktemp -d");
    MakeBoxRoot(folder_);
    std::string program = base::ReplaceAll(kRegistry, "FOLDER", folder_);
    program = base::ReplaceAll(program, "ARCH", OutputOf("dpkg --print-architecture"));
    registry_ = std::make_unique<LoopbackServer>(program);
    const std::string url = registry_->Url();
    daemon_ = std::make_unique<DockerDaemon>("HTTP_PROXY=" + url + " HTTPS_PROXY=" + url);
    why_not_ = daemon_->Import(folder_);
  }
  static void TearDownTestSuite() {
    daemon_.reset();
    registry_.reset();
    if (!folder_.empty()) OutputOf("rm -rf " + folder_);
    folder_.clear();
  }
  void SetUp() override {
    HostScriptTest::SetUp();
    if (IsSkipped()) return;
    if (!why_not_.empty()) GTEST_SKIP() << why_not_;
    host.env["DOCKER_HOST"] = daemon_->Address();
    Use(spec);
  }
  void TearDown() override {
    if (daemon_ != nullptr)
      daemon_->Docker("ps -q | xargs -r docker -H " + daemon_->Address() + " kill");
  }
  /// Why there is no daemon here; empty if there may be one.
  static std::string Missing() {
    std::string missing = DockerDaemon::Missing();
    if (missing.empty() && OutputOf("command -v /usr/bin/python3").empty())
      missing = "/usr/bin/python3 is not installed";
    return missing;
  }
  /// 0 would be this test's own group.
  static void Signal(pid_t pid, int signal) {
    ASSERT_GT(pid, 0);
    kill(pid, signal);
  }
  static void SignalGroup(pid_t leader, int signal) {
    ASSERT_GT(leader, 1);
    kill(-leader, signal);
  }
  static void Use(core::JobSpec& spec) {
    spec.env_type = core::EnvType::kDocker;
    spec.docker.image = "box";
    spec.docker.flags = {"--network=host"};
  }
  /// In the shell of this test.
  std::string InOwnShell(const std::string& script) const {
    return "#!" + GetParam() + (GetParam() == "/bin/busybox" ? " sh\n" : "\n") + script;
  }
  /// An attempt whose command is `cmd`.
  RunOrder Attempt(int number, const std::string& cmd) {
    spec.command.cmd = cmd;
    RunOrder order{.run_id = kRuns + std::to_string(number),
                   .script = InOwnShell(CommandScript(spec)),
                   .grace = std::chrono::seconds{1},
                   .env = spec.environment};
    order.env["JOBMAN_CHECKPOINT_DIR"] = "~/.jobman/checkpoints/s1.j000001";
    for (const auto& [name, value] : spec.command.env) order.env[name] = value;
    return order;
  }
  /// Starts it, and waits until it has printed "up".
  LocalHost::Running StartUp(LocalHost& on, const RunOrder& order) {
    auto running = on.Start(*RunCall(order, 0));
    EXPECT_TRUE(Eventually([&] { return base::Contains(Slurp(on.Log(order.run_id)), "up\n"); }))
        << Slurp(on.Log(order.run_id));
    return running;
  }
  static std::string Docker(const std::string& arguments) { return daemon_->Docker(arguments); }
  /// Nothing is left of the container of the run.
  testing::AssertionResult IsGone(const std::string& run_id) {
    const std::string left =
        Docker("ps -aq --filter label=jobman.dir=" + host.RunDir(run_id).string());
    if (!left.empty()) return testing::AssertionFailure() << "the container " << left;
    if (std::filesystem::exists(host.RunDir(run_id) / "container"))
      return testing::AssertionFailure() << "the file `container`";
    return testing::AssertionSuccess();
  }
  static constexpr const char* kRuns = "s1.j000001.n1.h0.a";
  core::JobSpec spec = {};

  static inline std::string why_not_, folder_;
  static inline std::unique_ptr<LoopbackServer> registry_;
  static inline std::unique_ptr<DockerDaemon> daemon_;
};

}  // namespace jobman::remote
