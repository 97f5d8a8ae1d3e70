// Folders of Python jobman, of each of its generations, and what becomes of them.
#include "jobman/client/import.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "jobman/base/files.hpp"
#include "jobman/base/process.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const char* const kJob =
    "job: {id: '000024', user: ann, name: llama, dir: /gone}\n"
    "tpu: {name: llama, accelerator: v4-16, zone: us-central2-b, pricing: spot, project: p,\n"
    "      num_workers: 2, ips: [{internal_ip: 10.0.0.1}]}\n"
    "command: {cmd: 'python train.py'}\n";

class Import : public test::ClientWorld {
 protected:
  base::Path Old() const { return old_.path(); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((Old() / name).parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(Old() / name, text).ok());
  }
  base::Result<Imported> Run(bool dry_run = false) {
    return Await(ImportFolder(Context(), {.dir = Old(), .dry_run = dry_run}));
  }
  Imported MustRun(bool dry_run = false) {
    const auto imported = Run(dry_run);
    EXPECT_TRUE(imported.ok()) << imported.error().ToString();
    return imported.value_or(Imported{});
  }
  /// Files, and what is in them.
  std::map<std::string, std::string> Snapshot() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(Old())) {
      all[entry.path().string()] =
          entry.is_regular_file() ? base::ReadFile(entry.path()).value_or("") : "";
    }
    return all;
  }
  void WriteVersion3() const {
    Write("jobs/.jobman/meta.json",
          R"({"000024": {"user": "ann", "name": "llama", "job_dir": "/gone/jobs/ann/000024",
              "config_path": "/gone/llama.yaml", "session_name": "job_000024"},
              "bad": 3})");
    Write("jobs/ann/000024/config.yaml", kJob);
    Write("jobs/ann/000024/logs/command_worker_0.log", "step 1\n");
    Write("jobs/ann/000024/logs/venv_worker_1.log", "pip\n");
    Write("jobs/ann/000024/logs/job.log", "of the tool itself\n");
  }
  /// The number of a job that is created now.
  std::int64_t NextId() {
    return store_.Create(test::JobBuilder("next").Build(), "", clock_.Now()).value().value;
  }
  std::string Log(std::int64_t job, const std::string& stage, int host) {
    return base::ReadFile(Context().paths.LogPath(job, 1, stage, host)).value_or("");
  }
  test::TempDir old_ = {};
};

TEST_F(Import, Version3WithItsNumberNameFileAndLogs) {
  WriteVersion3();
  const auto before = Snapshot();
  const Imported imported = MustRun();
  EXPECT_EQ(imported.generation, "version 3");
  ASSERT_THAT(imported.jobs, SizeIs(1));
  EXPECT_EQ(imported.jobs[0].fate, ImportFate::kTaken) << imported.jobs[0].why;
  EXPECT_EQ(imported.jobs[0].logs, 2);
  EXPECT_THAT(imported.notes, testing::Contains(HasSubstr("\"bad\"")));
  const core::Job job = *store_.Get({24});
  EXPECT_EQ(job.name, "llama");
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(core::StateName(job.state), "CANCELLED");
  EXPECT_EQ(job.spec.command.cmd, "python train.py");
  EXPECT_EQ(job.spec.tpu.existing, "");
  EXPECT_EQ(Log(24, "run", 0), "step 1\n");
  EXPECT_EQ(Log(24, "venv", 1), "pip\n");
  EXPECT_EQ(Snapshot(), before) << "the old folder is only read";
  EXPECT_EQ(Put(test::SampleJob("next")).id.value, 25) << "numbers go on";
}

TEST_F(Import, ADryRunStoresNothing) {
  WriteVersion3();
  const Imported imported = MustRun(true);
  EXPECT_EQ(imported.jobs.at(0).fate, ImportFate::kTaken);
  EXPECT_FALSE(store_.Get({24}).ok());
  EXPECT_FALSE(fs::exists(Context().paths.JobDir(24)));
}

TEST_F(Import, TwiceIsOnceAndLogsThatWereMissedAreCopied) {
  WriteVersion3();
  MustRun();
  Write("jobs/ann/000024/logs/command_worker_1.log", "late\n");
  const Imported again = MustRun();
  EXPECT_EQ(again.jobs.at(0).fate, ImportFate::kThere);
  EXPECT_EQ(again.jobs.at(0).name, "llama");
  EXPECT_EQ(Log(24, "run", 1), "late\n");
}

