#include "jobman/controller/change_logins.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_slice_api.hpp"
#include "tests/support/run_now.hpp"

namespace jobman::controller {
namespace {

/// A cloud that takes its time with a change, which may fail in the end.
class SlowChange final : public test::FakeSliceApi {
 public:
  using FakeSliceApi::FakeSliceApi;
  base::Task<base::Result<core::OperationSeen>> ChangeLogins(core::Place, std::string,
                                                             core::LoginChange) override {
    co_return core::OperationSeen{.name = "operations/o"};
  }
  base::Task<base::Result<core::OperationSeen>> GetOperation(std::string name) override {
    asked = std::move(name);
    co_return core::OperationSeen{.done = true, .error = end};
  }
  std::optional<base::Error> end = {};
  std::string asked = {};
};

TEST(ChangeLogins, EndsWithTheOperation) {
  const test::FakeClock clock;
  const auto cloud = std::make_shared<SlowChange>(clock);
  EXPECT_TRUE(test::RunNow(ChangeLogins(cloud, {}, "a", {})).ok());
  EXPECT_EQ(cloud->asked, "operations/o");
  cloud->end = base::Error{.code = base::Code::kFailedPrecondition, .message = "not READY"};
  const auto failed = test::RunNow(ChangeLogins(cloud, {}, "a", {}));
  ASSERT_FALSE(failed.ok()) << "it was accepted, and not done";
  EXPECT_EQ(failed.error().message, "not READY");
}

}  // namespace
}  // namespace jobman::controller
