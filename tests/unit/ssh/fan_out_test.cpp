#include "jobman/ssh/fan_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "jobman/base/strings.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"

namespace jobman::ssh {
namespace {

using base::Code;
using base::Error;
using base::Reason;

Error Failure(Reason reason) {
  const std::string why =
      reason == Reason::kHostRefused ? "connection refused" : "no answer in time";
  return {.code = Code::kUnavailable, .message = "10.0.0.1:22: " + why, .reason = reason};
}

/// Answers each target's calls from a list; counts concurrent calls.
class ScriptedShell final : public ports::HostShell {
 public:
  Task<Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                        ports::ByteSink out, ports::ByteSink err) override {
    most = std::max(most, ++now);
    co_await base::Yield();
    --now;
    commands.push_back(command.command);
    if (says_group && err) (void)err("jobman: group 4711 99\n");
    auto& left = answers[target->address];
    Result<int> answer = left.empty() ? Result<int>(0) : left.front();
    if (!left.empty()) left.pop_front();
    if (answer.ok() && out) (void)out("hello");
    ++calls[target->address];
    co_return answer;
  }
  void Drop(const ports::HostTarget&) override {}
  std::map<std::string, std::deque<Result<int>>> answers = {};
  std::map<std::string, int> calls = {};
  std::vector<std::string> commands = {};
  bool says_group = false;
  int now = 0;
  int most = 0;
};

std::vector<FanOutHost> Hosts(int count) {
  std::vector<FanOutHost> hosts;
  for (int i = 0; i < count; ++i)
    hosts.push_back({.host = i, .target = {.address = std::to_string(i)}});
  return hosts;
}

FanOutResult Spread(ScriptedShell& shell, int count, const FanOutOptions& options) {
  asio::io_context loop;
  return base::RunTask(loop, FanOut(&shell, Hosts(count), {.command = "x"}, options));
}

/// Waits of a millisecond between tries.
FanOutOptions Patient() {
  return {.patience = std::chrono::seconds{30},
          .backoff = {.base = base::Duration{1}, .cap = base::Duration{1}}};
}

TEST(FanOut, HasARowPerHostAndGroupsEqualFailures) {
  ScriptedShell shell;
  shell.answers["7"] = {Failure(Reason::kHostRefused)};
  shell.answers["19"] = {Failure(Reason::kHostRefused)};
  shell.answers["3"] = {2};
  const auto result = Spread(shell, 32, {});
  EXPECT_EQ(result.hosts.size(), 32U);
  EXPECT_EQ(result.hosts[19].host, 19);
  EXPECT_FALSE(result.AllOk());
  EXPECT_EQ(result.Summary(), "29/32 ok; host 7, host 19: connection refused; host 3: exit code 2");
}

Error Hangs() {
  return {.code = Code::kDeadlineExceeded, .message = "no answer", .reason = Reason::kHostHangs};
}

TEST(FanOut, ACommandThatTakesTooLongIsNamed) {
  ScriptedShell shell;
  shell.answers["0"] = {3};
  shell.answers["1"] = {Hangs()};
  const auto result = Spread(shell, 3, {.limit = std::chrono::seconds{5}});
  EXPECT_EQ(result.Summary(), "1/3 ok; host 0: exit code 3; host 1: timeout");
  EXPECT_TRUE(result.hosts[1].timed_out);
  EXPECT_EQ(result.hosts[1].result.error().message,
            "timeout: the command took longer than 5s, and was sent TERM");
  EXPECT_FALSE(result.hosts[0].timed_out);
}

/// The calls after the command itself end with these.
std::string SaidOfTimeout(ScriptedShell& shell, std::deque<Result<int>> ends,
                          bool says_group = true) {
  shell.says_group = says_group;
  shell.answers["0"] = std::move(ends);
  shell.answers["0"].push_front(Hangs());
  const auto result = Spread(
      shell, 1, {.limit = std::chrono::seconds{5}, .control = std::make_shared<FanOutControl>()});
  EXPECT_TRUE(result.hosts[0].timed_out);
  const auto& outcome = result.hosts[0].result;
  EXPECT_EQ(result.hosts[0].may_go_on, base::Contains(outcome.error().message, " go"));
  return outcome.ok() ? "" : outcome.error().message.substr(outcome.error().message.find(", and "));
}

TEST(FanOut, WhatIsLeftOfACommandThatTakesTooLongIsKilled) {
  constexpr int kLeft = 1;
  ScriptedShell shell;
  EXPECT_EQ(SaidOfTimeout(shell, {kLeft, 0}), ", and was sent TERM, then KILL");
  ASSERT_EQ(shell.commands.size(), 3U);
  EXPECT_TRUE(base::Contains(shell.commands[1], " 4711 99 TERM "));
  EXPECT_TRUE(base::Contains(shell.commands[2], " 4711 99 KILL "));
}

TEST(FanOut, SaysWhatBecameOfACommandThatTakesTooLong) {
  constexpr int kLeft = 1;
  constexpr int kNotOurs = 2;
  ScriptedShell gone, left, not_ours, broken;
  EXPECT_EQ(SaidOfTimeout(gone, {0}), ", and was sent TERM");
  EXPECT_EQ(gone.commands.size(), 2U);
  EXPECT_EQ(SaidOfTimeout(left, {kLeft, kLeft}), ", and was sent TERM, and may go on");
  EXPECT_EQ(SaidOfTimeout(not_ours, {kNotOurs}),
            ", and goes on as another user (sudo), who has to end it");
  EXPECT_EQ(SaidOfTimeout(broken, {Hangs()}), ", and was sent TERM, and may go on");
  ScriptedShell silent;
  EXPECT_EQ(SaidOfTimeout(silent, {}, false),
            ", and may go on: the host has not said its process group");
}

TEST(FanOut, AHostThatHangsBeforeTheCommandHasNoTimeout) {
  ScriptedShell shell;
  shell.answers["0"] = {Hangs()};
  FanOutOptions options = Patient();
  options.ask_first = true;
  options.limit = std::chrono::seconds{5};
  const auto result = Spread(shell, 1, options);
  EXPECT_FALSE(result.hosts[0].timed_out);
  EXPECT_EQ(result.Summary(), "0/1 ok; host 0: the command did not answer");
}

TEST(FanOut, RetriesTransientErrors) {
  ScriptedShell shell;
  shell.answers["0"] = {Failure(Reason::kHostRefused), Failure(Reason::kHostTimeout),
                        Failure(Reason::kHostAuth), 0};
  const auto result = Spread(shell, 1, Patient());
  EXPECT_TRUE(result.AllOk()) << result.Summary();
  EXPECT_EQ(shell.calls["0"], 4);
}

TEST(FanOut, DoesNotRetryFailuresOrCommandsThatMayHaveRun) {
  ScriptedShell shell;
  shell.answers["0"] = {Failure(Reason::kHostKeyChanged), 0};
  shell.answers["1"] = {1, 0};
  shell.answers["2"] = {Failure(Reason::kConnectionBroke), 0};
  const auto result = Spread(shell, 3, Patient());
  for (const auto& [host, calls] : shell.calls) EXPECT_EQ(calls, 1) << host;
  EXPECT_TRUE(base::Contains(result.Summary(), "host 2: the connection broke")) << result.Summary();
}

TEST(FanOut, CausesThatDifferAreToldApart) {
  const auto cause = [](Reason reason, const std::string& message) {
    return BriefCause({.code = Code::kUnavailable, .message = message, .reason = reason});
  };
  EXPECT_EQ(cause(Reason::kHostRefused, "10.0.0.1:22: connection reset by peer"),
            "connection reset by peer");
  EXPECT_EQ(cause(Reason::kHostTimeout, "[fd00::1]:22: the connection broke: it is silent"),
            "the connection broke: it is silent");
  EXPECT_EQ(cause(Reason::kHostRefused,
                  "10.0.0.1:22 through bastion: the proxy command ended before a host answered "
                  "(channel 0: open failed for 10.0.0.1)"),
            "the proxy command ended before a host answered");
  EXPECT_EQ(cause(Reason::kHostTimeout, "the attempt was given up"), "the attempt was given up");
  EXPECT_EQ(cause(Reason::kHostTimeout, "while asking: 10.0.0.1: silent"), "no answer in time");
}

TEST(FanOut, GivesUpAfterItsLimit) {
  ScriptedShell shell;
  shell.answers["0"] = {Failure(Reason::kHostRefused), 0};
  auto options = Patient();
  options.patience = base::Duration{0};
  EXPECT_EQ(Spread(shell, 1, options).Summary(), "0/1 ok; host 0: connection refused");
}

TEST(FanOut, WithoutPatienceTriesAFewTimesWhereTheConnectionIsRefused) {
  ScriptedShell shell;
  shell.answers["0"] = {Failure(Reason::kHostRefused), Failure(Reason::kHostRefused), 0};
  shell.answers["1"] = {Failure(Reason::kHostRefused), Failure(Reason::kHostRefused),
                        Failure(Reason::kHostRefused), 0};
  shell.answers["2"] = {Failure(Reason::kHostTimeout), 0};
  shell.answers["3"] = {Failure(Reason::kHostAuth), 0};
  shell.answers["4"] = {Failure(Reason::kConnectionBroke), 0};
  auto options = Patient();
  options.patience.reset();
  options.tries = 3;
  EXPECT_EQ(Spread(shell, 5, options).Summary(),
            "1/5 ok; host 1: connection refused; host 3: login refused; host 2: no answer in time; "
            "host 4: the connection broke");
  EXPECT_EQ(shell.calls["0"], 3);
  EXPECT_EQ(shell.calls["1"], 3);
  EXPECT_EQ(shell.calls["2"], 1);
  EXPECT_EQ(shell.calls["3"], 1);
  EXPECT_EQ(shell.calls["4"], 1) << "the command may have begun";
}

TEST(FanOut, LimitsConcurrency) {
  ScriptedShell shell;
  EXPECT_TRUE(Spread(shell, 50, {.window = 4}).AllOk());
  EXPECT_EQ(shell.most, 4);
}

/// Hosts that hang until they are released.
class HangingShell final : public ports::HostShell {
 public:
  Task<Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand, ports::ByteSink,
                        ports::ByteSink) override {
    while (target->address != "0" && !released) co_await base::Sleep(base::Duration{1});
    co_return 0;
  }
  void Drop(const ports::HostTarget&) override {}
  bool released = false;
};

