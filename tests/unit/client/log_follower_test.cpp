#include "jobman/client/log_follower.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "jobman/controller/controller.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;

class LogFollowerTest : public test::ClientWorld {
 protected:
  LogFollowerTest() {
    EXPECT_TRUE(store_.TakeLease(controller::LeaseHolder(), clock_.Now(), kLong).ok());
  }
  core::Job Running() {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    job.state = core::Running{};
    const auto id = store_.Create(job, "", clock_.Now());
    job = *store_.Get(*id);
    job.wish_new = false;
    EXPECT_TRUE(store_.Commit({.job = job}, Token()).ok());
    return *store_.Get(*id);
  }
  std::int64_t Token() { return store_.CurrentLease()->value().token; }
  void Write(core::JobId job, const std::string& text) {
    const auto path = Context().paths.LogPath(job.value, 1, "run", 0);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app) << text;
  }
  void End(core::JobId id) {
    core::Job job = *store_.Get(id);
    job.state = core::Done{};
    EXPECT_TRUE(store_.Commit({.job = job}, Token()).ok());
  }

  static constexpr base::Duration kLong = std::chrono::hours{1};
};

TEST_F(LogFollowerTest, FollowsUntilTheJobIsOverAndEverythingIsRead) {
  const core::Job job = Running();
  Write(job.id, "one ");
  on_pause_ = [&] {
    if (core::IsFinal(store_.Get(job.id)->state)) return true;
    Write(job.id, "two");
    End(job.id);
    return true;
  };
  std::string said;
  LogFollower follower(Context(), job.id, {});
  const auto done = follower.Follow(
      [&said](const LogStage&, int, std::string_view bytes) {
        said += bytes;
        return true;
      },
      {});
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_TRUE(*done);
  EXPECT_EQ(said, "one two");
}

TEST_F(LogFollowerTest, AnInterruptedFollowerResumesWhereItStopped) {
  const core::Job job = Running();
  Write(job.id, "one ");
  std::vector<std::string> pieces;
  LogFollower follower(Context(), job.id, {});
  const auto take = [&pieces](const LogStage&, int, std::string_view bytes) {
    pieces.emplace_back(bytes);
    return true;
  };
  EXPECT_FALSE(*follower.Follow(take, {}));
  Write(job.id, "two");
  End(job.id);
  on_pause_ = [] { return true; };
  EXPECT_TRUE(*follower.Follow(take, {}));
  EXPECT_THAT(pieces, ElementsAre("one ", "two"));
}

}  // namespace
}  // namespace jobman::client
