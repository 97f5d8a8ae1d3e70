// Commands that talk to clouds and hosts, over fakes of both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "jobman/controller/controller.hpp"
#include "jobman/core/slice_name.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/lend.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/support/run_now.hpp"
#include "tests/support/running_job.hpp"

namespace jobman::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Hosts whose keys are not the pinned ones.
class ChangedHosts final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget, ports::RemoteCommand, ports::ByteSink,
                                    ports::ByteSink) override {
    base::Error changed{.code = base::Code::kPermissionDenied,
                        .message = "the host key changed",
                        .reason = base::Reason::kHostKeyChanged};
    co_await base::Yield();
    co_return changed;
  }
  void Drop(const ports::HostTarget&) override {}
};

/// Hosts that are seen for the first time, and where a command is interrupted.
class NewHosts final : public ports::HostShell {
 public:
  explicit NewHosts(ports::HostKeyStore& keys) : keys_(keys) {}
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink, ports::ByteSink) override {
    JM_CO_TRY(co_await keys_.PinKey(target->identity, "ssh-ed25519 AAAA"));
    if (command.may_begin) JM_CO_TRY(co_await command.may_begin());
    ::raise(SIGINT);
    while (command.signals && command.signals->sent().empty())
      co_await base::Sleep(std::chrono::milliseconds{5});
    co_return 143;
  }
  void Drop(const ports::HostTarget&) override {}

 private:
  ports::HostKeyStore& keys_;
};

class NetworkCommands : public testing::Test {
 protected:
  NetworkCommands() {
    world_.open_cloud = Lend(cloud_);
    world_.open_shell = Lend(hosts_);
    world_.fill = [this](MemoryStore& store) { AddRunningJob(store, world_.clock.Now(), 2); };
  }
  /// A slice that the store's job 7 asked for, which it does not have.
  void LeaveASlice() {
    core::Job gone = JobBuilder("lost").Id(7).Build();
    gone.user = base::UserName();
    const auto request = core::RequestFor(gone, core::SliceFor(gone, 1), "memory");
    ASSERT_TRUE(RunNow(cloud_.Create(request)).ok());
  }

  CliWorld world_;
  FakeSliceApi cloud_{world_.clock};
  LocalShell hosts_{world_.paths().home / "hosts"};
  ChangedHosts changed_;
};

TEST_F(NetworkCommands, MaintainBeginsWhatTheCloudHasAnnounced) {
  core::NodeSeen node{
      .id = "train-000001-a1", .zone = "us-central2-b", .state = core::NodeState::kReady};
  cloud_.AddNode(node);
  const auto none = world_.Run({"maintain", "train"});
  EXPECT_NE(none.exit_code, 0);
  EXPECT_THAT(none.out, HasSubstr("no maintenance of node train-000001-a1: "));
  node.notice = core::Notice{.text = "PENDING"};
  cloud_.AddNode(node);
  const auto begun = world_.Run({"maintain", "train"});
  EXPECT_EQ(begun.exit_code, 0) << begun.out << begun.err;
  EXPECT_EQ(begun.out, "maintenance of node train-000001-a1 begins; progress: jobman why 000001\n");
  cloud_.AddNode(node);
  EXPECT_THAT(world_.Run({"maintain", "train", "--json"}).out,
              HasSubstr("\"node\": \"train-000001-a1\""));
}

TEST_F(NetworkCommands, ExecShowsWhatEachHostSaidAndHowItEnded) {
  const auto ended = world_.Run({"exec", "train", "--json", "--", "basename $HOME; exit 3"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("\"output\": \"h0\\n\""), HasSubstr("\"exit_code\": 3"),
                               HasSubstr("\"in_short\": \"host 0: h0")));
  EXPECT_EQ(world_.Run({"exec", "1", "-w", "1", "--", "true"}).exit_code, 0);
}

