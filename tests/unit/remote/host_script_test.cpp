#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

/// Whether a part of a file in the temporary folder can be given back.
bool HasHoles() {
  const char* const probe =
      "f=$(mktemp) && echo x >$f && fallocate -p -o 0 -l 1 $f; e=$?; rm $f; exit $e";
  return std::system(probe) == 0;
}

INSTANTIATE_TEST_SUITE_P(Shells, HostScriptTest, EveryShell(), ShellName);

TEST_P(HostScriptTest, StartsNothingWhereASetupRunHasNotSucceededSinceBoot) {
  const base::Path boot = host.home() / "boot";
  std::ofstream(boot) << "one\n";
  host.env["JOBMAN_BOOT_ID_FILE"] = boot;
  host.Run({.run_id = "done", .script = "true"});
  host.Run({.run_id = "failed", .script = "exit 1"});
  const auto started = [&](const std::string& id, std::vector<std::string> setup) {
    const Ended ended = host.Run({.run_id = id, .script = "true", .setup = std::move(setup)});
    EXPECT_EQ(ended.exit_code, 0);
    return *ParseStatus(ended.err);
  };
  EXPECT_EQ(started("a", {"done"}).kind, Kind::kExited);
  const RunStatus lapsed = started("b", {"done", "failed"});
  EXPECT_EQ(lapsed.kind, Kind::kLapsed);
  EXPECT_EQ(lapsed.text, "failed");
  EXPECT_EQ(started("b", {"absent"}).kind, Kind::kLapsed);
  EXPECT_EQ(host.StatusOf("b").kind, Kind::kAbsent) << "it may start later";
  std::ofstream(boot) << "two\n";
  EXPECT_EQ(started("b", {"done"}).kind, Kind::kLapsed);
  EXPECT_NE(started("a", {"done"}).kind, Kind::kLapsed) << "it was started long ago";
}

TEST_P(HostScriptTest, ReportsOutputAndExitCode) {
  const Ended ended = host.Run({.run_id = "r", .script = "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "out\nerr\n");
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 3\n");
  EXPECT_EQ(host.StatusOf("r"), (RunStatus{.kind = Kind::kExited, .exit_code = 3}));
}

TEST_P(HostScriptTest, BeginsARunThatNobodyFollows) {
  const auto begin = [this](const std::string& id, const std::string& script, int keep = 2) {
    return host.Do(*BeginCall({.run_id = id, .script = script}, keep, "j.x-"));
  };
  const Ended begun = begin("j.x-long", "echo up; sleep 600");
  EXPECT_EQ(begun.exit_code, 0) << begun.err;
  EXPECT_EQ(begun.out, "");
  EXPECT_EQ(ParseStatus(begun.err)->kind, Kind::kRunning);
  const Ended again = begin("j.x-long", "touch ~/again");
  EXPECT_EQ(again.exit_code, kExitHostError);
  EXPECT_EQ(ParseStatus(again.err)->text, "there is a run long on this host already");
  for (const std::string name : {"j.x-a", "j.x-b", "j.x-c"}) {
    begin(name, "exit 3");
    EXPECT_TRUE(Eventually([&] { return host.StatusOf(name).kind == Kind::kExited; }));
    std::filesystem::last_write_time(
        host.RunDir(name),
        std::filesystem::file_time_type::clock::now() - std::chrono::seconds{100 - name.back()});
  }
  host.Run({.run_id = "j.a1", .script = "true"});
  begin("j.x-d", "true");
  EXPECT_FALSE(std::filesystem::exists(host.RunDir("j.x-a"))) << "the oldest";
  EXPECT_TRUE(std::filesystem::exists(host.RunDir("j.x-b")));
  EXPECT_TRUE(std::filesystem::exists(host.RunDir("j.a1"))) << "another kind";
  EXPECT_FALSE(std::filesystem::exists(host.home() / "again"));
  const auto runs = ParseAges(host.Do(AgesCall("j.x-")).out);
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].run_id, "j.x-b");
  EXPECT_EQ(runs[0].status, (RunStatus{.kind = Kind::kExited, .exit_code = 3}));
  EXPECT_EQ(runs[3].run_id, "j.x-long");
  EXPECT_EQ(runs[3].status.kind, Kind::kRunning);
  EXPECT_LT(runs[3].age, std::chrono::minutes{5});
  EXPECT_EQ(host.Stop("j.x-long", 5).kind, Kind::kExited);
}

TEST_P(HostScriptTest, ReportsThatItIsNotInstalled) {
  std::filesystem::remove_all(host.home() / ".jobman");
  const Ended ended = host.Run({.run_id = "r", .script = "touch ~/ran"});
  EXPECT_EQ(ended.exit_code, kExitNotInstalled);
  EXPECT_FALSE(std::filesystem::exists(host.home() / ".jobman"));
}

TEST_P(HostScriptTest, ACallBringsTheScriptToAHostThatLacksIt) {
  std::filesystem::remove_all(host.home() / ".jobman");
  const auto run = [this](const std::string& id) {
    return host.Do(WithScript(*RunCall({.run_id = id, .script = "echo " + id}, 0)));
  };
  const Ended first = run("one");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "one\n");
  const base::Path bin = host.home() / ".jobman/bin";
  EXPECT_EQ(Slurp(bin / HostScriptName()), HostScript());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(bin), {}), 1) << "nothing else";
  const Ended second = run("two");
  EXPECT_EQ(second.out, "two\n") << "where the script is, the order begins behind it" << second.err;
}

