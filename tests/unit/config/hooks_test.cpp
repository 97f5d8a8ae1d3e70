#include <gmock/gmock.h>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using core::HookEvent;
using core::HookKind;
using ::testing::HasSubstr;
using testing::MustLoad;
using testing::ProblemsOf;
using testing::RequestOf;
using testing::SmallJob;

core::JobSpec SpecOf(const std::string& yaml) {
  return MustLoad(RequestOf(SmallJob(yaml + "\n"))).spec;
}

std::string HookComplaint(const std::string& yaml) {
  return ProblemsOf(SmallJob(yaml + "\n"));
}

const std::string kSmtp = "smtp: {host: mail.lab.org, from: jobman@lab.org}\n";

TEST(Hooks, ATextIsACommandOrAUrl) {
  const auto hooks = SpecOf("on: {failed: ./notify.sh, started: \"https://x.org/a?b=c\"}").hooks;
  ASSERT_EQ(hooks.size(), 2U);
  EXPECT_EQ(hooks[0].event, HookEvent::kStarted);
  EXPECT_EQ(hooks[0].kind(), HookKind::kWebhook);
  EXPECT_EQ(hooks[0].url, "https://x.org/a?b=c");
  EXPECT_EQ(hooks[1],
            (core::HookSpec{
                .event = HookEvent::kFailed, .command = "./notify.sh", .folder = "/work-dir"}))
      << "it runs in the folder of the job file";
}

TEST(Hooks, MapsAndListsAreTheLongForms) {
  const auto spec = SpecOf(
      kSmtp +
      "on:\n  failed:\n    - {run: a, timeout: 5s}\n    - {post: \"http://127.0.0.1:1/\", token: "
      "{file: t}}\n    - {post: {env: HOOK_URL}}\n    - {mail: [a@b.org, c@d.org]}\n  succeeded: "
      "{mail: a@b.org}");
  ASSERT_EQ(spec.hooks.size(), 5U);
  EXPECT_EQ(spec.hooks[0].mail_to, std::vector<std::string>{"a@b.org"});
  EXPECT_EQ(spec.hooks[1].timeout, std::chrono::seconds{5});
  EXPECT_EQ(spec.hooks[2].token.file, "/work-dir/t");
  EXPECT_EQ(spec.hooks[3].url, "");
  EXPECT_EQ(spec.hooks[3].url_from.env, "HOOK_URL");
  EXPECT_EQ(spec.hooks[4].mail_to, (std::vector<std::string>{"a@b.org", "c@d.org"}));
  EXPECT_EQ(spec.smtp.port, 587);
  EXPECT_EQ(spec.smtp.tls, core::SmtpTls::kStartTls);
}

TEST(Hooks, ThePasswordOfTheMailServerIsReadElsewhere) {
  const auto smtp = SpecOf(
                        "smtp: {host: h, from: a@b.org, tls: tls, user: u, password: {file: "
                        "~/.smtp}}")
                        .smtp;
  EXPECT_EQ(smtp.port, 465);
  EXPECT_EQ(smtp.password.file, "/home/nobody-here/.smtp");
  EXPECT_THAT(HookComplaint("smtp: {host: h, from: a@b.org, user: u, password: hunter2}"),
              HasSubstr("smtp.password: expected {env: NAME} or {file: PATH}"));
  EXPECT_THAT(HookComplaint("smtp: {host: h, from: a@b.org, user: u}"),
              HasSubstr("belong together"));
  EXPECT_THAT(HookComplaint("smtp: {from: a@b.org}"), HasSubstr("smtp.host is missing"));
  EXPECT_THAT(HookComplaint("smtp: {host: h, from: nobody}"), HasSubstr("is not a mail address"));
}

TEST(Hooks, NoTokenGoesOverPlainHttpToAnotherMachine) {
  const auto post = [](const std::string& url) {
    return HookComplaint("on: {failed: {post: \"" + url + "\", token: {file: t}}}");
  };
  EXPECT_EQ(post("https://hooks.lab.org/x"), "");
  EXPECT_EQ(post("http://localhost:8080/x"), "");
  EXPECT_EQ(post("http://[::1]:8080/x"), "");
  for (const char* host : {"hooks.lab.org", "127.0.0.256", "127.0.0.1.lab.org", "127.1"}) {
    EXPECT_THAT(post("http://" + std::string(host) + "/x"),
                HasSubstr(std::string("a token is not sent over plain http to ") + host));
  }
  EXPECT_EQ(HookComplaint("on: {failed: \"http://hooks.lab.org/x\"}"), "") << "without a token";
}

