#include "jobman/client/create_jobs.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "jobman/base/env.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/client/revise_job.hpp"
#include "tests/unit/client/client_world.hpp"
#include "tests/unit/client/nudge_listener.hpp"
#include "tests/unit/client/sim_folder.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class CreateJobsTest : public test::ClientWorld {
 protected:
  CreateJobsTest() { HoldLease(); }
  config::Loaded File(const std::string& name = "train") {
    config::Loaded loaded{.spec = test::JobBuilder(name).Build().spec, .source = "of " + name};
    loaded.spec.ssh.private_key = Key().string();
    for (const char* key : {"tpu.accelerator", "tpu.zone", "tpu.version"}) {
      loaded.places[key] = {.file = "job.yaml", .line = 2, .column = 3};
    }
    return loaded;
  }
  base::Path Key() { return Context().paths.home / "key"; }
  base::Result<CheckedFile> Check(config::Loaded loaded) {
    return Await(CheckBeforeCreate(Context(), std::move(loaded)));
  }
  void AddNode(const std::string& name) {
    cloud_.AddNode({.id = name, .zone = "us-central2-b", .os_login = false});
  }
  /// A local simulator runs whose hosts only `user` can log in to; empty: any user.
  void RunLocalCloud(const std::string& user) {
    const test::SimFolder& folder = sim_.emplace(Context().paths.SimDir());
    folder.Describe(R"({"endpoint": "http://127.0.0.1:9", "user": ")" + user + R"(", "pid": )" +
                    std::to_string(::getpid()) + "}");
  }
  std::optional<test::SimFolder> sim_;
};

TEST_F(CreateJobsTest, ANewJobIsDueAtOnce) {
  const core::Job job = NewJob(File("eval").spec, clock_.Now());
  EXPECT_EQ(job.name, "eval");
  EXPECT_EQ(job.user, base::UserName());
  EXPECT_EQ(job.why, "created");
  EXPECT_EQ(job.created_at, clock_.Now());
  EXPECT_EQ(job.since, clock_.Now());
  EXPECT_EQ(job.wake_at, clock_.Now());
  EXPECT_TRUE(job.wish_new);
  EXPECT_EQ(core::StateName(job.state), "QUEUED");
}

TEST_F(CreateJobsTest, EachFileIsStoredWithItsSourceAndTheControllerWokenOnce) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  const auto jobs = Await(CreateJobs(Context(), {{File("train")}, {File("eval")}}));
  ASSERT_TRUE(jobs.ok()) << jobs.error().ToString();
  ASSERT_THAT(*jobs, SizeIs(2));
  EXPECT_EQ(jobs->at(1).id, core::JobId{2});
  EXPECT_EQ(store_.Get({2})->name, "eval");
  EXPECT_EQ(*store_.Source({2}), "of eval");
  EXPECT_THAT(controller.Take(), SizeIs(1));
}

TEST_F(CreateJobsTest, AFreeNumberBecomesTheSuffixOfTheNames) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  config::Loaded file = File();
  file.spec.worker_num = "auto";
  file.spec.tpu.name = "slice";
  file.spec.command.cmd = "train --out ${job.name} --seed ${job.worker_num} --on ${tpu.name}";
  ASSERT_TRUE(Await(CreateJobs(Context(), {{File("train_2")}})).ok());
  const auto jobs = Await(CreateJobs(Context(), {{file}, {file}}));
  ASSERT_TRUE(jobs.ok()) << jobs.error().ToString();
  EXPECT_EQ(jobs->at(0).name, "train_1");
  EXPECT_EQ(jobs->at(0).spec.name, "train_1");
  EXPECT_EQ(jobs->at(0).spec.tpu.name, "slice-1");
  EXPECT_EQ(jobs->at(0).spec.command.cmd, "train --out train_1 --seed 1 --on ${tpu.name}");
  EXPECT_EQ(jobs->at(1).name, "train_3");
}

