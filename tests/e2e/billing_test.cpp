// billing asks a BigQuery that answers, and one that refuses, hangs or sends nonsense.
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

class BillingOverHttp : public testing::Test {
 protected:
  ~BillingOverHttp() override { ::unsetenv("JOBMAN_BIGQUERY_ENDPOINT"); }
  Ran Ask(const Listener& listener, const std::string& table = "lab.bills.export") {
    const std::string endpoint = "http://127.0.0.1:" + std::to_string(listener.port());
    ::setenv("JOBMAN_BIGQUERY_ENDPOINT", endpoint.c_str(), 1);
    return place_.Jobman({"--endpoint", "local", "billing", "--table", table});
  }

  Place place_;
};

TEST_F(BillingOverHttp, AQueryThatRunsIsWaitedFor) {
  const Listener bigquery(ServiceThatFinds([](const std::string& request) -> std::string {
    if (request.starts_with("POST "))
      return R"({"jobComplete": false, "jobReference": {"projectId": "p", "jobId": "j"}})";
    return R"({"jobComplete": true, "totalRows": "1", "rows": [{"f": [{"v": "2026-01-01"},
               {"v": "TpuV4 Spot"}, {"v": "12.5"}, {"v": "USD"}]}]})";
  }));
  const Ran ran = Ask(bigquery);
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, ContainsRegex("2026-01-01  TpuV4 Spot +12.50  USD\n"));
  EXPECT_THAT(ran.out, ContainsRegex("total +12.50  USD\n"));
  ASSERT_EQ(bigquery.heard().size(), 2U);
  EXPECT_THAT(bigquery.heard()[0], HasSubstr("maximumBytesBilled"));
  EXPECT_EQ(Ask(bigquery, "export").code, 2) << "no project.dataset.table";
}

TEST_F(BillingOverHttp, RefusalsAndNonsenseAreNamed) {
  const Listener refuses(WebhookThatSays([] { return 403; }));
  const Ran refused = Ask(refuses);
  EXPECT_EQ(refused.code, 4) << refused.All();
  EXPECT_THAT(refused.err, HasSubstr("roles/bigquery.jobUser"));
  int calls = 0;
  const Listener odd(ServiceThatFinds([&calls](const std::string&) -> std::string {
    ++calls;
    if (calls == 1) return {};  // 404
    return calls == 2 ? "<html>log in</html>" : std::string(std::size_t{100} << 20, 'x');
  }));
  EXPECT_EQ(Ask(odd).code, 3);
  EXPECT_EQ(Ask(odd).code, 75);
  const Ran large = Ask(odd);
  EXPECT_NE(large.code, 0);
  EXPECT_LT(large.All().size(), 4000U);
}

TEST_F(BillingOverHttp, AServiceThatHangsIsWaitedForAWhileAndNamed) {
  const Listener hangs(SayNothing);
  const Ran ran = Ask(hangs);
  EXPECT_EQ(ran.code, 75) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("/bigquery/v2/projects/"));
  EXPECT_THAT(ran.err, HasSubstr("127.0.0.1"));
  EXPECT_THAT(ran.err, HasSubstr("no complete answer in time"));
  EXPECT_THAT(ran.err, HasSubstr("JOBMAN_BIGQUERY_ENDPOINT")) << "fewer days would not help";
}

}  // namespace
}  // namespace jobman::test