/// Then the order cannot be told from the script.
TEST_P(HostScriptTest, AHostThatCannotTakeTheScriptWithACallDoesNothing) {
  const base::Path tools = host.home() / "tools";
  std::filesystem::create_directories(tools);
  std::ofstream(tools / "dd") << "#!/bin/sh\necho 'dd: invalid input flag' >&2\nexit 1\n";
  std::filesystem::permissions(tools / "dd", std::filesystem::perms::owner_all);
  host.env["PATH"] = tools.string() + ":" + host.env["PATH"];
  const Call call = WithScript(*RunCall({.run_id = "r", .script = "touch ~/ran"}, 0));
  const Ended there = host.Do(call);
  EXPECT_EQ(there.exit_code, kExitNotInstalled);
  std::filesystem::remove_all(host.home() / ".jobman");
  const Ended missing = host.Do(call);
  EXPECT_EQ(missing.exit_code, kExitNotInstalled);
  EXPECT_EQ(there.err + missing.err, "");
  EXPECT_FALSE(std::filesystem::exists(host.home() / "ran"));
  EXPECT_TRUE(std::filesystem::is_empty(host.home() / ".jobman/bin"));
}

/// Hosts that share a home folder: another one has installed it meanwhile.
TEST_P(HostScriptTest, AScriptThatWasNotTakenIsNoOrder) {
  const base::Path script = host.home() / ".jobman/bin" / HostScriptName();
  const base::Path tools = host.home() / "tools";
  std::filesystem::create_directories(tools);
  std::filesystem::rename(script, tools / "script");
  std::ofstream(tools / "dd") << "#!/bin/sh\ncp ~/tools/script " << script.string() << "\nexit 1\n";
  std::filesystem::permissions(tools / "dd", std::filesystem::perms::owner_all);
  host.env["PATH"] = tools.string() + ":" + host.env["PATH"];
  const Ended ended = host.Do(WithScript(*RunCall({.run_id = "r", .script = "touch ~/ran"}, 0)));
  EXPECT_EQ(ended.exit_code, kExitNotInstalled) << ended.err;
  EXPECT_TRUE(std::filesystem::exists(script));
  EXPECT_FALSE(std::filesystem::exists(host.RunDir("r")));
}

/// As input of a session arrives.
TEST_P(HostScriptTest, AScriptThatACallBringsMayComeInPieces) {
  for (const std::string id : {"missing", "there"}) {
    if (id == "missing") std::filesystem::remove_all(host.home() / ".jobman");
    Call call = WithScript(*RunCall({.run_id = id, .script = "echo " + id}, 0));
    call.command = "dd bs=1 2>/dev/null | " + call.command;
    const Ended ended = host.Do(call);
    EXPECT_EQ(ended.out, id + "\n") << ended.err;
  }
}

TEST_P(HostScriptTest, AScriptThatACallBringsIsRefusedIfItIsCutShort) {
  std::filesystem::remove_all(host.home() / ".jobman");
  Call call = WithScript(*RunCall({.run_id = "r", .script = "touch ~/ran"}, 0));
  call.late_input = [all = call.late_input]() -> base::Result<std::string> {
    return all()->substr(0, 5'000);
  };
  EXPECT_EQ(host.Do(call).exit_code, kExitNotInstalled);
  EXPECT_TRUE(std::filesystem::is_empty(host.home() / ".jobman/bin"));
}

TEST_P(HostScriptTest, InstallRefusesATruncatedScript) {
  std::filesystem::remove_all(host.home() / ".jobman");
  Call call = InstallCall();
  call.input.resize(call.input.size() / 2);
  const Ended ended = host.Do(call);
  EXPECT_EQ(ended.exit_code, kExitHostError);
  EXPECT_EQ(ended.err, "jobman: error cannot unpack the script into " +
                           (host.home() / ".jobman/bin").string() +
                           " (is the disk full?): gzip: stdin: unexpected end of file\n");
  EXPECT_TRUE(std::filesystem::is_empty(host.home() / ".jobman/bin"));
}

TEST_P(HostScriptTest, InstallSaysWhyItsFolderTakesNothing) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  std::filesystem::remove_all(host.home() / ".jobman");
  std::filesystem::create_directories(host.home() / ".jobman/bin");
  std::filesystem::permissions(host.home() / ".jobman/bin", std::filesystem::perms::owner_exec);
  const Ended ended = host.Do(InstallCall());
  std::filesystem::permissions(host.home() / ".jobman/bin", std::filesystem::perms::owner_all);
  EXPECT_EQ(ended.exit_code, kExitHostError);
  EXPECT_THAT(ended.err, testing::StartsWith("jobman: error cannot write to "));
  EXPECT_THAT(ended.err, testing::HasSubstr("Permission denied"));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST_P(HostScriptTest, StartedTwiceRunsOnce) {
  const RunOrder order{.run_id = "r", .script = "echo x >>~/count; sleep 0.2; echo done"};
  const auto first = host.Start(*RunCall(order, 0));
  const auto second = host.Start(*RunCall(order, 0));
  const Ended one = host.Wait(first), two = host.Wait(second);
  const Ended later = host.Run(order);
  EXPECT_EQ(one.out, "done\n");
  EXPECT_EQ(two.out, "done\n");
  EXPECT_EQ(later.out, "done\n");
  EXPECT_EQ(Slurp(host.home() / "count"), "x\n");
}

TEST_P(HostScriptTest, ATruncatedOrderStartsNothing) {
  // The last line of an order is also in the script: an order cut right after it must not pass for
  // a complete one.
  const Call whole = *RunCall({.run_id = "r", .script = "touch ~/ran\n#\njobman-end\ntrue"}, 0);
  const auto decoy = whole.input.find("jobman-end");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, decoy, decoy + 10, decoy + 11, whole.input.size() - 2}) {
    Call cut = whole;
    cut.input.resize(size);
    const Ended ended = host.Do(cut);
    EXPECT_EQ(ended.exit_code, kExitHostError) << size;
    EXPECT_EQ(ParseStatus(ended.err)->kind, Kind::kError) << ended.err;
  }
  EXPECT_EQ(host.StatusOf("r").kind, Kind::kAbsent);
  EXPECT_EQ(host.Do(whole).err, "jobman: running\njobman: exited 0\n");
  EXPECT_TRUE(std::filesystem::exists(host.home() / "ran"));
}

