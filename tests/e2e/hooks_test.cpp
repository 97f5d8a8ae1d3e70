// Hooks: commands, webhooks and mail are told at least once, even if the controller is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The JSON that a webhook received.
base::Json EventIn(const std::string& request) {
  const auto json = base::ParseJson(request.substr(request.find("\r\n\r\n") + 4));
  return json.ok() ? *json : base::Json();
}

std::string Webhook(const Listener& listener) {
  return "\"http://127.0.0.1:" + std::to_string(listener.port()) + "/hook\"";
}

TEST(Hooks, CommandWebhookAndMailAreTold) {
  Place place;
  place.StartSim({"--delays", "0"});
  const Listener webhook(WebhookThatSays([] { return 200; }));
  const Listener mail(MailServerTalk());
  const std::string file = place.JobFile(
      "told", 1, "exit 3",
      "on:\n  started: cat > " + (place.path() / "started").string() + "\n  failed:\n    - " +
          Webhook(webhook) + "\n    - {mail: ada@example.com}\n    - \"echo seen; exit 0\"\n" +
          "smtp: {host: 127.0.0.1, port: " + std::to_string(mail.port()) +
          ", tls: none, from: jobman@example.com}\n");
  EXPECT_EQ(place.Jobman({"run", file}).code, 3);
  ASSERT_TRUE(place.Until("the webhook and the mail to be told",
                          [&] { return webhook.heard().size() == 1 && mail.heard().size() == 1; }));
  const base::Json event = EventIn(webhook.heard()[0]);
  EXPECT_EQ(event["event"], "failed");
  EXPECT_EQ(event["job"], 1);
  EXPECT_EQ(event["exit_code"], 3);
  EXPECT_EQ(event["why"], "run ended with exit code 3 on host 0");
  EXPECT_THAT(webhook.heard()[0],
              HasSubstr("X-Jobman-Event-Id: " + event["id"].get<std::string>()));
  EXPECT_THAT(mail.heard()[0], HasSubstr("RCPT TO:<ada@example.com>"));
  EXPECT_THAT(mail.heard()[0], HasSubstr("Subject: jobman: told (1) failed"));
  ASSERT_TRUE(place.Until("all to be recorded", [&] {
    const base::Json deliveries = place.Show("1")["hook_deliveries"];
    return deliveries.size() == 4 &&
           std::all_of(deliveries.begin(), deliveries.end(),
                       [](const auto& one) { return one["told"] == true; });
  }));
  const auto started = base::ParseJson(*base::ReadFile(place.path() / "started"));
  EXPECT_EQ((*started)["event"], "started");
  EXPECT_EQ(*base::ReadFile(place.home() / "jobs/000001/hooks.log"), "seen\n");
  EXPECT_THAT(place.Jobman({"history", "1"}).out,
              testing::ContainsRegex("hook mail to ada@example.com was told of \"[a-z]+\""));
}

TEST(Hooks, AChatServiceGetsTheTextThatItRequires) {
  Place place;
  place.StartSim({"--delays", "0"});
  // As Slack does, which answers 400 no_text.
  const Listener slack(WebhookThatAnswers([](const std::string& request) {
    const base::Json event = EventIn(request);
    return event.contains("text") && event["text"].is_string() ? 200 : 400;
  }));
  const std::string file =
      place.JobFile("chat", 1, "exit 3", "on: {failed: " + Webhook(slack) + "}\n");
  EXPECT_EQ(place.Jobman({"run", file}).code, 3);
  ASSERT_TRUE(place.Until("the service to take it",
                          [&] { return place.Show("1")["hook_deliveries"][0]["told"] == true; }));
  EXPECT_EQ(EventIn(slack.heard().at(0))["text"],
            "jobman: chat (1) failed: run ended with exit code 3 on host 0");
}

TEST(Hooks, MailGoesOverTheApiOfBrevo) {
  Place place;
  place.StartSim({"--delays", "0"});
  const Listener brevo(WebhookThatSays([] { return 201; }));
  const base::Path key = place.path() / "brevo-key";
  ASSERT_TRUE(base::WriteFileAtomic(key, "xkeysib-1\n").ok());
  setenv("JOBMAN_BREVO_ENDPOINT", ("http://127.0.0.1:" + std::to_string(brevo.port())).c_str(), 1);
  const std::string file = place.JobFile("mailed", 1, "true",
                                         "brevo_email: {api_key: {file: " + key.string() +
                                             "}, sender: jobman@lab.org, receiver: ada@lab.org}\n");
  EXPECT_EQ(place.Jobman({"run", file}).code, 0);
  EXPECT_TRUE(place.Until("the slice, the start and the end to be mailed",
                          [&] { return brevo.heard().size() == 3; }));
  unsetenv("JOBMAN_BREVO_ENDPOINT");
  for (const std::string& request : brevo.heard()) {
    EXPECT_THAT(request, HasSubstr("POST /v3/smtp/email HTTP/1.1"));
    EXPECT_THAT(request, HasSubstr("api-key: xkeysib-1"));
    EXPECT_EQ(EventIn(request)["to"][0]["email"], "ada@lab.org");
  }
  EXPECT_TRUE(place.Until("them to be recorded", [&] {
    const std::string history = place.Jobman({"history", "1"}).out;
    return history.find(" was told") != std::string::npos;
  }));
  EXPECT_THAT(place.Jobman({"show", "1", "--json"}).out, Not(HasSubstr("xkeysib-1")));
}

TEST(Hooks, NothingIsLostWhenTheControllerIsKilled) {
  Place place;
  place.StartSim({"--delays", "0"});
  std::atomic<int> status = 503;
  const Listener webhook(WebhookThatSays([&status] { return status.load(); }));
  place.StartController();
  const std::string file =
      place.JobFile("lost", 1, "true", "on: {succeeded: " + Webhook(webhook) + "}\n");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  ASSERT_TRUE(place.Until("the refusal to be shown", [&] {
    const std::string why = place.Jobman({"why", "1"}).out;
    return why.find("answered with status 503; ") != std::string::npos;
  }));
  place.KillController();
  EXPECT_THAT(place.Jobman({"show", "1"}).out, HasSubstr("(succeeded) failed: "));
  status = 200;
  place.StartController();
  ASSERT_TRUE(place.Until("the webhook to be told",
                          [&] { return place.Show("1")["hook_deliveries"][0]["told"] == true; }));
  const auto heard = webhook.heard();
  ASSERT_GE(heard.size(), 2U);
  EXPECT_EQ(EventIn(heard.front())["id"], EventIn(heard.back())["id"]);
}

TEST(Hooks, AHangingHookDelaysNoJob) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file =
      place.JobFile("slow", 1, "true", "on: {started: {run: sleep 4000, timeout: 2s}}\n");
  EXPECT_EQ(place.Jobman({"run", file}).code, 0);
  ASSERT_TRUE(place.Until("the time limit to be shown", [&] {
    return place.Jobman({"why", "1"}).out.find("no answer within 2s") != std::string::npos;
  }));
  const Ran left = RunProgram({"pgrep", "-f", "[s]leep 4000"});
  EXPECT_EQ(left.out, "");
}

}  // namespace
}  // namespace jobman::test
