// The cloud refuses the request: what passes is waited for, what does not ends the job with its
// cure.
#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SliceRefused : public Rehearsal {
 protected:
  /// Waits in BACKOFF, with `why`, and is told what to do about it; not for long.
  void Waits(const std::string& why, const std::string& cure = "") {
    EXPECT_TRUE(place().Until("BACKOFF: " + why, [&] {
      const std::string told = Jobman({"why", id()}).out;
      return base::Contains(told, "BACKOFF") && base::Contains(told, why) &&
             base::Contains(told, cure);
    }));
    EXPECT_EQ(Deletes(), 0) << "there was nothing";
  }
  void ComesBack() {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
    EXPECT_GT(Creates(), 1);
  }
};

TEST_F(SliceRefused, QuotaIsWaitedFor) {
  Sim({"set", "quota.us-central2-b/v4-spot=4"});  // less than the 8 cores of a v4-8
  Create("true", {kDirect});
  Waits("Limit: 4 in zone us-central2-b", "delete slices that nobody needs");
  Sim({"set", "quota.us-central2-b/v4-spot=64"});
  ComesBack();
}

TEST_F(SliceRefused, TooManyRequestsAreFewerAfterTheTimeThatTheCloudNames) {
  Sim({"fault", "queuedResources.create", "rate_limit", "--retry-after", "5"});
  Create("true");
  Waits("Quota exceeded for quota metric");
  ComesBack();
  EXPECT_EQ(Creates(), 2);
}

/// What the request is refused with; the exit code of the job; a part of the cure.
struct Refusal {
  const char* fault;
  int exit_code;
  const char* cure;
};
class RefusedForGood : public Rehearsal, public testing::WithParamInterface<Refusal> {};

TEST_P(RefusedForGood, EndsAtOnceWithTheCure) {
  Sim({"fault", "*.create", GetParam().fault, "--times", "100"});
  const bool direct = GetParam().exit_code == 2;
  Create("true", direct ? std::vector<std::string>{kDirect} : std::vector<std::string>{});
  ASSERT_TRUE(Reaches("FAILED"));
  EXPECT_EQ(ExitCode(), GetParam().exit_code);
  EXPECT_THAT(Jobman({"why", id()}).out, HasSubstr(GetParam().cure));
  EXPECT_EQ(Creates(), 1);
  EXPECT_EQ(Deletes(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, RefusedForGood,
    testing::Values(Refusal{"quota", 4, "waiting does not help"},
                    Refusal{"denied", 4, "--role=roles/tpu.admin"},
                    Refusal{"api_disabled", 4, "gcloud services enable tpu.googleapis.com"},
                    Refusal{"zone_denied", 4, "choose another zone"},
                    Refusal{"unauthenticated", 5, "gcloud auth login"},
                    Refusal{"bad_type", 2, "choose another tpu.accelerator or tpu.zone"},
                    Refusal{"bad_zone", 2, "gcloud compute tpus locations list"},
                    Refusal{"bad_runtime", 2, "gcloud compute tpus versions list"}),
    [](const auto& refusal) { return std::string(refusal.param.fault); });

/// What the zone does not offer is refused before there is a job.
class OfferedElsewhere : public Rehearsal {
 protected:
  void IsRefused(const std::string& setting, const std::string& says) {
    const Ran ran = Jobman({"create", place().JobFile("job", 1, "true"), "--set", setting});
    EXPECT_EQ(ran.code, 2) << ran.All();
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(Creates(), 0);
  }
};

TEST_F(OfferedElsewhere, TheType) {
  IsRefused("tpu.accelerator=v5p-8", "zone us-central2-b does not offer v5p-8");
}
TEST_F(OfferedElsewhere, TheZone) {
  IsRefused("tpu.zone=moon-north1-a", "moon-north1-a");
}
TEST_F(OfferedElsewhere, TheRuntime) {
  IsRefused("tpu.version=tpu-windows", "does not offer the runtime version tpu-windows");
}

class NameTaken : public RehearsalInBothModes {};

TEST_P(NameTaken, TheNextNameIsAskedForAndTheirsIsLeftAlone) {
  Sim({"fault", "*.create", "taken"});
  Create("true", {Mode()});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(History(),
              HasSubstr("the name " + Slice() + " is taken by a resource that is not ours"));
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1");
  EXPECT_EQ(Creates(), 2);
  EXPECT_EQ(Deletes(), 0);
  EXPECT_THAT(Cloud(), AllOf(HasSubstr(Slice(1)), HasSubstr(Slice(2))));
  EXPECT_EQ(Jobman({"delete", id(), "--wait"}).code, 0);
  EXPECT_THAT(Cloud(), AllOf(HasSubstr(Slice(1)), Not(HasSubstr(Slice(2)))));
  Sim({"delete", "projects/local-project/locations/us-central2-b/" + Kind() + "/" + Slice()});
}

INSTANTIATE_TEST_SUITE_P(Modes, NameTaken, kBothModes, ModeName);

}  // namespace
}  // namespace jobman::test
