#include "jobman/client/top.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <map>
#include <set>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

TopHost HostWith(int number, double duty, double cpu) {
  remote::HostLook look;
  look.duty_percent = duty;
  look.cpu_percent = cpu;
  return {.host = number, .look = look};
}

std::vector<int> NumbersOf(const std::vector<TopHost>& hosts) {
  std::vector<int> numbers;
  for (const TopHost& host : hosts) numbers.push_back(host.host);
  return numbers;
}

TEST(Stragglers, AreFarFromTheMedianAndComeFirst) {
  std::vector<TopHost> hosts = {HostWith(0, 98, 5), HostWith(1, 97, 6), HostWith(2, 60, 5),
                                HostWith(3, 99, 5), HostWith(4, 3, 90)};
  MarkStragglers(hosts);
  EXPECT_EQ(hosts[0].apart, "");
  EXPECT_EQ(hosts[2].apart, "duty cycle 60%, median 97%");
  EXPECT_EQ(hosts[4].apart, "duty cycle 3%, median 97%; CPU 90%, median 5%");
  SortHosts(hosts, TopOrder::kStragglers);
  EXPECT_THAT(NumbersOf(hosts), ElementsAre(4, 2, 0, 1, 3));
}

TEST(Stragglers, AreNoneWhereNobodyKnowsWhoIsOdd) {
  for (std::vector<TopHost> hosts :
       {std::vector<TopHost>{HostWith(0, 98, 5), HostWith(1, 3, 90)},
        {HostWith(0, 98, 5), HostWith(1, 97, 5), HostWith(2, 3, 5), HostWith(3, 4, 5)},
        {HostWith(0, 98, 5), HostWith(1, 94, 15), HostWith(2, 97, 10)},
        {TopHost{.host = 0}, TopHost{.host = 1}, TopHost{.host = 2}}}) {
    MarkStragglers(hosts);
    EXPECT_THAT(hosts, Each(Field(&TopHost::apart, "")));
  }
}

TEST(Stragglers, HostsAreSortedByAMeasure) {
  std::vector<TopHost> hosts = {HostWith(2, 50, 30), HostWith(0, 40, 10), TopHost{.host = 3},
                                HostWith(1, 90, 10)};
  SortHosts(hosts, TopOrder::kCpu);
  EXPECT_THAT(NumbersOf(hosts), ElementsAre(2, 0, 1, 3));
  SortHosts(hosts, TopOrder::kDuty);
  EXPECT_THAT(NumbersOf(hosts), ElementsAre(0, 2, 1, 3));
  SortHosts(hosts, TopOrder::kHost);
  EXPECT_THAT(NumbersOf(hosts), ElementsAre(0, 1, 2, 3));
}

/// Hosts by their address, each with what it prints in one call after the other. After the last one
/// it is silent until it is cancelled.
class TalkingHosts final : public ports::HostShell {
 public:
  struct Call {
    base::Result<int> ended = 0;
    std::string out = {};
    bool stays = false;  ///< the command goes on
  };
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink) override {
    limits.push_back(command.limit);
    auto& left = calls[target->address];
    const Call call = left.empty() ? Call{.stays = true} : left.front();
    if (!left.empty()) left.erase(left.begin());
    co_await base::Yield();
    if (!call.out.empty()) JM_CO_TRY(out(call.out));
    while (call.stays) co_await base::Sleep(std::chrono::hours{1});
    co_return call.ended;
  }
  void Drop(const ports::HostTarget&) override {}

  std::map<std::string, std::vector<Call>> calls = {};
  std::vector<std::optional<base::Duration>> limits = {};
};

std::string LookWithLoad(int load) {
  return "jobman-top begin\njobman-top load " + std::to_string(load) + "\njobman-top end\n";
}

base::Error RefusedHost() {
  return {.code = base::Code::kUnavailable,
          .message = "connecting to h1: refused",
          .reason = base::Reason::kHostRefused};
}

