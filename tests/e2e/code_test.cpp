// Code that travels with the job: from a folder here to the command on the hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Code : public testing::Test {
 protected:
  Code() {
    base::Path folder = place_.path() / "proj";
    std::filesystem::create_directories(folder / "lib");
    Write("train.sh", ". lib/words.sh\nsay version one\n");
    Write("lib/words.sh", "say() { echo \"$(basename \"$PWD\"): $*\"; }\n");
    Write("junk.log", "not taken\n");
    Write(".gitignore", "*.log\n");
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(place_.path() / "proj" / name) << text;
  }
  std::string JobFile(const std::string& name, int hosts, const std::string& cmd,
                      const std::string& more = {}) {
    return place_.JobFile(name, hosts, cmd, "code: {dir: ./proj" + more + "}\n");
  }
  std::string RunOnHost(const std::string& job, int host, const std::string& command) {
    const Ran ran = place_.Jobman({"exec", job, "--host", std::to_string(host), "--", command});
    EXPECT_EQ(ran.code, 0) << ran.All();
    return ran.out;
  }
  Place place_;
};

TEST_F(Code, ANewMachineRunsTheCodeOfTheTimeOfCreate) {
  place_.StartSim({"--delays", "0"});
  const std::string file =
      JobFile("train", 2,
              "sh train.sh; ls; until [ -e ~/go ]; do sleep 0.5; done; [ $JOBMAN_ATTEMPT = 2 ]");
  const Ran dry = place_.Jobman({"create", file, "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("/proj, 3 files, ")) << dry.All();
  EXPECT_FALSE(std::filesystem::exists(place_.home() / "jobs"));
  const Ran created = place_.Jobman({"create", file});
  ASSERT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.out, HasSubstr("/proj, 3 files, "));
  Write("train.sh", "echo version two\n");
  const auto both_wrote = [&](int attempt) {
    return place_.Log(1, attempt, "run", 0).ends_with("train.sh\n") &&
           place_.Log(1, attempt, "run", 1).ends_with("train.sh\n");
  };
  ASSERT_TRUE(place_.Until("the command to write", [&] { return both_wrote(1); }));
  for (int host = 0; host < 2; ++host)
    EXPECT_EQ(place_.Log(1, 1, "run", host), "proj: version one\nlib\ntrain.sh\n");
  place_.Sim({"preempt", "train-*"});
  ASSERT_TRUE(place_.Until("another attempt on new machines", [&] { return both_wrote(2); }));
  for (int host = 0; host < 2; ++host)
    EXPECT_EQ(place_.Log(1, 2, "run", host), "proj: version one\nlib\ntrain.sh\n")
        << "the old code";
  for (const int host : {0, 1}) RunOnHost("train", host, "touch ~/go");
  EXPECT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  const Ran shown = place_.Jobman({"show", "train"});
  EXPECT_THAT(shown.out, HasSubstr("/proj, 3 files, "));
  EXPECT_EQ(place_.Show("train")["spec"]["code"]["snapshot"]["files"], 3);
}

TEST_F(Code, NothingIsSentTwiceAndOutputsSurvive) {
  place_.StartSim({"--delays", "0"});
  const std::string file = JobFile("first", 2, "sh train.sh; echo kept >output");
  ASSERT_EQ(place_.Jobman({"run", file}).code, 0);
  const std::string look = "ls -i ~/.jobman/files";
  const std::string before = RunOnHost("first", 1, look);
  EXPECT_THAT(before, HasSubstr(".tar.gz"));
  // All steps again: the archive is there.
  const Ran again = place_.Jobman({"run", "first", "--force"});
  EXPECT_EQ(again.code, 0) << again.All();
  EXPECT_THAT(again.err, HasSubstr("setup step 1 of 1, code"));
  EXPECT_THAT(place_.Log(1, 2, "setup-0-code", 1), HasSubstr("~/proj has the 3 files of snapshot"));
  EXPECT_EQ(RunOnHost("first", 1, look), before) << "not even replaced";
  EXPECT_THAT(RunOnHost("first", 0, "cat proj/output"), HasSubstr("kept"));
  EXPECT_EQ(place_.Jobman({"delete", "1", "--wait"}).code, 0);
  ASSERT_TRUE(std::filesystem::exists(place_.home() / "jobs/000001/code"));
  EXPECT_EQ(place_.Jobman({"clean", "1"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(place_.home() / "jobs/000001"));
}

/// A script in place of ssh notes which files the hosts ask each other for.
TEST_F(Code, HostsThatMayLogInToEachOtherGiveItToEachOther) {
  const std::string noise =
      "head -c 2000000 /dev/urandom >" + (place_.path() / "proj/big").string();
  ASSERT_EQ(std::system(noise.c_str()), 0);
  place_.StartSim({"--delays", "0"});
  const std::string file = JobFile("pod", 4, "sha256sum big");
  const Ran first = place_.Jobman({"run", file, "--set", "ssh.host_to_host=true"});
  ASSERT_EQ(first.code, 0) << first.All();
  const Ran noted = place_.Jobman(
      {"exec", "pod", "--",
       "rm ~/.jobman/files/*; mkdir -p ~/bin && printf '#!/bin/sh\\necho \"$@\" >>~/asked\\n"
       "exec /usr/bin/ssh \"$@\"\\n' >~/bin/ssh && chmod +x ~/bin/ssh && : >~/asked && "
       "echo 'export PATH=~/bin:$PATH' >>~/.bashrc"});
  ASSERT_EQ(noted.code, 0) << noted.All();
  const Ran again = place_.Jobman({"run", "pod", "--force"});
  ASSERT_EQ(again.code, 0) << again.All();
  int asked = 0;
  for (int host = 0; host < 4; ++host) {
    EXPECT_EQ(place_.Log(1, 2, "run", host), place_.Log(1, 1, "run", 0));
    const std::string words = RunOnHost("pod", host, "cat ~/asked; ls ~/.jobman/files");
    EXPECT_THAT(words, HasSubstr(".tar.gz"));
    if (words.find("exec cat -- .jobman/files/") != std::string::npos) ++asked;
  }
  EXPECT_EQ(asked, 3) << "one has it from here";
}

TEST_F(Code, ACommitOfARepositoryIsFetchedHere) {
  if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "git is not installed";
  const std::string repository = (place_.path() / "repo").string();
  const std::string make = "mkdir " + repository + " && cd " + repository +
                           " && git init -q && echo 'print(\"from git\")' >main.py && git add . && "
                           "git -c user.name=a -c "
                           "user.email=a@b.c commit -qm 1 && git tag v1 && rm main.py";
  ASSERT_EQ(std::system(("{ " + make + "; } >/dev/null").c_str()), 0);
  place_.StartSim({"--delays", "0"});
  const std::string file =
      place_.JobFile("git", 1, "python3 main.py; pwd; echo commit $JOBMAN_CODE_COMMIT",
                     "code: {git: 'file://" + repository + "', ref: v1, path: ~/src/app}\n" +
                         "setup: [{name: look, run: 'ls'}]\n");
  const Ran ran = place_.Jobman({"run", file});
  EXPECT_EQ(ran.code, 0) << ran.All();
  const std::string commit = place_.Show("git")["spec"]["code"]["snapshot"]["commit"];
  EXPECT_EQ(commit.size(), 40U);
  const std::string log = place_.Log(1, 1, "run", 0);
  EXPECT_THAT(log, HasSubstr("from git\n"));
  EXPECT_THAT(log, HasSubstr("/src/app\ncommit " + commit));
  EXPECT_EQ(place_.Log(1, 1, "setup-1-look", 0), "main.py\n");
  const Ran unknown = place_.Jobman({"create", file, "--set", "code.ref=nowhere"});
  EXPECT_EQ(unknown.code, 2) << unknown.All();
  EXPECT_THAT(unknown.err, HasSubstr("has no branch or tag nowhere"));
}

TEST_F(Code, WhatIsTooLargeIsRefused) {
  const std::string noise = "head -c 300000 /dev/urandom >" + (place_.path() / "proj/big").string();
  ASSERT_EQ(std::system(noise.c_str()), 0);
  const std::string file = JobFile("large", 1, "true", ", max_size: 100K");
  const Ran refused = place_.Jobman({"create", file});
  EXPECT_EQ(refused.code, 2) << refused.All();
  EXPECT_THAT(refused.err, HasSubstr("larger than 100.0 KB packed (code.max_size)"));
  EXPECT_THAT(refused.err, HasSubstr("  big\n"));
  EXPECT_THAT(refused.err, HasSubstr("code.exclude"));
  EXPECT_THAT(place_.Jobman({"list"}).All(), Not(HasSubstr("large")));
  const Ran missing = place_.Jobman({"config", "check", file, "--set", "code.dir=/nowhere"});
  EXPECT_EQ(missing.code, 2) << missing.All();
  EXPECT_THAT(missing.All(), HasSubstr("code.dir: /nowhere does not exist"));
}

TEST_F(Code, AnArchiveThatIsLostFailsTheJobWithTheCure) {
  place_.StartSim({"--delays", "0"});
  const std::string file = JobFile("lost", 1, "echo up; sleep 600");
  ASSERT_EQ(place_.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(
      place_.Until("the command to run", [&] { return place_.Log(1, 1, "run", 0) == "up\n"; }));
  const base::Path kept = place_.home() / "jobs/000001/code";
  std::filesystem::rename(kept, place_.path() / "elsewhere");
  place_.Sim({"preempt", "lost-*"});
  ASSERT_TRUE(place_.Reaches("lost", "FAILED"));
  EXPECT_THAT(place_.Jobman({"why", "lost"}).out, HasSubstr("is gone from this machine"));
  std::filesystem::rename(place_.path() / "elsewhere", kept);
  EXPECT_EQ(place_.Jobman({"resume", "lost"}).code, 0);
  EXPECT_TRUE(place_.Reaches("lost", "RUNNING"));
  EXPECT_EQ(place_.Jobman({"delete", "lost", "--wait"}).code, 0);
}

}  // namespace
}  // namespace jobman::test
