// Who may use the simulator, which executes what it is sent: nobody without its token, no web page,
// and nobody who only pretends to be it gets a token of ours.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kRealToken = "ya29.a-real-token-42";
constexpr const char* kNodes = "/v2/projects/p/locations/us-central2-b/nodes";

class HostileClient : public testing::Test {
 protected:
  void SetUp() override {
    if (RunProgram({"curl", "--version"}).code != 0) GTEST_SKIP() << "curl is not installed";
    place_.StartSim({"--light", "--delays", "0"});
    token_ = base::Trim(base::ReadFile(place_.SimTokenFile()).value_or(""));
  }

  struct Answer {
    int status = 0;
    std::string body = {};
  };
  /// Calls the simulator with these words of curl.
  Answer Curl(const std::string& path, std::vector<std::string> words) {
    words.insert(words.begin(), {"curl", "-sS", "-w", "\n%{http_code}"});
    words.push_back(place_.SimEndpoint() + path);
    const Ran ran = RunProgram(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto end = ran.out.rfind('\n');
    return {static_cast<int>(base::ParseNumber(ran.out.substr(end + 1)).value_or(0)),
            ran.out.substr(0, end)};
  }
  /// The same with the token.
  Answer WithToken(const std::string& path, std::vector<std::string> words = {}) {
    words.insert(words.end(), {"-H", "Authorization: Bearer " + token_});
    return Curl(path, std::move(words));
  }
  static std::vector<std::string> Send(const std::string& method, const std::string& type,
                                       const std::string& body) {
    return {"-X", method, "-H", "Content-Type: " + type, "-d", body};
  }

  Place place_;
  std::string token_ = {};
};

TEST_F(HostileClient, WithoutTheTokenReachesNoPath) {
  for (const char* path :
       {"/", kNodes, "/v2/projects/p/locations", "/sim/status", "/sim/settings", "/sim/requests",
        "/sim/events", "/sim/nonsense", "/compute/v1/projects/p", "/nonsense"}) {
    EXPECT_EQ(Curl(path, {}).status, 401) << path;
    EXPECT_EQ(Curl(path, {"-H", "Authorization: Bearer " + token_.substr(1)}).status, 401) << path;
    EXPECT_EQ(Curl(path, {"-H", "Authorization: Basic " + token_}).status, 401) << path;
    EXPECT_EQ(Curl(path, {"-H", "Authorization: Bearer"}).status, 401) << path;
    for (const char* name : {"access_token", "token", "key", "oauth_token"}) {
      EXPECT_EQ(Curl(path + ("?" + std::string(name) + "=" + token_), {}).status, 401) << path;
    }
  }
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    EXPECT_EQ(Curl("/sim/settings", Send(method, "application/json", "{}")).status, 401) << method;
  }
  EXPECT_THAT(Curl(kNodes, {}).body, HasSubstr("\"CREDENTIALS_MISSING\""));
  EXPECT_EQ(Curl("/sim/shutdown", Send("POST", "application/json", "{}")).status, 401);
  EXPECT_EQ(WithToken(kNodes).status, 200) << "it still serves, those who have the token";
}

TEST_F(HostileClient, AWebPageIsRefusedEvenWithTheToken) {
  for (const char* host : {"example.org", "127.0.0.1.example.org", "localhost.example.org:80"}) {
    EXPECT_EQ(WithToken("/sim/status", {"-H", "Host: " + std::string(host)}).status, 403) << host;
  }
  EXPECT_EQ(WithToken("/sim/status", {"-H", "Host:"}).status, 403);
  EXPECT_EQ(WithToken("/sim/status", {"-H", "Host: localhost"}).status, 200);
  for (const char* origin : {"http://example.org", "null", "http://127.0.0.1"}) {
    EXPECT_EQ(WithToken(kNodes, {"-H", "Origin: " + std::string(origin)}).status, 403) << origin;
  }
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", ""}) {
    EXPECT_EQ(WithToken("/sim/calm", Send("POST", type, "{}")).status, 415) << type;
  }
  EXPECT_EQ(WithToken("/sim/calm", {"-F", "a=b"}).status, 415) << "a form with files";
  EXPECT_EQ(WithToken("/sim/calm", Send("POST", "application/json", "{}")).status, 200);
}

