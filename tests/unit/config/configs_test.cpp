#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/config/init.hpp"
#include "jobman/config/load.hpp"
#include "jobman/config/queue_file.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using testing::MustLoad;
using testing::RequestOf;
using testing::TestDefaults;

constexpr const char* kQueueFile = "tasks.yaml";

/// The job files.
std::vector<base::Path> ExampleFiles() {
  std::vector<base::Path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(base::Path(JOBMAN_SOURCE_DIR) / "configs")) {
    if (entry.path().filename() != kQueueFile) files.push_back(entry.path());
  }
  return files;
}

TEST(Configs, EveryExampleLoads) {
  ASSERT_GE(ExampleFiles().size(), 4U);
  for (const base::Path& file : ExampleFiles()) {
    SCOPED_TRACE(file.string());
    const LoadRequest request{.file = file,
                              .defaults = TestDefaults({{"GOOGLE_CLOUD_PROJECT", "my-project"}})};
    EXPECT_EQ(MustLoad(request).spec.tpu.project, "my-project");
  }
}

TEST(Configs, QuickstartNeedsNoAccount) {
  const Loaded loaded = MustLoad({.file = base::Path(JOBMAN_SOURCE_DIR) / "configs/quickstart.yaml",
                                  .defaults = TestDefaults()});
  EXPECT_EQ(loaded.spec.cloud.endpoint, "local");
  EXPECT_EQ(loaded.spec.tpu.accelerator, "v4-32");
  EXPECT_EQ(loaded.spec.tpu.pricing, core::Pricing::kSpot);
  EXPECT_EQ(loaded.spec.tpu.project, "local-project");
  EXPECT_EQ(loaded.spec.ssh.port, 0);
  EXPECT_EQ(loaded.spec.setup.size(), 2U);
}

TEST(Configs, TheTasksAreThoseOfTheWorker) {
  const base::Path folder = base::Path(JOBMAN_SOURCE_DIR) / "configs";
  const QueueFileResult read = ReadQueueFile({.file = folder / kQueueFile});
  ASSERT_TRUE(read.list);
  EXPECT_TRUE(read.problems.empty() && read.warnings.empty());
  const core::JobSpec worker =
      MustLoad({.file = folder / "worker.yaml",
                .defaults = TestDefaults({{"GOOGLE_CLOUD_PROJECT", "my-project"}})})
          .spec;
  ASSERT_TRUE(worker.queue);
  EXPECT_EQ(worker.queue->config, (folder / kQueueFile).string());
  ASSERT_EQ(read.list->tasks.size(), 3U);
  for (const core::TaskDefinition& task : read.list->tasks) {
    EXPECT_EQ(task.accelerator, worker.tpu.accelerator);
    EXPECT_EQ(task.zone, worker.tpu.zone);
  }
}

TEST(Init, WritesAFileThatLoads) {
  MustLoad(RequestOf(InitTemplate({}), {{"GOOGLE_CLOUD_PROJECT", "my-project"}}));
  const InitOptions options{.name = "My Run",
                            .cloud = "local",
                            .project = "other",
                            .zone = "us-east5-b",
                            .accelerator = "v6e-8",
                            .pricing = "ondemand"};
  const Loaded loaded = MustLoad(RequestOf(InitTemplate(options)));
  EXPECT_EQ(loaded.spec.name, "My Run");
  EXPECT_EQ(loaded.spec.cloud.endpoint, "local");
  EXPECT_EQ(loaded.spec.tpu.project, "other");
  EXPECT_EQ(loaded.spec.tpu.zone, "us-east5-b");
  EXPECT_EQ(loaded.spec.tpu.accelerator, "v6e-8");
  EXPECT_EQ(loaded.spec.tpu.pricing, core::Pricing::kOnDemand);
}

}  // namespace
}  // namespace jobman::config
