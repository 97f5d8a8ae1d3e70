#include "jobman/core/buckets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> NamesIn(const JobSpec& spec) {
  std::vector<std::string> names;
  for (const NamedBucket& bucket : BucketsOf(spec)) names.push_back(bucket.name);
  return names;
}

/// Those of a command.
std::vector<std::string> NamesIn(const std::string& text) {
  JobSpec spec;
  spec.command.cmd = text;
  return NamesIn(spec);
}

TEST(Buckets, AreFoundInATextOfTheShell) {
  EXPECT_THAT(NamesIn("gsutil cp gs://data/a.txt ."), ElementsAre("data"));
  EXPECT_THAT(NamesIn("cat gs://data"), ElementsAre("data"));
  EXPECT_THAT(NamesIn("a --in=gs://one/x --out='gs://two' && b \"gs://three/\""),
              ElementsAre("one", "two", "three"));
  EXPECT_THAT(NamesIn("cp gs://one/x\ncp gs://two/x"), ElementsAre("one", "two"));
  EXPECT_THAT(NamesIn("A=gs://one,gs://two;B=[gs://six]"), ElementsAre("one", "two", "six"));
  EXPECT_THAT(NamesIn("echo $(cat gs://data) >gs://more"), ElementsAre("data", "more"));
  EXPECT_THAT(NamesIn("it is in gs://data."), ElementsAre("data"));
  EXPECT_THAT(NamesIn("gs://data/$RUN gs://data/${RUN}/x"), ElementsAre("data"));
  EXPECT_THAT(NamesIn("zip::gs://data/a.zip"), ElementsAre("data"));
}

TEST(Buckets, WhoseNameIsAVariableAreNotKnown) {
  for (const char* text :
       {"ls gs://$BUCKET/x", "ls gs://${BUCKET}", "ls gs://$(name)/x", "ls gs://`name`/x",
        "ls gs://data-$REGION/x", "ls gs://data${N}/x", "ls gs://data{1,2}/x", "ls gs://data*/x",
        "ls gs://data?/x", "printf gs://data%s", "ls gs://{bucket}/x", "ls gs://<bucket>/x"}) {
    EXPECT_THAT(NamesIn(std::string(text)), IsEmpty()) << text;
  }
}

TEST(Buckets, WhoseNameIsAVariableOfTheJobAreKnown) {
  JobSpec spec;
  spec.environment = {{"BUCKET", "of-environment"}, {"OTHER", "in-between"}, {"LIST", "a b"}};
  spec.command.env = {{"OTHER", "of-command"}};
  spec.command.cmd = "ls gs://$BUCKET/x gs://${OTHER} gs://$LIST/x gs://$NONE/x gs://${BUCKET";
  EXPECT_THAT(
      BucketsOf(spec),
      ElementsAre(
          NamedBucket{.name = "of-environment", .key = "command.cmd", .written = "gs://$BUCKET/"},
          NamedBucket{.name = "of-command", .key = "command.cmd", .written = "gs://${OTHER} "}));
  spec.command.cmd = "ls gs://$BUCKET-x/y gs://${BUCKET}$N gs://${BUCKET:-x} gs://$BUCKETS gs://$";
  EXPECT_THAT(NamesIn(spec), IsEmpty());
}

TEST(Buckets, HaveTheNamesThatBucketsMayHave) {
  const std::string long_part(63, 'a');
  const std::string dotted = long_part + "." + long_part + "." + long_part;
  for (const std::string& name : {std::string("a-b_c.d9"), std::string("123"), long_part, dotted})
    EXPECT_THAT(NamesIn("ls gs://" + name + "/x"), ElementsAre(name));
  for (const std::string& name :
       {std::string("ab"), std::string("-data"), std::string("data-"), std::string("_data"),
        std::string("Data"), std::string("my-Data"), long_part + "a", "b." + long_part + "a",
        dotted + "." + long_part, std::string()}) {
    EXPECT_THAT(NamesIn("ls gs://" + name + "/x"), IsEmpty()) << name;
  }
}

