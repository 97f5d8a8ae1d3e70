#include "jobman/core/spec_json.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_spec.hpp"

namespace jobman::core {
namespace {

using base::Json;

TEST(SpecJson, EverySpecSurvivesTheRoundTrip) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const JobSpec spec = test::RandomSpec(seed);
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

TEST(SpecJson, UsesTheKeysOfTheJobFile) {
  JobSpec spec{.name = "train", .worker_num = "auto"};
  spec.tpu.accelerator = "v4-32";
  spec.tpu.valid_for = std::chrono::minutes{90};
  spec.setup = {{.name = "a", .run = "b", .hosts = {.all = false, .numbers = {0, 1, 2}}}};
  spec.command.secrets = {{.name = "KEY"}};
  spec.watchdog.no_output = std::chrono::milliseconds{1500};
  spec.hooks = {{.event = HookEvent::kFailed, .url_from = {.env = "URL"}},
                {.event = HookEvent::kFailed, .mail_to = {"a@b.org"}}};
  const Json json = SpecToJson(spec);
  EXPECT_EQ(json["job"],
            (Json{{"name", "train"}, {"when_done", {{"do", "keep"}}}, {"worker_num", "auto"}}));
  EXPECT_EQ(json["tpu"]["valid_until"], "1h30m");
  EXPECT_EQ(json["setup"][0]["hosts"], "0-2");
  EXPECT_EQ(json["command"]["secrets"], Json::array({{{"name", "KEY"}}}));
  EXPECT_EQ(json["retries"]["preemption"], "unlimited");
  EXPECT_EQ(json["watchdog"], (Json{{"no_output", {{"after", "1s500ms"}, {"do", "restart"}}}}));
  EXPECT_EQ(json["on"]["failed"][0], (Json{{"post", {{"env", "URL"}}}, {"timeout", "1m"}}));
  EXPECT_EQ(json["on"]["failed"][1]["mail"], Json::array({"a@b.org"}));
  EXPECT_FALSE(json.contains("smtp"));
}

TEST(SpecJson, NullCountsAsAbsent) {
  const auto spec = SpecFromJson(Json{{"retries", {{"infra", nullptr}, {"failure", "unlimited"}}}});
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->retries.infra, 10);
  EXPECT_EQ(spec->retries.failure, std::nullopt);
}

/// The error for JSON with unknown parts.
std::string Complaint(const Json& json) {
  const auto spec = SpecFromJson(json);
  if (spec.ok()) return "";
  EXPECT_EQ(spec.error().reason, base::Reason::kNewerStore);
  const std::string_view newer = "written by a newer jobman: unknown ";
  EXPECT_TRUE(spec.error().message.starts_with(newer)) << spec.error().message;
  return spec.error().message.substr(newer.size());
}

TEST(SpecJson, WordsOfANewerJobmanAreErrors) {
  EXPECT_EQ(Complaint({{"tpu", {{"pricing", "barter"}}}}), "value of tpu.pricing \"barter\"");
  EXPECT_EQ(Complaint({{"tpu", {{"zone", {"a", "b"}}}}}), R"(value of tpu.zone "["a","b"]")");
  EXPECT_EQ(Complaint({{"tpu", {{"valid_until", "soon"}}}}), "value of tpu.valid_until \"soon\"");
  EXPECT_EQ(Complaint({{"command", {{"workers", "x"}}}}), "value of command.workers \"x\"");
  EXPECT_EQ(Complaint({{"watchdog", {{"no_output", {{"do", "pray"}}}}}}),
            "value of watchdog.no_output.do \"pray\"");
  EXPECT_EQ(Complaint({{"setup", {{{"timeout", "x"}}}}}), "value of setup[0].timeout \"x\"");
  EXPECT_EQ(Complaint({{"job", {{"labels", {{"a", 3}}}}}}), "value of job.labels.a \"3\"");
  EXPECT_EQ(Complaint({{"ssh", {{"port", 5'000'000'000}}}}), "value of ssh.port \"5000000000\"");
}

TEST(SpecJson, KeysOfANewerJobmanAreErrors) {
  EXPECT_EQ(Complaint({{"health", {{"every", "x"}}}}), "key \"health\"");
  EXPECT_EQ(Complaint({{"job", {{"dream", "x"}}}}), "key \"job.dream\"");
  EXPECT_EQ(Complaint({{"setup", {{{"run", "a"}}, {{"when", "x"}}}}}), "key \"setup[1].when\"");
  EXPECT_EQ(Complaint({{"on", {{"bored", Json::array()}}}}), "key \"on.bored\"");
  EXPECT_EQ(Complaint({{"on", {{"failed", {{{"sing", "a"}}}}}}}), "key \"on.failed[0].sing\"");
  EXPECT_EQ(Complaint({{"", 1}}), "key \"\"");
}

TEST(SpecJson, AnyJsonGivesASpecOrAnError) {
  EXPECT_FALSE(SpecFromJson(Json::array()).ok());
  EXPECT_FALSE(SpecFromJson(Json()).ok());
  for (const char* key : {"job", "tpu", "setup", "on", "command", "smtp"}) {
    EXPECT_FALSE(SpecFromJson(Json{{key, 3}}).ok()) << key;
    EXPECT_FALSE(SpecFromJson(Json{{key, "x"}}).ok()) << key;
    EXPECT_FALSE(SpecFromJson(Json{{key, {{{"x", 1}}}}}).ok()) << key;
  }
}

TEST(SpecJson, WhatAQueueFileSaysOfATaskIsReadBack) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    TaskDefinition task;
    test::SpecFiller(seed).Fill(task);
    const auto again = TaskDefinitionFromJson(Json(TaskDefinitionToJson(task)));
    ASSERT_TRUE(again.ok()) << again.error().ToString();
    EXPECT_EQ(*again, task);
  }
  EXPECT_FALSE(TaskDefinitionFromJson(Json{{"dream", "x"}}).ok());
  EXPECT_FALSE(TaskDefinitionFromJson(Json::array()).ok());
}

}  // namespace
}  // namespace jobman::core
