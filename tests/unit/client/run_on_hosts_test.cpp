#include "jobman/client/run_on_hosts.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <map>

#include "jobman/base/strings.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/run_until_stopped.hpp"
#include "jobman/client/times.hpp"
#include "jobman/client/vouching.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

/// A host's command says its group; then it interrupts this process, as Ctrl-C does, once for each
/// signal that it outlives. The host h1 is never reached. A line that ends the group over another
/// call is counted.
class InterruptingShell final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink, ports::ByteSink err) override {
    if (command.command.starts_with("exec sh -c 'l=;")) co_return co_await End(command.command);
    while (target->address == "h1") co_await base::Sleep(std::chrono::hours{1});
    JM_CO_TRY(co_await command.may_begin());
    if (slow) {
      ::raise(SIGINT);
      co_await base::Sleep(2 * kSameInterrupt);
    }
    if (says_group) {
      JM_CO_TRY(err("hello\njobman: group 77 88\n"));
    }
    if (slow) {
      while (enders == 0) co_await base::Sleep(std::chrono::milliseconds{10});
      ended = true;
      co_return 143;
    }
    if (breaks) {
      ::raise(SIGINT);
      base::Error error{.code = base::Code::kUnavailable,
                        .message = "broke",
                        .reason = base::Reason::kConnectionBroke};
      co_await base::Sleep(std::chrono::milliseconds{50});
      co_return error;
    }
    ::raise(SIGINT);
    std::size_t seen = 0;
    while (command.signals->sent().size() < outlives + 1) {
      co_await base::Sleep(std::chrono::milliseconds{10});
      if (command.signals->sent().size() <= seen) continue;
      seen = command.signals->sent().size();
      if (seen > outlives) break;
      co_await base::Sleep(2 * kSameInterrupt);
      ::raise(SIGINT);
    }
    signals = command.signals->sent();
    co_return 143;
  }
  void Drop(const ports::HostTarget&) override {}
  std::size_t outlives = 0;
  bool breaks = false;
  bool slow = false;  ///< takes no signal, and says its group long after the interrupt
  bool says_group = true;
  bool ended = false;  ///< the slow one
  int enders = 0;
  std::map<std::string, int> codes = {};            ///< of the enders by their signal, else 0
  std::map<std::string, bool> interrupted_by = {};  ///< while the ender with it waits
  std::vector<std::string> signals = {};

 private:
  base::Task<base::Result<int>> End(std::string line) {
    ++enders;
    const std::string signal = base::Contains(line, " KILL ") ? "KILL" : "TERM";
    if (interrupted_by[signal]) {
      co_await base::Sleep(2 * kSameInterrupt);
      ::raise(SIGINT);
      co_await base::Sleep(std::chrono::hours{1});
    }
    co_return codes[signal];
  }
};

/// Pins a key at each login, as SSH does for a host that it sees first.
class PinningShell final : public ports::HostShell {
 public:
  explicit PinningShell(test::MemoryStore& store) : store_(store) {}
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand,
                                    ports::ByteSink, ports::ByteSink) override {
    ++logins;
    JM_CO_TRY(store_.PinKey(target->identity, "ssh-ed25519 AAAA"));
    co_return 0;
  }
  void Drop(const ports::HostTarget&) override {}
  int logins = 0;

 private:
  test::MemoryStore& store_;
};

class RunOnHostsTest : public test::ClientWorld {
 protected:
  core::Job JobOn(int hosts) {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    return test::WithHosts(std::move(job), hosts);
  }
};

TEST_F(RunOnHostsTest, EachChosenHostRunsTheCommand) {
  test::LocalShell hosts(home_ / "hosts");
  shell_ = &hosts;
  auto chosen = ChooseHosts(Context().paths, JobOn(3), "0,2");
  ASSERT_TRUE(chosen.ok()) << chosen.error().ToString();
  std::string said;
  for (ssh::FanOutHost& host : *chosen) {
    host.out = [&said](std::string_view bytes) -> base::Status {
      said += bytes;
      return base::Ok();
    };
  }
  const auto run = RunUntilStopped(Context(), std::move(*chosen), "basename $HOME; exit 3", {}, {});
  EXPECT_FALSE(run.interrupted);
  ASSERT_EQ(run.result.hosts.size(), 2u);
  EXPECT_EQ(run.result.hosts[1].host, 2);
  EXPECT_EQ(*run.result.hosts[1].result, 3);
  EXPECT_TRUE(run.result.hosts[1].begun);
  EXPECT_THAT(said, AllOf(HasSubstr("h0\n"), HasSubstr("h2\n")));
}

