// What others write, however much and however deep, takes little memory and stack: the real program
// against a cloud that answers with hostile JSON, and with logs that are larger than it may become.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

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
                     "echo first; touch ~/began; until [ -e ~/go ]; do sleep 0.1; done\n"
                     "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last\n"
                     "until [ -e ~/end ]; do sleep 0.1; done",
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