TEST(FanOut, TellsOfHostsThatHang) {
  HangingShell shell;
  std::vector<std::vector<int>> told;
  FanOutOptions options{.look_every = base::Duration{1}};
  options.on_look = [&](const BusyHosts& busy) {
    told.push_back(busy());
    shell.released = told.size() == 3;
  };
  asio::io_context loop;
  const auto result = base::RunTask(loop, FanOut(&shell, Hosts(3), {.command = "x"}, options));
  EXPECT_TRUE(result.AllOk());
  ASSERT_GE(told.size(), 3U);
  EXPECT_EQ(told[2], (std::vector<int>{1, 2}));
}

/// Hosts that accept the login; host 1 then answers nothing until the limit.
class MuteShell final : public ports::HostShell {
 public:
  Task<Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command, ports::ByteSink,
                        ports::ByteSink) override {
    if (command.may_begin) JM_CO_TRY(co_await command.may_begin());
    commands.push_back(target->address + ": " + command.command);
    if (target->address != "1") co_return 0;
    limit = command.limit;
    if (limit) co_return Failure(Reason::kHostHangs);
    co_return 0;
  }
  void Drop(const ports::HostTarget&) override {}
  std::vector<std::string> commands = {};
  std::optional<base::Duration> limit = {};
};

TEST(FanOut, WithPatienceAHostThatHangsEndsBeforeItGetsTheCommand) {
  MuteShell shell;
  auto hosts = Hosts(2);
  int logins = 0;
  for (FanOutHost& host : hosts) host.on_login = [&logins] { ++logins; };
  FanOutOptions options{.patience = std::chrono::seconds{30}, .ask_first = true};
  asio::io_context loop;
  const auto result = base::RunTask(loop, FanOut(&shell, hosts, {.command = "x"}, options));
  EXPECT_EQ(result.Summary(), "1/2 ok; host 1: the command did not answer");
  EXPECT_EQ(std::count(shell.commands.begin(), shell.commands.end(), "1: x"), 0);
  EXPECT_EQ(std::count(shell.commands.begin(), shell.commands.end(), "0: x"), 1);
  EXPECT_EQ(logins, 3) << "of host 0 twice: for the question, and for the command";
  ASSERT_TRUE(shell.limit.has_value());
  EXPECT_LE(*shell.limit, std::chrono::seconds{30});
  EXPECT_GT(*shell.limit, std::chrono::seconds{20});
}

