// The section brevo_email of Python jobman's job files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using core::HookEvent;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Environment;
using ::testing::HasSubstr;
using testing::MustLoad;
using ::testing::Not;
using testing::ProblemsOf;
using testing::RequestOf;
using testing::SmallJob;

std::string Section(const std::string& key, const std::string& more = {}) {
  return SmallJob("brevo_email: {api_key: " + key +
                  ", sender: jobman@lab.org, receiver: " + "ada@lab.org}\n" + more);
}

std::vector<core::HookSpec> HooksOf(const std::string& text, const Environment& env = {}) {
  return MustLoad(RequestOf(text, env)).spec.hooks;
}

std::string WarningOf(const std::string& brevo) {
  std::string text;
  for (const Problem& warning :
       MustLoad(RequestOf(SmallJob("brevo_email: " + brevo + "\n"))).warnings) {
    text += RenderWarning(warning);
  }
  return text;
}

TEST(Brevo, MailsWhenTheSliceIsReadyAtTheStartAndAtTheEnd) {
  const core::BrevoSpec brevo{.api_key = {.file = "/home/nobody-here/.config/brevo"},
                              .sender = "jobman@lab.org",
                              .receiver = "ada@lab.org"};
  EXPECT_THAT(HooksOf(Section("{file: ~/.config/brevo}")),
              ElementsAre(core::HookSpec{.event = HookEvent::kReady, .brevo = brevo},
                          core::HookSpec{.event = HookEvent::kStarted, .brevo = brevo},
                          core::HookSpec{.event = HookEvent::kSucceeded, .brevo = brevo},
                          core::HookSpec{.event = HookEvent::kFailed, .brevo = brevo}));
  EXPECT_EQ(HooksOf(Section("{file: key}")).at(0).brevo.api_key.file, "/work-dir/key");
}

TEST(Brevo, AJobThatOnlyHoldsItsSliceMailsOnceWhenItIsReady) {
  std::vector<HookEvent> events;
  for (const core::HookSpec& hook :
       HooksOf("tpu: {accelerator: v4-8, zone: us-central2-b, project: p}\n"
               "brevo_email: {api_key: {env: KEY}, sender: a@lab.org, receiver: b@lab.org}\n")) {
    events.push_back(hook.event);
  }
  EXPECT_THAT(events, ElementsAre(HookEvent::kReady, HookEvent::kSucceeded, HookEvent::kFailed));
}

TEST(Brevo, OtherHooksKeepTheirPlaces) {
  const auto hooks = HooksOf(Section("{env: KEY}", "on: {started: a, restarting: b, failed: c}\n"));
  std::vector<std::string> kinds;
  for (const core::HookSpec& hook : hooks) {
    kinds.push_back(std::string(HookEventName(hook.event)) + ":" + hook.command);
  }
  EXPECT_THAT(kinds, ElementsAre("ready:", "started:a", "started:", "restarting:b",
                                 "succeeded:", "failed:c", "failed:"));
}

TEST(Brevo, IsAHookOfAnyEventToo) {
  const auto hooks = HooksOf(SmallJob(
      "on: {preempted: {brevo: {api_key: {env: KEY}, sender: a@b.org, receiver: c@d.org}}}\n"));
  ASSERT_EQ(hooks.size(), 1U);
  EXPECT_EQ(hooks[0].kind(), core::HookKind::kBrevo);
  EXPECT_THAT(ProblemsOf(SmallJob("on: {failed: {brevo: {sender: a@b.org}}}\n")),
              AllOf(HasSubstr("on.failed.brevo.api_key is missing"),
                    HasSubstr("api_key: {file: ~/.config/jobman/brevo-key}"),
                    HasSubstr("on.failed.brevo.receiver is missing")));
  EXPECT_THAT(ProblemsOf(SmallJob("on: {started: a, failed: {brevo: {sender: null}}}\n")),
              HasSubstr("on.failed.brevo is empty"));
}

TEST(Brevo, WhatIsShownLoadsToTheSameJob) {
  const Loaded loaded = MustLoad(RequestOf(Section("{env: KEY}", "on: {failed: c}\n")));
  const std::string yaml = ResolvedYaml(loaded, true);
  EXPECT_THAT(yaml, AllOf(Not(HasSubstr("brevo_email:")), HasSubstr("# brevo_email")));
  EXPECT_EQ(MustLoad(RequestOf(yaml)).spec, loaded.spec);
  // With the section in the user's defaults.
  const testing::ScratchDir dir;
  LoadRequest again = RequestOf(yaml);
  again.defaults.user_file = dir.Write("config.yaml", Section("{env: KEY}"));
  EXPECT_EQ(MustLoad(again).spec, loaded.spec) << "no mail is sent twice";
}

