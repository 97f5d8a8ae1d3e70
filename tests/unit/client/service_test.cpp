#include "jobman/client/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <utility>
#include <vector>

namespace jobman::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const base::Path kHome = "/home/ada/.local/state/jobman";
constexpr const char* kMine = "MAILTO=ada\n0 3 * * * backup --to '50%'\n";

TEST(ServiceText, AUnitNamesTheProgramTheHomeAndTheEnvironment) {
  const std::string text =
      UnitText({.program = "/home/ada/my bin/jobman",
                .home = "/home/ada/100%/$x \"q\"",
                .environment = {{"PATH", "/usr/bin:/home/ada/a b"}, {"JOBMAN_CONFIG", "/c\\d"}}});
  EXPECT_THAT(text, HasSubstr("\nExecStart=\"/home/ada/my bin/jobman\" --home "
                              "\"/home/ada/100%%/$$x \\\"q\\\"\" controller run\n"));
  EXPECT_THAT(text, HasSubstr("\nEnvironment=\"PATH=/usr/bin:/home/ada/a b\"\n"
                              "Environment=\"JOBMAN_CONFIG=/c\\\\d\"\n"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("\nRestart=on-failure\n"), HasSubstr("\nWantedBy=default.target\n"),
                    Not(HasSubstr("ConditionHost"))));
}

TEST(ServiceText, OnAHomeThatSeveralMachinesSeeAUnitIsForOneOfThem) {
  EXPECT_THAT(UnitText({.program = "/p", .home = kHome, .only_host = "login1"}),
              HasSubstr("\nConditionHost=login1\n\n[Service]"));
}

TEST(ServiceText, EachHomeFolderHasAUnitOfItsOwn) {
  EXPECT_EQ(ServiceName(kHome, kHome), "jobman.service");
  const std::string other = ServiceName("/data/ada", kHome);
  EXPECT_THAT(other, testing::MatchesRegex("jobman-[0-9a-f]{8}\\.service"));
  EXPECT_NE(other, ServiceName("/data/bob", kHome));
}

TEST(ServiceText, TheScriptStartsAControllerQuietly) {
  EXPECT_THAT(ScriptText({.program = "/home/ada/my bin/jobman",
                          .home = kHome,
                          .environment = {{"PATH", "/usr/bin:/it's"}}}),
              HasSubstr("\nexport PATH='/usr/bin:/it'\\''s'\n"
                        "exec '/home/ada/my bin/jobman' --home /home/ada/.local/state/jobman "
                        "--quiet controller start\n"));
}

TEST(ServiceText, LinesAreAddedToACrontabOnceAndTakenOutAgain) {
  const std::string with = WithCronLines(kMine, "/h/50%/start.sh", kHome);
  EXPECT_EQ(with, std::string(kMine) +
                      "# jobman controller install: begin /home/ada/.local/state/jobman\n"
                      "@reboot /h/50\\%/start.sh\n"
                      "*/5 * * * * /h/50\\%/start.sh\n"
                      "# jobman controller install: end /home/ada/.local/state/jobman\n");
  EXPECT_EQ(WithCronLines(with, "/h/50%/start.sh", kHome), with);
  EXPECT_EQ(WithoutCronLines(with, kHome), kMine);
  EXPECT_EQ(WithoutCronLines(with, "/home/ada"), with) << "of another home";
  EXPECT_EQ(WithoutCronLines(WithCronLines("", "/s", kHome), kHome), "");
}

TEST(ServiceText, ACrontabWithoutALastLineBreakStaysWhole) {
  EXPECT_THAT(WithCronLines("* * * * * mine", "/s", kHome),
              testing::StartsWith("* * * * * mine\n#"));
}

TEST(ServiceText, LinesOfTheUserAfterAMarkWithoutItsEndStay) {
  const std::string torn = "# jobman controller install: begin " + kHome.string() + "\n" + kMine;
  EXPECT_EQ(WithoutCronLines(torn, kHome), kMine);
}

TEST(ServiceText, NoSecretIsPassedOn) {
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"https_proxy", "http://ada:secret@proxy:3128"},
           {"HTTPS_PROXY", "http://proxy:3128"},
           {"GOOGLE_OAUTH_ACCESS_TOKEN", "secret"},
           {"JOBMAN_SSH_PASSPHRASE", "secret"},
           {"JOBMAN_ENDPOINT", "two\nlines"}})
    setenv(name, value, 1);
  std::string all;
  for (const auto& [name, value] : ServiceEnvironment()) all += name + "=" + value + "\n";
  for (const char* name : {"https_proxy", "HTTPS_PROXY", "GOOGLE_OAUTH_ACCESS_TOKEN",
                           "JOBMAN_SSH_PASSPHRASE", "JOBMAN_ENDPOINT"})
    unsetenv(name);
  EXPECT_THAT(all, AllOf(HasSubstr("PATH="), HasSubstr("HTTPS_PROXY=http://proxy:3128\n"),
                         Not(HasSubstr("secret")), Not(HasSubstr("JOBMAN_ENDPOINT"))));
}

TEST(ServiceText, WhatCredentialsNeedIsPassedOn) {
  const std::vector<std::pair<std::string, std::string>> needed = {
      {"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "1"},
      {"GCE_METADATA_ROOT", "127.0.0.1:8081"},
      {"JOBMAN_IAM_ENDPOINT", "http://127.0.0.1:8082"}};
  for (const auto& [name, value] : needed) setenv(name.c_str(), value.c_str(), 1);
  const auto kept = ServiceEnvironment();
  for (const auto& variable : needed) unsetenv(variable.first.c_str());
  EXPECT_THAT(kept, testing::IsSupersetOf(needed));
}

}  // namespace
}  // namespace jobman::client
