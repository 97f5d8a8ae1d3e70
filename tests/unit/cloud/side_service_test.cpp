// Which server each service beside Cloud TPU is: Google's, the one that its variable names, or
// none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "jobman/cloud/billing_api.hpp"
#include "jobman/cloud/bucket_list.hpp"
#include "jobman/cloud/compute_api.hpp"
#include "jobman/cloud/oslogin_api.hpp"
#include "jobman/cloud/quota_api.hpp"
#include "jobman/cloud/storage_api.hpp"
#include "tests/support/dumpable.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using test::Loop;
using testing::HasSubstr;

/// Whether the cloud has the service: the port is made.
using Has = base::Result<bool>;
using Variables = std::map<std::string, std::string>;

template <auto make>
Has HasPort(asio::any_io_executor executor, const core::CloudSpec& spec, const auth::Env& env) {
  const auto made = make(std::move(executor), spec, env);
  if (!made.ok()) return made.error();
  return *made != nullptr;
}

struct ServiceCase {
  const char* name;
  const char* variable;
  Has (*has)(asio::any_io_executor, const core::CloudSpec&, const auth::Env&);
};

class SideServices : public testing::TestWithParam<ServiceCase> {
 protected:
  Has In(const std::string& cloud, const Variables& variables) {
    const auth::Env env = [&variables](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    return GetParam().has(loop_.context.get_executor(), {.endpoint = cloud}, env);
  }

 private:
  Loop loop_;
};

TEST_P(SideServices, OnlyGooglesCloudHasThem) {
  const Variables token = {{"GOOGLE_OAUTH_ACCESS_TOKEN", "t"}};
  EXPECT_TRUE(In("", token).value());
  EXPECT_TRUE(In("https://tpu.googleapis.com", token).value());
  for (const char* other : {"local", "http://127.0.0.1:1", "https://tpu.example.com"}) {
    EXPECT_FALSE(In(other, token).value()) << other;
  }
  EXPECT_EQ(In("", {}).error().code, Code::kUnauthenticated);
}

TEST_P(SideServices, TheVariableNamesThemForAnyCloud) {
  const std::string name = GetParam().variable;
  EXPECT_TRUE(In("local", {{name, "http://127.0.0.1:1"}}).value()) << "without credentials";
  EXPECT_FALSE(In("local", {{name, ""}}).value());
  EXPECT_EQ(In("local", {{name, "https://service.example.com"}}).error().code,
            Code::kUnauthenticated);
  for (const char* cloud : {"", "local"}) {
    for (const char* wrong : {"http://service.example.com", "service", "https://h/?x=1"}) {
      const Has has = In(cloud, {{name, wrong}, {"GOOGLE_OAUTH_ACCESS_TOKEN", "t"}});
      ASSERT_FALSE(has.ok()) << wrong;
      EXPECT_EQ(has.error().code, Code::kInvalidArgument) << wrong;
      EXPECT_THAT(has.error().ToString(), HasSubstr(name));
    }
  }
}

TEST_P(SideServices, WithCredentialsTheProcessCannotBeDumped) {
  const Variables token = {{"GOOGLE_OAUTH_ACCESS_TOKEN", "t"}};
  EXPECT_EQ(test::DumpableAfter([&] { static_cast<void>(In("", token)); }), 0);
  const Variables of_this_machine = {{GetParam().variable, "http://127.0.0.1:1"}};
  EXPECT_EQ(test::DumpableAfter([&] { static_cast<void>(In("local", of_this_machine)); }), 1)
      << "there is no secret";
}

INSTANTIATE_TEST_SUITE_P(
    Each, SideServices,
    testing::Values(ServiceCase{"Projects", "JOBMAN_COMPUTE_ENDPOINT", HasPort<MakeProjects>},
                    ServiceCase{"Logins", "JOBMAN_OSLOGIN_ENDPOINT", HasPort<MakeLogins>},
                    ServiceCase{"Quotas", "JOBMAN_QUOTA_ENDPOINT", HasPort<MakeQuotas>},
                    ServiceCase{"Buckets", "JOBMAN_STORAGE_ENDPOINT", HasPort<MakeBuckets>},
                    ServiceCase{"BucketList", "JOBMAN_STORAGE_ENDPOINT", HasPort<MakeBucketList>},
                    ServiceCase{"BucketSizes", "JOBMAN_MONITORING_ENDPOINT",
                                HasPort<MakeBucketSizes>},
                    ServiceCase{"Billing", "JOBMAN_BIGQUERY_ENDPOINT", HasPort<MakeBilling>}),
    [](const testing::TestParamInfo<ServiceCase>& service) { return service.param.name; });

}  // namespace
}  // namespace jobman::cloud
