#include "jobman/core/ssh_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const SshFiles kFiles{.known_hosts = "/s/known", .seen_hosts = "/s/seen"};

SshHost MakeHost(int number, std::optional<std::string> key = "ssh-ed25519 AAAA") {
  return {.number = number,
          .address = "10.0.0." + std::to_string(number),
          .identity = "77/" + std::to_string(number),
          .key = std::move(key)};
}

SshJob MakeJob(std::int64_t id, const std::string& name, int hosts) {
  SshJob job{.id = JobId{id}, .name = name, .user = "ada", .private_key = "/k/id"};
  for (int host = 0; host < hosts; ++host) job.hosts.push_back(MakeHost(host));
  return job;
}

std::string ConfigOf(const SshJob& job) {
  return SshConfigFor({job}, kFiles).config;
}

/// Whether every line is a comment, a block's head, or an option that the text may have.
bool HasOnlyOurLines(const std::string& text) {
  static const std::vector<std::string> kKeywords = {"HostName",
                                                     "HostKeyAlias",
                                                     "UserKnownHostsFile",
                                                     "StrictHostKeyChecking",
                                                     "User",
                                                     "Port",
                                                     "IdentityFile",
                                                     "IdentitiesOnly",
                                                     "CheckHostIP",
                                                     "GlobalKnownHostsFile",
                                                     "HashKnownHosts",
                                                     "UpdateHostKeys",
                                                     "ProxyCommand",
                                                     "ProxyUseFdpass",
                                                     "ForwardAgent"};
  const std::vector<std::string> lines = base::Split(text, '\n');
  return std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
    if (line.empty() || line.starts_with("# ")) return true;
    if (line.starts_with("Host jobman-")) return true;
    return std::any_of(kKeywords.begin(), kKeywords.end(), [&](const std::string& keyword) {
      return line.starts_with("  " + keyword + " ");
    });
  });
}

TEST(SshConfig, EachHostHasANameByItsJobsNumberAndName) {
  const SshConfig made = SshConfigFor({MakeJob(12, "train", 2)}, kFiles);
  EXPECT_THAT(made.config, HasSubstr("\n\n"
                                     "Host jobman-12 jobman-12-w0 jobman-train jobman-train-w0\n"
                                     "  HostName 10.0.0.0\n"
                                     "  HostKeyAlias jobman-77-0\n"
                                     "Host jobman-12-w1 jobman-train-w1\n"
                                     "  HostName 10.0.0.1\n"
                                     "  HostKeyAlias jobman-77-1\n"
                                     "Host jobman-12 jobman-12-w* jobman-train jobman-train-w0 "
                                     "jobman-train-w1\n"
                                     "  User ada\n"
                                     "  Port 22\n"
                                     "  IdentityFile \"/k/id\"\n"
                                     "  IdentitiesOnly yes\n"
                                     "  UserKnownHostsFile \"/s/known\"\n"
                                     "  GlobalKnownHostsFile /dev/null\n"
                                     "  StrictHostKeyChecking yes\n"
                                     "  CheckHostIP no\n"
                                     "  HashKnownHosts no\n"
                                     "  UpdateHostKeys no\n\n"));
  EXPECT_EQ(made.known_hosts, "jobman-77-0 ssh-ed25519 AAAA\njobman-77-1 ssh-ed25519 AAAA\n");
  EXPECT_THAT(made.names.at(JobId{12}).at(1), ElementsAre("jobman-12-w1", "jobman-train-w1"));
  EXPECT_TRUE(made.unknown.empty());
}

TEST(SshConfig, AMachineWithoutAPinnedKeyIsBelievedOnceUnlessTheJobIsStrict) {
  SshJob job = MakeJob(1, "a", 1);
  job.hosts[0].key.reset();
  const SshConfig made = SshConfigFor({job}, kFiles);
  EXPECT_THAT(made.config, HasSubstr("  UserKnownHostsFile \"/s/seen\"\n"
                                     "  StrictHostKeyChecking accept-new\n"));
  EXPECT_EQ(made.known_hosts, "");
  EXPECT_THAT(made.unknown, ElementsAre("jobman-77-0"));
  job.strict = true;
  EXPECT_THAT(ConfigOf(job), Not(HasSubstr("accept-new")));
}

