#include "store/upgrade_spec.hpp"

#include <gtest/gtest.h>

#include "jobman/base/files.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::store {
namespace {

using base::Json;
using namespace std::chrono_literals;

/// A spec with every member, as version 3 wrote it. Must not be regenerated.
Json OldSpec() {
  const auto text = base::ReadFile(base::Path(JOBMAN_SOURCE_DIR) / "tests/data/store/spec_v3.json");
  return base::ParseJson(text.value()).value();
}

TEST(UpgradeSpec, LosesNothing) {
  const auto upgraded = core::SpecFromJson(UpgradeSpec(OldSpec()));
  ASSERT_TRUE(upgraded.ok()) << upgraded.error().ToString();
  const core::JobSpec& spec = *upgraded;
  EXPECT_EQ(spec.name, "train");
  EXPECT_EQ(spec.labels, (std::map<std::string, std::string>{{"note", ""}, {"team", "vision"}}));
  EXPECT_EQ(spec.environment,
            (std::map<std::string, std::string>{{"EMPTY", ""}, {"WAIT_ms", "5"}}));
  EXPECT_EQ(spec.worker_num, "") << "it used to be a number of hosts";
  EXPECT_EQ(spec.cloud, (core::CloudSpec{.endpoint = "https://tpu.googleapis.com",
                                         .token_file = "/home/ada/token"}));
  EXPECT_EQ(spec.tpu, (core::TpuSpec{.pricing = core::Pricing::kReserved,
                                     .accelerator = "v4-32",
                                     .num_slices = 2,
                                     .name = "big",
                                     .project = "lab",
                                     .zone = "us-central2-b",
                                     .version = "tpu-ubuntu2204-base",
                                     .reservation = "mine",
                                     .network = "net",
                                     .external_ips = false,
                                     .tags = {"a", "b"},
                                     .labels = {{"k", "v"}},
                                     .metadata = {{"m_ms", ""}},
                                     .startup_script = "#!/bin/sh\ntrue\n",
                                     .valid_for = 90min}));
  EXPECT_EQ(spec.ssh,
            (core::SshSpec{.user = "ada", .private_key = "/home/ada/.ssh/id_ed25519", .port = 0}));
  EXPECT_EQ(spec.setup,
            (std::vector<core::SetupStep>{{.name = "install",
                                           .run = "pip install jax\n",
                                           .hosts = {.all = false, .numbers = {0, 1, 3}},
                                           .required = false,
                                           .timeout = 1500ms},
                                          {.name = "step-2", .run = "true"}}));
  EXPECT_EQ(spec.command, (core::CommandSpec{
                              .cmd = "python train.py",
                              .workers = {.all = false, .numbers = {0}},
                              .workdir = "~/code",
                              .env = {{"A", ""}},
                              .secrets = {{.name = "KEY"}, {.name = "HF", .file = "/home/ada/.hf"}},
                              .grace = 2min,
                              .on_notice = {.signal = "USR1", .grace = 10s}}));
  EXPECT_EQ(
      spec.retries,
      (core::RetrySpec{
          .preemption = {}, .failure = 3, .infra = {}, .backoff = 20min, .backoff_cap = 20min}));
  EXPECT_EQ(spec.watchdog,
            (core::WatchdogSpec{
                .no_output = 30min,
                .on_no_output = core::WatchdogAction::kNewSlice,
                .bad_output = {{.match = "nan"},
                               {.match = "x", .action = core::WatchdogAction::kRestart}}}));
  EXPECT_EQ(spec.smtp, (core::SmtpSpec{.host = "smtp.example.com",
                                       .port = 465,
                                       .tls = core::SmtpTls::kTls,
                                       .from = "jobman@example.com",
                                       .user = "u",
                                       .password = {.env = "SMTP_PASSWORD"}}));
}

TEST(UpgradeSpec, HooksKeepTheirNumbers) {
  // The outbox refers to hooks by number.
  const auto spec = core::SpecFromJson(UpgradeSpec(OldSpec()));
  using core::HookEvent;
  EXPECT_EQ(
      spec->hooks,
      (std::vector<core::HookSpec>{
          {.event = HookEvent::kStarted, .command = "./notify.sh", .folder = "/home/ada/jobs"},
          {.event = HookEvent::kFailed,
           .url = "https://example.com/a",
           .token = {.file = "/home/ada/token"},
           .timeout = 5s},
          {.event = HookEvent::kFailed, .url_from = {.env = "HOOK_URL"}},
          {.event = HookEvent::kFailed, .mail_to = {"a@example.com", "b@example.com"}}}));
}

TEST(UpgradeSpec, ATimeStaysATime) {
  const Json tpu = UpgradeSpec({{"tpu", {{"valid_until_ms", 1'767'225'600'000}}}})["tpu"];
  EXPECT_EQ(tpu, (Json{{"valid_until", "2026-01-01T00:00:00.000Z"}}));
}

TEST(UpgradeSpec, AbsentValuesStayAbsent) {
  EXPECT_EQ(UpgradeSpec(Json::object()), Json::object());
  const Json retries = {{"retries", {{"infra", 10}}}};
  EXPECT_EQ(UpgradeSpec(retries), retries);
}

TEST(UpgradeSpec, AnyJsonGivesASpecOrAnError) {
  for (const Json& odd : {Json(), Json(3), Json("x"), Json::array({1})}) {
    EXPECT_EQ(UpgradeSpec(odd), odd);
    for (const char* key : {"name", "tpu", "retries", "watchdog", "hooks", "smtp", "setup"}) {
      UpgradeSpec({{key, odd}});
      UpgradeSpec({{key, {{"hooks", odd}, {"password", odd}, {"no_output_ms", odd}}}});
    }
  }
}

}  // namespace
}  // namespace jobman::store
