// --from-sbatch: a batch script of Slurm becomes a job file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/convert/sbatch_values.hpp"
#include "tests/unit/config/convert_support.hpp"

namespace jobman::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Foreign Batch(std::string text) {
  return testing::ForeignJob(ForeignKind::kSbatch, std::move(text));
}
/// A script with this line of options.
Foreign BatchWith(const std::string& options, const std::string& script = "hostname\n") {
  return Batch("#!/bin/bash\n#SBATCH " + options + "\n" + script);
}
/// Its job, on a slice that --set names.
core::JobSpec SpecOfBatch(const Foreign& batch, const std::vector<std::string>& sets = {}) {
  LoadRequest request = testing::RequestFrom(batch);
  request.sets = {"tpu.accelerator=v4-8", "tpu.zone=us-central2-b"};
  request.sets.insert(request.sets.end(), sets.begin(), sets.end());
  return testing::MustLoad(request).spec;
}

TEST(FromSbatch, BecomesAJobFileWithComments) {
  EXPECT_EQ(
      testing::JobFileOf(Batch(R"(#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --array=0-15%4     # sixteen
#SBATCH -t 1-12
#SBATCH -o logs/%A_%a.out --error=logs/%A_%a.err
#SBATCH --partition=gpu --gres=gpu:8 -N4

cd "$SLURM_SUBMIT_DIR"
python train.py --seed ${SLURM_ARRAY_TASK_ID} --rank $SLURM_PROCID
)")),
      R"(# Converted by --from-sbatch from train.sh. What each key means: jobman config explain KEY
# The hosts get this script alone. To send them the files beside it:
#   code: {dir: .}
# --output, --error: passed over: each host's output is kept: jobman logs JOB
# --partition: passed over: there are no partitions, accounts and queues here
# --gres, --nodes: passed over: the size of a slice is that of its type: tpu.accelerator
# tpu.accelerator is missing: write it here, or into your defaults file
# tpu.zone is missing: write it here, or into your defaults file
job:
  name: sweep
  max_running: 4
array: "0-15"
command:
  env:
    SLURM_ARRAY_TASK_ID: "${array.value}"
    SLURM_ARRAY_TASK_COUNT: "${array.size}"
  cmd: |
    #!/bin/bash
    export SLURM_SUBMIT_DIR="$PWD"
    export SLURM_PROCID="$JOBMAN_HOST_INDEX"

    cd "$SLURM_SUBMIT_DIR"
    python train.py --seed \${SLURM_ARRAY_TASK_ID} --rank $SLURM_PROCID
watchdog:
  max_duration:
    after: "1d12h"  # --time; of the command alone, in each attempt
    do: fail
)");
}

TEST(FromSbatch, LoadsLikeAnyOtherJobFile) {
  const Foreign batch = BatchWith("--array=3-4 --time=90");
  LoadRequest request = testing::RequestFrom(batch);
  request.sets = {"tpu.accelerator=v4-8", "tpu.zone=us-central2-b"};
  request.element = 1;
  const LoadResult result = Load(request);
  EXPECT_EQ(testing::Rendered(result), "");
  ASSERT_TRUE(result.loaded);
  EXPECT_EQ(result.elements, 2);
  const core::JobSpec& spec = result.loaded->spec;
  EXPECT_EQ(spec.name, "train-1") << "its file";
  EXPECT_EQ(spec.command.env.at("SLURM_ARRAY_TASK_ID"), "4");
  EXPECT_EQ(spec.command.env.at("SLURM_ARRAY_TASK_COUNT"), "2");
  EXPECT_EQ(spec.watchdog.max_duration, base::Duration(std::chrono::minutes{90}));
  EXPECT_EQ(spec.command.cmd, "#!/bin/bash\nhostname\n");
}

TEST(FromSbatch, WithoutATypeItIsNoJob) {
  EXPECT_THAT(testing::Rendered(Load(testing::RequestFrom(BatchWith("-J x")))),
              AllOf(HasSubstr("train.sh (converted): tpu.accelerator is missing"),
                    HasSubstr("tpu.zone is missing")));
}

TEST(FromSbatch, TheFilesBesideItAreMentioned) {
  LoadRequest request = testing::RequestFrom(BatchWith("-J x"));
  request.sets = {"tpu.accelerator=v4-8", "tpu.zone=us-central2-b"};
  const auto warns = [&] {
    for (const Problem& warning : testing::MustLoad(request).warnings) {
      if (warning.message == "the hosts get the script alone, without the files beside it")
        return true;
    }
    return false;
  };
  EXPECT_TRUE(warns());
  const testing::ScratchDir dir;
  request.sets.push_back("code.dir=" + dir.path().string());
  EXPECT_FALSE(warns());
}

TEST(FromSbatch, AnArrayOfTheCommandLineIsOneToo) {
  const Foreign batch = Batch("#!/bin/bash\necho $SLURM_ARRAY_TASK_ID\n");
  EXPECT_THAT(SpecOfBatch(batch).command.cmd,
              HasSubstr("export SLURM_ARRAY_TASK_ID=\"${JOBMAN_ARRAY_VALUE:-}\"\n"));
}

TEST(FromSbatch, VariablesThatAreNotSetHereAreRefusedByName) {
  EXPECT_THAT(testing::RefusalOf(Batch("#!/bin/bash\nset -x\necho $SLURM_JOB_NODELIST\n")),
              AllOf(HasSubstr("train.sh:3:7: SLURM_JOB_NODELIST is not set on the hosts"),
                    HasSubstr("JOBMAN_HOSTS has the addresses")));
  EXPECT_THAT(testing::RefusalOf(Batch("#!/bin/bash\necho $SLURM_TMPDIR\n")),
              HasSubstr("SLURM_TMPDIR is not set"));
  EXPECT_THAT(testing::RefusalOf(Batch("#!/usr/bin/env python3\nprint('SLURM_PROCID')\n")),
              HasSubstr("read what it is made of: \"$JOBMAN_HOST_INDEX\""));
  EXPECT_EQ(SpecOfBatch(Batch("#!/usr/bin/env python3\nprint('MY_SLURM_X')\n")).command.cmd,
            "#!/usr/bin/env python3\nprint('MY_SLURM_X')\n");
}

TEST(FromSbatch, NamesAndBoundsOfAnArrayAreGiven) {
  const core::JobSpec spec = SpecOfBatch(BatchWith(
      "-J s -a 2,4-8:2", "echo $SLURM_JOB_NAME $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX\n"));
  EXPECT_EQ(spec.array.value, "2");
  EXPECT_EQ(spec.array.size, 4);
  EXPECT_EQ(spec.command.env.at("SLURM_JOB_NAME"), "s");
  EXPECT_EQ(spec.command.env.at("SLURM_ARRAY_TASK_MIN"), "2");
  EXPECT_EQ(spec.command.env.at("SLURM_ARRAY_TASK_MAX"), "8");
}

TEST(FromSbatch, ExportAndRequeue) {
  const core::JobSpec spec = SpecOfBatch(BatchWith("--export=ALL,A=1 --no-requeue"));
  EXPECT_EQ(spec.command.env, (std::map<std::string, std::string>{{"A", "1"}}));
  EXPECT_EQ(spec.retries.preemption, 0);
  EXPECT_EQ(spec.retries.infra, 0);
  EXPECT_THAT(testing::JobFileOf(BatchWith("--export=HOME")),
              HasSubstr("    HOME: \"${oc.env:HOME}\"\n"));
  EXPECT_THAT(testing::JobFileOf(BatchWith("--chdir=src")), HasSubstr("  dir: src  # --chdir"));
}

TEST(FromSbatch, OptionsOfTheClusterArePassedOver) {
  EXPECT_EQ(testing::WarningsOf(BatchWith("--mem=16G -c 4 --exclusive")),
            R"(train.sh:2:9: warning: --mem, --cpus-per-task: passed over
  2 | #SBATCH --mem=16G -c 4 --exclusive
    |         ^
  the size of a slice is that of its type: tpu.accelerator
train.sh:2:24: warning: --exclusive: passed over
  2 | #SBATCH --mem=16G -c 4 --exclusive
    |                        ^
  a slice is made for the job: no nodes are chosen
)");
  EXPECT_THAT(testing::WarningsOf(BatchWith("-J x", "hostname\n#SBATCH --mem=1\n")),
              HasSubstr("sbatch reads no options after the first command either"));
  EXPECT_THAT(testing::WarningsOf(BatchWith("-J x", "module load cuda\n")),
              HasSubstr("hosts have no environment modules"));
}

TEST(FromSbatch, ModulesThatArePassedOverDoNothingInTheScript) {
  EXPECT_EQ(
      SpecOfBatch(BatchWith("-J x", "module purge; module load cuda\nhostname\n")).command.cmd,
      "#!/bin/bash\nmodule() { :; }  # not on the hosts\n"
      "module purge; module load cuda\nhostname\n");
  const std::string csh = "#!/bin/tcsh\nmodule load cuda\n";
  EXPECT_EQ(SpecOfBatch(Batch(csh)).command.cmd, csh) << "another language";
  const std::string python = "#!/usr/bin/env python3\nmodule = 1\n";
  EXPECT_EQ(SpecOfBatch(Batch(python)).command.cmd, python) << "no shell reads it";
}

TEST(FromSbatch, WhatWouldMakeItAnotherJobIsRefused) {
  EXPECT_THAT(testing::RefusalOf(BatchWith("--dependency=afterok:1")),
              AllOf(HasSubstr("train.sh:2:9: --dependency has no meaning here"),
                    HasSubstr("jobman wait JOB")));
  EXPECT_THAT(testing::RefusalOf(BatchWith("-d afterok:1")), HasSubstr("--dependency has no"));
  EXPECT_THAT(testing::RefusalOf(BatchWith("--jobname=x")), HasSubstr("did you mean --job-name?"));
  EXPECT_THAT(testing::RefusalOf(BatchWith("--time=soon")), HasSubstr("\"soon\" is no time"));
  EXPECT_THAT(testing::RefusalOf(BatchWith("--array=a-b")), HasSubstr("\"a-b\" is no list"));
  EXPECT_THAT(testing::RefusalOf(BatchWith("-J")), HasSubstr("-J needs a value"));
  EXPECT_THAT(testing::RefusalOf(BatchWith("-J 'x")), HasSubstr("a quote that nothing closes"));
  EXPECT_THAT(testing::RefusalOf(BatchWith("-J x", "LR=1 srun python train.py\n")),
              AllOf(HasSubstr("train.sh:3:6: srun is not on the hosts"),
                    HasSubstr("the script runs on every host")));
  EXPECT_THAT(testing::RefusalOf(Batch("#!/bin/bash\r\nhostname\r\n")), HasSubstr("as on DOS"));
  EXPECT_THAT(testing::RefusalOf(Batch("#SBATCH -J x\n")), HasSubstr("the script is empty"));
}

TEST(FromSbatch, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(testing::RefusalOf({.kind = ForeignKind::kSbatch, .file = "/nowhere/train.sh"}),
            "/nowhere/train.sh: no such file\n");
}

TEST(FromSbatch, TimesOfSlurm) {
  const auto seconds = [](std::string_view text) {
    const auto time = convert::ReadSlurmTime(text);
    return time ? time->count() : -1;
  };
  EXPECT_EQ(seconds("30"), 30 * 60);
  EXPECT_EQ(seconds("30:15"), 30 * 60 + 15);
  EXPECT_EQ(seconds("2:30:15"), 2 * 3600 + 30 * 60 + 15);
  EXPECT_EQ(seconds("1-2"), 26 * 3600);
  EXPECT_EQ(seconds("1-2:03"), 26 * 3600 + 180);
  EXPECT_EQ(seconds("1-2:03:04"), 26 * 3600 + 184);
  for (const char* wrong : {"", "x", "1:2:3:4", "-1", "1-", "1-2-3", "99999999999"})
    EXPECT_EQ(seconds(wrong), -1) << wrong;
  EXPECT_THAT(testing::JobFileOf(BatchWith("--time=UNLIMITED")), Not(HasSubstr("watchdog")));
  EXPECT_THAT(testing::JobFileOf(BatchWith("--time=0")), Not(HasSubstr("watchdog")));
}

TEST(FromSbatch, ArraysOfSlurm) {
  const auto values = [](std::string_view text) {
    const auto array = convert::ReadSlurmArray(text);
    return array ? array->values : "none";
  };
  EXPECT_EQ(values("0-15"), "0-15");
  EXPECT_EQ(values("0-15:4"), "0,4,8,12");
  EXPECT_EQ(values("1,3,7-9%2"), "1,3,7-9");
  EXPECT_EQ(values("5"), "5");
  EXPECT_EQ(values("5-5"), "5");
  for (const char* wrong : {"", "a", "3-1", "0-9:0", "1,,2", "0-9%x", "-3"})
    EXPECT_EQ(values(wrong), "none") << wrong;
  EXPECT_EQ(convert::ReadSlurmArray("0-15%4")->limit, 4);
  EXPECT_EQ(convert::ReadSlurmArray("0-9:4")->greatest, 8);
  EXPECT_LT(values("0-9000000000:2").size(), 10'000u) << "more than any file may have";
}

}  // namespace
}  // namespace jobman::config
