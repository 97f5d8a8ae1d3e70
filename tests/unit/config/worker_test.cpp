// job.queue: a job that works off a task queue.
#include <gmock/gmock.h>

#include "jobman/config/worker_file.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::MustLoad;
using testing::ProblemsOf;
using testing::RequestOf;
using testing::ScratchDir;
using testing::SmallJob;

std::string WorkerFile(const std::string& queue, const std::string& more = {}) {
  return "tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\njob: {queue: {" + queue +
         "}}\n" + more;
}

core::JobSpec WorkerSpec(const std::string& queue, const std::string& more = {}) {
  return MustLoad(RequestOf(WorkerFile(queue, more))).spec;
}

std::string WarningsOfWorker(const std::string& text) {
  std::string all;
  for (const Problem& warning : MustLoad(RequestOf(text)).warnings) all += RenderProblem(warning);
  return all;
}

TEST(Worker, HasAQueueFileAndNoCommand) {
  const core::JobSpec spec = WorkerSpec("enabled: true, config: /q/tasks.yaml, idle: 30m");
  ASSERT_TRUE(spec.queue);
  EXPECT_EQ(*spec.queue,
            (core::QueueSpec{
                .enabled = true, .config = "/q/tasks.yaml", .idle = std::chrono::minutes{30}}));
  EXPECT_EQ(spec.command.cmd, "");
  EXPECT_FALSE(WorkerSpec("enabled: true, config: /q").queue->idle) << "never";
}

TEST(Worker, AQueueThatIsNotEnabledIsNone) {
  EXPECT_FALSE(WorkerSpec("enabled: false, config: q, idle: 1m").queue);
  EXPECT_FALSE(WorkerSpec("config: q").queue);
  EXPECT_TRUE(WorkerSpec("enabled: false, prefix: install").setup.empty());
}

TEST(Worker, TheQueueFileIsFoundAsOtherFilesAre) {
  const ScratchDir dir;
  const base::Path file = dir.Write("queues/tasks.yaml", "accelerators: {}\n");
  auto request = RequestOf(WorkerFile("enabled: true, config: queues/tasks.yaml"));
  request.defaults.working_dir = dir.path();
  request.file = dir.path() / "jobs/job.yaml";
  EXPECT_EQ(MustLoad(request).spec.queue->config, file.string());
}

TEST(Worker, AMissingQueueFileIsAWarningUntilTheJobIsMade) {
  const std::string text = WorkerFile("enabled: true, config: /nowhere/q.yaml");
  EXPECT_THAT(WarningsOfWorker(text), HasSubstr("there is no file /nowhere/q.yaml"));
  auto request = RequestOf(text);
  request.check_secrets = true;
  EXPECT_THAT(testing::Rendered(Load(request)), HasSubstr("there is no file /nowhere/q.yaml"));
}

TEST(Worker, WithoutAQueueFileItServesTheSubmittedTasks) {
  for (const char* queue : {"enabled: true", "enabled: true, config: null"}) {
    const core::JobSpec spec = WorkerSpec(queue);
    ASSERT_TRUE(spec.queue) << queue;
    EXPECT_EQ(spec.queue->config, "") << queue;
  }
}

TEST(Worker, ACommandIsNotRunAndSaysSo) {
  const std::string text = SmallJob("job: {queue: {enabled: true, config: /q}}\n");
  EXPECT_THAT(WarningsOfWorker(text), HasSubstr("command.cmd is not run"));
  EXPECT_EQ(MustLoad(RequestOf(text)).spec.command.cmd, "");
  EXPECT_THAT(WarningsOfWorker(WorkerFile("enabled: true, config: /q")),
              Not(HasSubstr("there is no command.cmd")));
}

