#include "jobman/core/spec_json.hpp"

#include <gtest/gtest.h>

#include <random>

namespace jobman::core {
namespace {

using base::Json;

/// Arbitrary specs, the same ones for the same seed.
class SpecMaker {
 public:
  explicit SpecMaker(unsigned seed) : random_(seed) {}

  JobSpec Make() {
    JobSpec spec;
    spec.name = Text();
    spec.labels = Map();
    spec.environment = Map();
    spec.worker_num = MaybeNumber();
    spec.cloud = {.endpoint = Text(), .token_file = Text(), .token_command = Text()};
    spec.tpu = Tpu();
    spec.ssh = {.user = Text(), .private_key = Text(), .port = Number(65535)};
    for (int i = Number(3); i > 0; --i) spec.setup.push_back(Step());
    spec.command = Command();
    spec.retries = {.preemption = MaybeNumber(),
                    .failure = MaybeNumber(),
                    .infra = MaybeNumber(),
                    .backoff = Duration{Number(100000)},
                    .backoff_cap = Duration{Number(100000)}};
    spec.watchdog = Watchdog();
    for (int i = Number(3); i > 0; --i) spec.hooks.push_back(Hook());
    spec.smtp = {.host = Text(),
                 .port = Number(65535),
                 .tls = static_cast<SmtpTls>(Number(2)),
                 .from = Text(),
                 .user = Text(),
                 .password = Source()};
    return spec;
  }

 private:
  int Number(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool Coin() { return Number(1) == 1; }
  std::optional<int> MaybeNumber() { return Coin() ? std::optional(Number(1000)) : std::nullopt; }
  std::string Text() {
    constexpr std::string_view kLetters = "az09 \n\"\\'${}:#\t-";
    std::string text;
    for (int i = Number(12); i > 0; --i) text += kLetters[static_cast<std::size_t>(Number(15))];
    return text;
  }
  std::map<std::string, std::string> Map() {
    std::map<std::string, std::string> map;
    for (int i = Number(3); i > 0; --i) map[Text()] = Text();
    return map;
  }
  HostSet Hosts() {
    return Coin() ? HostSet{} : HostSet{.all = false, .numbers = {Number(3), 4 + Number(9)}};
  }
  SecretRef Source() { return {.name = Text(), .file = Text()}; }
  HookSpec Hook() {
    HookSpec hook{.event = static_cast<HookEvent>(Number(5)),
                  .kind = static_cast<HookKind>(Number(2)),
                  .command = Text(),
                  .folder = Text(),
                  .url = Text(),
                  .url_from = Source(),
                  .token = Source(),
                  .timeout = Duration{Number(100000)}};
    for (int i = Number(2); i > 0; --i) hook.mail_to.push_back(Text());
    return hook;
  }
  WatchdogAction Action() { return static_cast<WatchdogAction>(Number(2)); }
  WatchdogSpec Watchdog() {
    WatchdogSpec watchdog{.on_no_output = Action(), .on_max_duration = Action()};
    if (Coin()) watchdog.no_output = Duration{Number(100000)};
    if (Coin()) watchdog.max_duration = Duration{Number(100000)};
    for (int i = Number(2); i > 0; --i) {
      watchdog.bad_output.push_back({.match = Text(), .action = Action()});
    }
    return watchdog;
  }
  TpuSpec Tpu() {
    TpuSpec tpu;
    tpu.allocation_mode = Coin() ? AllocationMode::kTpuVm : AllocationMode::kQueuedResources;
    tpu.pricing = static_cast<Pricing>(Number(3));
    for (std::string* text :
         {&tpu.accelerator, &tpu.name, &tpu.project, &tpu.zone, &tpu.version, &tpu.reservation,
          &tpu.network, &tpu.subnetwork, &tpu.service_account, &tpu.startup_script}) {
      *text = Text();
    }
    tpu.external_ips = Coin();
    for (int i = Number(3); i > 0; --i) tpu.tags.push_back(Text());
    tpu.labels = Map();
    tpu.metadata = Map();
    if (Coin()) tpu.valid_for = Duration{Number(100000)};
    if (Coin()) tpu.valid_until = TimePoint{Duration{Number(100000)}};
    return tpu;
  }
  SetupStep Step() {
    SetupStep step{.name = Text(), .run = Text(), .hosts = Hosts(), .required = Coin()};
    if (Coin()) step.timeout = Duration{Number(100000)};
    return step;
  }
  CommandSpec Command() {
    CommandSpec command{.cmd = Text(), .workers = Hosts(), .workdir = Text(), .env = Map()};
    for (int i = Number(2); i > 0; --i) {
      command.secrets.push_back({.name = Text(), .file = Text()});
    }
    command.grace = Duration{Number(100000)};
    command.on_notice = {.signal = Text(), .grace = Duration{Number(100000)}};
    return command;
  }

  std::mt19937 random_;
};

TEST(SpecJson, EverySpecSurvivesTheRoundTrip) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const JobSpec spec = SpecMaker(seed).Make();
    const auto parsed = base::ParseJson(SpecToJson(spec).dump());
    ASSERT_TRUE(parsed.ok());
    const auto back = SpecFromJson(*parsed);
    ASSERT_TRUE(back.ok()) << back.error().ToString();
    ASSERT_EQ(*back, spec);
  }
}

TEST(SpecJson, AbsentMembersTakeTheirDefaults) {
  const auto spec = SpecFromJson(Json::object());
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(*spec, JobSpec{});
}

TEST(SpecJson, NullRetriesAreWithoutLimitAndAbsentOnesTheDefault) {
  const auto spec = SpecFromJson(Json{{"retries", {{"infra", nullptr}}}});
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->retries.infra, std::nullopt);
  EXPECT_EQ(spec->retries.failure, 0);
}

TEST(SpecJson, WordsOfANewerJobmanAreErrors) {
  const auto spec = SpecFromJson(Json{{"tpu", {{"pricing", "barter"}}}});
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.error().message, "\"barter\" is not a value of tpu.pricing");
  EXPECT_FALSE(SpecFromJson(Json{{"command", {{"workers", "x"}}}}).ok());
  EXPECT_FALSE(SpecFromJson(Json{{"watchdog", {{"on_no_output", "pray"}}}}).ok());
  EXPECT_FALSE(SpecFromJson(Json{{"hooks", {{{"event", "bored"}}}}}).ok());
}

TEST(SpecJson, AnyJsonIsAnswered) {
  EXPECT_FALSE(SpecFromJson(Json::array()).ok());
  EXPECT_FALSE(SpecFromJson(Json()).ok());
  const auto spec = SpecFromJson(Json{{"tpu", 3}, {"setup", "x"}, {"command", Json::array({1})}});
  EXPECT_TRUE(spec.ok());
}

}  // namespace
}  // namespace jobman::core
