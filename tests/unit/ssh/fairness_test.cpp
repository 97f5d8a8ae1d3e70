// A host of a fan-out that prints without end, and others that have little to say.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/ssh/fan_out.hpp"
#include "tests/support/set_pace.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"

namespace jobman::ssh {
namespace {

/// Streams, once it is told to, until there is a line in the file; succeeds if it was not done by
/// then. What it prints at most bounds the test.
constexpr const char* kStreamUntilTold =
    "read -r go && { head -c 4294967296 /dev/zero & p=$!; read -r end <\"$0\"; kill $p; wait $p; "
    "[ $? = 143 ]; }";
constexpr const char* kAnswer = "read -r word && echo \"got $word\"";

class FairnessTest : public HostShellTest {
 protected:
  /// Adds a host whose input is what the test gives its pace.
  FanOutHost& Add(const TestSshd& sshd, std::vector<std::string> words) {
    const int host = static_cast<int>(hosts_.size());
    words.insert(words.begin(), {"sh", "-c"});
    FanOutHost one{.host = host, .target = sshd.Target(), .command = base::ShellJoin(words)};
    one.target.identity = "node-1/" + std::to_string(host);
    paces_.push_back(std::make_shared<test::SetPace>());
    one.pace = paces_.back();
    one.on_login = [this] {
      if (++logins_ == paces_.size()) Tell(0, "go\n");
    };
    hosts_.push_back(std::move(one));
    return hosts_.back();
  }
  void Tell(std::size_t host, const std::string& line) {
    paces_[host]->next = line;
    paces_[host]->Wake();
  }
  std::vector<FanOutHost> hosts_ = {};
  std::vector<std::shared_ptr<test::SetPace>> paces_ = {};
  std::size_t logins_ = 0;
};

/// The quiet hosts are asked when the stream is there, and it goes on until the last of them has
/// ended: so all of it happens while the stream is read.
TEST_F(FairnessTest, QuietHostsAnswerAndEndWhileAnotherOneStreams) {
  constexpr std::size_t kQuiet = 7;
  const TestSshd sshd;
  const std::string told = (sshd.folder() / "told").string();
  ASSERT_EQ(::mkfifo(told.c_str(), 0600), 0);
  const base::UniqueFd end(::open(told.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(end);
  std::vector<std::string> answers(kQuiet + 1);
  bool asked = false;
  Add(sshd, {kStreamUntilTold, told}).out = [&](std::string_view) -> base::Status {
    for (std::size_t host = 1; !asked && host <= kQuiet; ++host) Tell(host, "hi\n");
    asked = true;
    return base::Ok();
  };
  for (std::size_t host = 1; host <= kQuiet; ++host) {
    Add(sshd, {kAnswer}).out = [&text = answers[host]](std::string_view bytes) -> base::Status {
      text += bytes;
      return base::Ok();
    };
  }
  FanOutOptions options{.limit = std::chrono::minutes{5}};
  options.on_end = [&end](const BusyHosts& busy) {
    if (busy() == std::vector<int>{0}) {
      EXPECT_EQ(::write(end.get(), "\n", 1), 1);
    }
  };
  const auto result = base::RunTask(loop, FanOut(&shell, hosts_, {}, options));
  EXPECT_EQ(result.Summary(), "8/8 ok") << "host 0 ends well only if it still streamed";
  for (std::size_t host = 1; host <= kQuiet; ++host) EXPECT_EQ(answers[host], "got hi\n") << host;
}

}  // namespace
}  // namespace jobman::ssh
