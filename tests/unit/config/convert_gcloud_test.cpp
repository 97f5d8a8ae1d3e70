// --from-gcloud: a command that creates a TPU VM becomes a job file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/convert_support.hpp"

namespace jobman::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Foreign Pasted(std::string command) {
  return testing::ForeignJob(ForeignKind::kGcloud, std::move(command));
}
/// A command with what every one needs.
Foreign PastedWith(const std::string& flags) {
  return Pasted(
      "gcloud compute tpus tpu-vm create t --zone=us-central2-b --accelerator-type=v4-8 " + flags);
}

TEST(FromGcloud, BecomesAJobFileWithComments) {
  EXPECT_EQ(testing::JobFileOf(Pasted("gcloud alpha compute tpus tpu-vm create my-tpu \\\n"
                                      "  --zone=us-central2-b --accelerator-type=v4-32 \\\n"
                                      "  --version tpu-ubuntu2204-base --spot --async\n")),
            R"(# Converted by --from-gcloud. What each key means: jobman config explain KEY
# It has no command: the job holds its slice until it is cancelled. To run one:
#   command: {cmd: ...}
job:
  name: my-tpu
tpu:
  allocation_mode: tpu-vm  # a node without a queue, as the command asks
  name: my-tpu
  zone: us-central2-b
  accelerator: v4-32
  version: tpu-ubuntu2204-base
  pricing: spot
)");
}

TEST(FromGcloud, LoadsLikeAnyOtherJobFile) {
  const core::JobSpec spec = testing::SpecOf(
      PastedWith("--tags=ssh,web --labels=team=vision,x=y --metadata=a=1 --network=n "
                 "--internal-ips --project=p --service-account=s@p.iam.gserviceaccount.com"));
  EXPECT_EQ(spec.name, "t");
  EXPECT_EQ(spec.tpu.name, "t");
  EXPECT_EQ(spec.tpu.accelerator, "v4-8");
  EXPECT_EQ(spec.tpu.zone, "us-central2-b");
  EXPECT_EQ(spec.tpu.project, "p");
  EXPECT_THAT(spec.tpu.tags, ElementsAre("ssh", "web"));
  EXPECT_EQ(spec.tpu.labels.at("team"), "vision");
  EXPECT_EQ(spec.tpu.metadata.at("a"), "1");
  EXPECT_FALSE(spec.tpu.external_ips);
  EXPECT_EQ(spec.command.cmd, "") << "it holds the slice";
}

TEST(FromGcloud, WithoutAFlagItIsOnDemandWhateverTheDefaultsOfTheUserAre) {
  EXPECT_THAT(testing::JobFileOf(PastedWith("")), HasSubstr("  pricing: ondemand  # "));
}

