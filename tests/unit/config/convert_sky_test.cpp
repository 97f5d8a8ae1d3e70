// --from-sky: a task of SkyPilot becomes a job file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/convert_support.hpp"

namespace jobman::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Foreign Task(std::string text) {
  return testing::ForeignJob(ForeignKind::kSky, std::move(text));
}
/// A task that runs somewhere.
Foreign TaskWith(const std::string& more) {
  return Task("resources: {accelerators: tpu-v4-16, zone: us-central2-b}\n" + more);
}
/// A task with this in its section resources.
Foreign TaskOn(const std::string& resources) {
  return Task("run: x\nresources:\n  zone: us-central2-b\n  " + resources + "\n");
}

TEST(FromSky, BecomesAJobFileWithComments) {
  EXPECT_EQ(
      testing::JobFileOf(Task(R"(name: llama
resources:
  accelerators: tpu-v4-16
  accelerator_args: {runtime_version: tpu-ubuntu2204-base}
  infra: gcp/us-central2/us-central2-b
  use_spot: true
  cpus: 4+
envs:
  SIZE: 13b
workdir: .
setup: |
  pip install -r requirements.txt
run: |
  python train.py --size ${SIZE} --rank $SKYPILOT_NODE_RANK
)")),
      R"(# Converted by --from-sky from task.yaml. What each key means: jobman config explain KEY
# resources.cpus: passed over: the hosts of a slice are the machines of its type
job:
  name: llama
  environment:
    SIZE: "13b"
tpu:
  accelerator: v4-16
  version: tpu-ubuntu2204-base
  zone: us-central2-b
  pricing: spot
code:
  dir: "."
  path: "~/sky_workdir"  # where SkyPilot puts it
setup:
  - name: setup
    run: |
      pip install -r requirements.txt
    strict: false  # SkyPilot goes on after a line that fails
command:
  cmd: |
    export SKYPILOT_NODE_RANK="$JOBMAN_HOST_INDEX"
    python train.py --size \${SIZE} --rank $SKYPILOT_NODE_RANK
)");
}

TEST(FromSky, LoadsLikeAnyOtherJobFile) {
  const testing::ScratchDir dir;
  Defaults defaults = testing::TestDefaults();
  defaults.working_dir = dir.path();
  const core::JobSpec spec = testing::SpecOf(
      TaskWith("workdir: .\nenvs: {A: 1, B: true}\nsetup: echo ${A}\nrun: echo ${A}\n"), defaults);
  EXPECT_EQ(spec.name, "task") << "its file";
  EXPECT_EQ(spec.code.dir, dir.path().string());
  EXPECT_EQ(spec.code.path, "~/sky_workdir");
  EXPECT_EQ(spec.environment, (std::map<std::string, std::string>{{"A", "1"}, {"B", "True"}}));
  ASSERT_EQ(spec.setup.size(), 1u);
  EXPECT_EQ(spec.setup[0].run, "echo ${A}");
  EXPECT_FALSE(spec.setup[0].strict);
  EXPECT_EQ(spec.command.cmd, "echo ${A}");
  EXPECT_EQ(spec.tpu.pricing, core::Pricing::kOnDemand);
}

TEST(FromSky, TheTypeMayBeWrittenInEachOfItsWays) {
  for (const char* way :
       {"tpu-v4-8", "tpu-v4-8:1", "TPU-V4-8", "{tpu-v4-8: 1}", "[tpu-v4-8]", "{tpu-v4-8}"}) {
    EXPECT_THAT(testing::JobFileOf(TaskOn(std::string("accelerators: ") + way)),
                HasSubstr("  accelerator: v4-8\n"))
        << way;
  }
  EXPECT_THAT(testing::RefusalOf(TaskOn("accelerators: A100:8")), HasSubstr("\"A100\" is no TPU"));
  EXPECT_THAT(testing::RefusalOf(TaskOn("accelerators: tpu-v4-8:2")),
              HasSubstr("a job has one slice of its type"));
  EXPECT_THAT(testing::RefusalOf(TaskOn("accelerators: [tpu-v4-8, tpu-v5p-8]")),
              HasSubstr("resources.accelerators names several types"));
  EXPECT_THAT(testing::RefusalOf(TaskOn("accelerators: tpu-v5-lite-podslice:4")),
              HasSubstr("is a type of Kubernetes"));
}

TEST(FromSky, AVariableWithoutAValueIsThatOfTheCaller) {
  const Foreign task = TaskWith("run: x\nenvs:\n  RUN:\n");
  EXPECT_THAT(testing::JobFileOf(task), HasSubstr("    RUN: \"${oc.env:RUN}\"  # it has no value"));
  EXPECT_EQ(testing::SpecOf(task, testing::TestDefaults({{"RUN", "r1"}})).environment.at("RUN"),
            "r1");
  EXPECT_THAT(testing::Rendered(Load(testing::RequestFrom(task))),
              HasSubstr("the environment variable RUN is not set"));
}

TEST(FromSky, SecretsAreNamedAndNeverWritten) {
  const Foreign task = TaskWith("run: x\nsecrets: {WANDB_API_KEY: , HF_TOKEN: ''}\n");
  EXPECT_EQ(testing::SpecOf(task).command.secrets.size(), 2u);
  EXPECT_THAT(testing::JobFileOf(task), HasSubstr("    - WANDB_API_KEY\n"));
  EXPECT_THAT(testing::RefusalOf(TaskWith("run: x\nsecrets: {HF_TOKEN: hf_1}\n")),
              AllOf(HasSubstr("task.yaml:3:21: secrets.HF_TOKEN has a value in the file"),
                    HasSubstr("export HF_TOKEN")));
  EXPECT_THAT(testing::RefusalOf(TaskWith("setup: login $HF_TOKEN\nsecrets: {HF_TOKEN: }\n")),
              HasSubstr("setup uses the secret HF_TOKEN, which only the command gets"));
}

TEST(FromSky, BucketsAreMounted) {
  const core::JobSpec spec = testing::SpecOf(TaskWith(R"(run: x
envs: {BUCKET: my-data}
file_mounts:
  /data: {source: "gs://${BUCKET}", mode: MOUNT}
  out: {name: my-out, store: gcs}
)"));
  EXPECT_EQ(spec.gcsfuse.bucket_name, "my-data");
  EXPECT_EQ(spec.gcsfuse.mount_path, "/data");
  ASSERT_EQ(spec.gcsfuse.extra_mounts.size(), 1u);
  EXPECT_EQ(spec.gcsfuse.extra_mounts[0].bucket_name, "my-out");
  EXPECT_EQ(spec.gcsfuse.extra_mounts[0].mount_path, "~/sky_workdir/out");
  EXPECT_THAT(testing::WarningsOf(TaskWith("run: x\nfile_mounts: {/d: gs://bucket}\n")),
              HasSubstr("the bucket is mounted, not copied"));
}

TEST(FromSky, OtherMountsAreRefusedByName) {
  const auto refusal = [](const std::string& mount) {
    return testing::RefusalOf(TaskWith("run: x\nfile_mounts:\n  " + mount + "\n"));
  };
  EXPECT_THAT(refusal("/d: s3://bucket"), AllOf(HasSubstr("task.yaml:4:7: file_mounts./d: s3://"),
                                                HasSubstr("only buckets of Cloud Storage")));
  EXPECT_THAT(refusal("/d: ~/data"), HasSubstr("put the files into workdir"));
  EXPECT_THAT(refusal("/d: gs://bucket/part"),
              HasSubstr("mount gs://bucket, and use its folder part below /d"));
  EXPECT_THAT(refusal("/d: {source: [a, b]}"), HasSubstr("files are not uploaded"));
  EXPECT_THAT(refusal("/d: {name: b}"), HasSubstr("names no bucket of Cloud Storage"));
  EXPECT_THAT(refusal("/d: {source: gs://b, config: {}}"),
              HasSubstr("file_mounts./d.config has no"));
}

TEST(FromSky, WhatHasNoMeaningIsRefusedByName) {
  EXPECT_THAT(testing::RefusalOf(TaskWith("num_nodes: 2\n")),
              AllOf(HasSubstr("task.yaml:2:12: num_nodes"), HasSubstr("tpu.num_slices=N")));
  EXPECT_THAT(testing::RefusalOf(TaskWith("service: {replicas: 1}\n")),
              HasSubstr("service has no meaning here"));
  EXPECT_THAT(testing::RefusalOf(TaskWith("set_up: x\n")), HasSubstr("did you mean setup?"));
  EXPECT_THAT(testing::RefusalOf(TaskOn("infra: aws")), HasSubstr("not on \"aws\""));
  EXPECT_THAT(testing::RefusalOf(TaskOn("cloud: kubernetes")), HasSubstr("not on \"kubernetes\""));
  EXPECT_THAT(testing::RefusalOf(TaskOn("image_id: docker:x")), HasSubstr("docker.image"));
  EXPECT_THAT(testing::RefusalOf(TaskOn("any_of: []")), HasSubstr("resources.any_of has no"));
  EXPECT_THAT(testing::RefusalOf(TaskOn("gpus: 1")), HasSubstr("resources.gpus is not a key"));
  EXPECT_THAT(testing::RefusalOf(TaskOn("accelerator_args: {tpu_vm: false}")),
              HasSubstr("asks for a TPU node"));
  EXPECT_THAT(testing::RefusalOf(TaskWith("run: echo $SKYPILOT_NUM_GPUS_PER_NODE\n")),
              HasSubstr("task.yaml:2:12: SKYPILOT_NUM_GPUS_PER_NODE is not set"));
  EXPECT_THAT(testing::RefusalOf(TaskWith("run: echo $SKYPILOT_X\n")), HasSubstr("SKYPILOT_X"));
  EXPECT_EQ(Convert(TaskWith("service: {}\n"), testing::TestDefaults()).problems.at(0).reason,
            base::Reason::kNotSupported);
}

TEST(FromSky, ARegionIsNoZone) {
  const Foreign task =
      Task("run: x\nresources: {accelerators: tpu-v4-8, infra: gcp/us-central2}\n");
  EXPECT_THAT(testing::WarningsOf(task), HasSubstr("the region us-central2: passed over"));
  EXPECT_THAT(testing::JobFileOf(task), HasSubstr("# tpu.zone is missing"));
  LoadRequest request = testing::RequestFrom(task);
  request.sets = {"tpu.zone=us-central2-b"};
  EXPECT_EQ(testing::MustLoad(request).spec.tpu.zone, "us-central2-b");
}

TEST(FromSky, TimesAndRetriesAreThoseOfTheJob) {
  EXPECT_EQ(testing::SpecOf(TaskOn("accelerators: tpu-v4-8\n  autostop: 10")).when_done.keep,
            base::Duration(std::chrono::minutes{10}));
  EXPECT_EQ(testing::SpecOf(TaskOn("accelerators: tpu-v4-8\n  autostop: {idle_minutes: 0}"))
                .when_done.action,
            core::SliceUse::kDelete);
  EXPECT_EQ(testing::SpecOf(TaskOn("accelerators: tpu-v4-8\n  autostop: false")).when_done.keep,
            std::nullopt);
  EXPECT_EQ(testing::SpecOf(TaskOn("accelerators: tpu-v4-8\n  job_recovery: "
                                   "{strategy: FAILOVER, max_restarts_on_errors: 3}"))
                .retries.failure,
            3);
}

TEST(FromSky, SomethingElseIsNoTask) {
  EXPECT_THAT(testing::RefusalOf(Task("- a\n")), HasSubstr("this is no task of SkyPilot"));
  EXPECT_THAT(testing::RefusalOf(Task("")), HasSubstr("this is no task of SkyPilot"));
  EXPECT_THAT(testing::RefusalOf(Task("a: [\n")), HasSubstr("task.yaml:"));
  EXPECT_THAT(testing::RefusalOf(Task("resources: [a]\n")),
              HasSubstr("resources: expected a map of keys, found a list"));
  EXPECT_THAT(testing::RefusalOf(Task("run: [a]\n")), HasSubstr("run: expected text"));
}

TEST(FromSky, ARelativeFolderStaysTheSameInAFileElsewhere) {
  Foreign task = TaskWith("run: x\nworkdir: src\n");
  task.moves = true;
  EXPECT_THAT(testing::JobFileOf(task), HasSubstr("  dir: /work-dir/src\n"));
  EXPECT_THAT(testing::JobFileOf(TaskWith("run: x\nworkdir: ~/src\n")),
              AllOf(HasSubstr("  dir: \"~/src\"\n"), Not(HasSubstr("/work-dir"))));
}

}  // namespace
}  // namespace jobman::config
