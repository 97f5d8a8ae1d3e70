#include "jobman/client/log_follower.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "jobman/base/file_times.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/modified.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;

/// Of this process.
int OpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<int>(std::distance(begin(files), end(files)));
}

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
  const auto take = [&said](const LogStage&, int, const LogPiece& piece) {
    said += piece.bytes;
    return true;
  };
  const auto done = FollowLogs(Context(), {{.follower = &follower, .take = take}});
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_TRUE(*done);
  EXPECT_EQ(said, "one two");
}

TEST_F(LogFollowerTest, AnInterruptedFollowerResumesWhereItStopped) {
  const core::Job job = Running();
  Write(job.id, "one ");
  std::vector<std::string> pieces;
  LogFollower follower(Context(), job.id, {});
  const auto take = [&pieces](const LogStage&, int, const LogPiece& piece) {
    pieces.emplace_back(piece.bytes);
    return true;
  };
  const std::vector<Followed> jobs = {{.follower = &follower, .take = take}};
  EXPECT_FALSE(*FollowLogs(Context(), jobs));
  Write(job.id, "two");
  End(job.id);
  on_pause_ = [] { return true; };
  EXPECT_TRUE(*FollowLogs(Context(), jobs));
  EXPECT_THAT(pieces, ElementsAre("one ", "two"));
}

/// Each look at it takes ten milliseconds.
class SlowClock final : public base::Clock {
 public:
  base::TimePoint Now() const override { return now += std::chrono::milliseconds{10}; }
  mutable base::TimePoint now = base::TimePoint{std::chrono::hours{24}};
};

class SlowLogFollower : public LogFollowerTest {
 protected:
  SlowLogFollower() { context_.clock = &slow_; }
  void Poll(LogFollower& follower) {
    const auto take = [](const LogStage&, int, const LogPiece&) { return true; };
    ASSERT_TRUE(Await(follower.Poll(take)).ok());
  }
  SlowClock slow_ = {};
  client::Context context_ = Context();
};

TEST_F(SlowLogFollower, AJobThatTakesLongToReadIsReadLessOften) {
  const core::Job job = Running();
  LogFollower follower(context_, job.id, {});
  Poll(follower);
  End(job.id);
  Poll(follower);
  EXPECT_FALSE(follower.done());
  slow_.now += std::chrono::seconds{1};
  Poll(follower);
  EXPECT_TRUE(follower.done());
}

TEST_F(SlowLogFollower, AClockThatIsSetBackDoesNotKeepItFromReading) {
  const core::Job job = Running();
  LogFollower follower(context_, job.id, {});
  Poll(follower);
  End(job.id);
  slow_.now -= std::chrono::hours{1};
  Poll(follower);
  EXPECT_TRUE(follower.done());
}

TEST_F(LogFollowerTest, OfSeveralJobsEachIsFollowedToItsOwnEnd) {
  const core::Job first = Running();
  const core::Job second = Running();
  std::vector<std::string> said;
  LogFollower one(Context(), first.id, {});
  LogFollower two(Context(), second.id, {});
  const auto follow = [&said](LogFollower& follower, const std::string& name) {
    return Followed{.follower = &follower,
                    .take =
                        [&said, name](const LogStage&, int, const LogPiece& piece) {
                          said.push_back(name + ": " + std::string(piece.bytes));
                          return true;
                        },
                    .looked =
                        [&said, &follower, name] {
                          if (follower.done()) said.push_back(name + " is over");
                        }};
  };
  int pauses = 0;
  on_pause_ = [&] {
    ++pauses;
    if (pauses == 1) Write(second.id, "b");
    if (pauses == 2) Write(first.id, "a");
    if (pauses == 2) End(second.id);
    if (pauses == 3) End(first.id);
    return pauses < 10;
  };
  EXPECT_TRUE(*FollowLogs(Context(), {follow(one, "one"), follow(two, "two")}));
  EXPECT_THAT(said, ElementsAre("two: b", "one: a", "two is over", "one is over"));
}

TEST_F(LogFollowerTest, AnErasedJobDoesNotEndTheOthers) {
  const core::Job gone = Running();
  const core::Job job = Running();
  int looks = 0;
  on_pause_ = [&] {
    if (++looks == 1) {
      core::Job deleted = *store_.Get(gone.id);
      deleted.state = core::Done{.outcome = core::Outcome::kDeleted};
      EXPECT_TRUE(store_.Commit({.job = deleted}, Token()).ok());
      EXPECT_TRUE(store_.Erase({gone.id, store_.Get(gone.id)->version}).ok());
      Write(job.id, "two");
    } else {
      End(job.id);
    }
    return looks < 10;
  };
  std::string said;
  const auto take = [&said](const LogStage&, int, const LogPiece& piece) {
    said += piece.bytes;
    return true;
  };
  LogFollower first(Context(), gone.id, {});
  LogFollower second(Context(), job.id, {});
  const auto done = FollowLogs(
      Context(), {{.follower = &first, .take = take}, {.follower = &second, .take = take}});
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_TRUE(*done);
  EXPECT_EQ(said, "two");
  EXPECT_EQ(first.job().id, gone.id) << "as it was last seen";
  EXPECT_EQ(core::StateName(first.job().state), "DELETED");
}

