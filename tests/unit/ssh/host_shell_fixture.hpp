#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "jobman/ssh/host_shell.hpp"
#include "tests/support/memory_host_keys.hpp"
#include "tests/support/turn_until.hpp"
#include "tests/unit/ssh/test_sshd.hpp"

namespace jobman::ssh {

using base::Result;
using base::Task;

/// The result of a command.
struct Ran {
  Result<int> result = base::Internal("did not end");
  std::string out = {};
  std::string err = {};
};

inline Task<void> RunInto(ports::HostShell* shell, ports::HostTarget target,
                          ports::RemoteCommand command, std::shared_ptr<Ran> ran) {
  const ports::ByteSink out = [ran](std::string_view bytes) {
    ran->out += bytes;
    return base::Ok();
  };
  const ports::ByteSink err = [ran](std::string_view bytes) {
    ran->err += bytes;
    return base::Ok();
  };
  auto result = co_await shell->Run(target, command, out, err);
  ran->result = std::move(result);
}

/// A shell with a loop of its own.
class HostShellTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = TestSshd::Missing(); !why.empty()) GTEST_SKIP() << why;
    unsetenv("SSH_AUTH_SOCK");
    unsetenv("JOBMAN_SSH_PASSPHRASE");
  }
  std::shared_ptr<Ran> Start(const ports::HostTarget& target, const ports::RemoteCommand& command) {
    auto ran = std::make_shared<Ran>();
    ++running;
    loop.restart();
    base::Spawn(loop.get_executor(), RunInto(&shell, target, command, ran),
                [this](bool /*cancelled*/) { --running; });
    return ran;
  }
  void WaitForAll() {
    while (running > 0 && loop.run_one() > 0) {
    }
  }
  /// Runs the loop until the condition holds; false after a minute.
  bool TurnUntil(const std::function<bool()>& is_so) { return test::TurnUntil(loop, is_so); }
  /// Open files of this process, those of the loop included, which it opens at its first
  /// connection.
  int OpenFiles() {
    if (!std::exchange(loop_is_warm, true)) {
      Run({.address = "127.0.0.1", .port = UnusedPort("127.0.0.1")}, "true");
    }
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return static_cast<int>(std::distance(begin(files), end(files)));
  }
  Ran Run(const ports::HostTarget& target, const ports::RemoteCommand& command) {
    const auto ran = Start(target, command);
    WaitForAll();
    return *ran;
  }
  Ran Run(const ports::HostTarget& target, const std::string& command) {
    return Run(target, ports::RemoteCommand{.command = command});
  }

  asio::io_context loop;
  test::MemoryHostKeys known;
  SshHostShell shell{loop.get_executor(), known};
  int running = 0;
  bool loop_is_warm = false;
};

}  // namespace jobman::ssh