TEST(FanOut, WithoutPatienceTheCommandIsSentAtOnce) {
  MuteShell shell;
  asio::io_context loop;
  const FanOutOptions options{.ask_first = true};
  EXPECT_TRUE(base::RunTask(loop, FanOut(&shell, Hosts(2), {.command = "x"}, options)).AllOk());
  EXPECT_EQ(shell.commands.size(), 2U);
  EXPECT_FALSE(shell.limit.has_value());
}

TEST(FanOut, EndsAtOnceWithoutHosts) {
  ScriptedShell shell;
  EXPECT_EQ(Spread(shell, 0, {}).Summary(), "0/0 ok");
}

TEST_F(HostShellTest, FanOutReachesRealServersAndNamesUnreachableOnes) {
  const TestSshd sshd;
  std::string out[3];
  std::vector<FanOutHost> hosts;
  for (int i = 0; i < 3; ++i) {
    auto target = sshd.Target();
    target.identity = "node-1/" + std::to_string(i);
    const ports::ByteSink sink = [&text = out[i]](std::string_view bytes) {
      text += bytes;
      return base::Ok();
    };
    hosts.push_back({.host = i, .target = target, .out = sink});
  }
  hosts[1].target.port = UnusedPort(hosts[1].target.address);
  const auto result = base::RunTask(loop, FanOut(&shell, hosts, {.command = "echo hi"}, {}));
  EXPECT_EQ(result.Summary(), "2/3 ok; host 1: connection refused");
  EXPECT_EQ(out[0] + out[1] + out[2], "hi\nhi\n");
}

