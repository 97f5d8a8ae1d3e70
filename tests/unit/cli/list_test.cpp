// jobman list: which jobs a small window shows, what each wrote last, words for scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/base/strings.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ListOfJobs : public testing::Test {
 protected:
  ListOfJobs() {
    world_.fill = [this](MemoryStore& store) {
      ASSERT_TRUE(store.TakeLease(controller::LeaseHolder(), now(), 1h).ok());
      for (const core::Job& job : jobs_) Store(store, job);
    };
  }
  base::TimePoint now() const { return world_.clock.Now(); }
  void Add(const std::string& name, core::JobState state, base::Duration ago = 0s) {
    core::Job job{.name = name, .state = std::move(state), .since = now() - ago, .attempt = 1};
    jobs_.push_back(std::move(job));
  }
  static std::filesystem::file_time_type FileTime(base::TimePoint time) {
    return std::chrono::file_clock::from_sys(time);
  }
  std::vector<std::string> Lines(const std::vector<std::string>& args) {
    return base::Split(world_.Run(args).out, '\n');
  }

  CliWorld world_;
  std::vector<core::Job> jobs_ = {};

 private:
  static void Store(MemoryStore& store, const core::Job& job) {
    const auto id = store.Create(job, "", {});
    ASSERT_TRUE(id.ok());
    ports::Turn turn{.job = *store.Get(*id)};
    turn.job.wish_new = false;
    turn.job.since = job.since;
    ASSERT_TRUE(store.Commit(turn, 0).ok());
  }
};

TEST_F(ListOfJobs, AWordThatMeansNoJobIsTold) {
  Add("train", core::Running{});
  const auto ran = world_.Run({"list", "trian"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("did you mean \"train\"?"));
  EXPECT_EQ(world_.Run({"list", "x*"}).exit_code, 0) << "a pattern is a filter";
  EXPECT_THAT(world_.Run({"list", "-o", "name", "--json"}).out, HasSubstr("\"jobs\""));
}

TEST_F(ListOfJobs, DeletedOnesAreCountedWhereNoOtherMatches) {
  const core::JobState deleted = core::Done{.outcome = core::Outcome::kDeleted};
  for (const char* name : {"many-1", "many-2", "few"}) Add(name, deleted);
  EXPECT_EQ(world_.Run({"list"}).err, "no jobs, except 3 that are deleted: --all shows them\n");
  EXPECT_EQ(world_.Run({"list", "few"}).err,
            "no jobs match few, except 1 that is deleted: --all shows it\n");
  EXPECT_EQ(world_.Run({"list", "many-*", "-s", "running"}).err,
            "no jobs match many-*, status running\n");
  EXPECT_EQ(world_.Run({"list", "-n", "other", "--all"}).err, "no jobs match name other\n");
  EXPECT_EQ(world_.Run({"list", "-q"}).err, "");
  EXPECT_THAT(Lines({"list", "--watch"})[0], HasSubstr("except 3 that are deleted"));
}

TEST_F(ListOfJobs, ASmallWindowShowsThoseThatAreNotOverThenThoseThatEndedLast) {
  Add("old", core::Done{}, 3h);
  Add("recent", core::Done{}, 1h);
  Add("older", core::Done{}, 5h);
  Add("works", core::Running{}, 4h);
  Add("waits", core::Queued{}, 4h);
  world_.around = {.out_tty = true, .ioctl_width = 80, .ioctl_height = 6, .locale = "C.UTF-8"};
  const auto lines = Lines({"list", "--watch"});
  ASSERT_GE(lines.size(), 5U);
  EXPECT_THAT(lines[1], HasSubstr("000004  works"));
  EXPECT_THAT(lines[2], HasSubstr("000005  waits"));
  EXPECT_THAT(lines[3], HasSubstr("000002  recent"));
  EXPECT_EQ(lines[4], "and 2 more: 2 over; without --watch all are shown");
  world_.around.ioctl_height = 1;
  EXPECT_EQ(Lines({"list", "--watch"})[2],
            "and 4 more: 1 waiting, 3 over; without --watch all are shown");
  world_.around.ioctl_height = 7;
  EXPECT_THAT(Lines({"list", "--watch"})[1], HasSubstr("000001  old")) << "all fit";
}

TEST_F(ListOfJobs, WordsForScriptsMeanEachJobOnce) {
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (const char* name : {"lr-0", "lr-1"}) Add(name, core::Done{});
  }
  EXPECT_EQ(world_.Run({"list", "-o", "name"}).out, "000001\n000002\nlr-0\nlr-1\n");
  EXPECT_EQ(world_.Run({"list", "-o", "name", "1", "4"}).out, "000001\nlr-1\n");
}

TEST_F(ListOfJobs, DetailsAreWhatWasWrittenLastByFinishedJobsToo) {
  Add("ended", core::Done{}, 2h);
  Add("silent", core::Done{}, 1h);
  world_.WriteLog(1, 1, "run", 0, "step 9\ndone\n");
  std::filesystem::last_write_time(world_.paths().LogPath(1, 1, "run", 0), FileTime(now() - 2h));
  world_.around = {.out_tty = true, .ioctl_width = 120, .term = "xterm", .locale = "C.UTF-8"};
  const auto lines = Lines({"list", "-v"});
  EXPECT_THAT(lines[2], HasSubstr("        \x1b[2m2h ago, host 0: done")) << "it is history";
  EXPECT_THAT(lines[3], HasSubstr("silent"));
  EXPECT_THAT(lines[4], testing::IsEmpty());
}

TEST_F(ListOfJobs, DetailsHaveALineOfTheirOwnInANarrowTerminal) {
  Add("train", core::Done{}, 2h);
  const std::string words = "step 1200, loss 0.125, 3.2 steps/s, learning rate 0.0003";
  world_.WriteLog(1, 1, "run", 0, words + "\n");
  std::filesystem::last_write_time(world_.paths().LogPath(1, 1, "run", 0),
                                   FileTime(now() - 1500ms));
  world_.around = {.out_tty = true, .ioctl_width = 80, .locale = "C.UTF-8"};
  const auto lines = Lines({"list", "-v"});
  EXPECT_THAT(lines[0], testing::Not(HasSubstr("LAST OUTPUT")));
  EXPECT_EQ(lines[2], "        1s ago, host 0: " + words);
  world_.around = {.locale = "C.UTF-8"};
  EXPECT_THAT(Lines({"list", "-v"})[1], testing::EndsWith("  1s ago, host 0: " + words))
      << "for programs a job is a line";
}

TEST_F(ListOfJobs, DetailsLeaveRoomForFewerJobsInAWindow) {
  for (int i = 0; i < 4; ++i) Add("train", core::Done{});
  for (int i = 1; i <= 4; ++i) world_.WriteLog(i, 1, "run", 0, "done\n");
  world_.around = {.out_tty = true, .ioctl_width = 80, .ioctl_height = 7, .locale = "C.UTF-8"};
  EXPECT_THAT(world_.Run({"list", "-v", "--watch"}).out,
              HasSubstr("and 2 more: 2 over; without --watch all are shown"));
}

TEST_F(ListOfJobs, AWindowOfOneLineCanShowNoJobs) {
  world_.around = {.out_tty = true, .ioctl_width = 80, .ioctl_height = 1, .locale = "C.UTF-8"};
  EXPECT_EQ(world_.Run({"list", "--watch"}).exit_code, 130);
}

}  // namespace
}  // namespace jobman::test