TEST_F(Import, ANumberThatAnotherJobHasIsLeftOut) {
  for (int i = 0; i < 24; ++i) Put(test::SampleJob("own"));
  WriteVersion3();
  const Imported imported = MustRun();
  EXPECT_EQ(imported.jobs.at(0).fate, ImportFate::kLeft);
  EXPECT_THAT(imported.jobs.at(0).why, HasSubstr("the store has another job 000024"));
  EXPECT_EQ(store_.Get({24})->name, "own");
}

TEST_F(Import, ASliceThatIsReadyGoesWithItsJob) {
  WriteVersion3();
  cloud_.AddNode({.id = "llama",
                  .zone = "us-central2-b",
                  .state = core::NodeState::kReady,
                  .accelerator = "v4-16"});
  const Imported imported = MustRun();
  EXPECT_EQ(imported.jobs.at(0).slice, "llama") << imported.jobs.at(0).why;
  EXPECT_EQ(store_.Get({24})->spec.tpu.existing, "llama");
  EXPECT_THAT(*store_.Source({24}), HasSubstr("existing: llama"));
}

TEST_F(Import, AJobFileThatCannotBeUsedIsLeftOutWithItsPlace) {
  WriteVersion3();
  Write("jobs/ann/000024/config.yaml", "job: {name: x}\ntpu: {acelerator: v4-8}\n");
  const Imported imported = MustRun();
  EXPECT_EQ(imported.jobs.at(0).fate, ImportFate::kLeft);
  EXPECT_THAT(imported.jobs.at(0).why, HasSubstr("config.yaml:2"));
  fs::remove(Old() / "jobs/ann/000024/config.yaml");
  EXPECT_EQ(MustRun().jobs.at(0).fate, ImportFate::kLeft);
}

TEST_F(Import, AUsersNameLeadsNowhereElse) {
  Write("jobs/.jobman/meta.json", R"({"000024": {"user": "../outside"}})");
  Write("outside/000024/config.yaml", kJob);
  EXPECT_EQ(MustRun().jobs.at(0).fate, ImportFate::kLeft);
}

TEST_F(Import, LinksAmongLogsAreNotFollowed) {
  WriteVersion3();
  Write("secret", "x");
  fs::create_symlink(Old() / "secret", Old() / "jobs/ann/000024/logs/run_worker_3.log");
  EXPECT_EQ(MustRun().jobs.at(0).logs, 2);
}

TEST_F(Import, Version2Version0AndLite) {
  Write("jobs/.jobman/meta.json", R"({"job_000007": {"user": "ann", "job_dir": ")" +
                                      (Old() / "elsewhere").string() +
                                      R"(", "session_name": "job_000007"}})");
  Write("elsewhere/config.yaml", kJob);
  EXPECT_EQ(MustRun().generation, "version 1 or 2");
  EXPECT_TRUE(store_.Get({7}).ok());
  fs::remove_all(Old() / "jobs");

  Write("jobs/.state/next_job_id.txt", "10\n");
  Write("jobs/8/config.yaml", kJob);
  Write("jobs/notes/config.yaml", kJob);
  const Imported first = MustRun();
  EXPECT_EQ(first.generation, "version 0");
  EXPECT_THAT(first.jobs, SizeIs(1));
  EXPECT_TRUE(store_.Get({8}).ok());
  EXPECT_EQ(NextId(), 10) << "the old tool had given 9 to a job that is gone";
  fs::remove_all(Old() / "jobs");

  Write("logs/tpus/11-v4-16/config.yaml",
        "loop: true\ntpu: {name: hold, acceleratorType: v4-16, zone: us-central2-b, pricing: "
        "spot}\n");
  const Imported lite = MustRun();
  EXPECT_EQ(lite.generation, "lite");
  ASSERT_THAT(lite.jobs, SizeIs(1));
  EXPECT_EQ(lite.jobs[0].fate, ImportFate::kTaken) << lite.jobs[0].why;
  EXPECT_TRUE(store_.Get({11}).ok());
}

