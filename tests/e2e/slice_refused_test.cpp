// The cloud refuses the request: transient errors are retried, permanent ones end the job with
// their cure.
#include <algorithm>

#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SliceRefused : public RehearsalInEachWay {
 protected:
  /// The job waits in BACKOFF for a short time, and `why` says what to do.
  void Waits(const std::string& why, const std::string& cure = "") {
    EXPECT_TRUE(place().Until("BACKOFF: " + why, [&] {
      const std::string told = Jobman({"why", id()}).out;
      return base::Contains(told, "BACKOFF") && base::Contains(told, why) &&
             base::Contains(told, cure);
    }));
  }
  void ComesBack() {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
    EXPECT_GT(Creates(), 1);
  }
};

TEST_P(SliceRefused, QuotaIsAwaited) {
  const std::string less = std::to_string(8 * way().nodes - 4);  // a v4-8 has 8 cores
  Sim({"set", "quota.us-central2-b/v4-spot=" + less});
  Create("true", way().Settings());
  Waits("Limit: " + less + " in zone us-central2-b", "delete slices you do not need");
  Sim({"set", "quota.us-central2-b/v4-spot=64"});
  ComesBack();
  const int parts = way().Requests() > 1 ? way().Requests() : 0;
  EXPECT_EQ(Deletes(), (Attempt() - 1) * parts)
      << "granted nodes are deleted meanwhile, and what may have been granted is looked for";
}

TEST_P(SliceRefused, ARateLimitIsHonoured) {
  Sim({"fault", "*.create", "rate_limit", "--retry-after", "15"});
  Create("true", way().Settings());
  Waits("Quota exceeded for quota metric");
  ComesBack();
  EXPECT_EQ(Creates(), 1 + way().Requests());
  EXPECT_EQ(Deletes(), 0) << "there was nothing";
}

INSTANTIATE_TEST_SUITE_P(Ways, SliceRefused, kEachWay, NameOf);

/// The refusal; the exit code of the job; a part of the cure.
struct Refusal {
  const char* fault;
  int exit_code;
  const char* cure;
};
const Refusal kRefusals[] = {{"quota", 4, "waiting does not help"},
                             {"denied", 4, "--role=roles/tpu.admin"},
                             {"api_disabled", 4, "gcloud services enable tpu.googleapis.com"},
                             {"zone_denied", 4, "choose another zone"},
                             {"bad_type", 2, "choose another tpu.accelerator or tpu.zone"},
                             {"bad_zone", 2, "jobman zones --project="},
                             {"bad_runtime", 2, "jobman zones us-"}};

class RefusedForGood : public Rehearsal,
                       public testing::WithParamInterface<std::tuple<Refusal, Way>> {};

TEST_P(RefusedForGood, EndsAtOnceWithTheCure) {
  const auto& [refusal, way] = GetParam();
  Sim({"fault", "*.create", refusal.fault, "--times", "100"});
  Create("true", way.Settings());
  ASSERT_TRUE(Reaches("FAILED"));
  EXPECT_EQ(ExitCode(), refusal.exit_code);
  EXPECT_THAT(Jobman({"why", id()}).out, HasSubstr(refusal.cure));
  EXPECT_EQ(Creates(), 1) << "there is no retry";
  EXPECT_EQ(Deletes(), 0);
}

class Followed : public Rehearsal {};

TEST_F(Followed, ToARefusalForGoodTheLastLinesAreTheCure) {
  Sim({"fault", "*.create", "quota", "--times", "100"});
  const Ran ran = Jobman({"run", place().JobFile("zero", 1, "true")});
  EXPECT_EQ(ran.code, 4) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("next: waiting does not help: choose another zone"));
  EXPECT_THAT(ran.out, HasSubstr("  jobman edit "));
  const std::string end = ran.out.substr(std::min(ran.out.find("FAILED: "), ran.out.size()));
  EXPECT_THAT(end, Not(HasSubstr("jobman logs")));
}

class CredentialsRefused : public SliceRefused {};

TEST_P(CredentialsRefused, AreAwaitedAsAMissingTokenIs) {
  Sim({"fault", "*.create", "unauthenticated", "--times", "100"});
  Rehearsal::Create("true", way().Settings());
  Waits("gcloud auth login");
  Sim({"calm"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
}

INSTANTIATE_TEST_SUITE_P(Ways, CredentialsRefused, kEachWay, NameOf);

std::string RefusalName(const testing::TestParamInfo<std::tuple<Refusal, Way>>& made) {
  const auto& [refusal, way] = made.param;
  return std::string(refusal.fault) + "_" + way.name;
}

INSTANTIATE_TEST_SUITE_P(Reasons, RefusedForGood,
                         testing::Combine(testing::ValuesIn(kRefusals), kEachWay), RefusalName);

/// A request that the zone does not offer is refused before a job is created.
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

/// One of several names is taken: nodes with the other names are deleted.
class NameTaken : public RehearsalInEachWay {};

TEST_P(NameTaken, TheNextNameIsRequestedAndTheirsIsLeftAlone) {
  Sim({"fault", "*.create", "taken"});
  Create("true", way().Settings());
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  const std::string taken = Slice() + (way().Requests() > 1 ? "-0" : "");
  EXPECT_THAT(History(),
              HasSubstr("the name " + taken + " is taken by a resource that is not ours"));
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1");
  EXPECT_EQ(Creates(), 2 * way().Requests());
  EXPECT_EQ(Deletes(), way().Requests() - 1) << "its own nodes";
  EXPECT_THAT(Cloud(), AllOf(HasSubstr(Slice(1)), HasSubstr(Slice(2))));
  EXPECT_EQ(Jobman({"delete", id(), "--wait"}).code, 0);
  EXPECT_THAT(Cloud(), AllOf(HasSubstr(Slice(1)), Not(HasSubstr(Slice(2)))));
  Way theirs = way();
  if (theirs.direct) theirs.nodes = 1;
  Sim({"delete", theirs.Resource(taken)});
}

INSTANTIATE_TEST_SUITE_P(Ways, NameTaken, kEachWay, NameOf);

}  // namespace
}  // namespace jobman::test