TEST(Worker, PrefixScriptsAreSetupStepsAfterItsOwn) {
  const core::JobSpec spec = WorkerSpec(
      "enabled: true, config: /q, prefix: [{name: env, run: install, workers: all, required: "
      "true}, "
      "{run: fetch}, {run: some, workers: [1, 3]}]",
      "setup: [{run: first}]\n");
  ASSERT_EQ(spec.setup.size(), 4U);
  EXPECT_EQ(spec.setup[0].run, "first");
  EXPECT_EQ(spec.setup[1],
            (core::SetupStep{.name = "env", .run = "install", .strict = false, .required = true}));
  EXPECT_EQ(spec.setup[2], (core::SetupStep{.name = "prefix-2",
                                            .run = "fetch",
                                            .strict = false,
                                            .hosts = {.all = false, .numbers = {0}},
                                            .required = false}));
  EXPECT_EQ(spec.setup[3].hosts.numbers, (std::vector<int>{1, 3}));
}

TEST(Worker, ThePrefixMayBeOneScript) {
  const core::JobSpec spec = WorkerSpec("enabled: true, config: /q, prefix: pip install jax");
  ASSERT_EQ(spec.setup.size(), 1U);
  EXPECT_EQ(spec.setup[0].run, "pip install jax");
}

TEST(Worker, AMistakeInThePrefixIsNamed) {
  const auto problems = [](const std::string& prefix) {
    return ProblemsOf(WorkerFile("enabled: true, config: /q, prefix: [" + prefix + "]"));
  };
  EXPECT_THAT(problems("{name: a}"), HasSubstr("job.queue.prefix[0].run is missing"));
  EXPECT_THAT(problems("{run: a, host: 1}"), HasSubstr("job.queue.prefix[0].host"));
  EXPECT_THAT(problems("{run: a, workers: 7}"), HasSubstr("there is no host 7"));
  EXPECT_THAT(problems("{run: a, name: x}, {run: b, name: x}"),
              HasSubstr("there is already a step named \"x\""));
}

TEST(Worker, TheFileOfWorkerStartLoadsToWhatItsOptionsSay) {
  const std::string text = WorkerFileText({.name = "w",
                                           .accelerator = "v4-32",
                                           .zone = "us-central2-b",
                                           .pricing = "spot",
                                           .allocation_mode = "tpu-vm",
                                           .idle = "30m",
                                           .startup = "pip install jax  # ${not.a.key}\n"});
  auto request = RequestOf(text);
  request.may_lack_project = true;
  const core::JobSpec spec = MustLoad(request).spec;
  EXPECT_EQ(spec.name, "w");
  EXPECT_EQ(spec.worker_num, "") << "the user has said the name";
  EXPECT_EQ(spec.queue, (core::QueueSpec{.enabled = true, .idle = std::chrono::minutes{30}}));
  EXPECT_EQ(spec.tpu.pricing, core::Pricing::kSpot);
  EXPECT_EQ(spec.tpu.allocation_mode, core::AllocationMode::kTpuVm);
  ASSERT_EQ(spec.setup.size(), 1U);
  EXPECT_EQ(spec.setup[0].name, "startup");
  EXPECT_EQ(spec.setup[0].run, "pip install jax  # ${not.a.key}\n");
  EXPECT_TRUE(spec.setup[0].hosts.all);
  EXPECT_TRUE(spec.setup[0].required);
  EXPECT_THAT(text, HasSubstr("# Made by worker start."));
}

TEST(Worker, TheFileOfWorkerStartSaysNoMoreThanItsOptions) {
  const std::string text = WorkerFileText({.accelerator = "v4-8", .queue_file = "/q.yaml"});
  EXPECT_THAT(text, AllOf(HasSubstr("enabled: true"), HasSubstr("config:"), HasSubstr("/q.yaml"),
                          HasSubstr("accelerator:")));
  for (const char* key : {"name:", "zone:", "pricing:", "idle:", "prefix:"})
    EXPECT_THAT(text, Not(HasSubstr(key)));
}

}  // namespace
}  // namespace jobman::config
