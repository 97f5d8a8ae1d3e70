// storage: how buckets are shown, and with which code it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/views/storage.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using cli::views::Storage;
using testing::HasSubstr;

Storage TwoBuckets() {
  Storage view{.project = "lab"};
  client::BucketRow data{.name = "data", .bytes = 5'300'000'000};
  data.seen = ports::BucketSeen{.name = "data",
                                .location = {.name = "us-central2"},
                                .location_type = "region",
                                .storage_class = "STANDARD"};
  client::BucketRow far{.name = "far", .elsewhere = true};
  far.seen = ports::BucketSeen{.name = "far",
                               .location = {.name = "eu", .regions = {"a-1", "b-2"}},
                               .location_type = "dual-region",
                               .storage_class = "NEARLINE"};
  view.answer.rows = {data, far};
  view.answer.regions = {"us-central2"};
  return view;
}

TEST(StorageView, IsATableOfBuckets) {
  EXPECT_EQ(RenderText(TwoBuckets(), {.width = 80}),
            "BUCKET  LOCATION     KIND         CLASS       SIZE\n"
            "data    us-central2  region       STANDARD  4.9 GB\n"
            "far     a-1+b-2 *    dual-region  NEARLINE       -\n"
            "*: in no region of a job: us-central2\n"
            "SIZE is measured once a day; -: no objects, too young, or another project's\n");
  EXPECT_EQ(RenderQuiet(TwoBuckets()), "data\nfar\n");
  EXPECT_EQ(RenderText(Storage{}, {}), "no buckets\n");
  Storage odd = TwoBuckets();
  odd.answer.rows[0].name = "a\x1b[2J";
  EXPECT_EQ(RenderQuiet(odd), "a?[2J\nfar\n") << "a name cannot harm the terminal";
  EXPECT_THAT(RenderText(odd, {}), HasSubstr("a?[2J"));
}

TEST(StorageView, WhatIsNotKnownIsSaidInALineBelow) {
  Storage view = TwoBuckets();
  base::Error denied{.code = base::Code::kPermissionDenied, .message = "not allowed"};
  denied.hint = "ask for the role";
  view.answer.no_sizes = denied;
  client::BucketRow none{.name = "none"};
  none.refused = base::NotFound("no such bucket");
  view.answer.rows.push_back(none);
  const std::string text = RenderText(view, {.width = 80});
  EXPECT_THAT(text, HasSubstr("\nnone    -            -            -              -\n"));
  EXPECT_THAT(text, HasSubstr("\nbucket none: no such bucket\n"));
  EXPECT_THAT(text, HasSubstr("\nsizes are not known: not allowed\n    ask for the role\n"));
  Storage unlisted;
  unlisted.answer.no_list = denied;
  unlisted.answer.no_sizes = denied;
  EXPECT_EQ(RenderText(unlisted, {}), "buckets are not known: not allowed\n    ask for the role\n");
}

TEST(StorageView, JsonAndCsvHaveBytes) {
  const auto json = ToJson(TwoBuckets());
  EXPECT_EQ(json["buckets"][0]["bytes"], 5'300'000'000);
  EXPECT_TRUE(json["buckets"][1]["bytes"].is_null());
  EXPECT_EQ(json["buckets"][1]["regions"][1], "b-2");
  EXPECT_EQ(json["buckets"][1]["elsewhere"], true);
  EXPECT_EQ(json["job_regions"][0], "us-central2");
  EXPECT_TRUE(json["list_error"].is_null());
  Storage view = TwoBuckets();
  view.answer.no_sizes = base::NotFound("no sizes");
  EXPECT_EQ(RenderCsv(view),
            "name,location,location_type,storage_class,bytes,elsewhere,error\n"
            "data,us-central2,region,STANDARD,5300000000,false,\n"
            "far,eu,dual-region,NEARLINE,,true,\n"
            ",,,,,,no sizes\n");
}

TEST(StorageCommand, WithoutAProjectOrCloudStorageItSaysSo) {
  CliWorld world;
  for (const char* name : {"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "JOBMAN_ENDPOINT"})
    ::unsetenv(name);
  ::setenv("CLOUDSDK_CONFIG", world.paths().home.c_str(), 1);  // no gcloud
  const auto none = world.Run({"storage"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no project is named"));
  const auto ended = world.Run({"storage", "--project", "demo"});
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_EQ(ended.out, "buckets are not known: this cloud has no Cloud Storage\n");
  ::unsetenv("CLOUDSDK_CONFIG");
}

}  // namespace
}  // namespace jobman::test
