// quota: how the rows are shown, and with which code it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/views/quota.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/lend.hpp"

namespace jobman::test {
namespace {

using cli::views::Quota;
using ports::TpuLimit;
using testing::HasSubstr;

client::QuotaRow SpotRow() {
  client::QuotaRow row;
  row.limit = {.metric = "tpu.googleapis.com/tpu-v5s-litepod-serving-preemptible",
               .name = "Preemptible TPU v5 lite pod cores for serving",
               .scope = TpuLimit::Scope::kZone,
               .location = "us-west4-a",
               .limit = 16};
  row.counts = core::ReadTpuMetric(row.limit.metric);
  row.held = 12;
  row.holders = {{.node = "serve-1", .zone = "us-west4-a", .job = core::JobId{42}, .units = 4},
                 {.node = "serve-2", .zone = "us-west4-a", .job = core::JobId{42}, .units = 4},
                 {.node = "bobs", .zone = "us-west4-a", .units = 4}};
  return row;
}

Quota Sample() {
  Quota view{.project = "lab"};
  view.answer.tpus = {SpotRow()};
  client::QuotaRow general = SpotRow();
  general.limit.location = "";
  general.limit.locations = {"us-west1-c", "us-east5-b"};
  general.limit.limit = std::nullopt;
  general.held = std::nullopt;
  general.holders = {};
  view.answer.tpus.push_back(general);
  view.answer.addresses = {
      {.region = "us-west4",
       .quota = ports::RegionQuota{.metric = "IN_USE_ADDRESSES", .limit = 8, .usage = 3}}};
  return view;
}

TEST(QuotaView, IsATableOfLimitsAndHolders) {
  Quota view = Sample();
  EXPECT_EQ(RenderText(view, {.width = 80}),
            "TYPE               PRICING  WHERE          LIMIT  HELD  BY\n"
            "v5litepod serving  spot     us-west4-a        16    12  000042, bobs\n"
            "v5litepod serving  spot     2 other zones      -     -  -\n"
            "addresses          -        us-west4           8     3  -\n"
            "LIMIT, HELD: TensorCores, the number in the name of a type (v4-32: 32)\n");
  EXPECT_EQ(RenderQuiet(view), "v5litepod serving spot us-west4-a\n");
  view.answer.left_out = 3;
  EXPECT_THAT(RenderText(view, {}), HasSubstr("3 limits of 0, unlimited or not known left out"));
}

TEST(QuotaView, WhatIsNotKnownIsSaidWithItsCure) {
  Quota view{.project = "lab"};
  base::Error denied{.code = base::Code::kPermissionDenied, .message = "not allowed"};
  denied.hint = "ask for the role";
  view.answer.no_limits = denied;
  view.answer.no_nodes = base::NotFound("no such project");
  view.answer.addresses = {{.region = "a", .refused = denied}, {.region = "b", .refused = denied}};
  EXPECT_EQ(RenderText(view, {}),
            "limits are not known: not allowed\n"
            "    ask for the role\n"
            "what is held is not known: no such project\n"
            "addresses in a are not known: not allowed\n"
            "    ask for the role\n");
}

TEST(QuotaView, WhatIsNotKnownIsNotCalledNone) {
  Quota view{.project = "lab"};
  EXPECT_EQ(RenderText(view, {}), "no quota above 0, and no nodes\n");
  view.answer.no_limits = base::NotFound("gone");
  EXPECT_EQ(RenderText(view, {}), "no nodes\nlimits are not known: gone\n");
  view.answer.no_nodes = base::NotFound("lost");
  view.answer.no_limits = std::nullopt;
  EXPECT_EQ(RenderText(view, {}), "no quota above 0\nwhat is held is not known: lost\n");
}

TEST(QuotaView, ManyHoldersFitIntoATerminal) {
  Quota view = Sample();
  for (int i = 0; i < 40; ++i)
    view.answer.tpus[0].holders.push_back({.node = "somebody-elses-node-" + std::to_string(i)});
  for (const std::string& line : base::Split(RenderText(view, {.width = 80}), '\n'))
    EXPECT_LE(line.size(), 80U) << line;
}

TEST(QuotaView, JsonHasNullForWhatIsNotKnown) {
  Quota view = Sample();
  view.answer.no_nodes = base::NotFound("gone");
  const auto json = ToJson(view);
  EXPECT_EQ(json["project"], "lab");
  EXPECT_EQ(json["quotas"][0]["type"], "v5litepod serving");
  EXPECT_EQ(json["quotas"][0]["limit"], 16);
  EXPECT_EQ(json["quotas"][0]["holders"][0]["job"], 42);
  EXPECT_TRUE(json["quotas"][0]["holders"][2]["job"].is_null());
  EXPECT_TRUE(json["quotas"][1]["limit"].is_null());
  EXPECT_TRUE(json["quotas"][1]["held"].is_null());
  EXPECT_TRUE(json["quotas"][1]["location"].is_null());
  EXPECT_EQ(json["addresses"][0]["used"], 3);
  EXPECT_TRUE(json["limits_error"].is_null());
  EXPECT_EQ(json["held_error"]["message"], "gone");
}

TEST(QuotaView, CsvHasALineForEachRow) {
  EXPECT_EQ(RenderCsv(Sample()),
            "metric,type,pricing,scope,location,limit,held,by,error\n"
            "tpu.googleapis.com/tpu-v5s-litepod-serving-preemptible,v5litepod serving,spot,zone,"
            "us-west4-a,16,12,\"000042, bobs\",\n"
            "tpu.googleapis.com/tpu-v5s-litepod-serving-preemptible,v5litepod serving,spot,zone,"
            ",,,,\n"
            "IN_USE_ADDRESSES,addresses,,region,us-west4,8,3,,\n");
}

class QuotaCommand : public testing::Test {
 protected:
  QuotaCommand() {
    for (const char* name : {"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "JOBMAN_ENDPOINT"})
      ::unsetenv(name);
    ::setenv("CLOUDSDK_CONFIG", world_.paths().home.c_str(), 1);  // no gcloud
    world_.open_cloud = Lend(cloud_);
  }
  ~QuotaCommand() override { ::unsetenv("CLOUDSDK_CONFIG"); }

  CliWorld world_;
  FakeSliceApi cloud_{world_.clock};
};

TEST_F(QuotaCommand, WithoutServiceUsageNodesAreShown) {
  cloud_.AddNode({.id = "bobs", .zone = "us-central2-b", .accelerator = "v4-16", .spot = true});
  const auto ended = world_.Run({"quota", "--project", "demo"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("v4    spot     us-central2-b      -    16  bobs\n"));
  EXPECT_THAT(ended.out, HasSubstr("limits are not known: this cloud has no Service Usage\n"));
}

TEST_F(QuotaCommand, IfNothingIsKnownTheRefusalIsTheExitCode) {
  cloud_.SetReachable(false);
  EXPECT_EQ(world_.Run({"quota", "--project", "demo"}).exit_code, 75)
      << "that there is no Service Usage is no failure, but nothing is shown";
}

TEST_F(QuotaCommand, WhatCannotBeMeantIsRefused) {
  const auto ended = world_.Run({"quota"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("no project is named"));
  EXPECT_EQ(world_.Run({"quota", "--project", "demo", "-z", "us-central2"}).exit_code, 2);
  EXPECT_THAT(cloud_.calls(), testing::IsEmpty());
}

}  // namespace
}  // namespace jobman::test