TEST_F(NetworkCommands, ExecOnOneHostIsQuietAndItsOutputByteForByte) {
  const auto ended = world_.Run({"exec", "1", "-w", "1", "-q", "--", "printf a; printf b >&2"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "a");
  EXPECT_EQ(ended.err, "b");
}

TEST_F(NetworkCommands, ExecLeavesHostsOut) {
  const auto others = world_.Run({"exec", "1", "--exclude", "0", "--", "echo up"});
  EXPECT_EQ(others.exit_code, 0) << others.err;
  EXPECT_EQ(others.out, "host 1 | up\n");
  const auto none = world_.Run({"exec", "1", "-w", "1", "--exclude", "1", "--", "echo up"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no host is left: job 000001 has hosts 0-1"));
  EXPECT_THAT(world_.Run({"exec", "1", "--slice", "0", "-q", "--", "echo up"}).out,
              AllOf(HasSubstr("host 0 | up\n"), HasSubstr("host 1 | up\n")));
  EXPECT_EQ(world_.Run({"exec", "1", "--slice", "1", "--", "echo up"}).exit_code, 3);
}

TEST_F(NetworkCommands, ExecTakesAssignmentsAndAFolder) {
  const auto set = world_.Run({"exec", "1", "-w", "0", "-q", "--", "X=a b", "sh", "-c", "echo $X"});
  EXPECT_EQ(set.out, "a b\n") << set.err;
  std::filesystem::create_directories(hosts_.HomeOf("h0") / "my code");
  const auto in = [&](const std::string& folder) {
    return world_.Run({"exec", "--workdir=" + folder, "1", "-w", "0", "-q", "--", "pwd"});
  };
  const std::string there = (hosts_.HomeOf("h0") / "my code").string() + "\n";
  EXPECT_EQ(in("my code").out, there);
  EXPECT_EQ(in("~/my code").out, there);
  EXPECT_EQ(in("none").exit_code, 126);
  EXPECT_EQ(in("none").out, "");
  const auto here = world_.Run({"exec", "--workdir", "1", "-w", "0", "-q", "--", "pwd"});
  EXPECT_EQ(here.out, std::filesystem::current_path().string() + "\n") << "as with podrun -w";
}

TEST_F(NetworkCommands, ExecWritesAFilePerHost) {
  const auto folder = world_.paths().home / "out";
  const std::vector<std::string> args = {"exec",          "1",  "--out",
                                         folder.string(), "--", "basename $HOME; echo bad >&2"};
  const auto ran = world_.Run(args);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("EXIT CODE"));
  EXPECT_EQ(base::ReadFile(folder / "host-0001.out").value_or("none"), "h1\n");
  EXPECT_EQ(base::ReadFile(folder / "host-0000.err").value_or("none"), "bad\n");
  const auto again = world_.Run(args);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("has the output of an earlier command"), HasSubstr("--force")));
  const auto json = world_.Run(
      {"exec", "1", "-w", "0", "--json", "--force", "--out", folder.string(), "--", "echo"});
  EXPECT_THAT(json.out, AllOf(HasSubstr("host-0000.out\""), HasSubstr("\"err\": null"),
                              Not(HasSubstr("\"output\""))));
  EXPECT_FALSE(base::FileSize(folder / "host-0001.out"));
  EXPECT_EQ(world_.Run({"exec", "1", "--force", "--", "true"}).exit_code, 2);
  EXPECT_EQ(world_.Run({"exec", "1", "--fold", "--out", "x", "--", "true"}).exit_code, 2);
}

