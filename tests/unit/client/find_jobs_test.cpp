#include "jobman/client/find_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/client/job_words.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/run_now.hpp"

namespace jobman::client {
namespace {

using core::JobId;
using testing::ElementsAre;
using testing::HasSubstr;

class JobRef : public testing::Test {
 protected:
  JobRef() {
    for (const char* name : {"train", "eval", "train", "3"})
      EXPECT_TRUE(store_.Create({.name = name}, "", {}).ok());
  }
  JobId Find(const std::string& word) {
    const auto id = test::RunNow(FindJob(store_.stores().jobs, word));
    return id.ok() ? *id : JobId{};
  }
  std::string Hint(const std::string& word) {
    const auto id = test::RunNow(FindJob(store_.stores().jobs, word));
    return id.ok() ? "found" : id.error().hint;
  }
  base::Result<std::vector<JobId>> ToRemove(const std::vector<std::string>& words) {
    return test::RunNow(FindJobs(store_.stores().jobs, words, {.removes = true}));
  }
  void BeDeleted(JobId id) {
    ports::Turn turn{.job = *store_.Get(id)};
    turn.job.wish_new = false;
    turn.job.state = core::Done{.outcome = core::Outcome::kDeleted};
    EXPECT_TRUE(store_.Commit(turn, 0).ok());
  }
  test::StoreInMemory store_;
};

TEST_F(JobRef, NumbersWithAndWithoutZeros) {
  EXPECT_EQ(Find("2"), JobId{2});
  EXPECT_EQ(Find("000002"), JobId{2});
}

TEST_F(JobRef, ANumberWhoseRecordCannotBeUsedIsFound) {
  store_.MakeUnreadable({2});
  store_.Damage({4});
  EXPECT_EQ(Find("2"), JobId{2});
  EXPECT_EQ(Find("4"), JobId{4});
}

TEST_F(JobRef, ANameMeansItsNewestJob) {
  EXPECT_EQ(Find("train"), JobId{3});
  EXPECT_EQ(Find("eval"), JobId{2});
}

TEST_F(JobRef, ANamePassesOverDeletedJobsUnlessAllAre) {
  BeDeleted({3});
  EXPECT_EQ(Find("train"), JobId{1}) << "which `list` shows";
  EXPECT_EQ(Find("000003"), JobId{3}) << "a number is a number";
  BeDeleted({1});
  EXPECT_EQ(Find("train"), JobId{3});
}

TEST_F(JobRef, ADeletedJobThatIsToRunAgainCounts) {
  BeDeleted({3});
  EXPECT_TRUE(store_.SetWish({3}, core::Wish::kRun, core::SetupWish::kAsNeeded, {}).ok());
  EXPECT_EQ(Find("train"), JobId{3});
}

TEST_F(JobRef, ANumberTakesPrecedenceOverAName) {
  EXPECT_EQ(Find("3"), JobId{3});
}

TEST_F(JobRef, EachJobHasAWordThatMeansIt) {
  for (const char* name : {"größe_1.5", "two words", "-f", "a*", "x:y", "a/b", "$x", "a\xc2\x85z"})
    EXPECT_TRUE(store_.Create({.name = name}, "", {}).ok());
  BeDeleted({4});
  EXPECT_TRUE(store_.Create({.name = "eval"}, "", {}).ok());
  BeDeleted({13});
  const auto all = *store_.List({.with_deleted = true});
  const auto words = WordsOf(all, all);
  EXPECT_THAT(words,
              ElementsAre("000001", "eval", "train", "000004", "größe_1.5", "000006", "000007",
                          "000008", "000009", "000010", "000011", "000012", "000013"));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(Find(words[i]), all[i].id);
  EXPECT_THAT(WordsOf({all[0]}, all), ElementsAre("000001")) << "whatever is listed";
}

TEST_F(JobRef, AnUnknownJobSuggestsSimilarNames) {
  EXPECT_EQ(Hint("trian"), "did you mean \"train\"?");
  EXPECT_EQ(Hint("rai"), "did you mean \"train\"?");
  EXPECT_EQ(Hint("zebra"), "jobman list --all shows every job");
  EXPECT_EQ(Hint("99999999999999999999"), "jobman list --all shows every job");
  test::StoreInMemory empty;
  EXPECT_EQ(test::RunNow(FindJob(empty.stores().jobs, "x")).error().hint, "there are no jobs yet");
}

TEST_F(JobRef, AnUnknownNumberSuggestsNoNames) {
  for (const char* name : {"kk-77", "77", "mm-770"})
    EXPECT_TRUE(store_.Create({.name = name}, "", {}).ok());
  EXPECT_EQ(Hint("770"), "jobman list --all shows every job");
  EXPECT_EQ(Hint("mm-77"), "did you mean \"mm-770\"?");
}

TEST_F(JobRef, EachJobOnceInTheOrderGiven) {
  const auto ids = test::RunNow(FindJobs(store_.stores().jobs, {"train", "2", "3", "eval"}));
  ASSERT_TRUE(ids.ok());
  EXPECT_THAT(*ids, ElementsAre(JobId{3}, JobId{2}));
}

TEST_F(JobRef, APatternMeansEveryJobWhoseNameMatches) {
  const auto ids = test::RunNow(FindJobs(store_.stores().jobs, {"*a*", "2"}));
  ASSERT_TRUE(ids.ok());
  EXPECT_THAT(*ids, ElementsAre(JobId{1}, JobId{2}, JobId{3}));
  EXPECT_TRUE(ToRemove({"tr*"}).ok()) << "more than one is what it says";
  const auto none = test::RunNow(FindJobs(store_.stores().jobs, {"x*"}));
  EXPECT_EQ(none.error().message, "no job's name matches \"x*\"");
  EXPECT_TRUE(store_.Create({.name = "why?"}, "", {}).ok());
  EXPECT_THAT(*test::RunNow(FindJobs(store_.stores().jobs, {"why?"})), ElementsAre(JobId{5}))
      << "a name is a name";
}

TEST_F(JobRef, APatternOfTheShellIsAnsweredWithThoseThatThereAre) {
  for (const char* word : {"train-[23]", "{train,eval}", "train-[2]*"}) {
    const auto found = test::RunNow(FindJobs(store_.stores().jobs, {word}));
    ASSERT_FALSE(found.ok()) << word;
    EXPECT_THAT(found.error().hint, HasSubstr("only * and ? stand for other characters")) << word;
  }
  EXPECT_TRUE(store_.Create({.name = "a[1]"}, "", {}).ok());
  EXPECT_EQ(Find("a[1]"), JobId{5}) << "a name is a name";
}

TEST_F(JobRef, OneJobIsNotMeantByAPattern) {
  const auto one = test::RunNow(FindJob(store_.stores().jobs, "tr*"));
  ASSERT_FALSE(one.ok());
  EXPECT_EQ(one.error().message, "\"tr*\" is a pattern, and this is for one job");
  EXPECT_EQ(one.error().hint, "jobman list 'tr*' shows which there are");
}

TEST_F(JobRef, RemovingRefusesAnAmbiguousName) {
  const auto choice = ToRemove({"eval", "train"});
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(choice.error().message, "several jobs are named \"train\": 000001, 000003");
  EXPECT_TRUE(ToRemove({"eval", "1"}).ok());
}

TEST_F(JobRef, DeletedJobsMakeNoNameAmbiguous) {
  BeDeleted({3});
  EXPECT_THAT(*ToRemove({"train"}), ElementsAre(JobId{1}));
  BeDeleted({1});
  EXPECT_THAT(*ToRemove({"train"}), ElementsAre(JobId{3}));
}

TEST_F(JobRef, APatternMeansDeletedJobsOnlyWhereTheyAreOfUse) {
  BeDeleted({1});
  EXPECT_THAT(*test::RunNow(FindJobs(store_.stores().jobs, {"tr*"})), ElementsAre(JobId{3}));
  BeDeleted({3});
  EXPECT_EQ(test::RunNow(FindJobs(store_.stores().jobs, {"tr*"})).error().code,
            base::Code::kNotFound);
  EXPECT_THAT(*test::RunNow(FindJobs(store_.stores().jobs, {"tr*"}, {.with_deleted = true})),
              ElementsAre(JobId{1}, JobId{3}));
}

TEST_F(JobRef, ANameMeansAllItsJobsForACommandThatChoosesAmongThem) {
  const FindRules all{.all_of_name = true};
  EXPECT_THAT(*test::RunNow(FindJobs(store_.stores().jobs, {"train", "3"}, all)),
              ElementsAre(JobId{1}, JobId{3}));
  EXPECT_THAT(*test::RunNow(FindJobs(store_.stores().jobs, {"3"}, all)), ElementsAre(JobId{3}))
      << "a number is a number, though job 4 has it as its name";
}

TEST_F(JobRef, OneUnknownFailsThemAll) {
  const auto ids = test::RunNow(FindJobs(store_.stores().jobs, {"1", "nobody"}));
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().code, base::Code::kNotFound);
  EXPECT_THAT(ids.error().message, HasSubstr("nobody"));
}

}  // namespace
}  // namespace jobman::client