TEST_P(HostScriptTest, LogIsExactToTheByte) {
  const Ended ended = host.Run(
      {.run_id = "r",
       .script =
           "head -c 300000 /dev/urandom | tee ~/sent; printf 'a\\000b\\377' | tee -a ~/sent"});
  const std::string sent = Slurp(host.home() / "sent");
  EXPECT_EQ(sent.size(), 300004U);
  EXPECT_EQ(base::Sha256Hex(ended.out), base::Sha256Hex(sent));
  for (const std::int64_t offset : {1, 299999, 300003, 300004}) {
    const Ended rest = host.Do(FollowCall("r", offset));
    EXPECT_EQ(rest.out, sent.substr(static_cast<std::size_t>(offset)));
    EXPECT_EQ(rest.err, "jobman: running\njobman: exited 0\n");
  }
}

TEST_P(HostScriptTest, GivesTheDiskOfWhatWasSentBack) {
  if (!HasHoles()) GTEST_SKIP() << "no fallocate for this file system";
  SetLimit("jm_kept_b", 1'000'000);
  const Ended ended =
      host.Run({.run_id = "r", .script = "head -c 20000000 /dev/urandom | tee ~/sent"});
  const std::string sent = Slurp(host.home() / "sent");
  EXPECT_EQ(base::Sha256Hex(ended.out), base::Sha256Hex(sent));
  struct stat info = {};
  ASSERT_EQ(::stat(host.Log("r").c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 20'000'000);
  EXPECT_LT(info.st_blocks * 512, 4'000'000);
  EXPECT_EQ(host.Do(FollowCall("r", 19'000'000)).out, sent.substr(19'000'000));
}

TEST_P(HostScriptTest, ALongLogIsSentInPieces) {
  SetLimit("jm_piece", 131'072);
  const Ended ended =
      host.Run({.run_id = "r", .script = "head -c 1000000 /dev/urandom | tee ~/sent"});
  EXPECT_EQ(base::Sha256Hex(ended.out), base::Sha256Hex(Slurp(host.home() / "sent")));
  EXPECT_EQ(host.Do(FollowCall("r", 0)).out, ended.out);
}

// Nobody follows the run until it has written ten times what its log may take.
TEST_P(HostScriptTest, ALogThatNobodyFetchesLosesItsMiddle) {
  if (!HasHoles()) GTEST_SKIP() << "no fallocate for this file system";
  SetLimit("jm_keep_s", 1);
  constexpr std::int64_t kLimit = 2'000'000;
  const RunOrder order{
      .run_id = "r",
      .script =
          "head -c 20000000 /dev/urandom | tee ~/sent; while [ ! -e ~/go ]; do sleep 0.1; done;"
          "echo end | tee -a ~/sent",
      .log_limit = kLimit};
  const auto first = host.Start(*RunCall(order, 20'000'000));  // has everything, fetches nothing
  const auto disk = [&] {
    struct stat info = {};
    return ::stat(host.Log("r").c_str(), &info) == 0 && info.st_size == 20'000'000
               ? std::int64_t{info.st_blocks} * 512
               : std::int64_t{0};
  };
  // The keeper may have looked while the last of it was being written.
  const auto gap = [&] { return Slurp(host.RunDir("r") / "gap"); };
  ASSERT_TRUE(Eventually([&] {
    return disk() > 0 && disk() < kLimit + 100'000 && gap().starts_with("1000000 19000000");
  })) << disk()
      << " " << gap();
  const std::string sent = Slurp(host.home() / "sent");
  const Ended begin = host.Do(FollowCall("r", 0));
  EXPECT_EQ(begin.exit_code, 0);
  EXPECT_EQ(base::Sha256Hex(begin.out), base::Sha256Hex(sent.substr(0, kLimit / 2)));
  const auto told = ParseStatus(begin.err);
  ASSERT_TRUE(told.ok()) << begin.err;
  EXPECT_EQ(told->kind, Kind::kGap);
  EXPECT_EQ(told->gap, (base::FileGap{.begin = kLimit / 2, .end = 20'000'000 - kLimit / 2}));
  const Ended inside = host.Do(FollowCall("r", 5'000'000));
  EXPECT_EQ(inside.out, "");
  EXPECT_EQ(ParseStatus(inside.err)->gap.begin, 5'000'000) << "what was fetched before stays";
  std::ofstream(host.home() / "go") << "";
  EXPECT_EQ(host.Wait(first).out, "end\n");
  const Ended rest = host.Do(FollowCall("r", told->gap.end));
  EXPECT_EQ(base::Sha256Hex(rest.out), base::Sha256Hex(sent.substr(19'000'000) + "end\n"));
  EXPECT_EQ(rest.err, "jobman: running\njobman: exited 0\n");
  const pid_t keeper = PidIn(".jobman/runs/r/keeper");
  EXPECT_TRUE(Eventually([&] { return !IsAlive(keeper); })) << "it ends with the run";
}

TEST_P(HostScriptTest, AShortLogAndOneWithoutALimitStayWhole) {
  SetLimit("jm_keep_s", 1);
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{100'000'000}}) {
    const std::string id = "r" + std::to_string(limit);
    const Ended ended = host.Run({.run_id = id,
                                  .script = "head -c 5000000 /dev/zero | tr '\\0' x; sleep 2.5",
                                  .log_limit = limit});
    EXPECT_EQ(ended.out, std::string(5'000'000, 'x'));
    EXPECT_FALSE(std::filesystem::exists(host.RunDir(id) / "gap"));
  }
}