TEST_F(NetworkCommands, ExecRunsAgainWhereItFailed) {
  const auto again = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"exec", "1", "--rerun-failed"});
    return world_.Run(more);
  };
  EXPECT_EQ(again({"--json"}).exit_code, 0) << "it never failed";
  EXPECT_THAT(again({}).err,
              HasSubstr("the last exec of job 000001 failed on none of these hosts"));
  ASSERT_TRUE(base::EnsureDir(world_.paths().JobDir(1)).ok());
  hosts_.Unplug("h1");
  EXPECT_EQ(world_.Run({"exec", "1", "--", "echo", "a  b"}).exit_code, 75);
  EXPECT_EQ(again({}).exit_code, 75) << "and it is known still";
  EXPECT_EQ(again({"-w", "0"}).exit_code, 0);
  hosts_.PlugIn("h1");
  EXPECT_EQ(again({}).out, "host 1 | a  b\n");
  EXPECT_EQ(again({}).out, "");
  EXPECT_EQ(world_.Run({"exec", "1", "--", "exit 3"}).exit_code, 3);
  EXPECT_EQ(again({"-w", "0", "--", "echo", "other"}).out, "host 0 | other\n");
  EXPECT_EQ(again({"--", "echo", "rest"}).out, "host 1 | rest\n");
  EXPECT_EQ(world_.Run({"exec", "1"}).exit_code, 2);
}

TEST_F(NetworkCommands, ExecShowsNoLiveLineBesideTheOutputThatAPipeShows) {
  world_.around = {.err_tty = true, .term = "xterm", .locale = "C.UTF-8"};
  EXPECT_THAT(world_.Run({"exec", "1", "--", "echo x"}).err, HasSubstr("waiting for 1 host"));
  world_.around.out_pipe = true;
  EXPECT_THAT(world_.Run({"exec", "1", "--", "echo x"}).err, Not(HasSubstr("waiting for")));
}

TEST_F(NetworkCommands, ExecNamesTheHostThatCannotBeReached) {
  hosts_.Unplug("h1");
  const auto ended = world_.Run({"exec", "1", "--", "true"});
  EXPECT_EQ(ended.exit_code, 75) << "some of it is still to be done";
  EXPECT_THAT(ended.err, HasSubstr("h1: connection refused"));
  EXPECT_THAT(world_.Run({"exec", "1", "--json", "--", "true"}).out,
              AllOf(HasSubstr("1/2 ok"), HasSubstr("\"error\": \"h1: connection refused\"")));
}

TEST_F(NetworkCommands, ExecOnOneHostEndsWithItsCode) {
  EXPECT_EQ(world_.Run({"exec", "1", "-w", "1", "--", "exit 42"}).exit_code, 42);
  EXPECT_EQ(world_.Run({"exec", "1", "--", "exit 42"}).exit_code, 42);
  EXPECT_EQ(world_.Run({"exec", "1", "--patience", "60s", "--", "true"}).exit_code, 0);
  EXPECT_EQ(world_.Run({"exec", "1", "--patience", "soon", "--", "true"}).exit_code, 2);
  hosts_.Unplug("h1");
  EXPECT_EQ(world_.Run({"exec", "1", "-w", "1", "--", "true"}).exit_code, 75);
}

