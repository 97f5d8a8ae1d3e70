#include "cli/job_label.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

using testing::ElementsAre;

std::vector<core::Job> Named(const std::vector<std::string>& names) {
  std::vector<core::Job> jobs;
  for (const std::string& name : names) {
    jobs.push_back({.id = {static_cast<std::int64_t>(jobs.size()) + 1}, .name = name});
  }
  return jobs;
}

std::vector<std::string> PrefixesOf(const std::vector<std::string>& names, bool utf8 = true) {
  std::vector<std::string> prefixes;
  for (const JobLabel& label : LabelsOf(Named(names), utf8)) prefixes.push_back(label.prefix);
  return prefixes;
}

TEST(JobLabel, NamesAreOfTheSameWidth) {
  EXPECT_THAT(PrefixesOf({"sweep-9", "sweep-10"}), ElementsAre("sweep-9  ", "sweep-10 "));
  EXPECT_THAT(PrefixesOf({"größe", "eval"}), ElementsAre("größe ", "eval  "));
  EXPECT_THAT(PrefixesOf({"größe", "eval"}, false), ElementsAre("gr??e ", "eval  "));
}

TEST(JobLabel, AJobAloneNeedsNone) {
  const auto labels = LabelsOf(Named({"train"}), true);
  ASSERT_EQ(labels.size(), 1U);
  EXPECT_EQ(labels[0].prefix, "");
  EXPECT_EQ(labels[0].title, "");
}

TEST(JobLabel, WhereANameDoesNotTellThemApartANumberDoes) {
  EXPECT_THAT(PrefixesOf({"train", "train", "eval"}), ElementsAre("000001 ", "000002 ", "000003 "));
  EXPECT_THAT(PrefixesOf({"train", ""}), ElementsAre("000001 ", "000002 "));
}

TEST(JobLabel, LongNamesLeaveRoomForTheLine) {
  const std::string longest(20, 'x');
  EXPECT_THAT(PrefixesOf({longest, "eval"}),
              ElementsAre(longest + " ", "eval" + std::string(17, ' ')));
  EXPECT_THAT(PrefixesOf({longest + "x", "eval"}), ElementsAre("000001 ", "000002 "));
}

TEST(JobLabel, BesideItsNumberALongNameIsCut) {
  const auto jobs = Named({"eval", std::string(21, 'x')});
  EXPECT_EQ(NumberAndShortName(jobs[0], true), "000001 eval");
  EXPECT_EQ(NumberAndShortName(jobs[1], true), "000002 " + std::string(19, 'x') + "…");
}

TEST(JobLabel, ItsTitleHasNumberAndName) {
  const auto labels = LabelsOf(Named({"a\nb", "eval"}), true);
  EXPECT_EQ(labels[0].title, "job 000001 (a b), ");
  EXPECT_EQ(labels[1].title, "job 000002 (eval), ");
  EXPECT_EQ(labels[1].number, 1);
}

}  // namespace
}  // namespace jobman::cli