class TopTest : public test::ClientWorld {
 protected:
  core::Job JobOn(int hosts) {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    job.state = core::Running{};
    return Put(test::WithHosts(std::move(job), hosts));
  }
  std::vector<ssh::FanOutHost> AllOf(const core::Job& job) {
    return *ChooseHosts(Context().paths, job, "all");
  }
  std::optional<std::vector<TopHost>> Look(int hosts) {
    shell_ = &talking_;
    return LookAtHosts(Context(), AllOf(JobOn(hosts)), {});
  }
  TalkingHosts talking_;
};

TEST_F(TopTest, RealHostsSayHowTheyDo) {
  test::LocalShell hosts(home_ / "hosts");
  hosts.Unplug("h1");
  shell_ = &hosts;
  const auto states = LookAtHosts(Context(), AllOf(JobOn(2)), {});
  ASSERT_TRUE(states);
  ASSERT_EQ(states->size(), 2u);
  ASSERT_TRUE((*states)[0].look);
  EXPECT_GT((*states)[0].look->cpus, 0);
  EXPECT_TRUE((*states)[0].look->memory);
  ASSERT_TRUE((*states)[1].trouble);
  EXPECT_EQ((*states)[1].trouble->reason, base::Reason::kHostRefused);
}

TEST_F(TopTest, AHostThatSaysSomethingElseIsNamedWithIt) {
  talking_.calls["h0"] = {{.ended = 1, .out = "This account is \x1b[5mlocked.\n"}};
  talking_.calls["h1"] = {{.ended = 0}};
  talking_.calls["h2"] = {{.out = std::string(2 << 20, 'x')}};
  const auto states = Look(3);
  ASSERT_TRUE(states);
  EXPECT_EQ((*states)[0].trouble->message,
            "the host says 'This account is ?[5mlocked.' (exit code 1)");
  EXPECT_EQ((*states)[1].trouble->message, "the host says nothing of itself (exit code 0)");
  EXPECT_THAT((*states)[2].trouble->message, HasSubstr("something else without end"));
  EXPECT_THAT(talking_.limits, Each(std::optional(kLookLimit)));
}

TEST_F(TopTest, AWatchShowsHostsThatComeAndGo) {
  // Host 0 stays; host 1 is refused first; host 2 breaks after a look, and says more later.
  talking_.calls["h0"] = {{.out = LookWithLoad(5), .stays = true}};
  talking_.calls["h1"] = {{.ended = RefusedHost()}, {.out = LookWithLoad(7), .stays = true}};
  talking_.calls["h2"] = {{.ended = RefusedHost(), .out = LookWithLoad(1)},
                          {.out = LookWithLoad(2), .stays = true}};
  shell_ = &talking_;
  const core::Job job = JobOn(3);
  std::set<std::string> seen;
  const auto end =
      WatchHosts(Context(), job, AllOf(job), std::chrono::seconds{1},
                 [&seen](const std::vector<TopHost>& hosts, bool changed) {
                   std::string text;
                   for (const TopHost& host : hosts)
                     text += host.look ? std::to_string(static_cast<int>(*host.look->load)) : "-";
                   if (changed) seen.insert(text);
                   return text != "572";
                 });
  EXPECT_EQ(end, WatchEnd::kEnough);
  EXPECT_EQ(seen.count("572"), 1u);
}

TEST_F(TopTest, AWatchEndsWhenTheJobHasOtherHosts) {
  shell_ = &talking_;
  core::Job job = JobOn(2);
  bool moved = false;
  const auto end = WatchHosts(Context(), job, AllOf(job), std::chrono::seconds{1},
                              [&](const std::vector<TopHost>&, bool) {
                                if (std::exchange(moved, true)) return true;
                                core::Job other = job;
                                other.slice->nodes[0].uid = "another";
                                Change(other);
                                return true;
                              });
  EXPECT_EQ(end, WatchEnd::kMoved);
}

TEST_F(TopTest, AnInterruptEndsAWatchAndNotTheProcess) {
  shell_ = &talking_;
  const core::Job job = JobOn(2);
  const auto end = WatchHosts(Context(), job, AllOf(job), std::chrono::seconds{1},
                              [](const std::vector<TopHost>&, bool) {
                                ::raise(SIGINT);
                                return true;
                              });
  EXPECT_EQ(end, WatchEnd::kInterrupted);
}

}  // namespace
}  // namespace jobman::client