TEST_P(HostScriptTest, FollowSendsOutputWhileTheCommandRuns) {
  const auto follower = host.Start(*RunCall(
      {.run_id = "r", .script = "echo begin; while [ ! -e ~/go ]; do sleep 0.02; done; echo end"},
      0));
  EXPECT_TRUE(Eventually([&] { return follower.Out() == "begin\n"; }));
  EXPECT_EQ(host.StatusOf("r").kind, Kind::kRunning);
  std::ofstream(host.home() / "go") << "";
  const Ended ended = host.Wait(follower);
  EXPECT_EQ(ended.out, "begin\nend\n");
}

/// Whether the tools that this shell finds can wait; busybox may prefer its own.
bool CanWait(LocalHost& host) {
  const std::string tools = "tail --pid=$$ -c 0 /dev/null && timeout --foreground 1 true";
  return host.Do({.command = "sh -c '" + tools + "'"}).exit_code == 0;
}

/// The process that waits for more of the log, or 0.
pid_t WaiterFor(const base::Path& log) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string words = Slurp(entry.path() / "cmdline");
    const bool waits = words.starts_with("tail") && words.find("--pid=") != std::string::npos;
    if (waits && words.find(log.string()) != std::string::npos)
      return std::stoi(entry.path().filename().string());
  }
  return 0;
}

TEST_P(HostScriptTest, AFollowerOfASilentRunWaitsWithoutALoop) {
  if (!CanWait(host)) GTEST_SKIP() << "no tail of coreutils";
  const auto follower = StartRunning(
      {.run_id = "r", .script = "echo begin; while [ ! -e ~/go ]; do sleep 0.1; done; echo end"});
  pid_t waiter = 0;
  ASSERT_TRUE(Eventually([&] {
    waiter = WaiterFor(host.Log("r"));
    return waiter > 0;
  }));
  std::ofstream(host.home() / "go") << "";
  EXPECT_EQ(host.Wait(follower).out, "begin\nend\n");
  EXPECT_TRUE(Eventually([&] { return !IsAlive(waiter); })) << "it ends with the call";
}

TEST_P(HostScriptTest, WhatWaitsDoesNotHoldTheConnectionOpen) {
  if (!CanWait(host)) GTEST_SKIP() << "no tail of coreutils";
  const auto follower = StartRunning({.run_id = "r", .script = "exec sleep 60"});
  pid_t waiter = 0;
  ASSERT_TRUE(Eventually([&] {
    waiter = WaiterFor(host.Log("r"));
    return waiter > 0;
  }));
  const base::Path files = "/proc/" + std::to_string(waiter) + "/fd";
  std::error_code ended;
  for (const char* file : {"0", "2", "3"}) {
    const auto to = std::filesystem::read_symlink(files / file, ended);
    EXPECT_NE(to.parent_path(), follower.folder) << file;
  }
  host.Stop("r", 1);
  host.Wait(follower);
}

