// What others write, however much and however deep, takes little memory and stack: the real program
// against a cloud that answers with hostile JSON, with logs that are larger than it may become, and
// with readers of its output who read slowly or not at all.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "jobman/base/handle.hpp"
#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

extern char** environ;

namespace jobman::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

struct Measured {
  int code = 0;
  std::int64_t peak = 0;  ///< most memory that it had, in bytes
  std::string out = {};   ///< its beginning
  std::string err = {};
};

/// Answers every request with this body.
Listener::Talk CloudThatSays(int status, std::string body) {
  return [status, body = std::move(body)](int socket) {
    std::array<char, 65536> request = {};
    if (::recv(socket, request.data(), request.size(), 0) <= 0) return std::string{};
    const std::string answer = "HTTP/1.1 " + std::to_string(status) +
                               " Said\r\nContent-Type: application/json\r\nConnection: close\r\n"
                               "Content-Length: " +
                               std::to_string(body.size()) + "\r\n\r\n" + body;
    for (std::string_view left = answer; !left.empty();) {
      const ssize_t sent = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
    return std::string("served");
  };
}

std::string Nested(std::size_t levels) {
  return R"({"nodes":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
}

/// `jobman ARGS`, whose standard output is a pipe that is read only as far as the test says.
class PipedCommand {
 public:
  PipedCommand(const base::Path& home, const std::vector<std::string>& args) {
    std::array<int, 2> ends = {-1, -1};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    out_ = base::UniqueFd(ends[0]);
    const base::UniqueFd write(ends[1]);
    std::vector<std::string> words = {std::string(JOBMAN_BIN_DIR) + "/jobman", "--home",
                                      home.string()};
    words.insert(words.end(), args.begin(), args.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, write.get(), 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
  }
  PipedCommand(const PipedCommand&) = delete;
  PipedCommand& operator=(const PipedCommand&) = delete;
  ~PipedCommand() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    End();
  }

  /// At most so much of what it wrote; nothing at the end, or if nothing comes.
  std::string Read(std::size_t most) {
    pollfd ready{.fd = out_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, Place::kPatience * 1000) <= 0) return {};
    std::string text(most, '\0');
    text.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, ::read(out_.get(), text.data(), text.size()))));
    return text;
  }
  /// Reads until what was read ends with `text`, and no further.
  bool ReadsUntil(const std::string& text) {
    std::string read;
    while (!read.ends_with(text)) {
      const std::string piece = Read(1);
      if (piece.empty()) return false;
      read += piece;
    }
    return true;
  }
  /// Whether it has written as much as the pipe takes, but for pages that are not full: it waits
  /// for its reader.
  bool Waits() const {
    int unread = 0;
    const int room = ::fcntl(out_.get(), F_GETPIPE_SZ);
    return ::ioctl(out_.get(), FIONREAD, &unread) == 0 && unread > room / 2;
  }
  /// Its reader goes.
  void Leave() { out_.Reset(); }
  bool Lives() const {
    siginfo_t ended = {};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  }
  /// Waits for its end; its exit code, or 128 and the signal.
  int End() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// The most memory that it has had, in bytes.
  std::int64_t Peak() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      constexpr std::string_view kPeak = "VmHWM:";
      if (line.starts_with(kPeak)) return std::stoll(line.substr(kPeak.size())) * 1024;
    }
    ADD_FAILURE() << "no VmHWM of process " << pid_;
    return 0;
  }

 private:
  base::UniqueFd out_ = {};
  pid_t pid_ = 0;
};

