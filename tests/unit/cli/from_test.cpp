// --from-gcloud, --from-sky, --from-sbatch: what another tool describes takes the place of a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCommand =
    "gcloud compute tpus tpu-vm create my-tpu --zone us-central2-b --accelerator-type v4-8 --spot";

class From : public testing::Test {
 protected:
  From() { std::filesystem::create_directories(world_.paths().home); }
  std::string Path(const std::string& name) const { return (world_.paths().home / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  std::string Content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }
  /// A task of SkyPilot that says all that a job needs.
  std::string Sky() const {
    return Write("task.yaml",
                 "name: llama\nresources: {accelerators: tpu-v4-8, zone: us-central2-b}\n"
                 "run: python train.py\n");
  }
  std::string Batch(const std::string& options = "-J sweep") const {
    return Write("train.sh", "#!/bin/bash\n#SBATCH " + options + "\npython train.py\n");
  }
  CliWorld world_;
};

TEST_F(From, InitWritesTheJobFileThatItBecomes) {
  EXPECT_EQ(world_.Run({"init", Path("job.yaml"), "--from-gcloud", kCommand}).exit_code, 0);
  EXPECT_THAT(Content("job.yaml"),
              AllOf(HasSubstr("# Converted by --from-gcloud."), HasSubstr("  name: my-tpu\n"),
                    HasSubstr("pricing: spot")));
  const auto check = world_.Run({"config", "check", Path("job.yaml")});
  EXPECT_EQ(check.exit_code, 0) << check.out;
  EXPECT_THAT(check.out, HasSubstr("job my-tpu is valid"));
}

TEST_F(From, InitSaysWhatTheFileLacksAndTakesItAsAnOption) {
  const auto lacking = world_.Run({"init", Path("a.yaml"), "--from-sbatch", Batch("--mem=4G")});
  EXPECT_EQ(lacking.exit_code, 0);
  EXPECT_THAT(lacking.err, AllOf(HasSubstr("train.sh:2:9: warning: --mem: passed over"),
                                 HasSubstr("it lacks tpu.accelerator and tpu.zone")));
  const auto whole = world_.Run({"init", Path("b.yaml"), "--from-sbatch", Batch(), "--accelerator",
                                 "v4-8", "--zone", "us-central2-b"});
  EXPECT_EQ(whole.exit_code, 0);
  EXPECT_THAT(world_.Run({"config", "check", Path("b.yaml")}).out, HasSubstr("job sweep is valid"));
}

TEST_F(From, InitLeavesTheFolderAsItIsWhenSomethingHasNoMeaning) {
  const std::string task = Write("task.yaml", "resources: {accelerators: A100}\nnum_nodes: 2\n");
  const auto ended = world_.Run({"init", Path("job.yaml"), "--from-sky", task});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("task.yaml:1:27: \"A100\" is no TPU"),
                               HasSubstr("task.yaml:2:12: num_nodes")));
  EXPECT_FALSE(std::filesystem::exists(Path("job.yaml")));
}

TEST_F(From, ConfigShowsAndChecksWhatWouldBeCreated) {
  const auto shown = world_.Run({"config", "show", "--from-sky", Sky(), "--origins"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("name: llama  # task.yaml (converted):"),
                               HasSubstr("cmd: \"python train.py\"")));
  const auto checked = world_.Run({"config", "check", "--from-sbatch", Batch("-a 0-2")});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_THAT(checked.out, HasSubstr("train.sh (converted): tpu.accelerator is missing"));
  const auto good = world_.Run({"config", "check", "--from-sbatch", Batch("-a 0-2"), "--set",
                                "tpu.accelerator=v4-8", "--set", "tpu.zone=us-central2-b"});
  EXPECT_EQ(good.exit_code, 0) << good.out;
  EXPECT_THAT(good.out, HasSubstr("train.sh (converted): 3 jobs are valid: train-0 to train-2"));
}

TEST_F(From, ConfigShowSaysWhatIsPassedOver) {
  const auto shown = world_.Run({"config", "show", "--from-sbatch", Batch("--mem=4G"), "--set",
                                 "tpu.accelerator=v4-8", "--set", "tpu.zone=us-central2-b"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.err, HasSubstr("train.sh:2:9: warning: --mem: passed over"));
}

TEST_F(From, CreateTakesItsUsualOptions) {
  const auto ended =
      world_.Run({"create", "--from-gcloud", kCommand, "--dry-run", "--set", "tpu.project=demo",
                  "--set", "cloud=http://127.0.0.1:1", "--name", "other"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("# --from-gcloud (converted): a dry run"),
                               HasSubstr("POST http://127.0.0.1:1/v2/projects/demo/locations/"
                                         "us-central2-b/nodes?"),
                               HasSubstr("nodeId=my-tpu-000001-a1"),
                               HasSubstr("\"acceleratorType\": \"v4-8\"")));
  const auto several =
      world_.Run({"create", "--from-sky", Sky(), "--dry-run", "--array", "0-1", "--set",
                  "tpu.project=demo", "--set", "cloud=http://127.0.0.1:1"});
  EXPECT_EQ(several.exit_code, 0) << several.err;
  EXPECT_THAT(several.out, AllOf(HasSubstr("llama-0-"), HasSubstr("llama-1-")));
}

TEST_F(From, ThereIsOneSource) {
  const auto refusal = [&](std::vector<std::string> args) {
    const auto ended = world_.Run(std::move(args));
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  };
  const std::string task = Sky();
  EXPECT_THAT(refusal({"create", task, "--from-sky", task}),
              HasSubstr("FILE and --from-sky cannot be used together"));
  EXPECT_THAT(refusal({"create", "--from-gcloud", kCommand, "--from-sky", task}),
              HasSubstr("--from-gcloud and --from-sky cannot be used together"));
  EXPECT_THAT(refusal({"init", "--from-sbatch", Batch(), "--from-sky", task}),
              HasSubstr("--from-sky and --from-sbatch cannot be used together"));
  EXPECT_THAT(refusal({"run", "42", "--from-sky", task}),
              HasSubstr("FILE|JOB and --from-sky cannot be used together"));
  EXPECT_THAT(refusal({"config", "show", task, "--from-sky", task}),
              HasSubstr("FILE and --from-sky cannot be used together"));
  EXPECT_THAT(refusal({"create", "--from-sky", ""}), HasSubstr("--from-sky: is empty"));
}

TEST_F(From, WithoutOneTheFileIsRequired) {
  const std::vector<std::vector<std::string>> commands = {
      {"create"}, {"config", "check"}, {"config", "show"}};
  for (const std::vector<std::string>& command : commands) {
    const auto ended = world_.Run(command);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("FILE is required"), HasSubstr(" --help")));
  }
  EXPECT_THAT(world_.Run({"run"}).err, HasSubstr("FILE|JOB is required"));
}

TEST_F(From, ATabOffersFiles) {
  EXPECT_THAT(world_.Run({"__complete", "create", "--from-sky", ""}).out, HasSubstr(":files"));
  EXPECT_THAT(world_.Run({"__complete", "init", "--from-sb"}).out, HasSubstr("--from-sbatch\t"));
}

}  // namespace
}  // namespace jobman::test