// Another `tail` than that of coreutils: one that knows no --pid, and one that does not wait.
TEST_P(HostScriptTest, WhereTailCannotWaitItIsSlept) {
  std::filesystem::create_directories(host.home() / "bin");
  const base::Path tail = host.home() / "bin/tail";
  host.env["PATH"] = (host.home() / "bin").string() + ":" + host.env["PATH"];
  for (const std::string unable : {"*--pid=*) exit 1", "*--pid=*-F*) echo x >>~/waits; exit 0"}) {
    std::ofstream(tail) << "#!/bin/sh\ncase \"$*\" in " << unable
                        << ";; esac\nexec /usr/bin/tail \"$@\"\n";
    std::filesystem::permissions(tail, std::filesystem::perms::owner_all);
    const std::string id = unable.ends_with("1") ? "r1" : "r2";
    const Ended ended = host.Run(
        {.run_id = id, .script = "echo begin; sleep 2; printf 'a\\000b\\n'; sleep 1; echo end"});
    EXPECT_EQ(ended.out, std::string("begin\na\0b\nend\n", 14));
    EXPECT_EQ(ended.err, "jobman: running\njobman: exited 0\n");
  }
  const auto waits = std::ssize(Slurp(host.home() / "waits")) / 2;
  EXPECT_LE(waits, 20) << "it must not be tried again and again";
}

TEST_P(HostScriptTest, RunsInAFolderWithAnEnvironment) {
  std::filesystem::create_directories(host.home() / "work dir");
  const RunOrder order{.run_id = "r",
                       .script =
                           "pwd\nprintf '%s|' \"$PLAIN\" \"$ODD\" \"$S\" \"$JOBMAN_RUN_ID\"\n"
                           "echo \"$JOBMAN_CHECKPOINT_DIR\"; test -d \"$JOBMAN_CHECKPOINT_DIR\"",
                       .workdir = "~/work dir",
                       .env = {{"PLAIN", "~/x"},
                               {"ODD", "it's $HOME\n\"two\" `lines` \\"},
                               {"S", "weak"},
                               {"JOBMAN_CHECKPOINT_DIR", "~/.jobman/checkpoints/42"}},
                       .secrets = {{"S", "strong"}}};
  const Ended ended = host.Run(order);
  const std::string home = host.home();
  EXPECT_EQ(ended.out, home + "/work dir\n~/x|it's $HOME\n\"two\" `lines` \\|strong|r|" + home +
                           "/.jobman/checkpoints/42\n");
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 0\n");
}

TEST_P(HostScriptTest, ACheckpointFolderElsewhereIsKept) {
  const Ended ended = host.Run({.run_id = "r",
                                .script = "echo $JOBMAN_CHECKPOINT_DIR; ls ~",
                                .env = {{"JOBMAN_CHECKPOINT_DIR", "gs://bucket/train"}}});
  EXPECT_TRUE(ended.out.starts_with("gs://bucket/train\n")) << ended.out;
  EXPECT_FALSE(base::Contains(ended.out, "gs:\n")) << ended.out;
}

TEST_P(HostScriptTest, AMissingFolderIsAFailedRun) {
  const Ended ended = host.Run({.run_id = "r", .script = "true", .workdir = "no/such"});
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 126\n");
  EXPECT_TRUE(base::Contains(ended.out, "cannot enter the working folder no/such")) << ended.out;
}

TEST_P(HostScriptTest, AnInterpreterLineIsHonoured) {
  const Ended ended = host.Run({.run_id = "r", .script = "#!/usr/bin/awk -f\nBEGIN { print 6*7 }"});
  EXPECT_EQ(ended.out, "42\n");
}

TEST_P(HostScriptTest, TheCommandHasNoTerminalAndNoInput) {
  const Ended ended = host.Run({.run_id = "r", .script = "cat; kill -INT $$; echo unreachable"});
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 130\n") << "SIGINT must not be ignored";
}

TEST_P(HostScriptTest, SecretsAreInNoFileAndNoCommandLine) {
  const std::string secret = "hunter2-\"'$x";
  const auto follower =
      StartRunning({.run_id = "r",
                    .script = "test -n \"$TOKEN\" && echo ok; touch ~/up; exec sleep 30",
                    .secrets = {{"TOKEN", secret}}});
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(host.home() / "up"); }));
  // The test's own copy of stdin is not a file of the host.
  std::filesystem::remove(follower.folder / "in");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(host.home()))
    EXPECT_FALSE(entry.is_regular_file() && base::Contains(Slurp(entry.path()), "hunter2"))
        << entry.path();
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    EXPECT_FALSE(base::Contains(Slurp(entry.path() / "cmdline"), "hunter2")) << entry.path();
  EXPECT_EQ(host.Stop("r", 30).exit_code, 143);
  EXPECT_EQ(host.Wait(follower).out, "ok\n");
}

TEST_P(HostScriptTest, StopEndsARunThatObeysTermAtOnce) {
  const auto follower = StartRunning({.run_id = "r", .script = "sleep 60 & sleep 60"});
  EXPECT_EQ(host.Stop("r", 30), (RunStatus{.kind = Kind::kExited, .exit_code = 143}));
  EXPECT_EQ(host.Wait(follower).err, "jobman: running\njobman: exited 143\n");
}

TEST_P(HostScriptTest, StopGivesTheCommandItsGrace) {
  const auto follower =
      StartRunning({.run_id = "r",
                    .script = "exec 2>/dev/null  # bash says Terminated of its sleep\n"
                              "trap 'echo saving; sleep 0.2; echo saved; exit 7' TERM; touch ~/up\n"
                              "while :; do sleep 0.02; done"});
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(host.home() / "up"); }));
  EXPECT_EQ(host.Stop("r", 30), (RunStatus{.kind = Kind::kExited, .exit_code = 7}));
  EXPECT_EQ(host.Wait(follower).out, "saving\nsaved\n");
}