TEST(Brevo, IsNothingWithoutValuesOrWhenDisabled) {
  const std::string nothing = "{api_key: null, sender: ~, receiver:}";
  EXPECT_EQ(WarningOf(nothing), "");
  EXPECT_THAT(HooksOf(SmallJob("brevo_email: " + nothing + "\n")), ElementsAre());
  for (const char* const word : {"1", "true", "Yes", "ON"}) {
    EXPECT_THAT(HooksOf(Section("{env: KEY}"), {{"DISABLE_EMAIL", word}}), ElementsAre()) << word;
  }
  for (const char* const word : {"0", "false", "no"}) {
    EXPECT_EQ(HooksOf(Section("{env: KEY}"), {{"DISABLE_EMAIL", word}}).size(), 4U) << word;
  }
}

TEST(Brevo, WithoutSomeValuesAWarningNamesThem) {
  EXPECT_EQ(WarningOf("{api_key: {env: KEY}, sender: null, receiver: ada@lab.org}"),
            R"(job.yaml:3:36: warning: brevo_email.sender has no value: no mail is sent
  3 | brevo_email: {api_key: {env: KEY}, sender: null, receiver: ada@lab.org}
    |                                    ^
  write all of api_key, sender and receiver, or none
)");
  const std::string two = "{receiver: ada@lab.org}";
  EXPECT_THAT(WarningOf(two), HasSubstr("brevo_email.api_key and brevo_email.sender have no"));
  EXPECT_THAT(HooksOf(SmallJob("brevo_email: " + two + "\n")), ElementsAre());
}

TEST(Brevo, TheKeyIsNeverPartOfTheJobFile) {
  EXPECT_EQ(ProblemsOf(Section("xkeysib-1")),
            R"(job.yaml:3:24: brevo_email.api_key: expected {env: NAME} or {file: PATH}
  3 | brevo_email: {api_key: xkeysib-1, sender: jobman@lab.org, receiver: ada@lab.org}
    |                        ^
  a job file never contains secrets; write it to a file, and name that here: api_key: {file: ~/.config/jobman/api_key}
)");
  const Environment disabled = {{"DISABLE_EMAIL", "1"}};
  EXPECT_NE(ProblemsOf(Section("xkeysib-1"), disabled), "") << "the text is kept with the job";
  EXPECT_NE(ProblemsOf(Section("\"${oc.env:K,}\""), {{"K", "xkeysib-1"}}), "");
}

TEST(Brevo, AVariableThatHasTheKeyIsNamed) {
  for (const char* const key : {"${oc.env:BREVO_API_KEY}", "${env: BREVO_API_KEY }"}) {
    const Loaded loaded = MustLoad(
        RequestOf(Section("\"" + std::string(key) + "\""), {{"BREVO_API_KEY", "xkeysib-1"}}));
    EXPECT_EQ(loaded.spec.hooks.at(0).brevo.api_key, (core::SecretSource{.env = "BREVO_API_KEY"}));
    EXPECT_TRUE(loaded.warnings.empty());
    EXPECT_THAT(ResolvedYaml(loaded, true), Not(HasSubstr("xkeysib-1")));
  }
  const std::string absent = "\"${oc.env:BREVO_API_KEY,null}\"";
  EXPECT_THAT(HooksOf(Section(absent)), ElementsAre());
}

TEST(Brevo, AddressesAreChecked) {
  EXPECT_THAT(ProblemsOf(SmallJob("brevo_email: {api_key: {env: K}, sender: x, receiver: y}\n")),
              AllOf(HasSubstr("brevo_email.sender: \"x\" is not a mail address"),
                    HasSubstr("brevo_email.receiver: \"y\" is not a mail address")));
  EXPECT_THAT(ProblemsOf(SmallJob("brevo_email: {key: x}\n")),
              HasSubstr("unknown key \"brevo_email.key\""));
  EXPECT_THAT(ProblemsOf(SmallJob("brevo_email: x\n")),
              HasSubstr("brevo_email: expected a map, found text"));
}

}  // namespace
}  // namespace jobman::config
