// storage asks services that answer, and services that refuse, hang or send nonsense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class StorageOverHttp : public testing::Test {
 protected:
  ~StorageOverHttp() override {
    for (const char* name : {"JOBMAN_STORAGE_ENDPOINT", "JOBMAN_MONITORING_ENDPOINT"})
      ::unsetenv(name);
  }
  static void AskFor(const char* variable, int port) {
    ::setenv(variable, ("http://127.0.0.1:" + std::to_string(port)).c_str(), 1);
  }
  Ran Ask(const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"--endpoint", "local", "storage"};
    args.insert(args.end(), more.begin(), more.end());
    return place_.Jobman(args);
  }

  Place place_;
};

std::string OneBucket(const std::string& request) {
  if (!base::Contains(request, "/storage/v1/b?")) return {};
  return R"({"items": [{"name": "data", "location": "US-CENTRAL2", "locationType": "region",
                        "storageClass": "STANDARD"}]})";
}

TEST_F(StorageOverHttp, BucketsHaveTheSizesThatMonitoringKnows) {
  const Listener storage(ServiceThatFinds(OneBucket));
  const Listener monitoring(ServiceThatFinds([](const std::string&) {
    return R"({"timeSeries": [{"resource": {"labels": {"bucket_name": "data"}},
                               "points": [{"value": {"doubleValue": 2048}}]}]})";
  }));
  AskFor("JOBMAN_STORAGE_ENDPOINT", storage.port());
  AskFor("JOBMAN_MONITORING_ENDPOINT", monitoring.port());
  const Ran ran = Ask();
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, ContainsRegex("data +us-central2 +region +STANDARD +2.0 KB\n"));
  EXPECT_EQ(Ask({"none"}).code, 3);
}

TEST_F(StorageOverHttp, WithoutSizesBucketsAreShown) {
  const Listener storage(ServiceThatFinds(OneBucket));
  const Listener monitoring(WebhookThatSays([] { return 403; }));
  AskFor("JOBMAN_STORAGE_ENDPOINT", storage.port());
  AskFor("JOBMAN_MONITORING_ENDPOINT", monitoring.port());
  const Ran ran = Ask();
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, ContainsRegex("data +us-central2 +region +STANDARD +-\n"));
  EXPECT_THAT(ran.out, HasSubstr("sizes are not known: "));
  EXPECT_THAT(ran.out, HasSubstr("roles/monitoring.viewer"));
}

TEST_F(StorageOverHttp, AnswersThatAreNoneAreNamed) {
  int calls = 0;
  const Listener storage(ServiceThatFinds([&calls](const std::string&) -> std::string {
    return ++calls == 1 ? "<html>log in</html>" : std::string(std::size_t{100} << 20, 'x');
  }));
  AskFor("JOBMAN_STORAGE_ENDPOINT", storage.port());
  const Ran html = Ask();
  EXPECT_EQ(html.code, 75) << html.All();
  EXPECT_THAT(html.out, HasSubstr("the answer is not that of Cloud Storage"));
  const Ran large = Ask();
  EXPECT_NE(large.code, 0);
  EXPECT_LT(large.All().size(), 4000U);
}

TEST_F(StorageOverHttp, AServiceThatHangsCostsItsTimeAndNoMore) {
  const Listener hangs(SayNothing);
  AskFor("JOBMAN_STORAGE_ENDPOINT", hangs.port());
  const Ran ran = Ask();
  EXPECT_EQ(ran.code, 75) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("buckets are not known: "));
}

}  // namespace
}  // namespace jobman::test
