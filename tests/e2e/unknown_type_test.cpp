// Types that this program's table does not know are asked of the API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class UnknownType : public testing::Test {
 protected:
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    for (const char* type : {"v4-8192=2", "v9x-16=3"}) {
      ASSERT_EQ(place_.Sim({"set", "types.us-central2-b/" + std::string(type)}).code, 0);
    }
  }
  /// The command with this job file of this type.
  Ran With(const std::string& type, std::vector<std::string> command, std::string more = {}) {
    const std::string file = place_.JobFile("job", 1, "echo here; nproc >/dev/null", more);
    command.insert(command.end(), {file, "--set", "tpu.accelerator=" + type});
    return place_.Jobman(command);
  }
  std::int64_t Creates() {
    const auto log = base::ParseJson(place_.Sim({"requests"}).out);
    return base::GetInt(base::GetMember(*log, "counts"), "queuedResources.create");
  }
  Place place_;
};

TEST_F(UnknownType, HostsComeFromTheNode) {
  const Ran checked = With("v4-8192", {"config", "check"});
  EXPECT_EQ(checked.code, 0) << checked.All();
  EXPECT_THAT(checked.out,
              AllOf(HasSubstr("warning: v4-8192 is not known here"), HasSubstr("is valid")));
  const Ran dry = With("v4-8192", {"create", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.All();
  EXPECT_THAT(dry.out, HasSubstr("\"acceleratorType\": \"v4-8192\""));
  EXPECT_THAT(dry.err, HasSubstr("its hosts and chips come from the API"));
  EXPECT_EQ(Creates(), 0);

  const Ran ran = With("v4-8192", {"run"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.All(), HasSubstr("Created job 000001 (job): v4-8192, in us-central2-b"));
  EXPECT_EQ(place_.Log(1, 1, "run", 0), "here\n");
  EXPECT_EQ(place_.Log(1, 1, "run", 1), "here\n");
  EXPECT_EQ(place_.Show("job")["slice"]["hosts"].size(), 2u);
  EXPECT_THAT(place_.Jobman({"list"}).out, HasSubstr("v4-8192"));
  EXPECT_EQ(place_.Jobman({"delete", "job", "--wait"}).code, 0);
}

TEST_F(UnknownType, ANewerGenerationNeedsOnlyItsRuntime) {
  const Ran refused = With("v9x-16", {"create"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("tpu.version is missing"),
                                 HasSubstr("the type v9x-16 is not known here")));
  const Ran ran = With("v9x-16", {"run", "--set", "tpu.version=tpu-ubuntu2204-base"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_EQ(place_.Log(1, 1, "run", 2), "here\n");
  EXPECT_EQ(place_.Jobman({"delete", "job", "--wait"}).code, 0);
}

TEST_F(UnknownType, AHostThatTheNodeDoesNotHaveFailsTheJobWhenItIsReady) {
  const Ran ran = With("v4-8192", {"run", "--set", "command.workers=[5]"});
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(place_.Jobman({"why", "job"}).out,
              AllOf(HasSubstr("command.workers names host 5"), HasSubstr("has hosts 0-1")));
  EXPECT_EQ(place_.Jobman({"delete", "job", "--wait"}).code, 0);
}

TEST_F(UnknownType, ATypoIsToldWithTheNearestNameAndNothingIsRequested) {
  EXPECT_THAT(With("v4-8x", {"config", "check"}).out, HasSubstr("did you mean v4-8?"));
  const Ran refused = With("v4-8x", {"create"});
  EXPECT_EQ(refused.code, 2) << refused.All();
  EXPECT_THAT(refused.err, AllOf(HasSubstr("zone us-central2-b does not offer v4-8x"),
                                 HasSubstr("did you mean v4-8?")));
  const Ran none = With("v99", {"config", "check"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.out, AllOf(HasSubstr("the type v99 is not known here"),
                              HasSubstr("types are written like v2-8"), Not(HasSubstr("valid"))));
  EXPECT_EQ(Creates(), 0);
}

/// When the offer cannot be asked for, the cloud's refusal is told.
TEST_F(UnknownType, ARefusalOfTheCreateIsToldByWhy) {
  ASSERT_EQ(place_.Sim({"fault", "acceleratorTypes.list", "unavailable", "--times", "1000"}).code,
            0);
  const Ran ran = With("v4-8x", {"run"});
  EXPECT_EQ(ran.code, 2) << ran.All();
  EXPECT_THAT(place_.Jobman({"why", "job"}).out, AllOf(HasSubstr("FAILED"), HasSubstr("v4-8x")));
}

}  // namespace
}  // namespace jobman::test