TEST_F(NetworkCommands, ExecTakesHostsByEitherName) {
  for (const char* option : {"-w", "--host", "--hosts"}) {
    const auto ran = world_.Run({"exec", "1", option, "1", "-q", "--", "basename $HOME"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, "h1\n") << option;
  }
}

TEST_F(NetworkCommands, ExecBeginsARunAndShowsItLater) {
  const auto begun = world_.Run({"exec", "1", "--detach", "--name", "eval", "-q", "--",
                                 "basename $HOME; echo bad >&2; test $(basename $HOME) = h0"});
  EXPECT_EQ(begun.exit_code, 0) << begun.err;
  EXPECT_EQ(begun.out, "eval\n");
  const auto followed = world_.Run({"exec", "1", "--follow", "eval"});
  EXPECT_EQ(followed.exit_code, 1) << "that of host 1";
  EXPECT_THAT(followed.out, AllOf(HasSubstr("host 0 | h0\n"), HasSubstr("host 0 | bad\n"),
                                  HasSubstr("host 1 | h1\n")));
  EXPECT_EQ(world_.Run({"exec", "1", "--follow", "eval", "-w", "0"}).exit_code, 0);
  const auto again = world_.Run({"exec", "1", "--detach", "--name", "eval", "--", "true"});
  EXPECT_EQ(again.exit_code, 2) << "the same command would fail later, too";
  EXPECT_THAT(again.err,
              HasSubstr("host 0: there is a run eval on this host already: choose another "
                        "--name\n"));
  EXPECT_EQ(again.out, "run eval has begun on no host\n");
  EXPECT_EQ(world_.Run({"exec", "1", "--detach", "--name", "eval", "-q", "--", "true"}).out, "");
  const auto none = world_.Run({"exec", "1", "--follow", "other"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("the host has no detached run other"));
}

TEST_F(NetworkCommands, ExecListsAndStopsRuns) {
  EXPECT_EQ(world_.Run({"exec", "1", "--runs"}).out, "no detached runs\n");
  ASSERT_EQ(world_.Run({"exec", "1", "--detach", "--name", "long", "--", "sleep 600"}).exit_code,
            0);
  const auto running = world_.Run({"exec", "1", "--runs"});
  EXPECT_EQ(running.exit_code, 0) << running.err;
  EXPECT_THAT(running.out, HasSubstr("long  0-1    running"));
  EXPECT_THAT(world_.Run({"exec", "1", "--runs", "--json"}).out,
              AllOf(HasSubstr("\"name\": \"long\""), HasSubstr("\"state\": \"running\"")));
  const auto stopped = world_.Run({"exec", "1", "--stop", "long"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_THAT(world_.Run({"exec", "1", "--runs"}).out, HasSubstr("0-1    exit code 143"));
  EXPECT_EQ(world_.Run({"exec", "1", "--runs", "-q"}).out, "long\n");
  EXPECT_EQ(world_.Run({"exec", "1", "--stop", "other"}).exit_code, 3);
  EXPECT_EQ(world_.Run({"exec", "1", "--runs", "-q"}).out, "long\n") << "it left no mark";
}

/// It is none without runs: nobody knows what runs there.
TEST_F(NetworkCommands, AHostThatCannotTakeTheScriptIsNamedWithTheCause) {
  std::filesystem::create_directories(hosts_.HomeOf("h1"));
  std::ofstream(hosts_.HomeOf("h1") / ".jobman") << "in the way";
  const auto listed = world_.Run({"exec", "1", "--runs", "--json"});
  EXPECT_EQ(listed.exit_code, 75);
  EXPECT_THAT(listed.out, HasSubstr("jobman's script cannot be installed there: cannot create"));
  EXPECT_THAT(world_.Run({"exec", "1", "--runs"}).out, Not(HasSubstr("no detached runs")));
  const auto begun = world_.Run({"exec", "1", "--detach", "--name", "eval", "--", "true"});
  EXPECT_EQ(begun.exit_code, 75);
  EXPECT_THAT(begun.err, HasSubstr("host 1: jobman's script cannot be installed there: cannot"));
  const auto stopped = world_.Run({"exec", "1", "--stop", "eval", "--json"});
  EXPECT_EQ(stopped.exit_code, 75);
  EXPECT_THAT(stopped.out, HasSubstr("jobman's script cannot be installed there: cannot create"));
}

TEST_F(NetworkCommands, ExecRefusesOptionsThatDoNotFitTogether) {
  const auto refused = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"exec", "1"});
    const auto ran = world_.Run(more);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(refused({"--detach", "--runs", "--", "x"}), HasSubstr("exclude each other"));
  EXPECT_THAT(refused({"--name", "a", "--", "x"}), HasSubstr("--name is for --detach"));
  EXPECT_THAT(refused({"--follow", "a", "--", "x"}), HasSubstr("CMD is for --detach"));
  EXPECT_THAT(refused({"--detach"}), HasSubstr("CMD is required"));
  EXPECT_THAT(refused({"--detach", "--timeout", "5s", "--", "x"}), HasSubstr("no --timeout"));
  for (const char* name : {"../x", "a b", "-a", "a.b", "_a"})
    EXPECT_THAT(refused({"--detach", std::string("--name=") + name, "--", "x"}),
                HasSubstr("cannot be the name of a run"));
  EXPECT_THAT(refused({"--tty", "--", "x"}), HasSubstr("--tty is for one host, and 2 hosts"));
}

TEST_F(NetworkCommands, ATerminalTellsAFirstKeyAndAnInterruptBeforeItsCommand) {
  if (getpwuid(getuid()) == nullptr) GTEST_SKIP() << "this user has no entry in the password file";
  world_.open_shell = [](const asio::any_io_executor&, ports::HostKeyStore& keys) {
    return std::make_unique<NewHosts>(keys);
  };
  const auto ended = world_.Run({"exec", "1", "--tty", "-w", "0", "--job-env", "--", "htop"});
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("host 0: pinned key"),
                    HasSubstr("interrupted before the command began"), Not(HasSubstr("room"))));
}

