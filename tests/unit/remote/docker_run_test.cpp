// The command in a container: the real script, with a real daemon.
#include <fstream>

#include "tests/unit/remote/docker_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;

class DockerRunTest : public DockerTest {
 protected:
  std::string RunId(int number) { return kRuns + std::to_string(number); }
  /// Its output says "bye" on TERM; it ignores the second.
  static constexpr const char* kObeys =
      "trap 'trap \"\" TERM; echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done";
  static constexpr const char* kIgnores = "trap '' TERM; echo up; while :; do sleep 0.05; done";
  pid_t ClientOf(const std::string& run_id) {
    return std::atoi(OutputOf("grep -alF \"jobman.dir=" + host.RunDir(run_id).string() +
                              "\" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do"
                              "  pid=${file#/proc/}; pid=${pid%/cmdline};"
                              "  case $(cat /proc/$pid/comm) in docker) echo $pid ;; esac; done")
                         .c_str());
  }
};

INSTANTIATE_TEST_SUITE_P(Shells, DockerRunTest, HostsShell(), ShellName);

class DockerRunInEveryShell : public DockerRunTest {};
INSTANTIATE_TEST_SUITE_P(Shells, DockerRunInEveryShell, EveryShell(), ShellName);

TEST_P(DockerRunInEveryShell, OutputAndExitCodeAreTheCommands) {
  const Ended ended = host.Run(Attempt(1, "echo out; echo error >&2; echo more; exit 7"));
  EXPECT_EQ(ended.out, "out\nerror\nmore\n");
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 7\n");
  EXPECT_TRUE(IsGone(RunId(1)));
}

TEST_P(DockerRunTest, LongOutputIsComplete) {
  const Ended ended = host.Run(
      Attempt(1, "i=0; while [ $i -lt 20000 ]; do echo line; i=$((i + 1)); done; printf end"));
  EXPECT_EQ(ended.out.size(), 5U * 20000 + 3);
  EXPECT_TRUE(ended.out.ends_with("line\nend"));
}

TEST_P(DockerRunTest, AScriptWithItsOwnInterpreterRuns) {
  const Ended ended = host.Run(Attempt(1, "#!/bin/sh -e\necho on\nfalse\necho off\n"));
  EXPECT_EQ(ended.out, "on\n");
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 1\n");
}

TEST_P(DockerRunTest, AMissingImageIsNamed) {
  spec.docker.image = "127.0.0.1:1/x:1";
  RunOrder order = Attempt(1, "true");
  order.env["JOBMAN_NET_TRIES"] = "1";
  EXPECT_THAT(host.Run(order), EndedSaying(75, "pulling 127.0.0.1:1/x:1 failed"));
}

TEST_P(DockerRunTest, VariablesArriveWhole) {
  spec.environment = {{"A", "job"}, {"B", "job"}, {"C", "job"}, {"LD_NONE", "l"}};
  spec.docker.env_vars = {"B=section", "C=section", "PATH=/bin:/section", "HOME=/tmp"};
  spec.command.env = {{"C", "two  blanks\n'quotes' \"$A\" `B`"}};
  spec.command.secrets = {{.name = "TOKEN"}};
  RunOrder order =
      Attempt(3,
              "echo $A $B $LD_NONE $PATH $HOME $JOBMAN_RUN_ID; echo \"$C\"; echo \"$TOKEN\";"
              " echo $JOBMAN_RUN_DIR");
  order.secrets["TOKEN"] = "se cret\n";
  EXPECT_EQ(host.Run(order).out, "job section l /bin:/section /tmp " + RunId(3) +
                                     "\ntwo  blanks\n'quotes' \"$A\" `B`\nse cret\n\n" +
                                     host.RunDir(RunId(3)).string() + "\n");
}