TEST_F(CreateJobsTest, AFileWithAFreeNumberKeepsTheNumberOfTheJobItRevises) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  config::Loaded file = File();
  file.spec.worker_num = "auto";
  ASSERT_TRUE(Await(CreateJobs(Context(), {{file}, {file}})).ok());
  file.spec.command.cmd = "train --out ${job.name} --seed ${job.worker_num}";
  const auto revised =
      Await(ReviseJob(Context(), {.job = {2}, .loaded = file, .wish = core::Wish::kRun}));
  ASSERT_TRUE(revised.ok()) << revised.error().ToString();
  const core::Job job = *store_.Get({2});
  const core::JobSpec& spec = job.revised ? *job.revised : job.spec;
  EXPECT_EQ(spec.name, "train_2");
  EXPECT_EQ(spec.command.cmd, "train --out train_2 --seed 2");
  EXPECT_EQ(spec.worker_num, "");
}

TEST_F(CreateJobsTest, AFileThatGetsAFreeNumberLaterFindsTheNameOfTheJob) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  for (const std::string name : {"my_run", "other_1"}) {
    const auto jobs = Await(CreateJobs(Context(), {{File(name)}}));
    ASSERT_TRUE(jobs.ok());
    config::Loaded file = File("my_run");
    file.spec.worker_num = "auto";
    file.spec.command.cmd = "train --out ${job.name} '${job.worker_num}'";
    const core::JobId id = jobs->at(0).id;
    ASSERT_TRUE(
        Await(ReviseJob(Context(), {.job = id, .loaded = file, .wish = core::Wish::kRun})).ok());
    const core::Job job = *store_.Get(id);
    const core::JobSpec& spec = job.revised ? *job.revised : job.spec;
    EXPECT_EQ(spec.name, name);
    EXPECT_EQ(spec.command.cmd, "train --out " + name + " ''");
  }
}

TEST_F(CreateJobsTest, ASecondJobOfANameIsANote) {
  core::Job deleted = test::JobBuilder("train").Build();
  deleted.state = core::Done{.outcome = core::Outcome::kDeleted};
  Put(deleted);
  EXPECT_THAT(Check(File())->notes, IsEmpty());
  core::Job running = test::JobBuilder("train").Build();
  running.state = core::Running{};
  Put(running);
  EXPECT_THAT(Check(File())->notes,
              ElementsAre("job 000002, which is RUNNING, is named train too; in commands the name "
                          "will mean the new job"));
  config::Loaded numbered = File();
  numbered.spec.worker_num = "auto";
  EXPECT_THAT(Check(numbered)->notes, IsEmpty()) << "it gets a name of its own";
}

TEST_F(CreateJobsTest, ANodeThatAnotherJobUsesIsANote) {
  AddNode("my-tpu");
  const auto on_node = [this](const std::string& name) {
    config::Loaded file = File(name);
    file.spec.tpu.existing = "my-tpu";
    return file;
  };
  core::Job over = test::JobBuilder("over").Build();
  over.spec = on_node("over").spec;
  over.state = core::Done{.outcome = core::Outcome::kSucceeded};
  Put(over);
  EXPECT_THAT(Check(on_node("next"))->notes, IsEmpty()) << "jobs may follow each other";
  core::Job waits = over;
  waits.state = core::Queued{};
  Put(waits);
  EXPECT_THAT(Check(on_node("next"))->notes,
              ElementsAre(HasSubstr("node my-tpu is also used by job 000002, which is QUEUED; only "
                                    "one command at a time can have its chips")));
  config::Loaded elsewhere = on_node("next");
  elsewhere.spec.tpu.project = "another";
  EXPECT_THAT(Check(elsewhere)->notes, IsEmpty());
  EXPECT_THAT(Check(File("next"))->notes, IsEmpty()) << "it gets a slice of its own";
}

TEST_F(CreateJobsTest, ANodeThatIsTheSliceOfAnotherJobIsANote) {
  core::Job held = test::JobBuilder("held").Build();
  held.spec.group = "sweep";
  held.spec.max_running = 1;
  held.attempt = 1;
  held = test::WithHosts(Put(held), 1);
  held.state = core::Done{.outcome = core::Outcome::kSucceeded};
  Change(held);
  config::Loaded file = File("next");
  file.spec.group = held.spec.group;  // one after the other: it is deleted all the same
  file.spec.max_running = 1;
  file.spec.tpu.existing = held.slice->ref.name;
  AddNode(held.slice->ref.name);
  EXPECT_THAT(Check(file)->notes,
              ElementsAre("node " + held.slice->ref.name +
                          " is the slice of job 000001, which is SUCCEEDED: it is deleted when "
                          "that job gives it back"));
}