TEST(Hooks, NoPasswordGoesWithoutTlsToAnotherMachine) {
  const auto smtp = [](const std::string& host, const std::string& tls) {
    return HookComplaint("smtp: {host: \"" + host + "\", tls: " + tls +
                         ", from: a@b.org, user: u, password: {file: p}}");
  };
  for (const char* host : {"mail.lab.org", "127.0.0.256"}) {
    EXPECT_THAT(smtp(host, "none"),
                HasSubstr(std::string("the password is not sent without TLS to ") + host));
    EXPECT_EQ(smtp(host, "starttls"), "");
    EXPECT_EQ(smtp(host, "tls"), "");
  }
  for (const char* host : {"127.0.0.1", "::1", "LocalHost"}) EXPECT_EQ(smtp(host, "none"), "");
  EXPECT_EQ(HookComplaint("smtp: {host: mail.lab.org, tls: none, from: a@b.org}"), "");
}

TEST(Hooks, ACommandMayRunInAnotherFolder) {
  const auto hooks =
      SpecOf("on: {failed: {run: a, workdir: ~/b}, started: {run: a, workdir: c}}").hooks;
  EXPECT_EQ(hooks.at(0).folder, "/work-dir/c");
  EXPECT_EQ(hooks.at(1).folder, "/home/nobody-here/b");
}

TEST(Hooks, EachProblemIsReportedOnce) {
  EXPECT_EQ(HookComplaint("on: {failed: ' '}"), R"(job.yaml:3:14: on.failed is empty
  3 | on: {failed: ' '}
    |              ^
)");
  EXPECT_EQ(HookComplaint("on: {failed: [{timeout: 5s}]}"),
            R"(job.yaml:3:15: on.failed[0] has nothing to do
  3 | on: {failed: [{timeout: 5s}]}
    |               ^
  a hook has one of run, post, mail and brevo
)");
  EXPECT_EQ(HookComplaint("on: {failed: {post: x.org}}"),
            R"(job.yaml:3:21: on.failed.post: "x.org" is not an http(s) URL
  3 | on: {failed: {post: x.org}}
    |                     ^
)");
}

TEST(Hooks, ProblemsAreNamed) {
  EXPECT_THAT(HookComplaint("on: {exploded: a}"), HasSubstr("unknown key \"on.exploded\""));
  EXPECT_THAT(HookComplaint("on: {failed: {mail: a@b.org}}"),
              HasSubstr("on.failed.mail needs a mail server"));
  EXPECT_THAT(HookComplaint(kSmtp + "on: {failed: {mail: \"a@b.org\\r\\nBcc: c@d.org\"}}"),
              HasSubstr("is not a mail address"));
  EXPECT_THAT(HookComplaint("on: {failed: {run: a, post: \"http://x\"}}"),
              HasSubstr("job.yaml:3:23: on.failed: run and post in one hook"));
  EXPECT_THAT(HookComplaint("on: {failed: {sing: a}}"),
              HasSubstr("unknown key \"on.failed.sing\""));
  EXPECT_THAT(HookComplaint("on: {failed: {post: ftp.x.org}}"), HasSubstr("is not an http(s) URL"));
  for (const char* const hook : {"\"https://u:pw@x.org/\"", "{post: \"http://token@x.org\"}"}) {
    EXPECT_THAT(
        HookComplaint("on: {failed: " + std::string(hook) + "}"),
        AllOf(HasSubstr("contains a user or a password"), HasSubstr("token: {file: PATH}")));
  }
  EXPECT_THAT(HookComplaint("on: {failed: [[a]]}"),
              HasSubstr("on.failed[0]: expected text or a map, found a list"));
  EXPECT_THAT(HookComplaint("on: {failed: {post: {file: a, env: B}}}"),
              HasSubstr("on.failed.post: expected text, {env: NAME} or {file: PATH}"));
}

}  // namespace
}  // namespace jobman::config