TEST_F(LogFollowerTest, BeginsWhereItIsToldAndSaysWhenOutputCame) {
  const core::Job job = Running();
  const base::Path log = Context().paths.LogPath(job.id.value, 1, "run", 0);
  Write(job.id, "old\n");
  const base::TimePoint before = base::FromMillis(1'767'225'500'000);
  test::SetModified(log, before);
  const base::TimePoint now = base::FromMillis(1'767'225'600'000);
  base::FileTimesWriter(log).Record(4, now, 1);
  Write(job.id, "new\n");
  End(job.id);
  std::vector<std::string> pieces;
  std::vector<std::optional<base::TimePoint>> came;
  LogFollower follower(Context(), job.id,
                       {.begin_at = [](const base::Path&) { return 2; }, .timed = true});
  const auto take = [&](const LogStage&, int, const LogPiece& piece) {
    pieces.emplace_back(piece.bytes);
    came.push_back(piece.at);
    return true;
  };
  on_pause_ = [] { return true; };
  EXPECT_TRUE(*FollowLogs(Context(), {{.follower = &follower, .take = take}}));
  EXPECT_THAT(pieces, ElementsAre("d\n", "new\n"));
  EXPECT_THAT(came, ElementsAre(before, now));
}

TEST_F(LogFollowerTest, AHostThatWritesALotKeepsNobodyWaiting) {
  const core::Job job = Running();
  const std::string much(LogFollower::kMostAtOnce * 5 / 2, 'x');
  const auto write = [&](int host, const std::string& text) {
    const auto path = Context().paths.LogPath(job.id.value, 1, "run", host);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app) << text;
  };
  write(0, much);
  write(1, "quiet");
  std::map<int, std::string> said;
  const auto take = [&said](const LogStage&, int host, const LogPiece& piece) {
    said[host] += piece.bytes;
    return true;
  };
  LogFollower follower(Context(), job.id, {});
  ASSERT_TRUE(Await(follower.Poll(take)).ok());
  EXPECT_EQ(said[1], "quiet") << "at the first look";
  EXPECT_EQ(said[0].size(), std::size_t{LogFollower::kMostAtOnce});
  EXPECT_TRUE(follower.behind());
  End(job.id);
  while (!follower.done()) ASSERT_TRUE(Await(follower.Poll(take)).ok());
  EXPECT_FALSE(follower.behind());
  EXPECT_TRUE(said[0] == much) << said[0].size();
}

TEST_F(LogFollowerTest, OfManyHostsOneLogIsOpenAtATime) {
  constexpr int kHosts = 300;
  const core::Job job = Running();
  const auto write = [&](const std::string& text) {
    for (int host = 0; host < kHosts; ++host) {
      const auto path = Context().paths.LogPath(job.id.value, 1, "run", host);
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::app) << text;
    }
  };
  int most = 0;
  std::string said;
  const auto take = [&](const LogStage&, int, const LogPiece& piece) {
    most = std::max(most, OpenFiles());
    said += piece.bytes;
    return true;
  };
  write("a");
  const int before = OpenFiles();
  LogFollower follower(Context(), job.id, {});
  ASSERT_TRUE(Await(follower.Poll(take)).ok());
  EXPECT_EQ(said, std::string(kHosts, 'a'));
  write("b");
  ASSERT_TRUE(Await(follower.Poll(take)).ok());
  EXPECT_EQ(said.size(), std::size_t{2} * kHosts);
  EXPECT_LE(most, before + 8) << "the log, and watches of folders";
}

TEST_F(LogFollowerTest, WhatIsReadInPartsOfALogWithTimesIsWhole) {
  const core::Job job = Running();
  std::string text;
  for (int line = 0; std::ssize(text) < LogFollower::kMostAtOnce * 3 / 2; ++line)
    text += "line " + std::to_string(line) + "\n";
  Write(job.id, text);
  base::FileTimesWriter times(Context().paths.LogPath(job.id.value, 1, "run", 0));
  times.Record(0, base::FromMillis(1'767'225'600'000), 1);
  times.Record(LogFollower::kMostAtOnce - 7, base::FromMillis(1'767'225'601'000), 1);
  End(job.id);
  std::string said;
  const auto take = [&said](const LogStage&, int, const LogPiece& piece) {
    said += piece.bytes;
    return true;
  };
  LogFollower follower(Context(), job.id, {.timed = true});
  while (!follower.done()) ASSERT_TRUE(Await(follower.Poll(take)).ok());
  EXPECT_TRUE(said == text) << said.size();
}

TEST_F(LogFollowerTest, AHostThatBeginsLateIsFoundAfterManyLooks) {
  const core::Job job = Running();
  const auto write = [&](int host, const std::string& text) {
    const auto path = Context().paths.LogPath(job.id.value, 1, "run", host);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app) << text;
  };
  write(0, "early");
  std::string said;
  const auto take = [&said](const LogStage&, int host, const LogPiece& piece) {
    said += std::to_string(host) + " " + std::string(piece.bytes) + ";";
    return true;
  };
  LogFollower follower(Context(), job.id, {});
  for (int look = 0; look < 200; ++look) ASSERT_TRUE(Await(follower.Poll(take)).ok());
  write(3, "late");
  End(job.id);
  while (!follower.done()) ASSERT_TRUE(Await(follower.Poll(take)).ok());
  EXPECT_EQ(said, "0 early;3 late;");
}

}  // namespace
}  // namespace jobman::client