TEST_P(DockerRunTest, SecretsAreInNoArguments) {
  spec.command.secrets = {{.name = "TOKEN"}};
  RunOrder order = Attempt(1, kObeys);
  order.secrets["TOKEN"] = "s3cr3t";
  const auto running = StartUp(host, order);
  EXPECT_EQ(OutputOf("grep -al 's3cr[3]t' /proc/[0-9]*/cmdline 2>/dev/null"), "");
  const std::string id = Docker("ps -q");
  EXPECT_THAT(Docker("inspect -f '{{.Path}} {{.Args}} {{.Config.Labels}}' " + id),
              testing::Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(Docker("inspect -f '{{.Config.Env}}' " + id), HasSubstr("TOKEN=s3cr3t")) << "as said";
  EXPECT_EQ(OutputOf("grep -rl 's3cr[3]t' " + host.home().string() + "/.jobman"), "");
  host.Stop(RunId(1), 30);
  host.Wait(running);
}

TEST_P(DockerRunTest, FoldersAreMounted) {
  std::filesystem::create_directories(host.home() / "data");
  std::ofstream(host.home() / "data/file") << "content\n";
  spec.docker.mount_dirs = {"~/data", "~/data:/there"};
  spec.docker.flags.emplace_back("-v ~/data:/flag");
  spec.docker.workdir = "/there";
  const Ended ended =
      host.Run(Attempt(1, "pwd; cat " + (host.home() / "data/file").string() +
                              " file /flag/file; touch $JOBMAN_CHECKPOINT_DIR/saved new;"
                              " touch $JOBMAN_RUN_DIR/x 2>/dev/null || echo refused"));
  EXPECT_EQ(ended.out, "/there\ncontent\ncontent\ncontent\nrefused\n");
  EXPECT_TRUE(std::filesystem::exists(host.home() / "data/new"));
  EXPECT_TRUE(std::filesystem::exists(host.home() / ".jobman/checkpoints/s1.j000001/saved"));
}

TEST_P(DockerRunTest, TheFolderOfTheCommandIsOneInTheContainer) {
  spec.command.workdir = "/only/in/the/container";
  EXPECT_EQ(host.Run(Attempt(1, "pwd")).out, "/only/in/the/container\n");
  spec.command.workdir = "~/here";
  EXPECT_EQ(host.Run(Attempt(2, "pwd")).out, (host.home() / "here").string() + "\n");
}

TEST_P(DockerRunTest, FlagsCannotTakeTheContainerAway) {
  spec.docker.flags.emplace_back("-d -it --name mine --restart always");
  EXPECT_EQ(host.Run(Attempt(1, "echo here")).out, "here\n");
  EXPECT_TRUE(IsGone(RunId(1)));
}

TEST_P(DockerRunInEveryShell, ACommandThatObeysIsStopped) {
  const auto running = StartUp(host, Attempt(1, kObeys));
  EXPECT_EQ(host.Stop(RunId(1), 30), (RunStatus{.kind = Kind::kExited, .exit_code = 9}));
  EXPECT_THAT(host.Wait(running).out, HasSubstr("bye\n"));
  EXPECT_TRUE(IsGone(RunId(1)));
}

TEST_P(DockerRunTest, ACommandThatIgnoresTermIsKilled) {
  const auto running = StartUp(host, Attempt(1, kIgnores));
  EXPECT_EQ(host.Stop(RunId(1), 1), (RunStatus{.kind = Kind::kExited, .exit_code = 137}));
  host.Wait(running);
  EXPECT_TRUE(IsGone(RunId(1)));
}

TEST_P(DockerRunTest, AProgramKeepsTheGraceThatItsShellDoesNotNeed) {
  const auto running = StartUp(host, Attempt(1,
                                             "sh -c 'trap \"sleep 0.5; echo saved; exit\" TERM;"
                                             " echo up; while :; do sleep 0.05; done'\necho on"));
  EXPECT_EQ(host.Stop(RunId(1), 30), (RunStatus{.kind = Kind::kExited, .exit_code = 143}));
  const std::string out = host.Wait(running).out;
  EXPECT_THAT(out, HasSubstr("saved\n"));
  EXPECT_THAT(out, testing::Not(HasSubstr("on\n")));
}

TEST_P(DockerRunTest, NoticesReachTheCommand) {
  const core::Notice notice{
      .kind = core::Notice::Kind::kPreemption, .imminent = true, .text = "TRUE"};
  int number = 0;
  for (const char* signal : {"TERM", "INT", "USR1"}) {
    ++number;
    RunOrder order = Attempt(
        number,
        "trap 'cat $JOBMAN_NOTICE_FILE; exit 9' " + std::string(signal) +
            "; [ -e $JOBMAN_NOTICE_FILE ] && echo early; echo up; while :; do sleep 0.05; done");
    const auto running = StartUp(host, order);
    EXPECT_EQ(host.Do(NoticeCall(RunId(number), notice, signal)).exit_code, 0);
    const Ended ended = host.Wait(running);
    EXPECT_THAT(ended.out,
                HasSubstr("{\"imminent\":true,\"kind\":\"preemption\",\"text\":\"TRUE\"}"));
    EXPECT_THAT(ended.out, testing::Not(HasSubstr("early")));
    EXPECT_EQ(ended.err, "jobman: running\njobman: exited 9\n") << signal;
  }
}

TEST_P(DockerRunTest, AKilledClientIsReplaced) {
  const auto running = StartUp(host, Attempt(1, kObeys));
  const pid_t client = ClientOf(RunId(1));
  ASSERT_GT(client, 0);
  Signal(client, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return base::Contains(Slurp(host.Log(RunId(1))), "following"); }));
  EXPECT_EQ(host.StatusOf(RunId(1)).kind, Kind::kRunning);
  EXPECT_EQ(host.Stop(RunId(1), 30), (RunStatus{.kind = Kind::kExited, .exit_code = 9}));
  host.Wait(running);
  EXPECT_TRUE(IsGone(RunId(1)));
}