TEST(SshConfig, ANameThatIsNotUniqueOrCouldMeanANumberIsNone) {
  const SshConfig twice = SshConfigFor({MakeJob(1, "a", 1), MakeJob(2, "a", 1)}, kFiles);
  EXPECT_THAT(twice.config, Not(HasSubstr("jobman-a")));
  for (const std::string name : {"7", "7-w1", "a-w3", "a b", "*", "!x", "-x", "", "größe"}) {
    const SshConfig made = SshConfigFor({MakeJob(1, name, 1)}, kFiles);
    EXPECT_THAT(made.names.at(JobId{1}).at(0), ElementsAre("jobman-1", "jobman-1-w0")) << name;
  }
  for (const std::string name : {"my-work", "lr_0.1", "A", "x-w"})
    EXPECT_THAT(ConfigOf(MakeJob(1, name, 1)), HasSubstr(" jobman-" + name + " ")) << name;
}

TEST(SshConfig, OnlyOneJobIsShownButNamesAreThoseAmongAll) {
  const std::vector<SshJob> jobs = {MakeJob(1, "a", 1), MakeJob(2, "a", 1)};
  const SshConfig made = SshConfigFor(jobs, kFiles, JobId{2});
  EXPECT_THAT(made.config, AllOf(HasSubstr("Host jobman-2 jobman-2-w0\n"),
                                 Not(HasSubstr("jobman-1 ")), Not(HasSubstr("jobman-a"))));
}

TEST(SshConfig, WhatCannotBeWrittenIsLeftOutAndSaysSo) {
  SshJob job = MakeJob(1, "a", 3);
  job.hosts[1].address = "10.0.0.1\n  ProxyCommand reboot";
  job.hosts[2].key = "ssh-ed25519 AAAA\n* ssh-rsa BBBB";
  const SshConfig made = SshConfigFor({job}, kFiles);
  EXPECT_TRUE(HasOnlyOurLines(made.config)) << made.config;
  EXPECT_THAT(made.config, AllOf(HasSubstr("# jobman-1-w1 is left out: \"10.0.0.1 "),
                                 HasSubstr("# jobman-1-w2 is left out: its pinned host key"),
                                 HasSubstr("Host jobman-1 jobman-1-w0")));
  EXPECT_EQ(made.known_hosts, "jobman-77-0 ssh-ed25519 AAAA\n");
  EXPECT_EQ(made.names.at(JobId{1}).size(), 1u);
}

TEST(SshConfig, AHostileTextOfAJobIsNoOptionOfTheClient) {
  const std::string evil = "x\"\n  ProxyCommand reboot\nHost *";
  const auto check = [&](auto change) {
    SshJob job = MakeJob(1, "a", 1);
    change(job);
    const std::string text = ConfigOf(job);
    EXPECT_TRUE(HasOnlyOurLines(text)) << text;
    EXPECT_THAT(text, AllOf(HasSubstr("# job 1 is left out: "), Not(HasSubstr("\nHost "))));
  };
  check([&](SshJob& job) { job.user = evil; });
  check([&](SshJob& job) { job.user = "$(reboot)"; });
  check([&](SshJob& job) { job.private_key = evil; });
  check([&](SshJob& job) { job.private_key = "/a/${HOME}"; });
  check([&](SshJob& job) { job.proxy_command = evil; });
  check([&](SshJob& job) { job.proxy_command = "nc %k"; });
  check([&](SshJob& job) { job.proxy_jump = evil; });
  SshJob job = MakeJob(1, evil, 1);
  job.hosts[0].identity = evil;
  const SshConfig made = SshConfigFor({job}, kFiles);
  EXPECT_TRUE(HasOnlyOurLines(made.config)) << made.config;
  EXPECT_EQ(base::Split(made.known_hosts, '\n').size(), 2u) << made.known_hosts;
}