class Large : public testing::Test {
 protected:
  /// Runs `jobman ARGS` with a stack of 256 KiB.
  Measured Run(const std::string& args) {
    const std::string out = (place_.path() / "out").string();
    const std::string err = (place_.path() / "err").string();
    const std::string line = "ulimit -s 256; exec \"$0\" --home \"$1\" " + args;
    const std::string program = std::string(JOBMAN_BIN_DIR) + "/jobman";
    const std::string home = place_.home().string();
    std::vector<std::string> words = {"sh", "-c", line, program, home};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid = 0;
    EXPECT_EQ(posix_spawnp(&pid, "sh", &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    int status = 0;
    rusage usage = {};
    EXPECT_EQ(wait4(pid, &status, 0, &usage), pid);
    Measured measured{.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                      .peak = std::int64_t{usage.ru_maxrss} * 1024};
    measured.out = Beginning(out);
    measured.err = Beginning(err);
    return measured;
  }
  static std::string Beginning(const std::string& file) {
    std::string text(4096, '\0');
    std::ifstream in(file, std::ios::binary);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
  }
  Measured Gc(const Listener& cloud) {
    return Run("gc --only --project p --zone us-central2-b --endpoint http://127.0.0.1:" +
               std::to_string(cloud.port()));
  }
  /// A job that is over, with a log of one host that has `bytes`.
  void WriteLog(std::int64_t bytes) {
    const base::Path log = place_.home() / "jobs/000001/attempt-1/run/host-0000.log";
    std::ofstream file(log, std::ios::binary | std::ios::trunc);
    const std::string line = std::string(99, 'x') + "\n";
    std::string piece;
    while (piece.size() < 1'000'000) piece += line;
    for (std::int64_t written = 0; written < bytes; written += 1'000'000) file << piece;
  }

  /// A job that says "up" and, when it is told to, 39 MB more.
  std::string Talker() {
    return place_.JobFile("talker", 1,
                          "echo up; until [ -e ~/go ]; do sleep 0.5; done; seq 5000000; echo last");
  }
  static constexpr std::int64_t kTalk = 38'888'904;
  /// What a reader may cost the command that writes to it.
  static constexpr std::int64_t kMostForAReader = 16 * kMiB;
  bool TellToGoOn() { return place_.Jobman({"exec", "talker", "--", "touch ~/go"}).code == 0; }
  base::Path TalkersLog() const {
    return place_.home() / "jobs/000001/attempt-1/run/host-0000.log";
  }

  void SetUp() override { setenv("ASAN_OPTIONS", "quarantine_size_mb=1", 1); }
  void TearDown() override { unsetenv("ASAN_OPTIONS"); }
  Place place_;
};

TEST_F(Large, JsonOfManyLevelsIsAnError) {
  for (const int status : {200, 400, 503}) {
    const Listener cloud(CloudThatSays(status, Nested(100'000)));
    const Measured gc = Gc(cloud);
    EXPECT_THAT(gc.code, testing::AnyOf(1, 2, 4, 75)) << gc.err;
    EXPECT_THAT(gc.err, HasSubstr("/v2/projects/p/locations/us-central2-b/")) << gc.code;
    if (status != 200) continue;
    EXPECT_THAT(gc.err, HasSubstr("more than 64 levels deep"));
  }
}

TEST_F(Large, AnAnswerOfBracketsTakesNoMoreThanItsBytes) {
  const Listener small(CloudThatSays(200, "["));
  const Listener large(CloudThatSays(200, std::string(60 * kMiB, '[')));
  const Measured least = Gc(small);
  const Measured most = Gc(large);
  EXPECT_THAT(most.err, HasSubstr("more than 64 levels deep"));
  // A string that grows is in memory twice while it is copied.
  EXPECT_LT(most.peak - least.peak, 250 * kMiB);
}

TEST_F(Large, FoldingALogTakesNoMoreMemoryThanASmallOne) {
  const std::string file = place_.JobFile("large", 1, "true");
  ASSERT_EQ(place_.Jobman({"run", file}).code, 0);
  for (const std::string args : {"logs 1 --fold", "logs 1 --fold --json"}) {
    WriteLog(1'000'000);
    const Measured least = Run(args);
    ASSERT_EQ(least.code, 0) << least.err;
    WriteLog(200'000'000);
    const Measured most = Run(args);
    EXPECT_EQ(most.code, 0) << most.err;
    EXPECT_LT(most.peak - least.peak, 32 * kMiB) << args;
  }
}

TEST_F(Large, ALongLogKeepsItsBeginningAndItsEnd) {
  const std::string file = place_.JobFile(
      "long", 1, "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last",
      "logs: {max_bytes: 1048576}\n");
  ASSERT_EQ(place_.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place_.Reaches("1", "SUCCEEDED"));
  const base::Path log = place_.home() / "jobs/000001/attempt-1/run/host-0000.log";
  EXPECT_EQ(base::FileSize(log), 20'000'012);
  struct stat info = {};
  ASSERT_EQ(::stat(log.c_str(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, 3 * kMiB / 2);
  const std::string shown = place_.Jobman({"logs", "1"}).out;
  EXPECT_THAT(shown, testing::StartsWith("first\nxxx"));
  EXPECT_THAT(shown, testing::EndsWith("xxx\nlast\n"));
  EXPECT_THAT(shown, testing::ContainsRegex("\njobman: [0-9]+ bytes of this log are gone"));
  EXPECT_LT(shown.size(), 3U * kMiB / 2);
  EXPECT_EQ(shown.find('\0'), std::string::npos);
}

TEST_F(Large, ALogThatNobodyFetchesIsLimitedOnTheHost) {
  place_.StartController();
  const std::string file =
      place_.JobFile("alone", 1,
                     "echo first; touch ~/began; until [ -e ~/go ]; do sleep 0.5; done\n"
                     "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last\n"
                     "until [ -e ~/end ]; do sleep 0.5; done",
                     "logs: {max_bytes: 1048576}\n");
  ASSERT_EQ(place_.Jobman({"create", file}).code, 0);
  const auto on_host = [&](const std::string& command) {
    return place_.Jobman({"exec", "alone", "--", command}).code == 0;
  };
  ASSERT_TRUE(place_.Until("the command began", [&] { return on_host("test -e ~/began"); }));
  place_.KillController();
  ASSERT_TRUE(on_host("touch ~/go"));
  EXPECT_TRUE(place_.Until("the log is cut on the host", [&] {
    return on_host(
        "cd ~/.jobman/runs/*.a1 && grep -q last log && test $(du -k log | cut -f1) -lt 1200");
  }));
  ASSERT_TRUE(on_host("touch ~/end"));
  place_.StartController();
  ASSERT_TRUE(place_.Reaches("alone", "SUCCEEDED"));
  const std::string shown = place_.Jobman({"logs", "alone"}).out;
  EXPECT_THAT(shown, testing::StartsWith("first\nxxx"));
  EXPECT_THAT(shown, testing::EndsWith("xxx\nlast\n"));
  EXPECT_THAT(shown, testing::ContainsRegex("\njobman: [0-9]+ bytes of this log are gone"));
  EXPECT_EQ(shown.find('\0'), std::string::npos);
}

TEST_F(Large, AReaderWhoStopsReadingHoldsNobodyUp) {
  place_.StartSim({"--delays", "0"});
  // It starts the controller, too.
  PipedCommand creates(place_.home(), {"create", "--follow", Talker()});
  ASSERT_TRUE(creates.ReadsUntil("up\n"));
  PipedCommand follows(place_.home(), {"logs", "-f", "1"});
  ASSERT_TRUE(follows.ReadsUntil("up\n"));
  const std::array<std::int64_t, 2> before = {creates.Peak(), follows.Peak()};
  ASSERT_TRUE(TellToGoOn());
  ASSERT_TRUE(place_.Reaches("1", "SUCCEEDED"));
  EXPECT_TRUE(place_.Until("both to wait for their readers",
                           [&] { return creates.Waits() && follows.Waits(); }));
  EXPECT_TRUE(creates.Lives() && follows.Lives());
  EXPECT_LT(creates.Peak() - before[0], kMostForAReader);
  EXPECT_LT(follows.Peak() - before[1], kMostForAReader);
  EXPECT_EQ(base::FileSize(TalkersLog()), kTalk);
  const Measured logs = Run("logs 1");
  EXPECT_EQ(logs.code, 0) << logs.err;
  EXPECT_EQ(base::FileSize(place_.path() / "out"), kTalk) << "others see all of it";
  EXPECT_EQ(place_.Jobman({"run", place_.JobFile("other", 1, "true")}).code, 0);
  for (PipedCommand* const command : {&creates, &follows}) {
    EXPECT_TRUE(command->Lives()) << "its reader is still there";
    command->Leave();
    ASSERT_TRUE(place_.Until("it to end", [&] { return !command->Lives(); }));
    EXPECT_EQ(command->End(), 141);
  }
}

TEST_F(Large, ASlowReaderGetsEverything) {
  place_.StartSim({"--delays", "0"});
  ASSERT_EQ(place_.Jobman({"create", Talker()}).code, 0);
  ASSERT_TRUE(
      place_.Until("the command to be up", [&] { return place_.Log(1, 1, "run", 0) == "up\n"; }));
  PipedCommand follows(place_.home(), {"logs", "-f", "1"});
  ASSERT_TRUE(follows.ReadsUntil("up\n"));
  const std::int64_t before = follows.Peak();
  ASSERT_TRUE(TellToGoOn());
  std::string text = "up\n";
  ASSERT_TRUE(place_.Until("the job to be over", [&] {
    text += follows.Read(4096);
    return place_.StateOf("1") == "SUCCEEDED";
  }));
  ASSERT_LT(std::ssize(text), kTalk / 2) << "it reads slowly";
  EXPECT_LT(follows.Peak() - before, kMostForAReader);
  constexpr std::size_t kAtOnce = 1'000'000;
  for (std::string piece = follows.Read(kAtOnce); !piece.empty(); piece = follows.Read(kAtOnce)) {
    text += piece;
  }
  EXPECT_TRUE(base::ReadFile(TalkersLog()).value_or("") == text) << text.size() << " bytes";
  ASSERT_TRUE(place_.Until("it to end", [&] { return !follows.Lives(); }));
  EXPECT_EQ(follows.End(), 0);
}

TEST_F(Large, OutputThatExecKeepsTakesLittleMemory) {
  const std::string file = place_.JobFile("large", 1, "true");
  ASSERT_EQ(place_.Jobman({"run", file}).code, 0);
  for (const std::string mode : {"--fold", "--json"}) {
    const std::string exec = "exec 1 " + mode + " -- ";
    const Measured least = Run(exec + "'head -c 1000000 /dev/zero | tr \"\\0\" x'");
    ASSERT_EQ(least.code, 0) << least.err;
    const Measured most = Run(exec + "'head -c 100000000 /dev/zero | tr \"\\0\" x'");
    EXPECT_EQ(most.code, 0) << most.err;
    EXPECT_LT(most.peak - least.peak, 32 * kMiB) << mode;
  }
}

}  // namespace
}  // namespace jobman::test
