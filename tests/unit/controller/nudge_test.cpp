#include "jobman/controller/nudge.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

class NudgeTest : public testing::Test {
 protected:
  /// Sends once the socket is bound, and runs the loop until that many pieces have arrived.
  std::vector<Nudge> Exchange(const base::Path& socket, const Nudge& nudge,
                              std::size_t pieces = 1) {
    std::vector<Nudge> got;
    base::CancelScope scope;
    auto listen = [](base::Path path, std::vector<Nudge>* out) -> base::Task<void> {
      auto on_nudge = [out](Nudge one) { out->push_back(std::move(one)); };
      const auto status = co_await ListenForNudges(path, on_nudge);
      EXPECT_TRUE(status.ok()) << status.error().ToString();
    };
    base::Spawn(loop_.get_executor(), scope, listen(socket, &got));
    loop_.poll();  // binds the socket
    std::thread sender([&] {
      const auto sent = SendNudge(socket, nudge);
      EXPECT_TRUE(sent.ok()) << sent.error().ToString();
    });
    for (int i = 0; got.size() < pieces && i < 1000; ++i) loop_.run_one();
    sender.join();
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

TEST_F(NudgeTest, CarriesAnyBytes) {
  Nudge nudge;
  nudge.secrets[1]["KEY"] = "\xff\xfe\x80 latin \xe9\x01\x1b";
  const auto got = Exchange(dir_.path() / "s", nudge);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].secrets, nudge.secrets);
}

// More than the queue of a datagram socket holds, and each as large as an environment string.
TEST_F(NudgeTest, CarriesMoreThanOneDatagramHolds) {
  constexpr std::size_t kMany = 24;
  Nudge nudge;
  for (std::size_t i = 0; i < kMany; ++i) {
    nudge.secrets[42]["SECRET_" + std::to_string(i)] = std::string(131000, 'x');
  }
  Secrets whole;
  for (const Nudge& piece : Exchange(dir_.path() / "s", nudge, kMany)) {
    for (const auto& [job, values] : piece.secrets) whole[job].insert(values.begin(), values.end());
  }
  EXPECT_EQ(whole, nudge.secrets);
}

TEST_F(NudgeTest, ReachesASocketWhosePathIsTooLongForTheKernel) {
  const base::Path deep = dir_.path() / std::string(120, 'x');
  ASSERT_TRUE(base::EnsureDir(deep).ok());
  EXPECT_EQ(Exchange(deep / "controller.sock", {}).size(), 1u);
}

TEST_F(NudgeTest, ReportsThatNobodyListens) {
  const auto sent = SendNudge(dir_.path() / "nobody", {});
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace jobman::controller