TEST(SshConfig, PathsMayHaveBlanksAndPercentSigns) {
  SshJob job = MakeJob(1, "a", 1);
  job.private_key = "/my keys/100%";
  const SshFiles files{.known_hosts = "/a b/k#", .seen_hosts = "/a b/s"};
  EXPECT_THAT(SshConfigFor({job}, files).config,
              AllOf(HasSubstr("  IdentityFile \"/my keys/100%%\"\n"),
                    HasSubstr("  UserKnownHostsFile \"/a b/k#\"\n")));
  const SshFiles unwritable{.known_hosts = "/a\"b", .seen_hosts = "/s"};
  EXPECT_THAT(SshConfigFor({job}, unwritable).config, HasSubstr("# job 1 is left out: "));
}

TEST(SshConfig, TheWayIsThatOfTheJob) {
  SshJob job = MakeJob(1, "a", 2);
  job.forward_agent = true;
  job.proxy_jump = "ada@one:2222,two";
  EXPECT_THAT(ConfigOf(job),
              AllOf(HasSubstr("  ForwardAgent yes\n"), HasSubstr("  ProxyUseFdpass no\n"),
                    HasSubstr("  ProxyCommand ssh -o 'BatchMode=yes' -o 'ProxyCommand=ssh "),
                    HasSubstr(" -W '[%h]:%p' -- two\n"), HasSubstr("[%%h]:%%p")));
  job.proxy_jump.clear();
  job.proxy_command = " relay %h %p '50%%' \n";
  EXPECT_THAT(ConfigOf(job), HasSubstr("\n  ProxyCommand relay %h %p '50%%'\n"))
      << "the client reads these tokens as we do";
}

TEST(SshConfig, AProxyThatAsksForTheVmIsWrittenForEachHost) {
  SshJob job = MakeJob(1, "a", 2);
  job.proxy_command = "relay %n %p %%n";
  job.hosts[0].vm_name = "t1v-n-0-w-0";
  const std::string text = ConfigOf(job);
  EXPECT_THAT(text, AllOf(HasSubstr("\n  ProxyCommand relay t1v-n-0-w-0 %p %%n\n"),
                          HasSubstr("# jobman-1-w1 is left out: the name of its VM")));
  job.hosts[0].vm_name = "x; reboot";
  EXPECT_THAT(ConfigOf(job), Not(HasSubstr("\nHost ")));
}

TEST(SshConfig, NoLineIsTooLongForAnOldClient) {
  const std::string text = ConfigOf(MakeJob(1, std::string(100, 'n'), 1024));
  for (const std::string& line : base::Split(text, '\n')) ASSERT_LT(line.size(), 4000u);
  EXPECT_THAT(text, HasSubstr(std::string(100, 'n') + "-w1023\n  User ada\n"));
}

TEST(SshConfig, OfTooManyHostsHostZeroOfEachJobStays) {
  const std::vector<SshJob> jobs = {MakeJob(1, "a", 4), MakeJob(2, "b", 4), MakeJob(3, "c", 1)};
  const SshConfig made = SshConfigFor(jobs, kFiles, {}, /*most_hosts=*/6);
  EXPECT_EQ(made.names.at(JobId{1}).size(), 4u);
  EXPECT_EQ(made.names.at(JobId{2}).size(), 1u);
  EXPECT_EQ(made.names.at(JobId{3}).size(), 1u);
  EXPECT_THAT(made.config, HasSubstr("# all but host 0 of job 2 is left out: there are too many"));
}

TEST(SshConfig, AHundredJobsOfAThousandHostsAreAFileThatIsReadAtOnce) {
  std::vector<SshJob> jobs;
  for (int id = 1; id <= 100; ++id) jobs.push_back(MakeJob(id, "job" + std::to_string(id), 1024));
  const SshConfig made = SshConfigFor(jobs, kFiles);
  EXPECT_LT(made.config.size(), std::size_t{5} << 20);
  EXPECT_EQ(made.names.size(), 100u);
}

}  // namespace
}  // namespace jobman::core
