#include "client/exec_follow.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <map>

#include "jobman/controller/host_calls.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

/// One call of a host: what it prints and says, and how the call ends. Before each its login shell
/// greets.
struct HostCall {
  std::string log = {};
  std::string says = {};
  base::Result<int> code = 0;
};

constexpr const char* kRuns = "jobman: running\n";

base::Error ConnectionBroke() {
  return {.code = base::Code::kUnavailable,
          .message = "broke",
          .reason = base::Reason::kConnectionBroke};
}

/// Hosts whose calls are written down before. A call without one lasts for ever.
class FollowedShell final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override {
    calls[target->address].push_back(command.command);
    auto& looks = hosts[target->address];
    while (looks.empty()) co_await base::Sleep(std::chrono::milliseconds{5});
    const HostCall look = looks.front();
    looks.pop_front();
    if (out && command.command.starts_with(controller::kSayLogBegins)) {
      JM_CO_TRY(out("welcome to " + target->address + "\n" + std::string(controller::kLogBegins)));
    }
    if (out && !look.log.empty()) {
      JM_CO_TRY(out(look.log));
    }
    if (err && !look.says.empty()) {
      JM_CO_TRY(err(look.says));
    }
    if (looks.empty() && last_of == target->address) hosts["h0"].push_back(end_of_first);
    co_return look.code;
  }
  void Drop(const ports::HostTarget&) override {}

  std::map<std::string, std::deque<HostCall>> hosts = {};
  std::map<std::string, std::vector<std::string>> calls = {};
  std::string last_of = {};  ///< the end of this host lets h0 go on
  HostCall end_of_first = {};
};

class ExecFollowTest : public test::ClientWorld {
 protected:
  ssh::FanOutResult Follow(int count, base::Duration patience) {
    std::vector<ssh::FanOutHost> hosts;
    for (int host = 0; host < count; ++host) {
      ssh::FanOutHost one{.host = host};
      one.target.address = "h" + std::to_string(host);
      one.out = [this, host](std::string_view bytes) -> base::Status {
        logs_[host] += bytes;
        return base::Ok();
      };
      hosts.push_back(std::move(one));
    }
    RunToFollow run{.id_on = [](int host) { return "s.j000001.h" + std::to_string(host) + ".x"; },
                    .name = "x",
                    .patience = patience,
                    .window = count,
                    .now = [this] { return clock_.Now(); },
                    .missing = [this](int, base::FileGap gap) { gaps_.push_back(gap.end); }};
    return Context().Await(FollowOnHosts(&shell_of_hosts_, std::move(hosts), std::move(run)));
  }
  FollowedShell shell_of_hosts_;
  std::map<int, std::string> logs_ = {};
  std::vector<std::int64_t> gaps_ = {};
};

TEST_F(ExecFollowTest, AHostThatBreaksGoesOnWhileTheOthersStillRun) {
  const std::string ended = "jobman: exited 0\n";
  shell_of_hosts_.hosts["h1"] = {{.log = "one\n", .says = kRuns, .code = ConnectionBroke()},
                                 {.log = "two\n", .says = "jobman: exited 3\n"}};
  // It ends only after the other one has been called again.
  shell_of_hosts_.last_of = "h1";
  shell_of_hosts_.end_of_first = {.log = "zero\n", .says = ended};
  const auto result = Follow(2, std::chrono::minutes{5});
  ASSERT_TRUE(result.hosts[0].result.ok()) << result.hosts[0].result.error().ToString();
  ASSERT_TRUE(result.hosts[1].result.ok()) << result.hosts[1].result.error().ToString();
  EXPECT_EQ(*result.hosts[0].result, 0);
  EXPECT_EQ(*result.hosts[1].result, 3);
  EXPECT_EQ(logs_[1], "one\ntwo\n");
  EXPECT_THAT(shell_of_hosts_.calls["h1"][1], HasSubstr("follow s.j000001.h1.x 4"))
      << "where it was, without the greeting";
}

TEST_F(ExecFollowTest, AGapIsToldAndPassedAtOnce) {
  shell_of_hosts_.hosts["h0"] = {{.log = "12345", .says = "jobman: gap 5 100\n"},
                                 {.log = "end\n", .says = "jobman: exited 0\n"}};
  EXPECT_TRUE(Follow(1, base::Duration{0}).AllOk());
  EXPECT_EQ(gaps_, std::vector<std::int64_t>{100});
  EXPECT_THAT(shell_of_hosts_.calls["h0"][1], HasSubstr(" 100"));
}

TEST_F(ExecFollowTest, WithoutPatienceABrokenConnectionIsTheEnd) {
  shell_of_hosts_.hosts["h0"] = {{.log = "one\n", .says = kRuns, .code = ConnectionBroke()}};
  const auto result = Follow(1, base::Duration{0});
  ASSERT_FALSE(result.hosts[0].result.ok());
  EXPECT_EQ(shell_of_hosts_.calls["h0"].size(), 1U);
}

TEST_F(ExecFollowTest, ACauseWhyTheScriptCannotBeInstalledIsTold) {
  const HostCall full{
      .says = "jobman: error cannot write to /home/ann/.jobman/bin (is the disk full?)\n",
      .code = remote::kExitHostError};
  shell_of_hosts_.hosts["h0"] = {{.code = remote::kExitNotInstalled}, full};
  const auto result = Follow(1, std::chrono::minutes{5});
  ASSERT_FALSE(result.hosts[0].result.ok());
  EXPECT_THAT(result.hosts[0].result.error().message, HasSubstr("is the disk full?"));
}

TEST_F(ExecFollowTest, TheScriptIsInstalledOnce) {
  const HostCall bare{.code = remote::kExitNotInstalled};
  shell_of_hosts_.hosts["h0"] = {bare, {}, {.says = "jobman: exited 0\n"}};
  EXPECT_TRUE(Follow(1, base::Duration{0}).AllOk());
  EXPECT_EQ(shell_of_hosts_.calls["h0"].size(), 3U);
  shell_of_hosts_.hosts["h0"] = {bare, {}, bare, {}};
  EXPECT_FALSE(Follow(1, base::Duration{0}).AllOk());
}

}  // namespace
}  // namespace jobman::client