TEST(FromGcloud, AQueuedResourceIsNamedByItsFirstName) {
  const std::string text = testing::JobFileOf(
      Pasted("gcloud compute tpus queued-resources create qr --node-prefix=x --node-count=2 "
             "--zone=us-central2-b --accelerator-type=v4-8 --runtime-version=v --reserved "
             "--valid-until-duration=6h -q"));
  EXPECT_THAT(text, HasSubstr("  name: qr\n"));
  EXPECT_THAT(text, HasSubstr("  num_slices: 2\n"));
  EXPECT_THAT(text, HasSubstr("  pricing: reserved\n"));
  EXPECT_THAT(text, HasSubstr("  valid_until: \"6h\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("allocation_mode")));
  EXPECT_THAT(text, HasSubstr("# --node-prefix: passed over: slices and their nodes are named"));
}

TEST(FromGcloud, TheWordsAreThoseOfAShell) {
  const std::string text = testing::JobFileOf(
      PastedWith("--metadata 'a=b c' --labels=\"k=v\" \\\r\n --tags=x\\y # a comment\n"));
  EXPECT_THAT(text, HasSubstr("    a: \"b c\"\n"));
  EXPECT_THAT(text, HasSubstr("    k: v\n"));
  EXPECT_THAT(text, HasSubstr("    - xy\n"));
}

TEST(FromGcloud, ASeparatorOfItsOwnIsUnderstood) {
  EXPECT_EQ(testing::SpecOf(PastedWith("--metadata='^:^a=1,2:b=3'")).tpu.metadata,
            (std::map<std::string, std::string>{{"a", "1,2"}, {"b", "3"}}));
}

TEST(FromGcloud, WhatAFlagNamesIsReadFromTheWorkingFolder) {
  const testing::ScratchDir dir;
  dir.Write("boot.sh", "#!/bin/sh\necho ${HOME}\n");
  Defaults defaults = testing::TestDefaults();
  defaults.working_dir = dir.path();
  EXPECT_EQ(testing::SpecOf(PastedWith("--metadata-from-file=startup-script=boot.sh"), defaults)
                .tpu.startup_script,
            "#!/bin/sh\necho ${HOME}\n");
  EXPECT_EQ(
      testing::SpecOf(PastedWith("--metadata-from-file=x=boot.sh"), defaults).tpu.metadata.at("x"),
      "#!/bin/sh\necho ${HOME}\n")
      << "no interpolation";
}

TEST(FromGcloud, AFlagWithoutAKeyIsRefusedAtItsPlace) {
  const Foreign pasted = PastedWith("--shielded-secure-boot");
  const Conversion result = Convert(pasted, testing::TestDefaults());
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_EQ(result.problems[0].file, "--from-gcloud");
  EXPECT_EQ(result.problems[0].message, "gcloud's --shielded-secure-boot is not supported");
  EXPECT_EQ(result.problems[0].hint, "leave it out: there is no key for it");
  EXPECT_EQ(result.problems[0].reason, base::Reason::kNotSupported);
  EXPECT_EQ(static_cast<std::size_t>(result.problems[0].column),
            pasted.text->find("--shielded") + 1);
  EXPECT_THAT(testing::RefusalOf(PastedWith("--netwrok=a")), HasSubstr("did you mean --network?"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("--zone")), HasSubstr("--zone needs a value"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("--spot=yes")), HasSubstr("--spot takes no value"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("--spot --reserved")),
              HasSubstr("--reserved contradicts tpu.pricing: spot"));
}

TEST(FromGcloud, OnlyCommandsThatCreateBecomeJobs) {
  constexpr const char* kOnlyCreate = "a job is made of gcloud compute tpus tpu-vm create";
  EXPECT_THAT(testing::RefusalOf(Pasted("gcloud compute tpus tpu-vm delete t --zone=z")),
              HasSubstr(kOnlyCreate));
  EXPECT_THAT(testing::RefusalOf(Pasted("gcloud compute instances create t")),
              HasSubstr(kOnlyCreate));
  EXPECT_THAT(testing::RefusalOf(Pasted("gcloud")), HasSubstr(kOnlyCreate));
  EXPECT_THAT(testing::RefusalOf(Pasted("sudo gcloud compute tpus tpu-vm create t")),
              HasSubstr("\"sudo\" is not gcloud"));
  EXPECT_THAT(testing::RefusalOf(Pasted("")), HasSubstr("this is no command"));
  EXPECT_THAT(testing::RefusalOf(Pasted("gcloud compute tpus tpu-vm create --zone=z")),
              HasSubstr("the node has no name"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("--spot other")),
              HasSubstr("\"other\" is neither a flag nor the value of one"));
}

TEST(FromGcloud, WhatOnlyAShellKnowsIsRefused) {
  EXPECT_THAT(testing::RefusalOf(PastedWith("--project=$P")),
              HasSubstr("what a shell would put here is not known"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("--project=\"`x`\"")),
              HasSubstr("what a shell would put here is not known"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("&& echo")), HasSubstr("\"&\" is for a shell"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("--project='p")), HasSubstr("a quote that nothing"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("--spot \\ \n --project=p")),
              HasSubstr("blanks after the \\ at the end of a line"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("\n--spot")),
              HasSubstr("a line break ended the command"));
  EXPECT_THAT(testing::RefusalOf(PastedWith("\x01")), HasSubstr("a control character"));
  EXPECT_THAT(testing::JobFileOf(PastedWith("--metadata='a=$P'")), HasSubstr("a: \"$P\""));
}

TEST(FromGcloud, ValuesAreCheckedByTheReaderOfJobFiles) {
  EXPECT_THAT(testing::Rendered(Load(testing::RequestFrom(Pasted(
                  "gcloud compute tpus tpu-vm create t --zone=us --accelerator-type=v4-8")))),
              HasSubstr("--from-gcloud (converted):9:"));
}

TEST(FromGcloud, OptionsOfInitTakeItsPlace) {
  const Conversion result =
      Convert(Pasted("gcloud compute tpus tpu-vm create t"), testing::TestDefaults(),
              {.name = "eval", .zone = "us-east5-a"});
  EXPECT_THAT(result.text, HasSubstr("job:\n  name: eval\n"));
  EXPECT_THAT(result.text, HasSubstr("  zone: us-east5-a\n"));
  EXPECT_THAT(result.lacks, ElementsAre("tpu.accelerator"));
  EXPECT_THAT(result.text, HasSubstr("# tpu.accelerator is missing: "));
}

}  // namespace
}  // namespace jobman::config
