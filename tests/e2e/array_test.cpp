// A file that makes several jobs: two are at work at a time, and all are followed together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Array, OfASweepTwoRunAtATime) {
  Place place;
  place.StartSim({"--delays", "0"});
  // The first two end when they are told to.
  const std::string file = place.JobFile(
      "sweep", 1,
      "echo lr=${matrix.lr} seed=$seed job $JOBMAN_ARRAY_INDEX of $JOBMAN_ARRAY_SIZE\n"
      "[ $JOBMAN_ARRAY_INDEX -gt 1 ] || until [ -e ~/go ]; do sleep 0.5; done",
      "matrix:\n  lr: [0.1, 0.2]\n  seed: 7-8\n");
  const Ran run = place.Jobman({"run", file});
  EXPECT_EQ(run.code, 2) << run.All();
  EXPECT_THAT(run.err, HasSubstr("makes 4 jobs, and run follows one"));
  const Ran created = place.Jobman({"create", file, "--set", "job.max_running=2", "--set",
                                    "job.when_done=delete", "--set", "job.labels={kind: sweep}"});
  ASSERT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.out, HasSubstr("\n  their slices are deleted at their end\n"
                                     "  to follow them: jobman logs -f 'sweep-*'\n"));
  ASSERT_TRUE(place.Reaches("sweep-0", "RUNNING"));
  ASSERT_TRUE(place.Reaches("sweep-1", "RUNNING"));
  for (const char* waiting : {"sweep-2", "sweep-3"}) {
    EXPECT_EQ(place.StateOf(waiting), "QUEUED");
    EXPECT_THAT(place.Jobman({"why", waiting}).out,
                HasSubstr("job.max_running lets 2 jobs of group sweep work at a time"));
  }
  EXPECT_EQ(place.Jobman({"exec", "sweep-0", "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(place.Reaches("sweep-2", "SUCCEEDED"));
  EXPECT_EQ(place.StateOf("sweep-1"), "RUNNING") << "the other two had one place between them";
  EXPECT_EQ(place.Jobman({"exec", "sweep-1", "--", "touch ~/go"}).code, 0);
  const Ran ended = place.Jobman({"wait", "sweep-*"});
  EXPECT_EQ(ended.code, 0) << ended.All();
  EXPECT_EQ(place.Log(1, 1, "run", 0), "lr=0.1 seed=7 job 0 of 4\n");
  EXPECT_EQ(place.Log(4, 1, "run", 0), "lr=0.2 seed=8 job 3 of 4\n");
  // One of them alone, with another value: it stays the third.
  const Ran without_file = place.Jobman({"resume", "sweep-2", "--set", "matrix.lr=9"});
  EXPECT_EQ(without_file.code, 2);
  EXPECT_THAT(without_file.err, HasSubstr("give the job file too: -f FILE --set matrix.lr=9"));
  EXPECT_THAT(place.Jobman({"resume", "sweep-2", "--set", "matrix.sed=9"}).err,
              HasSubstr("did you mean matrix.seed?"));
  ASSERT_EQ(
      place.Jobman({"resume", "sweep-2", "-f", file, "--set", "matrix.seed=[9]", "--wait"}).code, 2)
      << "now there are two";
  const Ran again = place.Jobman({"resume", "sweep-2", "-f", file, "--set", "matrix.seed=[1, 2]",
                                  "--set", "job.labels={kind: sweep}", "--wait"});
  EXPECT_EQ(again.code, 0) << again.All();
  EXPECT_EQ(place.Log(3, 2, "run", 0), "lr=0.2 seed=1 job 2 of 4\n");
  const Ran two = place.Jobman({"resume", "sweep-0", "sweep-3", "--set", "command.cmd=echo changed",
                                "--set", "job.labels={kind: sweep}", "--wait"});
  EXPECT_EQ(two.code, 0) << two.All();
  EXPECT_EQ(place.Log(1, 2, "run", 0), "changed\n");
  EXPECT_EQ(place.Log(4, 2, "run", 0), "changed\n");
  EXPECT_EQ(place.Jobman({"delete", "--yes"}).code, 2) << "which?";
  EXPECT_EQ(place.Jobman({"delete", "sweep-1", "--label", "kind=other", "--yes"}).code, 3);
  EXPECT_EQ(place.Jobman({"delete", "--status", "failed", "--yes"}).code, 3);
  const Ran deleted =
      place.Jobman({"delete", "-s", "succeeded", "--label", "kind=sweep", "--yes", "--wait"});
  EXPECT_EQ(deleted.code, 0) << deleted.All();
  EXPECT_EQ(place.StateOf("sweep-3"), "DELETED");
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("no nodes"));
}

TEST(Array, ItsJobsAreFollowedTogether) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file =
      place.JobFile("pair", 1, "echo seed $seed; [ $seed = 1 ] || exit 3", "matrix: {seed: 1-2}\n");
  const Ran followed = place.Jobman({"create", file, "--follow"});
  EXPECT_EQ(followed.code, 3) << followed.All();
  EXPECT_THAT(followed.out, HasSubstr("pair-0 | seed 1\n"));
  EXPECT_THAT(followed.out, HasSubstr("pair-1 | seed 2\n"));
  EXPECT_EQ(followed.out.find("next:\n"), followed.out.rfind("next:\n")) << followed.out;
  EXPECT_THAT(followed.out, HasSubstr("\n  jobman logs 'pair-*' "));
  const Ran again = place.Jobman({"logs", "-f", "pair-*"});
  EXPECT_EQ(again.code, 3) << again.All();
  EXPECT_THAT(again.out, HasSubstr("pair-1 | seed 2\n"));
  // The controller recorded when it came.
  const Ran timed = place.Jobman({"logs", "pair-*", "-t", "--since", "1h"});
  EXPECT_EQ(timed.code, 0) << timed.All();
  EXPECT_THAT(timed.out, MatchesRegex("== job 000001 [(]pair-0[)], attempt 1, run\n"
                                      "20..-..-.. ..:..:..Z seed 1\n"
                                      "== job 000002 [(]pair-1[)], attempt 1, run\n"
                                      "20..-..-.. ..:..:..Z seed 2\n"));
  EXPECT_EQ(timed.err, "");
  EXPECT_EQ(place.Jobman({"logs", "pair-0", "--since", "2100-01-01T00:00:00Z"}).out, "");
}

}  // namespace
}  // namespace jobman::test