TEST_F(RunOnHostsTest, UnknownHostsAreRefused) {
  const auto paths = Context().paths;
  EXPECT_EQ(ChooseHosts(paths, JobOn(2), "2").error().message, "job 000042 has hosts 0-1, not 2");
  EXPECT_EQ(ChooseHosts(paths, JobOn(1), "3").error().message, "job 000042 has only host 0, not 3");
  EXPECT_EQ(ChooseHosts(paths, test::JobBuilder().Build(), "all").error().code,
            base::Code::kUnavailable);
  EXPECT_EQ(ChooseHosts(paths, JobOn(2), "one").error().code, base::Code::kInvalidArgument);
}

std::vector<int> Numbers(const base::Result<std::vector<ssh::FanOutHost>>& hosts) {
  std::vector<int> numbers;
  if (!hosts.ok()) return numbers;
  for (const ssh::FanOutHost& host : *hosts) numbers.push_back(host.host);
  return numbers;
}

TEST_F(RunOnHostsTest, SomeHostsAreExcluded) {
  const auto paths = Context().paths;
  const core::Job job = JobOn(4);
  using testing::ElementsAre;
  EXPECT_THAT(Numbers(ChooseHosts(paths, job, HostChoice{.excluded = "0"})), ElementsAre(1, 2, 3));
  EXPECT_THAT(Numbers(ChooseHosts(paths, job, HostChoice{.numbers = "0-2", .excluded = "1,3"})),
              ElementsAre(0, 2));
  EXPECT_EQ(ChooseHosts(paths, job, HostChoice{.excluded = "7"}).error().message,
            "job 000042 has hosts 0-3, not 7");
  const auto none = ChooseHosts(paths, job, HostChoice{.excluded = "all"});
  EXPECT_EQ(none.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(none.error().message, "no host is left: job 000042 has hosts 0-3");
}

/// Two nodes of two hosts: the hosts keep their numbers in the job.
TEST_F(RunOnHostsTest, ASliceOfAMultisliceIsChosen) {
  const auto paths = Context().paths;
  core::Job job = JobOn(4);
  const core::SliceNode node = job.slice->nodes.at(0);
  job.slice->nodes = {node, node};
  for (core::SliceNode& one : job.slice->nodes) one.hosts = 2;
  job.slice->ref.nodes = 2;
  using testing::ElementsAre;
  EXPECT_THAT(Numbers(ChooseHosts(paths, job, HostChoice{.slice = 1})), ElementsAre(2, 3));
  EXPECT_THAT(Numbers(ChooseHosts(paths, job, HostChoice{.excluded = "1", .slice = 0})),
              ElementsAre(0));
  EXPECT_EQ(ChooseHosts(paths, job, HostChoice{.slice = 2}).error().message,
            "job 000042 has slices 0-1, not 2");
  EXPECT_EQ(ChooseHosts(paths, JobOn(1), HostChoice{.slice = 1}).error().message,
            "job 000042 has only slice 0, not 1");
}

TEST_F(RunOnHostsTest, AnInterruptEndsTheCommandAndNotTheProcess) {
  InterruptingShell hosts;
  shell_ = &hosts;
  auto chosen = ChooseHosts(Context().paths, JobOn(2), "all");
  std::vector<std::string> told;
  const auto run =
      RunUntilStopped(Context(), std::move(*chosen), "sleep 1000", {},
                      [&told](const std::string& signal, const std::vector<int>& which) {
                        told.push_back(signal + " " + base::FormatRanges(which));
                      });
  EXPECT_TRUE(run.interrupted);
  EXPECT_THAT(hosts.signals, testing::ElementsAre("TERM"));
  EXPECT_THAT(told, testing::ElementsAre("TERM 0"));
  ASSERT_EQ(run.result.hosts.size(), 2u);
  EXPECT_EQ(*run.result.hosts[0].result, 143);
  EXPECT_FALSE(run.result.hosts[1].begun) << "it was never reached";
  EXPECT_EQ(run.result.hosts[1].result.error().code, base::Code::kCancelled);
}

TEST_F(RunOnHostsTest, TheSecondInterruptKills) {
  InterruptingShell hosts;
  hosts.outlives = 1;
  shell_ = &hosts;
  auto chosen = ChooseHosts(Context().paths, JobOn(1), "all");
  const auto run = RunUntilStopped(Context(), std::move(*chosen), "sleep 1000", {}, {});
  EXPECT_TRUE(run.interrupted);
  EXPECT_THAT(hosts.signals, testing::ElementsAre("TERM", "KILL"));
  EXPECT_EQ(hosts.enders, 1) << "where sshd passes no signal on";
}

TEST_F(RunOnHostsTest, TheThirdInterruptEndsTheWait) {
  for (const bool says_group : {true, false}) {
    InterruptingShell hosts;
    hosts.outlives = 2;
    hosts.says_group = says_group;
    hosts.codes = {{"TERM", 1}, {"KILL", 1}};
    shell_ = &hosts;
    auto chosen = ChooseHosts(Context().paths, JobOn(1), "all");
    const auto run = RunUntilStopped(Context(), std::move(*chosen), "sleep 1000", {}, {});
    EXPECT_TRUE(run.interrupted);
    ASSERT_FALSE(run.result.hosts[0].result.ok());
    EXPECT_TRUE(run.result.hosts[0].begun);
    EXPECT_EQ(run.result.hosts[0].group.leader, says_group ? "77" : "");
    EXPECT_EQ(hosts.enders > 0, says_group);
  }
}

/// Over the controller's connections no signal is passed on.
TEST_F(RunOnHostsTest, AGroupThatIsSaidLateGetsTheSignal) {
  InterruptingShell hosts;
  hosts.slow = true;
  shell_ = &hosts;
  auto chosen = ChooseHosts(Context().paths, JobOn(1), "all");
  const auto run = RunUntilStopped(Context(), std::move(*chosen), "sleep 1000", {}, {});
  EXPECT_TRUE(run.interrupted);
  EXPECT_TRUE(hosts.ended) << "it was not given up";
  EXPECT_EQ(hosts.enders, 1);
  ASSERT_TRUE(run.result.hosts[0].result.ok());
}

TEST_F(RunOnHostsTest, ChildrenBehindAnEndedShellAreWaitedForAndKilled) {
  InterruptingShell hosts;
  hosts.interrupted_by["TERM"] = true;
  shell_ = &hosts;
  auto chosen = ChooseHosts(Context().paths, JobOn(1), "all");
  std::vector<std::string> told;
  const auto run =
      RunUntilStopped(Context(), std::move(*chosen), "sleep 1000", {},
                      [&told](const std::string& signal, const std::vector<int>& which) {
                        told.push_back(signal + " " + base::FormatRanges(which));
                      });
  EXPECT_THAT(told, testing::ElementsAre("TERM 0", "KILL 0"));
  EXPECT_EQ(hosts.enders, 2);
  ASSERT_TRUE(run.result.hosts[0].result.ok());
  EXPECT_EQ(*run.result.hosts[0].result, 143) << "the shell's own";
}

TEST_F(RunOnHostsTest, ACommandWhoseChildrenAreLeftHasNotEnded) {
  for (const bool third : {false, true}) {
    InterruptingShell hosts;
    hosts.interrupted_by = {{"TERM", third}, {"KILL", third}};
    hosts.codes["TERM"] = 1;
    shell_ = &hosts;
    auto chosen = ChooseHosts(Context().paths, JobOn(1), "all");
    const auto run = RunUntilStopped(Context(), std::move(*chosen), "sleep 1000", {}, {});
    EXPECT_TRUE(run.interrupted);
    EXPECT_TRUE(run.result.hosts[0].begun);
    EXPECT_FALSE(run.result.hosts[0].result.ok());
    EXPECT_THAT(run.not_ours, testing::IsEmpty());
  }
}

TEST_F(RunOnHostsTest, ProcessesOfAnotherUserAreTold) {
  InterruptingShell hosts;
  hosts.codes["TERM"] = 2;
  shell_ = &hosts;
  auto chosen = ChooseHosts(Context().paths, JobOn(1), "all");
  const auto run = RunUntilStopped(Context(), std::move(*chosen), "sudo sleep 1000", {}, {});
  EXPECT_FALSE(run.result.hosts[0].result.ok());
  EXPECT_THAT(run.not_ours, testing::ElementsAre(0));
}

TEST_F(RunOnHostsTest, WhereTheConnectionBrokeTheGroupIsEndedOverAnother) {
  InterruptingShell hosts;
  hosts.breaks = true;
  shell_ = &hosts;
  for (const int code : {0, 1}) {
    hosts.codes["TERM"] = code;
    auto chosen = ChooseHosts(Context().paths, JobOn(1), "all");
    const auto run = RunUntilStopped(Context(), std::move(*chosen), "sleep 1000", {}, {});
    EXPECT_TRUE(run.interrupted);
    EXPECT_EQ(run.result.hosts[0].result.ok(), code == 0) << "it says what is left";
  }
  EXPECT_EQ(hosts.enders, 2);
}

TEST_F(RunOnHostsTest, AHostKeyIsLearnedByOneLogin) {
  PinningShell hosts(store_);
  shell_ = &hosts;
  const ports::HostTarget target{.identity = "7001/0"};
  EXPECT_EQ(**Await(HostKeyOf(Context(), target)), "ssh-ed25519 AAAA");
  EXPECT_EQ(**Await(HostKeyOf(Context(), target)), "ssh-ed25519 AAAA");
  EXPECT_EQ(hosts.logins, 1);
}

/// A cloud with these keys for every node.
class KeyCloud final : public test::FakeSliceApi {
 public:
  using FakeSliceApi::FakeSliceApi;
  base::Task<base::Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place,
                                                                    std::string) override {
    ++asked;
    if (error) co_return *error;
    co_return keys;
  }
  base::Task<base::Result<std::map<int, std::string>>> GetVmNames(core::Place,
                                                                  std::string) override {
    ++asked_names;
    co_return names;
  }
  int asked = 0;
  int asked_names = 0;
  std::optional<base::Error> error = {};
  std::vector<core::HostKeys> keys = {};
  std::map<int, std::string> names = {};
};