TEST_F(Import, WorkersAndTasksOfRefactor) {
  Write("workers.json",
        R"({"w-1": {"worker_id": "w-1", "tpu_name": "w-1", "accelerator": "v4-16",
            "zone": "us-central2-b", "pricing": "standard", "mode": "tpu-vm", "status": "stopped",
            "pid": 1}})");
  Write("logs/tasks/task_1/train.sh", "#!/bin/bash\npython train.py\n");
  Write("logs/tasks/task_1/run_1_worker_0.log", "x\n");
  Write("queue.json",
        R"({"task_1": {"id": "task_1", "script": "/gone/train.sh", "accelerator": "v4-16",
            "zone": "us-central2-b", "max_retries": 5, "status": "paused", "run_count": 3,
            "fail_count": 2, "submitted": "2026-02-01"},
            "task_0": {"script": "/gone/none.sh", "accelerator": "v4-16", "zone": "z",
            "status": "pending", "submitted": "2026-01-01"}})");
  const Imported imported = MustRun();
  EXPECT_EQ(imported.generation, "refactor");
  ASSERT_THAT(imported.jobs, SizeIs(1));
  EXPECT_EQ(imported.jobs[0].fate, ImportFate::kTaken) << imported.jobs[0].why;
  const core::Job worker = *store_.Get(imported.jobs[0].id);
  EXPECT_EQ(worker.name, "w-1");
  EXPECT_EQ(worker.spec.tpu.pricing, core::Pricing::kOnDemand);
  ASSERT_TRUE(worker.spec.queue);
  ASSERT_THAT(imported.queues, SizeIs(1));
  EXPECT_EQ(imported.queues[0].taken, 1);
  EXPECT_EQ(imported.queues[0].left, 1);
  const auto tasks = Await(store_.stores().queues->Tasks(core::QueueId{1}, 0))->tasks;
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_TRUE(tasks[0].paused);
  EXPECT_EQ(tasks[0].runs, 3);
  EXPECT_EQ(tasks[0].failures, 2);
  EXPECT_EQ(tasks[0].definition.max_retries, 5);
  EXPECT_THAT(tasks[0].definition.run, HasSubstr("python train.py"));
  EXPECT_EQ(*base::ReadFile(Context().paths.TaskLogPath(1, "task_1", {.number = 1}, 0)), "x\n");
  const Imported again = MustRun();
  EXPECT_EQ(again.jobs.at(0).fate, ImportFate::kThere);
  EXPECT_EQ(again.queues.at(0).there, 1);
}

TEST_F(Import, TheStateOfAQueue) {
  WriteVersion3();
  Write("tasks.yaml",
        "accelerators:\n  v4-16:\n    zone: us-central2-b\n    tasks:\n"
        "      - {id: a, run: x}\n      - {id: b, run: x}\n      - {id: c, run: x}\n");
  Write("tasks_state.yaml",
        "tasks:\n  a: {done: true, run_count: 1, fail_count: 0}\n"
        "  b: {done: false, run_count: 2, fail_count: 1}\n"
        "  gone: {done: true, run_count: 1}\n");
  Write("jobs/tasks/a/run_001_job000024_worker_0.log", "done a\n");
  const Imported imported = MustRun();
  ASSERT_THAT(imported.queues, SizeIs(1));
  const ImportedQueue& queue = imported.queues[0];
  EXPECT_EQ(queue.taken, 2);
  EXPECT_EQ(queue.left, 1);
  EXPECT_EQ(queue.logs, 1);
  const auto tasks = Await(store_.stores().queues->Tasks(core::QueueId{1}, 0))->tasks;
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<core::TaskDone>(tasks[0].standing));
  EXPECT_EQ(tasks[1].failures, 1);
  EXPECT_EQ(*base::ReadFile(Context().paths.TaskLogPath(1, "a", {.number = 1, .job = 24}, 0)),
            "done a\n");
}