TEST_F(CreateJobsTest, SeveralNewJobsOnOneNodeAreANoteUnlessTheyRunInTurn) {
  AddNode("my-tpu");
  CheckedFile earlier{.loaded = File("sweep")};
  earlier.loaded.spec.tpu.existing = "my-tpu";
  earlier.loaded.spec.group = "sweep";
  const auto notes = [&] {
    return Await(CheckBeforeCreate(Context(), earlier.loaded, &earlier))->notes;
  };
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("several of these jobs are to use node my-tpu")));
  earlier.loaded.spec.max_running = 1;
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(CreateJobsTest, APreviewShowsWhatWouldBeStored) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  config::Loaded file = File();
  file.spec.worker_num = "auto";
  ASSERT_TRUE(Await(CreateJobs(Context(), {{File("eval")}})).ok());
  const auto preview = Await(PreviewJobs(Context(), {file, file}));
  ASSERT_TRUE(preview.ok()) << preview.error().ToString();
  EXPECT_EQ(preview->store_id, *store_.StoreId());
  EXPECT_EQ(store_.Get({2}).error().code, base::Code::kNotFound) << "nothing is stored";
  const auto jobs = Await(CreateJobs(Context(), {{file}, {file}}));
  ASSERT_TRUE(jobs.ok()) << jobs.error().ToString();
  EXPECT_EQ(preview->jobs, *jobs);
}

TEST_F(CreateJobsTest, ANewJobDoesNotGetTheLogsOfAnEarlierOneOfItsNumber) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  const base::Path log = Context().paths.LogPath(1, 1, "run", 0);
  std::filesystem::create_directories(log.parent_path());
  std::ofstream(log) << "of a job that the store does not have any more\n";
  ASSERT_TRUE(Await(CreateJobs(Context(), {{File()}})).ok());
  EXPECT_FALSE(std::filesystem::exists(log));
  EXPECT_TRUE(std::filesystem::exists(Context().paths.home / "jobs/000001.1/attempt-1"));
}

TEST_F(CreateJobsTest, SecretsAreSentAndNotStored) {
  ::setenv("CREATE_JOBS_TOKEN", "a secret value", 1);
  config::Loaded file = File();
  file.spec.command.secrets = {{.name = "CREATE_JOBS_TOKEN"}};
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  const auto jobs = Await(CreateJobs(Context(), {{file}, {File("eval")}}));
  ::unsetenv("CREATE_JOBS_TOKEN");
  ASSERT_TRUE(jobs.ok()) << jobs.error().ToString();
  const auto nudges = controller.Take();
  ASSERT_THAT(nudges, SizeIs(1));
  ASSERT_THAT(nudges[0].secrets, SizeIs(1));
  EXPECT_THAT(nudges[0].secrets.at(jobs->at(0).id.value),
              ElementsAre(Pair("CREATE_JOBS_TOKEN", "a secret value")));
}

TEST_F(CreateJobsTest, AMissingKeyIsGenerated) {
  const auto checked = Check(File());
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_THAT(checked->notes, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(Key()));
}

TEST_F(CreateJobsTest, AnAgentThatIsNotKnownIsANote) {
  config::Loaded file = File();
  file.spec.ssh.agent_forwarding = true;
  ::unsetenv("SSH_AUTH_SOCK");
  EXPECT_THAT(Check(file)->notes, ElementsAre(HasSubstr("SSH_AUTH_SOCK is not set")));
  ::setenv("SSH_AUTH_SOCK", "/agent", 1);
  EXPECT_THAT(Check(file)->notes, IsEmpty());
  ::unsetenv("SSH_AUTH_SOCK");
}

TEST_F(CreateJobsTest, AKeyThatCannotBeUsedIsRefusedBeforeTheCloudIsAsked) {
  std::ofstream(Key()) << "no key\n";
  std::filesystem::permissions(Key(), std::filesystem::perms::owner_read);
  EXPECT_EQ(Check(File()).error().reason, base::Reason::kKeyUnreadable);
  EXPECT_THAT(cloud_.calls(), IsEmpty());
}