class VouchingTest : public RunOnHostsTest {
 protected:
  client::Context AtCloud() {
    client::Context context = Context();
    context.open_cloud = test::Lend(keys_);
    return context;
  }
  std::vector<ssh::FanOutHost> Completed(Vouching& vouching, const core::Job& job) {
    auto hosts = ChooseHosts(Context().paths, job, "all");
    EXPECT_TRUE(hosts.ok());
    vouching.CompleteAll(job, *hosts);
    return std::move(*hosts);
  }
  KeyCloud keys_{clock_};
};

TEST_F(VouchingTest, CommandsUseTheKeysThatTheCloudVouchesFor) {
  keys_.keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA0"}}},
                {.host = 1, .keys = {{"ssh-ed25519", "AAAA1"}}}};
  Vouching vouching(AtCloud());
  const auto hosts = Completed(vouching, JobOn(2));
  EXPECT_EQ(hosts[0].target.vouched_keys.at("ssh-ed25519"), "AAAA0");
  EXPECT_EQ(hosts[1].target.vouched_keys.at("ssh-ed25519"), "AAAA1");
  EXPECT_EQ(keys_.asked, 1) << "once per node";
  EXPECT_THAT(Await(vouching.FirstUses()), testing::IsEmpty());
}

TEST_F(VouchingTest, APinnedHostNeedsNoCloud) {
  keys_.error = base::Error{.code = base::Code::kUnavailable, .message = "down"};
  ASSERT_TRUE(store_.PinKey("7001/0", "ssh-ed25519 AAAA").ok());
  Vouching vouching(AtCloud());
  EXPECT_TRUE(Completed(vouching, JobOn(1))[0].target.first_sight);
  EXPECT_EQ(keys_.asked, 0);
}

