#include "jobman/controller/nudge.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

class NudgeTest : public testing::Test {
 protected:
  /// Sends once the socket is bound, and runs the loop until it came.
  std::vector<Nudge> Exchange(const base::Path& socket, const Nudge& nudge) {
    std::vector<Nudge> got;
    base::CancelScope scope;
    auto listen = [](base::Path path, std::vector<Nudge>* out) -> base::Task<void> {
      auto on_nudge = [out](Nudge one) { out->push_back(std::move(one)); };
      const auto status = co_await ListenForNudges(path, on_nudge);
      EXPECT_TRUE(status.ok()) << status.error().ToString();
    };
    base::Spawn(loop_.get_executor(), scope, listen(socket, &got));
    loop_.poll();  // binds the socket
    EXPECT_TRUE(SendNudge(socket, nudge).ok());
    for (int i = 0; got.empty() && i < 1000; ++i) loop_.run_one();
    scope.Cancel();
    loop_.run();
    return got;
  }
  test::TempDir dir_;
  asio::io_context loop_;
};

TEST_F(NudgeTest, CarriesSecretsInMemory) {
  Nudge nudge;
  nudge.secrets[42]["TOKEN"] = "line one\nline \"two\"";
  const auto got = Exchange(dir_.path() / "s", nudge);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].secrets, nudge.secrets);
}

TEST_F(NudgeTest, ReachesASocketWhosePathIsTooLongForTheKernel) {
  const base::Path deep = dir_.path() / std::string(120, 'x');
  ASSERT_TRUE(base::EnsureDir(deep).ok());
  EXPECT_EQ(Exchange(deep / "controller.sock", {}).size(), 1u);
}

TEST_F(NudgeTest, WithoutAListenerItSaysSo) {
  const auto sent = SendNudge(dir_.path() / "nobody", {});
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace jobman::controller