TEST_F(CreateJobsTest, TheCodeIsTakenBeforeTheJobIsStoredAndLiesInItsFolder) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  const test::TempDir proj;
  std::ofstream(proj / "train.py") << "print()\n";
  config::Loaded file = File();
  file.spec.code.dir = proj.path().string();
  file.spec.code.path = "~/proj";
  auto checked = Check(file);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  const core::CodeSnapshot taken = checked->loaded.spec.code.snapshot;
  EXPECT_EQ(taken.files, 1);
  std::vector<CheckedFile> files;
  files.push_back(*std::move(checked));
  const auto jobs = Await(CreateJobs(Context(), std::move(files)));
  ASSERT_TRUE(jobs.ok()) << jobs.error().ToString();
  EXPECT_EQ(store_.Get({1})->spec.code.snapshot, taken);
  EXPECT_EQ(base::FileSize(Context().paths.CodeFile(1, taken.sha256)), taken.packed);
}

TEST_F(CreateJobsTest, CodeThatCannotBeTakenStoresNothing) {
  const test::TempDir empty;
  config::Loaded file = File();
  file.spec.code.dir = empty.path().string();
  EXPECT_EQ(Check(file).error().code, base::Code::kInvalidArgument);
  for (const auto& entry : std::filesystem::directory_iterator(Context().paths.home))
    EXPECT_EQ(entry.path().filename().string().find("jobman-code-"), std::string::npos);
}

TEST_F(CreateJobsTest, AJobWhoseCodeCannotBeKeptIsCancelled) {
  const test::TempDir proj;
  std::ofstream(proj / "train.py") << "print()\n";
  config::Loaded file = File();
  file.spec.code.dir = proj.path().string();
  auto checked = Check(file);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  std::ofstream(Context().paths.home / "jobs") << "in the way\n";
  std::vector<CheckedFile> files;
  files.push_back(*std::move(checked));
  const auto jobs = Await(CreateJobs(Context(), std::move(files)));
  ASSERT_FALSE(jobs.ok());
  EXPECT_THAT(jobs.error().message, testing::StartsWith("job 000001 is cancelled: "));
  EXPECT_EQ(store_.Get({1})->wish, core::Wish::kCancel);
}

TEST_F(CreateJobsTest, AllJobsOfACallAreCreatedOrNoneRuns) {
  std::vector<CheckedFile> files;
  for (int job = 0; job < 3; ++job) files.push_back(*Check(File()));
  files[1].code = TakenCode{.archive = Context().paths.home / "gone"};
  const auto jobs = Await(CreateJobs(Context(), std::move(files)));
  ASSERT_FALSE(jobs.ok());
  EXPECT_THAT(jobs.error().message, testing::StartsWith("jobs 000001 to 000002 are cancelled: "));
  EXPECT_EQ(store_.Get({1})->wish, core::Wish::kCancel);
  EXPECT_FALSE(store_.Get({3}).ok());
}

/// As on a disk that becomes full.
class FillingStore : public test::MemoryPorts {
 public:
  FillingStore(test::MemoryStore& store, int room) : MemoryPorts(store), room_(room) {}
  test::Task<test::Result<core::JobId>> Create(core::Job job, std::string source,
                                               core::TimePoint now) override {
    if (room_ == 0) co_return Full();
    --room_;
    co_return store_.Create(std::move(job), std::move(source), now);
  }
  test::Task<test::Status> SetWish(core::JobId id, core::Wish wish, core::SetupWish setup,
                                   core::TimePoint now) override {
    if (takes_no_wish) co_return Full();
    co_return store_.SetWish(id, wish, setup, now);
  }
  bool takes_no_wish = false;

 private:
  static base::Error Full() {
    return {.code = base::Code::kUnavailable, .message = "the disk is full", .hint = "make room"};
  }
  int room_;
};

TEST_F(CreateJobsTest, AJobThatCannotBeStoredIsTheErrorAndThoseBeforeItAreCancelled) {
  constexpr const char* kExpected[] = {"the disk is full",
                                       "job 000001 is cancelled: the disk is full",
                                       "jobs 000002 to 000003 are cancelled: the disk is full"};
  for (int room = 0; room < 3; ++room) {
    FillingStore full(store_, room);
    client::Context context = Context();
    context.stores = ports::StoresOf(full);
    const auto jobs = Await(CreateJobs(context, {{File()}, {File()}, {File()}}));
    ASSERT_FALSE(jobs.ok());
    EXPECT_EQ(jobs.error().message, kExpected[room]);
    EXPECT_EQ(jobs.error().hint, "make room");
  }
  for (const int id : {1, 2, 3}) EXPECT_EQ(store_.Get({id})->wish, core::Wish::kCancel);
}