TEST_F(VouchingTest, OnlyTheHostsWithoutAPinnedKeyAreAskedFor) {
  keys_.keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA0"}}},
                {.host = 1, .keys = {{"ssh-ed25519", "AAAA1"}}}};
  ASSERT_TRUE(store_.PinKey("7001/0", "ssh-ed25519 AAAA0").ok());
  Vouching vouching(AtCloud());
  const auto hosts = Completed(vouching, JobOn(2));
  EXPECT_TRUE(hosts[0].target.vouched_keys.empty());
  EXPECT_EQ(hosts[1].target.vouched_keys.at("ssh-ed25519"), "AAAA1");
}

TEST_F(VouchingTest, FirstUseNeedsAnAnswerAndIsTold) {
  keys_.error = base::Error{.code = base::Code::kUnavailable, .message = "down"};
  Vouching blind(AtCloud());
  const auto silent = Completed(blind, JobOn(1))[0].target;
  EXPECT_FALSE(silent.first_sight);
  EXPECT_EQ(silent.unvouched, "down");

  keys_.error = base::Error{.code = base::Code::kPermissionDenied, .message = "no IAM role"};
  Vouching vouching(AtCloud());
  EXPECT_TRUE(Completed(vouching, JobOn(1))[0].target.first_sight);
  EXPECT_THAT(Await(vouching.FirstUses()), testing::IsEmpty()) << "nobody logged in";
  Completed(vouching, JobOn(1));
  ASSERT_TRUE(store_.PinKey("7001/0", "some key").ok());
  const auto lines = Await(vouching.FirstUses());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("host 0: pinned key "));
  EXPECT_THAT(lines[0], HasSubstr("on first use, as the cloud refused to tell it: no IAM role"));
}