TEST_F(NetworkCommands, CpSaysWhatItCopiedAndWhereNot) {
  const auto file = world_.paths().home / "data.txt";
  std::ofstream(file) << "data";
  const auto text = world_.Run({"cp", file.string(), "1:"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out, "");
  EXPECT_THAT(text.err, HasSubstr("copied to 2 hosts of job 000001 in "));
  hosts_.Unplug("h1");
  const auto some = world_.Run({"cp", file.string(), "1:"});
  EXPECT_EQ(some.exit_code, 75);
  EXPECT_THAT(some.err,
              AllOf(HasSubstr("host 1: h1: connection refused"), HasSubstr("to 1 host ")));
  const auto json = world_.Run({"cp", file.string(), "1:", "--json"});
  EXPECT_EQ(json.exit_code, 75);
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"to_hosts\": true"),
                              HasSubstr("\"error\": \"h1: connection refused\"")));
  EXPECT_EQ(world_.Run({"cp", "nothing", "1:"}).exit_code, 3);
  EXPECT_THAT(world_.Run({"cp", "a", "b"}).err, HasSubstr("neither a nor b is on a host"));
}

TEST_F(NetworkCommands, SyncSaysWhatItSentAndWhereNot) {
  const auto folder = world_.paths().home / "tree";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a") << "data";
  const auto dry = world_.Run({"sync", folder.string(), "1:code", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_EQ(dry.out, "hosts 0-1 (2):\n+ a\n");
  EXPECT_THAT(dry.err, HasSubstr("would send 1 of 1 file to 2 hosts of job 000001"));
  hosts_.Unplug("h1");
  const auto some = world_.Run({"sync", folder.string(), "1:code"});
  EXPECT_EQ(some.exit_code, 75);
  EXPECT_EQ(some.out, "");
  EXPECT_THAT(
      some.err,
      AllOf(HasSubstr("host 1: h1: connection refused"), HasSubstr("1 of 1 file, "),
            HasSubstr(" sent to 1 host of job 000001 in "), HasSubstr(" over the uplink)")));
  const auto json = world_.Run({"sync", folder.string(), "1:code", "--json", "-w", "0"});
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"files\": 1"), HasSubstr("\"sent\": 0")));
  EXPECT_THAT(world_.Run({"sync", folder.string(), "1:code", "-w", "0"}).err,
              HasSubstr("nothing to do on 1 host of job 000001: 1 file compared in "));
  EXPECT_EQ(world_.Run({"sync", "nothing", "1:code"}).exit_code, 3);
  EXPECT_EQ(world_.Run({"sync", folder.string(), "1:"}).exit_code, 2);
}

TEST_F(NetworkCommands, GcDeletesOnlyWhenItIsTold) {
  LeaveASlice();
  const auto looked = world_.Run({"gc", "--no-hosts", "--json"});
  EXPECT_EQ(looked.exit_code, 1) << "something is left";
  EXPECT_THAT(looked.out, HasSubstr("\"ownership\": \"orphan\""));
  EXPECT_THAT(cloud_.Leftovers(), Not(IsEmpty()));
  const auto deleted = world_.Run({"gc", "--no-hosts", "--yes"});
  EXPECT_EQ(deleted.exit_code, 0) << deleted.err;
  EXPECT_THAT(deleted.out, HasSubstr("deleted: there is no job 000007"));
  EXPECT_THAT(cloud_.Leftovers(), IsEmpty());
  EXPECT_THAT(world_.Run({"gc", "--no-hosts"}).err, HasSubstr("nothing to delete in 1 place"));
}

