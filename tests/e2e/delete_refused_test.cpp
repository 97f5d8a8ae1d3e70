// The cloud refuses to delete a slice: it is told where the user looks, and asked again.
#include <chrono>
#include <utility>

#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DeleteRefused : public RehearsalInEachWay {
 protected:
  void RefuseDeletes(const std::string& error) {
    Sim({"fault", "*.delete", error, "--times", "1000"});
  }
  /// Deletes that arrived since the last call.
  std::int64_t NewDeletes() {
    const std::int64_t all = Deletes();
    return all - std::exchange(seen_, all);
  }

 private:
  std::int64_t seen_ = 0;
};

TEST_P(DeleteRefused, IsToldAndGoesOnAsSoonAsItMay) {
  CreateAndRun();
  RefuseDeletes("denied");
  ASSERT_EQ(Jobman({"delete", id()}).code, 0);
  const std::string refused = "the cloud refuses to delete slice " + Slice();
  ASSERT_TRUE(WhySays(refused));
  const std::string why = Jobman({"why", id()}).out;
  EXPECT_THAT(why, AllOf(HasSubstr("the cloud has refused to delete slice"), HasSubstr("next")));
  EXPECT_THAT(Jobman({"list", "--json"}).out, HasSubstr(refused));
  EXPECT_THAT(History(), HasSubstr(refused));
  EXPECT_EQ(StateOf(), "DELETING");
  EXPECT_THAT(Cloud(), HasSubstr(Slice()));

  const pid_t waiting = place().Start({"delete", id(), "--wait"});
  ASSERT_TRUE(place().Until("the wait to say so", [&] {
    const auto said = base::ReadFile(place().home() / "controller.log").value_or("");
    return base::Contains(said, "  DELETING      " + refused);
  }));
  Sim({"calm"});
  EXPECT_EQ(Jobman({"delete", id(), "--wait"}).code, 0);  // a new wish asks at once
  EXPECT_EQ(place().EndOf(waiting), 0);
  EXPECT_EQ(StateOf(), "DELETED");
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice())));
}

TEST_P(DeleteRefused, AFaultOfTheServiceIsToldAsWell) {
  CreateAndRun();
  RefuseDeletes("internal");
  ASSERT_EQ(Jobman({"delete", id()}).code, 0);
  ASSERT_TRUE(WhySays("the cloud refuses to delete slice " + Slice()));
  Sim({"calm"});
  EXPECT_EQ(Jobman({"delete", id(), "--wait"}).code, 0);
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice())));
}

TEST_P(DeleteRefused, IsNotSentTwiceAtOnce) {
  CreateAndRun();
  RefuseDeletes("denied");
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(Jobman({"delete", id()}).code, 0);
  ASSERT_TRUE(WhySays("the cloud refuses to delete"));
  (void)NewDeletes();
  for (int time = 0; time < 3; ++time) {
    Sim({"fault", "nodes.list", "list_unreachable", "--times", "6"});
    ASSERT_TRUE(
        place().Until("the lists to fail", [&] { return !base::Contains(Cloud(), "nodes.list"); }));
    ASSERT_TRUE(place().Until("the cloud to answer again", [&] {
      return !base::Contains(Jobman({"why", id()}).out, "has not answered for");
    }));
  }
  const auto deletes = NewDeletes();
  const auto minutes =
      std::chrono::duration_cast<std::chrono::minutes>(std::chrono::steady_clock::now() - begin);
  EXPECT_LE(deletes, minutes.count()) << "it was refused, and is asked again after a minute";
}

INSTANTIATE_TEST_SUITE_P(Ways, DeleteRefused, testing::Values(kQueued, kDirectly), NameOf);

}  // namespace
}  // namespace jobman::test