TEST_F(VouchingTest, AProxyCommandThatNamesTheVmGetsItsName) {
  keys_.names = {{0, "w0"}, {1, "w1"}};
  ASSERT_TRUE(store_.PinKey("7001/0", "some key").ok());
  ASSERT_TRUE(store_.PinKey("7001/1", "some key").ok());
  core::Job job = JobOn(2);
  Vouching vouching(AtCloud());
  EXPECT_EQ(Completed(vouching, job)[1].target.vm_name, "");
  EXPECT_EQ(keys_.asked_names, 0);
  job.spec.ssh.proxy_command = "helper %n %p";
  const auto hosts = Completed(vouching, job);
  EXPECT_EQ(hosts[0].target.vm_name, "w0");
  EXPECT_EQ(hosts[1].target.vm_name, "w1");
  EXPECT_EQ(keys_.asked_names, 1) << "once per node";
}

TEST_F(RunOnHostsTest, TheTargetIsTheJobsOwn) {
  core::Job job = JobOn(1);
  job.spec.ssh = {.user = "ada", .private_key = "/key", .port = 2222, .agent_forwarding = true};
  job.slice->hosts[0].external = "203.0.113.7";
  auto target = TargetOf(Context().paths, job, 0);
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->user, "ada");
  EXPECT_EQ(target->port, 2222);
  EXPECT_EQ(target->identity, "7001/0");
  EXPECT_TRUE(target->forward_agent);
  EXPECT_EQ(target->address, job.spec.tpu.external_ips ? "203.0.113.7" : "h0");
}

TEST_F(RunOnHostsTest, TheJobNamesTheWay) {
  core::Job job = JobOn(1);
  job.spec.tpu.external_ips = true;
  job.slice->hosts[0].external = "203.0.113.7";
  const auto target = [&] { return TargetOf(Context().paths, job, 0).value(); };
  EXPECT_EQ(target().address, "203.0.113.7");
  EXPECT_FALSE(ports::HasProxy(target()));
  job.spec.ssh.address = core::AddressChoice::kInternal;
  job.spec.ssh.proxy_jump = "bastion";
  EXPECT_EQ(target().address, "h0");
  EXPECT_EQ(target().proxy_jump, "bastion");
  EXPECT_TRUE(ports::HasProxy(target()));
  job.spec.ssh.proxy_jump.clear();
  job.spec.ssh.proxy_command = "nc %h %p";
  EXPECT_EQ(target().proxy_command, "nc %h %p");
  job.spec.ssh.address = core::AddressChoice::kExternal;
  job.slice->hosts[0].external.clear();
  EXPECT_EQ(target().address, "h0") << "it has no other";
}

}  // namespace
}  // namespace jobman::client