// They would be run again.
TEST_F(Import, DoneTasksWithUnusualNamesAndHiddenOnesWithTheirLogs) {
  WriteVersion3();
  Write("tasks.yaml",
        "accelerators:\n  v4-16:\n    zone: us-central2-b\n    tasks:\n"
        "      - {id: 'lr:1', run: x}\n      - {id: b, run: x, hide: true}\n");
  Write("tasks_state.yaml",
        "tasks:\n  'lr:1': {done: true, run_count: 1}\n  b: {done: true, run_count: 1}\n");
  Write("jobs/tasks/lr:1/run_001_job000024_worker_0.log", "a\n");
  Write("jobs/tasks/hide/b/run_001_job000024_worker_0.log", "b\n");
  const Imported imported = MustRun();
  ASSERT_THAT(imported.queues, SizeIs(1));
  EXPECT_EQ(imported.queues[0].taken, 2);
  EXPECT_EQ(imported.queues[0].left, 0);
  EXPECT_EQ(imported.queues[0].logs, 2);
  const base::StatePaths paths = Context().paths;
  EXPECT_EQ(*base::ReadFile(paths.TaskLogPath(1, "lr:1", {.number = 1, .job = 24}, 0)), "a\n");
  EXPECT_EQ(*base::ReadFile(paths.TaskLogPath(1, "b", {.number = 1, .job = 24}, 0)), "b\n");
}

TEST_F(Import, AStateOfAQueueThatCannotBeReadIsLeftOut) {
  WriteVersion3();
  Write("tasks.yaml", "accelerators: {}\n");
  fs::create_directories(Old() / "tasks_state.yaml");
  const Imported imported = MustRun();
  EXPECT_THAT(imported.jobs, SizeIs(1));
  ASSERT_THAT(imported.queues, SizeIs(1));
  EXPECT_EQ(imported.queues[0].left, 1);
  EXPECT_THAT(imported.queues[0].why, HasSubstr("is not a regular file"));
}

TEST_F(Import, LogsThatCannotBeReadHoldUpNothing) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  WriteVersion3();
  fs::permissions(Old() / "jobs/ann/000024/logs/command_worker_0.log", fs::perms::none);
  const Imported imported = MustRun();
  ASSERT_THAT(imported.jobs, SizeIs(1));
  EXPECT_EQ(imported.jobs[0].fate, ImportFate::kTaken);
  EXPECT_THAT(imported.jobs[0].why, HasSubstr("command_worker_0.log: Permission denied"));
}

TEST_F(Import, ATaskWithoutAnIdIsLeftOut) {
  Write("queue.json", R"({"": {"script": "/s.sh", "accelerator": "v4-16", "zone": "z"}})");
  const Imported imported = MustRun();
  EXPECT_THAT(imported.queues, IsEmpty());
  EXPECT_THAT(imported.notes, ElementsAre(HasSubstr("is no task")));
}

TEST_F(Import, AWorkerWithoutANameIsLeftOut) {
  Write("workers.json", R"({"": {"accelerator": "v4-16", "zone": "us-central2-b"}})");
  EXPECT_THAT(MustRun().jobs, IsEmpty());
  EXPECT_THAT(MustRun().notes, ElementsAre(HasSubstr("is no worker")));
}

TEST_F(Import, IsRefusedForAFolderThatIsNone) {
  EXPECT_EQ(Run().error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(Run().error().message, HasSubstr("is no folder of Python jobman"));
  fs::remove_all(Old());
  EXPECT_EQ(Run().error().code, base::Code::kNotFound);
  fs::create_directories(Old() / "jobs/.jobman");
  Write("jobs/.jobman/meta.json", "{");
  EXPECT_THAT(Run().error().message, HasSubstr("meta.json"));
}

TEST_F(Import, IsRefusedWhileTheOldToolRuns) {
  const auto child =
      base::StartProcess({"sh", "-c", "sleep 600; : jobman worker"}, {}, base::ProcessGroup::kOwn);
  ASSERT_TRUE(child.ok());
  Write(
      "workers.json",
      R"({"w-1": {"accelerator": "v4-16", "zone": "us-central2-b", "status": "running", "pid": )" +
          std::to_string(*child) + "}}");
  const auto refused = Run();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("worker w-1"));
  EXPECT_THAT(MustRun(true).alive, SizeIs(1));
  base::KillGroup(*child);
  EXPECT_TRUE(Run().ok());
}

}  // namespace
}  // namespace jobman::client