TEST_P(HostScriptTest, ANotifiedRunEndsWhenItsLastProcessDoes) {
  const auto follower =
      StartRunning({.run_id = "r",
                    .script = "exec 2>/dev/null\n"
                              "sh -c 'trap \"sleep 0.5; echo saved; exit 0\" TERM; touch ~/up; "
                              "while :; do sleep 0.02; done'; true",
                    .notice_signal = "TERM"});
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(host.home() / "up"); }));
  const core::Notice notice{
      .kind = core::Notice::Kind::kPreemption, .imminent = true, .text = "TRUE"};
  EXPECT_EQ(host.Do(NoticeCall("r", notice, "TERM")).out, "running\n");
  const Ended ended = host.Wait(follower);
  EXPECT_EQ(ended.out, "saved\n") << "the signal ended the shell at once";
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 143\n");
}

/// A curl that reaches the metadata server only without a proxy.
TEST_P(HostScriptTest, TheMetadataServerIsNeverAskedThroughAProxy) {
  std::filesystem::create_directories(host.home() / "tools");
  const std::string curl = (host.home() / "tools/curl").string();
  std::ofstream(curl) << "#!/bin/sh\ncase \" $* \" in *' --noproxy '*) ;; *) exit 5 ;; esac\n"
                         "until [ -e ~/up ]; do sleep 0.02; done\n"
                         "printf 'HTTP/1.1 200 OK\\r\\nETag: 1\\r\\n\\r\\nTRUE'\n";
  std::filesystem::permissions(curl, std::filesystem::perms::owner_all);
  host.env["PATH"] = (host.home() / "tools").string() + ":" + host.env["PATH"];
  host.env["GCE_METADATA_HOST"] = "metadata.here";
  const Ended ended =
      host.Run({.run_id = "r",
                .script = "trap 'cat \"$JOBMAN_NOTICE_FILE\"; exit 9' TERM; touch ~/up\n"
                          "while :; do sleep 0.02; done 2>/dev/null",
                .notice_signal = "TERM"});
  EXPECT_THAT(ended.out, testing::HasSubstr("\"kind\":\"preemption\",\"text\":\"TRUE\""));
}

TEST_P(HostScriptTest, StopKillsProcessesThatIgnoreTermOrLeftTheSession) {
  const auto follower = StartRunning(
      {.run_id = "r",
       .script = "(trap '' TERM; sh -c 'echo $$ >~/child; while :; do sleep 0.1; done') &\n"
                 "setsid sh -c 'trap \"\" TERM; echo $$ >~/daemon; while :; do sleep 0.1; done' &\n"
                 "env -i HOME=\"$HOME\" sh -c 'trap \"\" TERM; echo $$ >~/bare; "
                 "while :; do /bin/sleep 0.1; done' &\n"
                 "trap '' TERM; echo $$ >~/main; while :; do sleep 0.1; done"});
  const pid_t pids[] = {PidIn("child"), PidIn("daemon"), PidIn("bare"), PidIn("main")};
  EXPECT_EQ(host.Stop("r", 1), (RunStatus{.kind = Kind::kExited, .exit_code = 137}));
  for (const pid_t pid : pids) EXPECT_FALSE(IsAlive(pid)) << pid;
  EXPECT_EQ(host.Wait(follower).err, "jobman: running\njobman: exited 137\n");
}

TEST_P(HostScriptTest, StopLeavesOtherRunsAlone) {
  const auto one = StartRunning({.run_id = "r", .script = "exec sleep 60"});
  const auto other = StartRunning({.run_id = "r2", .script = "exec sleep 60"});
  host.Stop("r", 1);
  EXPECT_EQ(host.StatusOf("r2").kind, Kind::kRunning);
  host.Stop("r2", 1);
  host.Wait(one);
  host.Wait(other);
}

TEST_P(HostScriptTest, StopAlsoEndsLeftoversOfAnEndedRun) {
  host.Run({.run_id = "r", .script = "sleep 60 & echo $! >~/left"});
  const pid_t left = PidIn("left");
  EXPECT_TRUE(IsAlive(left));
  EXPECT_EQ(host.Stop("r", 1), (RunStatus{.kind = Kind::kExited, .exit_code = 0}));
  EXPECT_FALSE(IsAlive(left));
}

TEST_P(HostScriptTest, AStoppedRunNeverStarts) {
  EXPECT_EQ(host.Stop("r", 5).kind, Kind::kLost);
  const Ended ended = host.Run({.run_id = "r", .script = "touch ~/ran"});
  EXPECT_EQ(ended.err, "jobman: running\njobman: lost stopped before it started\n");
  EXPECT_FALSE(std::filesystem::exists(host.home() / "ran"));
}

TEST_P(HostScriptTest, ARunOfAnotherBootIsLost) {
  const auto follower = StartRunning({.run_id = "r", .script = "exec sleep 60"});
  std::ofstream(host.home() / "boot_id") << "boot-2\n";
  EXPECT_EQ(host.StatusOf("r").kind, Kind::kLost);
  // Its processes are still found by their environment.
  EXPECT_EQ(host.Stop("r", 1).kind, Kind::kExited);
  kill(follower.pid, SIGKILL);
  host.Wait(follower);
}