TEST_F(HostileClient, TheTokenIsNeitherToldNorChanged) {
  for (const char* method : {"PATCH", "POST"}) {
    EXPECT_EQ(
        WithToken("/sim/settings", Send(method, "application/json", R"({"token": "x"})")).status,
        400);
  }
  EXPECT_EQ(WithToken("/sim/set", Send("POST", "application/json", R"({"token": ""})")).status,
            400);
  for (const char* path : {"/sim/status", "/sim/settings", "/sim/requests", "/sim/events"}) {
    const Answer answer = WithToken(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_THAT(answer.body, Not(HasSubstr(token_))) << path;
  }
  EXPECT_THAT(place_.Sim({"status", "--json"}).out, Not(HasSubstr(token_)));
  EXPECT_THAT(place_.Sim({"up", "--json"}).out, Not(HasSubstr(token_)));
}

TEST_F(HostileClient, TheTokenIsRandomNewAndOnlyOurs) {
  EXPECT_GE(token_.size(), 32U);
  for (const char* name : {"sim.json", "token"}) {
    struct stat info {};
    ASSERT_EQ(stat((place_.home() / "sim" / name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 07777, 0600U) << name;
  }
  EXPECT_EQ(place_.Sim({"down"}).code, 0);
  EXPECT_FALSE(base::FileSize(place_.SimTokenFile()));
  place_.StartSim({"--light"});
  EXPECT_NE(base::Trim(base::ReadFile(place_.SimTokenFile()).value_or("")), token_);
  EXPECT_EQ(WithToken("/sim/status").status, 401) << "that of yesterday";
}

TEST_F(HostileClient, AGivenTokenIsNotInTheProcessTable) {
  EXPECT_EQ(place_.Sim({"down"}).code, 0);
  place_.StartSim({"--light", "--token", "hush-hush-hush"});
  const auto sim = base::ParseJson(base::ReadFile(place_.home() / "sim/sim.json").value_or(""));
  const std::string pid = std::to_string(base::GetInt(*sim, "pid"));
  EXPECT_THAT(base::ReadFile("/proc/" + pid + "/cmdline").value_or("hush"), Not(HasSubstr("hush")));
  token_ = "hush-hush-hush";
  EXPECT_EQ(WithToken(kNodes).status, 200);
}

TEST_F(HostileClient, AFolderOfAnotherUserIsNotServed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const base::Path dir = place_.path() / "theirs";
  ASSERT_TRUE(base::EnsureDir(dir).ok());
  ASSERT_EQ(chown(dir.c_str(), 65534, 65534), 0);
  const std::string program = JOBMAN_BIN_DIR "/jobman-sim";
  const Ran up = RunProgram({program, "--dir", dir.string(), "up", "--detach"});
  EXPECT_EQ(up.code, 1);
  EXPECT_THAT(up.err, HasSubstr("belongs to another user (uid 65534)"));
  ASSERT_EQ(chown(dir.c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(dir.c_str(), 0777), 0);
  EXPECT_THAT(RunProgram({program, "--dir", dir.string(), "up", "--detach"}).err,
              HasSubstr("can be written by other users"));
}

TEST_F(HostileClient, HostsAreNotShownTheFolderOfTheSimulator) {
  EXPECT_EQ(place_.Sim({"down"}).code, 0);
  for (const char* option : {"--share", "--homes"}) {
    const Ran up = place_.Sim({"up", option, place_.home().string()});
    EXPECT_EQ(up.code, 1);
    EXPECT_THAT(up.err, HasSubstr("hosts would see the simulator's own folder")) << option;
  }
}

/// A machine whose bubblewrap makes no sandbox.
class NoSandbox : public HostileClient {
 protected:
  void SetUp() override {
    HostileClient::SetUp();
    if (IsSkipped()) return;
    EXPECT_EQ(place_.Sim({"down"}).code, 0);
    ASSERT_TRUE(base::EnsureDir(place_.path() / "bin").ok());
    const base::Path bwrap = place_.path() / "bin" / "bwrap";
    ASSERT_TRUE(base::WriteFileAtomic(bwrap, "#!/bin/sh\nexit 1\n", 0755).ok());
    setenv("PATH", ((place_.path() / "bin").string() + ":" + path_).c_str(), 1);
  }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }

  base::Path Mark() const { return place_.path() / "mark"; }
  /// The operation of creating a node whose startup script leaves a mark, when it is over.
  base::Json CreateNode(std::vector<std::string> up) {
    up.insert(up.end(), {"--delays", "0"});
    place_.StartSim(up);
    token_ = base::Trim(base::ReadFile(place_.SimTokenFile()).value_or(""));
    const base::Json body = {{"acceleratorType", "v4-8"},
                             {"runtimeVersion", "tpu-ubuntu2204-base"},
                             {"metadata", {{"startup-script", "touch " + Mark().string()}}}};
    const Answer created = WithToken(std::string(kNodes) + "?nodeId=n1",
                                     Send("POST", "application/json", body.dump()));
    base::Json operation = base::ParseJson(created.body).value_or(base::Json());
    const std::string path = "/v2/" + base::GetString(operation, "name");
    place_.Until("the operation to be done", [&] {
      operation = base::ParseJson(WithToken(path).body).value_or(base::Json());
      return base::GetBool(operation, "done");
    });
    return operation;
  }

  const std::string path_ = getenv("PATH");
};

TEST_F(NoSandbox, ThatNobodyAskedForRunsNoStartupScript) {
  EXPECT_THAT(CreateNode({}).dump(), HasSubstr("which is not run without a sandbox"));
  EXPECT_FALSE(base::FileSize(Mark()));
}

TEST_F(NoSandbox, ByChoiceRunsIt) {
  EXPECT_THAT(CreateNode({"--no-sandbox"}).dump(), Not(HasSubstr("\"error\"")));
  EXPECT_TRUE(place_.Until("the mark", [&] { return base::FileSize(Mark()).has_value(); }));
}

/// Something that listens in place of the simulator.
class FalseSimulator : public testing::Test {
 protected:
  void SetUp() override {
    setenv("GOOGLE_OAUTH_ACCESS_TOKEN", kRealToken, 1);
    ASSERT_TRUE(base::EnsureDir(Dir()).ok());
  }
  void TearDown() override {
    unsetenv("GOOGLE_OAUTH_ACCESS_TOKEN");
    EXPECT_THAT(listener_.heard(), Each(Not(HasSubstr(kRealToken))));
  }

  base::Path Dir() const { return place_.home() / "sim"; }
  void Describe(const std::string& endpoint) {
    const base::Json described = {{"pid", getpid()},      {"endpoint", endpoint},
                                  {"ssh_port", 2222},     {"sandbox", "bubblewrap"},
                                  {"token", "not-yours"}, {"user", ""}};
    ASSERT_TRUE(base::WriteFileAtomic(Dir() / "sim.json", described.dump(), 0600).ok());
  }
  std::string Here() const { return "http://127.0.0.1:" + std::to_string(listener_.port()); }
  /// As a running simulator does.
  void HoldTheLock() {
    lock_ = base::UniqueFd(open((Dir() / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(flock(lock_.get(), LOCK_EX | LOCK_NB), 0);
  }
  Ran Create() { return place_.Jobman({"create", place_.JobFile("small", 1, "echo hello")}); }

  Listener listener_{WebhookThatSays([] { return 404; })};
  Place place_;
  base::UniqueFd lock_ = {};
};

TEST_F(FalseSimulator, ThatHoldsNoLockIsNotAsked) {
  Describe(Here());  // with the process id of one that lives
  const std::string file = place_.JobFile("small", 1, "echo hello");
  const Ran ran = place_.Jobman({"run", file});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_EQ(place_.Jobman({"delete", "small", "--wait"}).code, 0);
  EXPECT_THAT(listener_.heard(), IsEmpty()) << "a simulator was started in its place";
}

TEST_F(FalseSimulator, ThatHoldsTheLockGetsNoRealToken) {
  Describe(Here());
  HoldTheLock();
  (void)Create();
  EXPECT_THAT(listener_.heard(), Not(IsEmpty()));
  EXPECT_THAT(listener_.heard(), Each(HasSubstr("Authorization: Bearer not-yours")));
  std::filesystem::remove(Dir() / "sim.json");
}

TEST_F(FalseSimulator, OnAnotherMachineIsRefused) {
  Describe("http://localhost.example.org:80");
  HoldTheLock();
  const Ran ran = Create();
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("has the endpoint http://localhost.example.org:80"));
  std::filesystem::remove(Dir() / "sim.json");
}

TEST_F(FalseSimulator, InAFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  Describe(Here());
  HoldTheLock();
  ASSERT_EQ(chown((Dir() / "sim.json").c_str(), 65534, 65534), 0);
  const Ran file = Create();
  EXPECT_NE(file.code, 0);
  EXPECT_THAT(file.err, HasSubstr("sim.json belongs to another user"));
  ASSERT_EQ(chown(Dir().c_str(), 65534, 65534), 0);
  EXPECT_THAT(Create().err, HasSubstr("belongs to another user"));
  EXPECT_THAT(listener_.heard(), IsEmpty());
  ASSERT_EQ(chown(Dir().c_str(), 0, 0), 0);
  std::filesystem::remove(Dir() / "sim.json");
}

}  // namespace
}  // namespace jobman::test