TEST_F(NetworkCommands, GcDeletesNothingWhenAZoneCannotBeListed) {
  LeaveASlice();
  cloud_.SetReachable(false);
  const auto ended = world_.Run({"gc", "--no-hosts", "--yes", "--zone", "europe-west4-a"});
  EXPECT_EQ(ended.exit_code, 75);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("listing zone us-central2-b of research"),
                               HasSubstr("listing zone europe-west4-a of research")));
  cloud_.SetReachable(true);
  EXPECT_THAT(cloud_.Leftovers(), Not(IsEmpty()));
}

TEST_F(NetworkCommands, GcNamesHostsThatItCannotAsk) {
  world_.open_shell = Lend(changed_);
  const auto ended = world_.Run({"gc"});
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_THAT(ended.err, HasSubstr("cannot list what runs on host 0 of job 000001"));
}

TEST_F(NetworkCommands, CreateGoesOnWhenTheCloudCannotBeAsked) {
  const auto file = world_.paths().home / "a.yaml";
  std::ofstream(file) << "tpu:\n  accelerator: v4-16\n  zone: us-central2-b\n  project: demo\n"
                         "ssh: {private_key: "
                      << (world_.paths().home / "key").string() << "}\ncommand: {cmd: hostname}\n";
  cloud_.SetReachable(false);
  world_.fill = [this](MemoryStore& store) {
    EXPECT_TRUE(
        store.TakeLease(controller::LeaseHolder(), world_.clock.Now(), std::chrono::hours{1}).ok());
  };
  const auto ended = world_.Run({"create", file.string()});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("note: what zone us-central2-b offers could not be checked"));
  EXPECT_THAT(cloud_.calls(), Contains("AcceleratorTypes us-central2-b"));
}

TEST_F(NetworkCommands, CreateFollowsItsJobsTogether) {
  cloud_.SetReachable(false);
  world_.fill = [this](MemoryStore& store) {
    EXPECT_TRUE(
        store.TakeLease(controller::LeaseHolder(), world_.clock.Now(), std::chrono::hours{1}).ok());
  };
  std::vector<std::string> args = {"create", "--follow"};
  for (const std::string name : {"one", "three"}) {
    args.push_back((world_.paths().home / (name + ".yaml")).string());
    std::ofstream(args.back()) << "job: {name: " << name << "}\n"
                               << "tpu: {accelerator: v4-16, zone: us-central2-b, project: demo}\n"
                               << "ssh: {private_key: " << (world_.paths().home / "key").string()
                               << "}\ncommand: {cmd: hostname}\n";
  }
  int pauses = 0;
  world_.on_pause = [&](MemoryStore& store) {
    ++pauses;
    for (const int id : {1, 2}) {
      if (pauses == 1) world_.WriteLog(id, 1, "run", 0, "hello\n");
      if (pauses != 2) continue;
      ports::Turn turn{.job = *store.Get({id})};
      turn.job.wish_new = false;
      turn.job.attempt = 1;
      turn.job.state = core::Done{core::Outcome::kFailed, id};
      EXPECT_TRUE(store.Commit(turn, 0).ok());
    }
    return pauses < 20;
  };
  const auto ended = world_.Run(args);
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("one   | hello\nthree | hello\n"),
                    HasSubstr("job 000001 (one) FAILED"), HasSubstr("job 000002 (three) FAILED")));
  EXPECT_THAT(ended.err, HasSubstr("== job 000002 (three), attempt 1, run\n"));
}

}  // namespace
}  // namespace jobman::test
