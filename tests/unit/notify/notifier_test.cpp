#include "jobman/notify/notifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "jobman/base/hash.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::notify {
namespace {

using base::Code;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

/// Keeps the requests.
class FakeMailer final : public http::Mailer {
 public:
  base::Task<base::Status> Send(http::MailServer server, http::Mail mail) override {
    servers.push_back(std::move(server));
    mails.push_back(std::move(mail));
    co_return base::Ok();
  }
  std::vector<http::MailServer> servers = {};
  std::vector<http::Mail> mails = {};
};

class HookNotifierTest : public testing::Test {
 protected:
  base::Status Tell(core::HookSpec hook, core::SmtpSpec smtp = {}) {
    return loop_.Run(notifier_.Tell(std::move(hook), std::move(smtp), message_));
  }
  std::string HookLog() { return base::ReadFile(message_.log).value_or("(none)"); }

  test::TempDir dir_;
  test::Loop loop_;
  std::shared_ptr<test::FakeTransport::Script> script_ =
      std::make_shared<test::FakeTransport::Script>();
  test::FakeTransport transport_{script_};
  FakeMailer mailer_;
  std::map<std::string, std::string> env_ = {{"KNOWN", "s3cret"}};
  HookNotifier notifier_{transport_, mailer_, [this](const std::string& name) {
                           const auto found = env_.find(name);
                           return found == env_.end() ? std::nullopt
                                                      : std::optional<std::string>(found->second);
                         }};
  ports::Message message_ = {
      .event_id = "store1-000042-v7-a2-failed",
      .event = "failed",
      .body = R"({"job":42,"name":"train","why":"host 0 ended","state":"FAILED"})",
      .log = dir_.path() / "jobs" / "hooks.log"};
};

TEST_F(HookNotifierTest, ACommandGetsTheEventOnItsInput) {
  const auto told = Tell({.command = "cat; echo $JOBMAN_EVENT $JOBMAN_EVENT_ID; echo e >&2"});
  ASSERT_TRUE(told.ok()) << told.error().ToString();
  EXPECT_EQ(HookLog(), message_.body + "\nfailed store1-000042-v7-a2-failed\ne\n");
}

TEST_F(HookNotifierTest, ACommandRunsInTheFolderOfItsFile) {
  const base::Path folder = dir_.path() / "jobs of ada";
  ASSERT_TRUE(base::EnsureDir(folder).ok());
  ASSERT_TRUE(base::WriteFileAtomic(folder / "notify.sh", "echo beside the job file\n").ok());
  EXPECT_TRUE(Tell({.command = ". ./notify.sh", .folder = folder.string()}).ok());
  EXPECT_EQ(HookLog(), "beside the job file\n");
  EXPECT_FALSE(Tell({.command = "true", .folder = (dir_.path() / "gone").string()}).ok());
  EXPECT_THAT(HookLog(), HasSubstr("gone"));
}

TEST_F(HookNotifierTest, ACommandThatOthersCanChangeIsNotRun) {
  const base::Path file = dir_.path() / "tell.sh";
  ASSERT_TRUE(base::WriteFileAtomic(file, "#!/bin/sh\necho told\n", 0777).ok());
  const auto told = Tell({.command = "./tell.sh", .folder = dir_.path().string()});
  EXPECT_EQ(told.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(told.error().message, HasSubstr(file.string() + " can be written by other users"));
  EXPECT_EQ(HookLog(), "(none)");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  EXPECT_TRUE(Tell({.command = "./tell.sh", .folder = dir_.path().string()}).ok());
}

TEST_F(HookNotifierTest, ACommandThatFailsOrHangsIsAnError) {
  const auto failed = Tell({.command = "echo no; exit 3"});
  const std::string see = " see " + message_.log.string();
  EXPECT_EQ(failed.error().message, "exit code 3," + see);
  EXPECT_EQ(Tell({.command = "no-such-command 2>/dev/null"}).error().message,
            "exit code 127, is it there?" + see);
  const auto late = Tell({.command = "sleep 600", .timeout = std::chrono::milliseconds{100}});
  EXPECT_EQ(late.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(late.error().message, testing::EndsWith("," + see));
  EXPECT_THAT(HookLog(), testing::StartsWith("no\n"));
}

TEST_F(HookNotifierTest, AWebhookIsPostedTo) {
  script_->Answer(204, "");
  ASSERT_TRUE(Tell({.url = "https://x.org/hook"}).ok());
  const http::Request& request = script_->requests.at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://x.org/hook");
  base::Json body = test::Parse(request.body);
  EXPECT_EQ(body["text"], "jobman: train (42) failed: host 0 ended");
  body.erase("text");
  EXPECT_EQ(body, test::Parse(message_.body)) << "the event, and a sentence for chat services";
  EXPECT_THAT(
      request.headers,
      ElementsAre(Pair("Content-Type", "application/json"), Pair("X-Jobman-Event", "failed"),
                  Pair("X-Jobman-Event-Id", "store1-000042-v7-a2-failed")));
}

TEST_F(HookNotifierTest, SecretsOfAWebhookAreReadWhenNeededAndNeverShown) {
  ASSERT_TRUE(base::WriteFileAtomic(dir_.path() / "url", "https://x.org/T0/hidden\n").ok());
  script_->Answer(500, "");
  const auto told =
      Tell({.url_from = {.file = (dir_.path() / "url").string()}, .token = {.env = "KNOWN"}});
  EXPECT_EQ(script_->requests.at(0).url, "https://x.org/T0/hidden");
  EXPECT_THAT(script_->requests.at(0).headers,
              testing::Contains(Pair("Authorization", "Bearer s3cret")));
  EXPECT_EQ(told.error().message, "x.org answered with status 500");
  EXPECT_THAT(told.error().ToString(), Not(HasSubstr("hidden")));
  ASSERT_TRUE(base::WriteFileAtomic(dir_.path() / "open", "http://hooks.example.com/s3cret").ok());
  const auto open = Tell({.url_from = {.file = (dir_.path() / "open").string()}});
  EXPECT_THAT(open.error().message, HasSubstr("not sent over plain http to hooks.example.com"));
  EXPECT_THAT(open.error().ToString(), Not(HasSubstr("s3cret")));
  const auto unknown = Tell({.url_from = {.env = "UNKNOWN"}});
  EXPECT_THAT(unknown.error().message, HasSubstr("has no UNKNOWN"));
}

TEST_F(HookNotifierTest, MailGoesToTheServerOfTheJobFile) {
  const core::SmtpSpec smtp{.host = "mail.lab.org",
                            .port = 465,
                            .tls = core::SmtpTls::kTls,
                            .from = "jobman@lab.org",
                            .user = "u",
                            .password = {.env = "KNOWN"}};
  ASSERT_TRUE(Tell({.mail_to = {"a@lab.org", "b@lab.org"}}, smtp).ok());
  EXPECT_EQ(mailer_.servers.at(0).tls, http::MailServer::Tls::kTls);
  EXPECT_EQ(mailer_.servers.at(0).password, "s3cret");
  EXPECT_EQ(mailer_.mails.at(0).to.size(), 2U);
  EXPECT_THAT(mailer_.mails.at(0).text, Not(HasSubstr("s3cret")));
}

TEST_F(HookNotifierTest, ATokenIsNotSentInTheClear) {
  const base::Path file = dir_.path() / "url";
  ASSERT_TRUE(base::WriteFileAtomic(file, "http://127.0.0.256/x").ok());
  core::HookSpec hook{.url = "http://hooks.lab.org/x", .token = {.env = "KNOWN"}};
  EXPECT_THAT(Tell(hook).error().message,
              HasSubstr("the token is not sent over plain http to hooks.lab.org"));
  hook.url.clear();
  hook.url_from.file = file.string();
  EXPECT_THAT(Tell(hook).error().message, HasSubstr("plain http to 127.0.0.256"));
  EXPECT_TRUE(script_->requests.empty());
  ASSERT_TRUE(base::WriteFileAtomic(file, "http://[::1]/x").ok());
  script_->Answer(204, "");
  EXPECT_TRUE(Tell(hook).ok());
}

TEST_F(HookNotifierTest, APasswordIsNotSentInTheClear) {
  core::SmtpSpec smtp{.host = "127.0.0.256",
                      .tls = core::SmtpTls::kNone,
                      .from = "jobman@lab.org",
                      .user = "u",
                      .password = {.env = "KNOWN"}};
  const core::HookSpec hook{.mail_to = {"a@lab.org"}};
  EXPECT_THAT(Tell(hook, smtp).error().message,
              HasSubstr("the password is not sent over SMTP without TLS to 127.0.0.256"));
  EXPECT_TRUE(mailer_.servers.empty());
  smtp.host = "127.0.0.1";
  EXPECT_TRUE(Tell(hook, smtp).ok());
  smtp.host = "mail.lab.org";
  smtp.user.clear();
  smtp.password = {};
  EXPECT_TRUE(Tell(hook, smtp).ok()) << "there is nothing to hide";
}

const core::HookSpec kBrevoHook{
    .brevo = {.api_key = {.env = "KNOWN"}, .sender = "jobman@lab.org", .receiver = "ada@lab.org"}};

TEST_F(HookNotifierTest, MailGoesOverTheApiOfBrevo) {
  script_->Answer(201, R"({"messageId":"<1@smtp-relay.mailin.fr>"})");
  message_.body = R"({"job":42,"name":"größer","why":"host 0 ended","state":"FAILED"})";
  const auto told = Tell(kBrevoHook);
  ASSERT_TRUE(told.ok()) << told.error().ToString();
  const http::Request& request = script_->requests.at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://api.brevo.com/v3/smtp/email");
  EXPECT_THAT(request.headers,
              ElementsAre(Pair("Content-Type", "application/json"),
                          Pair("Accept", "application/json"), Pair("api-key", "s3cret")));
  const base::Json mail = test::Parse(request.body);
  EXPECT_EQ(mail["sender"], (base::Json{{"email", "jobman@lab.org"}}));
  EXPECT_EQ(mail["to"], base::Json::array({{{"email", "ada@lab.org"}}}));
  EXPECT_EQ(mail["subject"], "jobman: größer (42) failed");
  EXPECT_EQ(mail["textContent"], "host 0 ended\n\nstate: FAILED\n\n" + message_.body + "\n");
  EXPECT_EQ(mail.size(), 4U);
  EXPECT_TRUE(mailer_.mails.empty());
}

TEST_F(HookNotifierTest, RefusalsOfBrevoNameHostAndStatus) {
  script_->Answer(401, R"({"message":"Key not found","code":"unauthorized"})");
  const auto wrong = Tell(kBrevoHook);
  EXPECT_EQ(wrong.error().code, Code::kUnavailable) << "tried again, as others";
  EXPECT_EQ(wrong.error().message, "api.brevo.com answered with status 401: Key not found");
  EXPECT_THAT(wrong.error().hint, HasSubstr("the API key is wrong"));
  script_->Answer(502, "<html>");
  EXPECT_EQ(Tell(kBrevoHook).error().message, "api.brevo.com answered with status 502");
  script_->Answer(400, R"({"message":"bad\nkey s3cret"})");
  EXPECT_EQ(Tell(kBrevoHook).error().message, "api.brevo.com answered with status 400");
  script_->Answer(400, R"({"message":"no\nsender"})");
  EXPECT_THAT(Tell(kBrevoHook).error().message, Not(HasSubstr("\n")));
  env_.clear();
  EXPECT_THAT(Tell(kBrevoHook).error().message, HasSubstr("has no KNOWN"));
}

TEST_F(HookNotifierTest, TheKeyOfBrevoIsNotSentInTheClear) {
  env_["JOBMAN_BREVO_ENDPOINT"] = "http://brevo.lab.org";
  EXPECT_THAT(Tell(kBrevoHook).error().message,
              HasSubstr("Brevo's API key is not sent over plain http to brevo.lab.org"));
  env_["JOBMAN_BREVO_ENDPOINT"] = "brevo";
  EXPECT_THAT(Tell(kBrevoHook).error().ToString(), HasSubstr("JOBMAN_BREVO_ENDPOINT"));
  EXPECT_TRUE(script_->requests.empty());
  env_["JOBMAN_BREVO_ENDPOINT"] = "http://127.0.0.1:8080/";
  script_->Answer(201, "{}");
  EXPECT_TRUE(Tell(kBrevoHook).ok());
  EXPECT_EQ(script_->requests.at(0).url, "http://127.0.0.1:8080/v3/smtp/email");
}

TEST(MailText, ASubjectInOtherLettersIsEncoded) {
  const ports::Message message{
      .event = "failed",
      .body = R"({"job":42,"name":"größer ist nicht besser, 日本語の名前です"})"};
  const std::string text =
      MailText({.from = "jobman@lab.org"}, {.mail_to = {"a@lab.org"}}, message, {});
  const std::string head = text.substr(0, text.find("\r\nDate: "));
  EXPECT_TRUE(std::all_of(head.begin(), head.end(), [](char c) { return c > 0; })) << head;
  const std::string first = "jobman: größer ist nicht besser, 日";
  EXPECT_THAT(head, HasSubstr("Subject: =?utf-8?B?" + base::Base64(first.substr(0, 39))));
  EXPECT_THAT(head, HasSubstr("?=\r\n =?utf-8?B?"));
}

TEST(MailText, OfATaskItIsNamed) {
  const ports::Message message{
      .event = "task_failed",
      .body = R"({"job":42,"name":"night","task":"lr1","task_run":3,"why":"exit code 1"})"};
  EXPECT_EQ(WordsOf(message).subject, "jobman: night (42) task failed: lr1");
  EXPECT_THAT(WordsOf(message).body, HasSubstr("\ntask: lr1\ntask_run: 3"));
}

TEST(MailText, IsValidForAnyServer) {
  const ports::Message message{
      .event_id = "e1", .event = "failed", .body = R"({"job":42,"name":"train","why":"Zürich"})"};
  const std::string text =
      MailText({.from = "jobman@lab.org"}, {.mail_to = {"a@lab.org", "b@lab.org"}}, message,
               base::FromMillis(1'767'225'600'000));
  EXPECT_THAT(text, HasSubstr("To: a@lab.org, b@lab.org\r\n"));
  EXPECT_THAT(text, HasSubstr("Subject: jobman: train (42) failed\r\n"));
  EXPECT_THAT(text, HasSubstr("Date: Thu, 01 Jan 2026 00:00:00 +0000\r\n"));
  EXPECT_THAT(text, HasSubstr("Message-ID: <e1@jobman>\r\n"));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\r\n", at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - at, 78U);
    at = end + 2;
  }
}

}  // namespace
}  // namespace jobman::notify