TEST_F(CreateJobsTest, JobsThatCannotEvenBeCancelledAreNamed) {
  FillingStore full(store_, 2);
  full.takes_no_wish = true;
  client::Context context = Context();
  context.stores = ports::StoresOf(full);
  const auto jobs = Await(CreateJobs(context, {{File()}, {File()}, {File()}}));
  ASSERT_FALSE(jobs.ok());
  EXPECT_EQ(jobs.error().message,
            "jobs 000001 to 000002 are stored and could not be cancelled: the disk is full");
}

TEST_F(CreateJobsTest, FilesThatNameTheSameCodeShareIt) {
  const test::TempDir proj;
  std::ofstream(proj / "train.py") << "print()\n";
  config::Loaded file = File();
  file.spec.code.dir = proj.path().string();
  const auto first = Check(file);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  std::ofstream(proj / "train.py") << "print(1)\n";
  const auto second = Await(CheckFile(Context(), file, &*first));
  EXPECT_EQ(second->code->archive, first->code->archive);
  EXPECT_EQ(second->loaded.spec.code, first->loaded.spec.code);
}

TEST_F(CreateJobsTest, WhatTheZoneDoesNotOfferIsRefused) {
  config::Loaded file = File();
  file.spec.tpu.version = "tpu-ubuntu2204-bass";
  EXPECT_EQ(Check(file).error().reason, base::Reason::kBadRuntime);
}

TEST_F(CreateJobsTest, ACloudThatCannotBeAskedIsANote) {
  cloud_.SetReachable(false);
  const auto checked = Check(File());
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_THAT(checked->notes,
              ElementsAre(HasSubstr("what zone us-central2-b offers could not be checked: ")));
}

TEST_F(CreateJobsTest, WhatOneListSaysIsSaidAlsoIfAnotherCannotBeHad) {
  config::Loaded file = File();
  file.spec.tpu.pricing = core::Pricing::kReserved;
  file.spec.tpu.reservation = "mine";
  const base::Error down{.code = base::Code::kUnavailable, .message = "no such list"};
  cloud_.AddFault({.call = "AcceleratorTypes", .error = down, .times = 9});
  cloud_.AddFault({.call = "RuntimeVersions", .error = down, .times = 9});
  const auto answered = Check(file);
  ASSERT_TRUE(answered.ok()) << answered.error().ToString();
  EXPECT_THAT(answered->notes, ElementsAre(HasSubstr("offers could not be checked: "),
                                           HasSubstr("may be one of Compute Engine")));
  cloud_.AddFault({.call = "Reservations", .error = down});
  const auto silent = Check(file);
  ASSERT_TRUE(silent.ok()) << silent.error().ToString();
  EXPECT_THAT(silent->notes, ElementsAre(HasSubstr("offers could not be checked: ")))
      << "that nobody answers is said once";
}

TEST_F(CreateJobsTest, SimulatedHostsWithoutASandboxAreLoggedInToAsTheirOnlyUser) {
  config::Loaded file = File();
  file.spec.cloud.endpoint = kLocal;
  file.spec.ssh.user = "tpu";
  RunLocalCloud("ada");
  const auto checked = Check(file);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_EQ(checked->loaded.spec.ssh.user, "ada");
  EXPECT_THAT(checked->notes,
              ElementsAre("the simulated hosts run without a sandbox here and have no user tpu; "
                          "logging in as ada"));
  RunLocalCloud("");
  EXPECT_EQ(Check(file)->loaded.spec.ssh.user, "tpu") << "hosts in sandboxes have every user";
  file.spec.cloud.endpoint = "http://127.0.0.1:9";
  RunLocalCloud("ada");
  EXPECT_EQ(Check(file)->loaded.spec.ssh.user, "tpu") << "another cloud";
}

}  // namespace
}  // namespace jobman::client
