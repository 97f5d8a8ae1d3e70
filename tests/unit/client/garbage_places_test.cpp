#include "jobman/client/garbage_places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_store.hpp"
#include "tests/support/run_now.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PlacesToSearchTest : public testing::Test {
 protected:
  void Put(const std::string& endpoint, const std::string& project, const std::string& zone,
           const std::string& token_file = {}) {
    core::Job job{.name = "train"};
    job.spec.cloud = {.endpoint = endpoint, .token_file = token_file};
    job.spec.tpu.project = project;
    job.spec.tpu.zone = zone;
    ASSERT_TRUE(store_.Create(job, "", {}).ok());
  }
  std::vector<std::string> Places(const PlaceWish& wish) {
    const auto places = test::RunNow(PlacesToSearch(store_.stores().jobs, wish));
    if (!places.ok()) return {places.error().ToString()};
    std::vector<std::string> texts;
    for (const CloudPlace& one : *places) {
      texts.push_back(one.cloud.endpoint + " " + one.place.project + " " + one.place.zone);
    }
    return texts;
  }

  test::StoreInMemory store_;
};

TEST_F(PlacesToSearchTest, AreThoseOfTheJobsEachOnce) {
  EXPECT_THAT(Places({}), IsEmpty());
  Put("http://a", "p", "z1");
  Put("http://a", "p", "z1");
  Put("http://a", "q", "z2");
  EXPECT_THAT(Places({}), ElementsAre("http://a q z2", "http://a p z1"));
}

TEST_F(PlacesToSearchTest, ARecordThatCannotBeUsedIsPassedOver) {
  Put("http://a", "p", "z1");
  Put("http://a", "p", "z2");
  Put("http://a", "p", "z3");
  store_.MakeUnreadable({1});
  store_.Damage({2});
  EXPECT_THAT(Places({}), ElementsAre("http://a p z3"));
}

TEST(CheckPlaces, ChecksAsInAJobFile) {
  EXPECT_TRUE(CheckPlaces({.projects = {"lab-1"}, .zones = {"us-central2-b"}}).ok());
  const auto region = CheckPlaces({.zones = {"us-central2-b", "us-central2"}});
  ASSERT_FALSE(region.ok());
  EXPECT_EQ(region.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(region.error().ToString(),
              AllOf(HasSubstr("--zone"), HasSubstr("\"us-central2\" is a region")));
  EXPECT_THAT(CheckPlaces({.projects = {"a/../b"}}).error().ToString(), HasSubstr("--project"));
}

TEST_F(PlacesToSearchTest, TheNewestJobsCredentialsAreTaken) {
  Put("http://a", "p", "z1", "/old");
  Put("http://a", "p", "z1", "/new");
  const auto places = test::RunNow(PlacesToSearch(store_.stores().jobs, {}));
  ASSERT_EQ(places->size(), 1u);
  EXPECT_EQ(places->front().cloud.token_file, "/new");
}

TEST_F(PlacesToSearchTest, GivenPlacesAreAddedAndCompletedFromTheJobs) {
  Put("http://a", "p", "z1");
  EXPECT_THAT(Places({.zones = {"z1", "z2"}}), ElementsAre("http://a p z1", "http://a p z2"));
  EXPECT_THAT(Places({.endpoint = "http://b", .projects = {"r"}}),
              ElementsAre("http://a p z1", "http://b r z1"));
}

TEST_F(PlacesToSearchTest, OrReplaceThoseOfTheJobs) {
  Put("http://a", "p", "z1");
  EXPECT_THAT(Places({.zones = {"z2"}, .only = true}), ElementsAre("http://a p z2"));
  EXPECT_THAT(Places({.only = true}), ElementsAre(HasSubstr("--only says nothing by itself")));
}

TEST_F(PlacesToSearchTest, AnUnknownProjectOrZoneMustBeGiven) {
  EXPECT_THAT(Places({.zones = {"z2"}}),
              ElementsAre(HasSubstr("no job tells which project to look in")));
  EXPECT_THAT(Places({.projects = {"p"}, .zones = {"z2"}}),
              ElementsAre("https://tpu.googleapis.com p z2"));
}

}  // namespace
}  // namespace jobman::client