TEST_P(HostScriptTest, AKilledLauncherIsLostAndItsChildrenCanBeStopped) {
  const auto follower = StartRunning({.run_id = "r", .script = "echo $$ >~/main; exec sleep 60"});
  const pid_t main = PidIn("main");
  kill(PidIn(".jobman/runs/r/pid"), SIGKILL);
  EXPECT_EQ(host.Wait(follower).err, "jobman: running\njobman: lost its launcher was killed\n");
  EXPECT_TRUE(IsAlive(main));
  EXPECT_EQ(host.Stop("r", 1).kind, Kind::kLost);
  EXPECT_FALSE(IsAlive(main));
}

TEST_P(HostScriptTest, TheRunOutlivesItsConnection) {
  const auto follower =
      StartRunning({.run_id = "r", .script = "while [ ! -e ~/go ]; do sleep 0.02; done; echo on"});
  kill(follower.pid, SIGKILL);
  host.Wait(follower);
  std::ofstream(host.home() / "go") << "";
  const Ended ended = host.Do(FollowCall("r", 0));
  EXPECT_EQ(ended.out, "on\n");
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 0\n");
}

TEST_P(HostScriptTest, ARunStartsEvenIfItsConnectionEndsAtThatMoment) {
  const std::string order = RunCall({.run_id = "r", .script = "yes | head -n 1"}, 0)->input;
  const Call call{.command = "mkdir -p ~/.jobman/runs; sh ~/.jobman/bin/host-*.sh launch r | true",
                  .input = "jm_note=''\n" + order.substr(0, order.rfind("jobman-end"))};
  host.Do(call);
  EXPECT_EQ(host.StatusOf("r"), (RunStatus{.kind = Kind::kExited, .exit_code = 0}));
  EXPECT_EQ(Slurp(host.Log("r")), "y\n") << "and SIGPIPE has its default action for the command";
}

TEST_P(HostScriptTest, AHomeThatCannotBeWrittenIsAnError) {
  const Call call = *RunCall({.run_id = "r", .script = "true"}, 0);
  Call direct = call;
  direct.command = "HOME=/proc/nowhere sh " + (host.home() / ".jobman/bin").string() + "/" +
                   HostScriptName() + " run r 0";
  const Ended ended = host.Do(direct);
  EXPECT_EQ(ended.exit_code, kExitHostError);
  EXPECT_TRUE(ended.err.starts_with("jobman: error cannot create /proc/nowhere")) << ended.err;
}

TEST_P(HostScriptTest, RenewKeepsRunsThatSucceededSinceTheBoot) {
  const RunOrder order = {.run_id = "r", .script = "echo x >>~/count"};
  host.Run(order);
  EXPECT_EQ(host.Do(RenewCall("r")).exit_code, 0);
  host.Run(order);
  EXPECT_EQ(Slurp(host.home() / "count"), "x\n");
  std::ofstream(host.home() / "boot_id") << "boot-2\n";
  EXPECT_EQ(host.Do(RenewCall("r")).exit_code, 0);
  host.Run(order);
  EXPECT_EQ(Slurp(host.home() / "count"), "x\nx\n");
}

TEST_P(HostScriptTest, RenewAgainForgetsWhatSucceededAndItsOlderContents) {
  const std::string prefix = "s1.j000007.train-a1.h0.";
  const RunOrder order = {.run_id = prefix + "s1-bb-g1e0", .script = "echo x >>~/count"};
  host.Run({.run_id = prefix + "s1-aa-g1e0", .script = "true"});
  host.Run({.run_id = prefix + "s11-aa-g1e0", .script = "true"});
  host.Run({.run_id = "s1.j000007.train-a1.h1.s1-aa-g1e0", .script = "true"});
  host.Run(order);
  EXPECT_EQ(host.Do(RenewCall(order.run_id, true)).exit_code, 0);
  host.Run(order);
  EXPECT_EQ(Slurp(host.home() / "count"), "x\nx\n");
  EXPECT_EQ(host.StatusOf(prefix + "s1-aa-g1e0").kind, Kind::kAbsent);
  EXPECT_EQ(host.StatusOf(prefix + "s11-aa-g1e0").kind, Kind::kExited) << "another step";
  EXPECT_EQ(host.StatusOf("s1.j000007.train-a1.h1.s1-aa-g1e0").kind, Kind::kExited)
      << "of a host that shares the home folder";
}

TEST_P(HostScriptTest, ARunMayOpenManyFiles) {
  const Ended run = host.Run({.run_id = "files", .script = "ulimit -S -n; ulimit -H -n"});
  const auto lines = base::Split(run.out, '\n');
  ASSERT_GE(lines.size(), 2U);
  const auto most = base::ParseNumber(lines[1]).value_or(65536);
  EXPECT_GE(base::ParseNumber(lines[0]).value_or(65536), std::min<std::int64_t>(most, 65536));
}