/// Commands that end with the first signal, but on the host 1, which is silent before, and 2, which
/// ignores it.
class SignalledShell final : public ports::HostShell {
 public:
  Task<Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command, ports::ByteSink,
                        ports::ByteSink err) override {
    while (target->address == "1") co_await base::Sleep(std::chrono::hours{1});
    JM_CO_TRY(co_await command.may_begin());
    lines.push_back(command.command);
    JM_CO_TRY(err("jobman: group 5 6\nbad\n"));
    while (target->address == "2" || command.signals->sent().empty())
      co_await base::Sleep(base::Duration{1});
    co_return 143;
  }
  void Drop(const ports::HostTarget&) override {}
  std::vector<std::string> lines = {};
};

/// Lets commands begin, and then knows that none did.
class VanishingShell final : public ports::HostShell {
 public:
  Task<Result<int>> Run(ports::SharedTarget, ports::RemoteCommand command, ports::ByteSink,
                        ports::ByteSink) override {
    JM_CO_TRY(co_await command.may_begin());
    co_return Failure(Reason::kHostTimeout);
  }
  void Drop(const ports::HostTarget&) override {}
};

TEST(FanOut, WhatDidNotRunHasNotBegun) {
  VanishingShell shell;
  FanOutOptions options;
  options.control = std::make_shared<FanOutControl>();
  asio::io_context loop;
  const auto result = base::RunTask(loop, FanOut(&shell, Hosts(1), {.command = "x"}, options));
  EXPECT_EQ(result.hosts[0].result.error().reason, Reason::kHostTimeout);
  EXPECT_FALSE(result.hosts[0].begun);
}

TEST(FanOutDeathTest, AnInputIsTheHostsOwnOrCommon) {
  const auto run = [] {
    VanishingShell shell;
    auto hosts = Hosts(1);
    hosts[0].input = [] { return std::string("own"); };
    ports::RemoteCommand command{.command = "x"};
    command.next_input = []() -> Result<std::string> { return std::string(); };
    asio::io_context loop;
    base::RunTask(loop, FanOut(&shell, std::move(hosts), std::move(command), {}));
  };
  EXPECT_DEATH(run(), "the host's own or common");
}

Task<void> InterruptTwice(std::shared_ptr<FanOutControl> control, std::vector<int>* running) {
  co_await base::Sleep(base::Duration{20});
  control->Signal("TERM");
  co_await base::Sleep(base::Duration{20});
  for (const auto& one : control->begun()) {
    if (!one.ended) running->push_back(one.host);
  }
  control->GiveUp();
}

TEST(FanOut, ASignalEndsCommandsAndWhatHasNotBegun) {
  SignalledShell shell;
  FanOutOptions options;
  options.control = std::make_shared<FanOutControl>();
  auto hosts = Hosts(3);
  std::string said;
  hosts[0].err = [&said](std::string_view bytes) -> base::Status {
    said += bytes;
    return base::Ok();
  };
  asio::io_context loop;
  std::vector<int> running;
  base::Spawn(loop.get_executor(), InterruptTwice(options.control, &running));
  const auto result = base::RunTask(loop, FanOut(&shell, hosts, {.command = "x"}, options));
  EXPECT_EQ(*result.hosts[0].result, 143);
  EXPECT_TRUE(result.hosts[0].begun);
  EXPECT_EQ(result.hosts[0].group, (CommandGroup{.leader = "5", .born = "6"}));
  EXPECT_EQ(said, "bad\n");
  EXPECT_EQ(result.hosts[1].result.error().code, Code::kCancelled);
  EXPECT_FALSE(result.hosts[1].begun);
  EXPECT_EQ(result.hosts[2].result.error().code, Code::kCancelled);
  EXPECT_TRUE(result.hosts[2].begun) << "it may go on";
  EXPECT_EQ(running, std::vector<int>{2});
  ASSERT_FALSE(shell.lines.empty());
  EXPECT_EQ(shell.lines.front(), ReportingLine("x"));
  EXPECT_TRUE(options.control->begun().empty()) << "it has ended";
}

}  // namespace
}  // namespace jobman::ssh