TEST(Buckets, AnotherSchemeAndACommentNameNone) {
  EXPECT_THAT(NamesIn("ls logs://data/x LOGs://data"), IsEmpty());
  EXPECT_THAT(NamesIn("#!/bin/sh\n  # as gs://data/old was\nls gs://more/x"), ElementsAre("more"));
  EXPECT_THAT(NamesIn("ls https://storage.googleapis.com/data/x gs:/data gs//data"), IsEmpty());
}

TEST(Buckets, AreThoseOfEveryTextThatReachesTheHosts) {
  JobSpec spec;
  spec.environment = {{"DATA", "gs://of-environment/x"}};
  spec.array = {.size = 1, .value = "gs://of-array/x"};
  spec.matrix = {{"SET", "gs://of-matrix/x"}};
  spec.tpu.metadata = {{"data", "gs://of-metadata/x"}};
  spec.tpu.startup_script = "#!/bin/sh\ncp gs://of-startup/x .";
  spec.gcsfuse = {.bucket_name = "of-gcsfuse", .mount_path = "/m"};
  spec.gcsfuse.cache.prefix = "cp gs://of-prefix/x .";
  spec.gcsfuse.extra_mounts = {{.bucket_name = "of-mount", .mount_path = "/n"}};
  spec.docker.flags = {"--label", "a=gs://of-flags"};
  spec.docker.env_vars = {"D=gs://of-docker/x"};
  spec.setup = {{.run = "true"}, {.run = "cp gs://of-step/x ."}};
  spec.command.cmd = "cp gs://of-command/x gs://of-step/y";
  spec.command.env = {{"OUT", "gs://of-env/x"}};
  EXPECT_THAT(NamesIn(spec),
              ElementsAre("of-environment", "of-array", "of-matrix", "of-metadata", "of-startup",
                          "of-gcsfuse", "of-prefix", "of-mount", "of-flags", "of-docker", "of-step",
                          "of-command", "of-env"));
}

TEST(Buckets, WhatStaysHereOrIsOnlyANameIsNoPlace) {
  JobSpec spec;
  spec.name = spec.group = "gs://data/x";
  spec.labels = spec.tpu.labels = {{"data", "gs://data/x"}};
  spec.code.git = "gs://data/x";
  spec.code.exclude = {"gs://data/x"};
  spec.cloud.token_command = "cat gs://data/x";
  spec.watchdog.bad_output = {{.match = "gs://data/x"}};
  spec.hooks = {{.command = "cp log gs://data/x"}};
  EXPECT_THAT(NamesIn(spec), IsEmpty());
}

TEST(Buckets, AreNamedWithTheKeyThatHasThemFirst) {
  JobSpec spec;
  spec.setup = {{.run = "true"}, {.run = "ls 'gs://data'"}};
  spec.command.cmd = "ls gs://data/x";
  spec.command.env = {{"OUT", "gs://out"}};
  EXPECT_THAT(
      BucketsOf(spec),
      ElementsAre(NamedBucket{.name = "data", .key = "setup[1].run", .written = "gs://data'"},
                  NamedBucket{.name = "out", .key = "command.env.OUT", .written = "gs://out"}));
}

TEST(Buckets, AreNotMoreThanOneBeyondTheLimit) {
  std::string text;
  for (std::size_t i = 0; i < 3 * kMostBuckets; ++i) text += "gs://data-" + std::to_string(i) + " ";
  EXPECT_EQ(NamesIn(text).size(), kMostBuckets + 1);
}

/// A scan that began anew at each "gs://" would not end in time.
TEST(Buckets, AHostileTextIsReadOnce) {
  std::string text;
  while (text.size() < 1'000'000) text += "gs://gs://a.";
  EXPECT_THAT(NamesIn(text), IsEmpty());
  EXPECT_THAT(NamesIn("gs://" + std::string(1'000'000, 'a')), IsEmpty());
  EXPECT_THAT(NamesIn("gs://" + std::string(1'000'000, '.')), IsEmpty());
}

}  // namespace
}  // namespace jobman::core