TEST_P(DockerRunInEveryShell, AContainerWithoutLauncherIsStopped) {
  const auto running = StartUp(host, Attempt(1, kIgnores));
  const pid_t launcher = PidIn(".jobman/runs/" + RunId(1) + "/pid");
  Signal(ClientOf(RunId(1)), SIGKILL);
  SignalGroup(launcher, SIGKILL);
  EXPECT_EQ(host.Stop(RunId(1), 1).kind, Kind::kLost);
  host.Wait(running);
  EXPECT_TRUE(IsGone(RunId(1)));
}

TEST_P(DockerRunTest, LeftoversAreEndedBeforeTheNextAttemptAndNobodyElses) {
  LocalHost other(GetParam());  // another home on the same machine
  other.env["DOCKER_HOST"] = daemon_->Address();
  ASSERT_EQ(other.Do(InstallCall()).exit_code, 0);
  const auto theirs = StartUp(other, Attempt(1, kObeys));
  const auto later = StartUp(host, Attempt(3, kObeys));
  const auto running = StartUp(host, Attempt(1, kIgnores));
  SignalGroup(PidIn(".jobman/runs/" + RunId(1) + "/pid"), SIGKILL);
  host.Wait(running);
  RunOrder next = Attempt(2, "echo next");
  next.replaces = RunId(2);
  EXPECT_EQ(host.Run(next).out, "next\n");
  EXPECT_TRUE(IsGone(RunId(1)));
  EXPECT_EQ(other.StatusOf(RunId(1)).kind, Kind::kRunning);
  EXPECT_EQ(host.StatusOf(RunId(3)).kind, Kind::kRunning) << "a late start ends no later attempt";
  EXPECT_EQ(other.Stop(RunId(1), 30).exit_code, 9);
  EXPECT_EQ(host.Stop(RunId(3), 30).exit_code, 9);
  other.Wait(theirs);
  host.Wait(later);
}

TEST_P(DockerRunTest, ChipsHeldInAContainerAreFreedOrNamed) {
  std::filesystem::create_directories(host.home() / "dev");
  std::ofstream(host.home() / "dev/accel0") << "";
  spec.docker.mount_dirs = {"~/dev"};
  const std::string hold = "exec 5<" + (host.home() / "dev/accel0").string() +
                           "; trap 'exit 9' TERM; echo up;"
                           " while :; do sleep 0.05; done";
  const auto running = StartUp(host, Attempt(1, hold));
  SignalGroup(PidIn(".jobman/runs/" + RunId(1) + "/pid"), SIGKILL);
  host.Wait(running);
  RunOrder next = Attempt(2, "echo mine");
  next.chips_of = "s1.j000001.n1.h0.";
  EXPECT_EQ(host.Run(next).out, "mine\n");
  RunOrder foreign = Attempt(1, hold);
  foreign.run_id = "s1.j000002.n1.h0.a1";
  const auto theirs = StartUp(host, foreign);
  next.run_id = RunId(3);
  const auto status = ParseStatus(host.Run(next).err);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->kind, Kind::kBusy);
  EXPECT_THAT(status->text, HasSubstr(" in the container jobman-" + foreign.run_id));
  EXPECT_EQ(host.Stop(foreign.run_id, 30).exit_code, 9);
  host.Wait(theirs);
}

TEST_P(DockerRunTest, ADaemonThatDoesNotAnswerIsNamed) {
  std::filesystem::create_directories(host.RunDir(RunId(1)));
  std::ofstream(host.RunDir(RunId(1)) / "container") << "\n/usr/bin/docker\nunix:///nonexistent\n";
  SetLimit("jm_kill_wait_cs", 50);
  RunOrder next = Attempt(2, "echo next");
  next.replaces = RunId(2);
  next.grace = {};
  const auto status = ParseStatus(host.Run(next).err);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->kind, Kind::kError);
  EXPECT_THAT(status->text, HasSubstr("run on the host: sudo systemctl restart docker"));
  std::filesystem::remove_all(host.RunDir(RunId(1)));
}

/// Nobody asks docker about a run that has no container.
TEST_P(DockerRunTest, OtherRunsDoNotNeedDocker) {
  const base::Path docker = host.home() / "shell/docker";
  std::ofstream(docker) << "#!/bin/sh\ntouch ~/asked\n";
  std::filesystem::permissions(docker, std::filesystem::perms::owner_all);
  const auto running = StartRunning({.run_id = RunId(1), .script = "exec sleep 60"});
  host.Stop(RunId(1), 30);
  host.Wait(running);
  host.Run({.run_id = RunId(2), .script = "true", .replaces = RunId(2), .chips_of = kRuns});
  EXPECT_FALSE(std::filesystem::exists(host.home() / "asked"));
}

}  // namespace
}  // namespace jobman::remote