TEST_P(HostScriptTest, RenewRemovesFailedRunsAndLeavesRunningOnesAlone) {
  host.Run({.run_id = "bad", .script = "exit 3"});
  EXPECT_EQ(host.Do(RenewCall("bad")).exit_code, 0);
  EXPECT_EQ(host.StatusOf("bad").kind, Kind::kAbsent);
  EXPECT_EQ(host.Do(RenewCall("never")).exit_code, 0);
  const auto follower = StartRunning({.run_id = "new", .script = "exec sleep 60"});
  EXPECT_EQ(host.Do(RenewCall("new")).exit_code, 0);
  EXPECT_EQ(host.StatusOf("new").kind, Kind::kRunning);
  host.Stop("new", 30);
  host.Wait(follower);
}

TEST_P(HostScriptTest, LeftoversOfAnEarlierRunAreEndedBeforeTheNextStarts) {
  host.Run({.run_id = "j1-a1", .script = "setsid sleep 60 & echo $! >~/daemon"});
  host.Run({.run_id = "j1-s0", .script = "setsid sleep 60 & echo $! >~/service"});
  const pid_t daemon = PidIn("daemon");
  ASSERT_TRUE(IsAlive(daemon));
  const Ended next = host.Run({.run_id = "j1-a2",
                               // It may not be reaped here; a zombie is dead too.
                               .script = "case $(cut -d' ' -f3 /proc/$(cat ~/daemon)/stat "
                                         "2>/dev/null) in '' | Z) echo alone ;; esac",
                               .replaces = "j1-a",
                               .grace = std::chrono::seconds{1}});
  EXPECT_EQ(next.out, "alone\n") << next.err;
  EXPECT_FALSE(IsAlive(daemon));
  EXPECT_TRUE(IsAlive(PidIn("service"))) << "a setup step, not the command";
  kill(PidIn("service"), SIGKILL);
}

TEST_P(HostScriptTest, StopEndsOtherRunsOfTheJobToo) {
  host.Run({.run_id = "j1-a1", .script = "setsid sleep 60 & echo $! >~/daemon"});
  const pid_t daemon = PidIn("daemon");
  EXPECT_EQ(host.Do(StopCall("j1-s0", std::chrono::seconds{1}, "j1-a")).exit_code, 0);
  EXPECT_FALSE(IsAlive(daemon));
}

/// One grace for all: the others are signalled before the run has ended, and are not killed when it
/// has used up its grace.
TEST_P(HostScriptTest, StopSignalsTheRunAndTheOthersAtTheSameTime) {
  host.Run({.run_id = "j1-a1",
            .script = "setsid sh -c 'trap \"touch ~/told; exit\" TERM; touch ~/up; "
                      "while :; do sleep 0.02; done' &"});
  const auto follower =
      StartRunning({.run_id = "j1-a2",
                    .script = "exec 2>/dev/null\n"
                              "trap 'until [ -e ~/told ]; do sleep 0.02; done; exit 7' TERM\n"
                              "touch ~/up2; while :; do sleep 0.02; done"});
  for (const char* up : {"up", "up2"})
    ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(host.home() / up); }));
  EXPECT_EQ(host.Do(StopCall("j1-a2", std::chrono::seconds{30}, "j1-a2")).out, "exited 7\n");
  host.Wait(follower);
}

TEST_P(HostScriptTest, OnlyEarlierAttemptsAreEnded) {
  for (const char* attempt : {"2", "9", "10", "11"}) {
    host.Run({.run_id = std::string("j1-a") + attempt,
              .script = std::string("setsid sleep 60 & echo $! >~/daemon-") + attempt});
  }
  EXPECT_EQ(host.Do(StopCall("j1-s0", std::chrono::seconds{1}, "j1-a10")).exit_code, 0);
  EXPECT_FALSE(IsAlive(PidIn("daemon-2")));
  EXPECT_FALSE(IsAlive(PidIn("daemon-9")));
  for (const char* later : {"daemon-10", "daemon-11"}) {
    EXPECT_TRUE(IsAlive(PidIn(later))) << later << ": later, or the same";
    kill(PidIn(later), SIGKILL);
  }
}

TEST_P(HostScriptTest, AFollowerSaysThatItIsAlive) {
  SetLimit("jm_beat_cs", 10);
  const Ended ended = host.Run({.run_id = "r", .script = "sleep 3"});
  EXPECT_TRUE(ended.err.starts_with("jobman: running\njobman: alive\n")) << ended.err;
  EXPECT_EQ(ParseStatus(ended.err).value(), (RunStatus{.kind = Kind::kExited}));
  EXPECT_EQ(ended.out, "");
}

TEST_P(HostScriptTest, AStartThatWaitsForAnEarlierRunSaysThatItIsAlive) {
  SetLimit("jm_beat_cs", 10);
  const auto earlier =
      StartRunning({.run_id = "j.a1", .script = "trap '' TERM; sleep 60 & wait; wait"});
  const Ended ended = host.Run(
      {.run_id = "j.a2", .script = "true", .replaces = "j.a", .grace = std::chrono::seconds{1}});
  EXPECT_TRUE(ended.err.starts_with("jobman: alive\n")) << ended.err;
  host.Wait(earlier);
}

}  // namespace
}  // namespace jobman::remote
