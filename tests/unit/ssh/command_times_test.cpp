#include "ssh/command_times.hpp"

#include <gtest/gtest.h>

namespace jobman::ssh {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Deadline At(milliseconds since_begin) {
  return Deadline{} + std::chrono::hours{1} + since_begin;
}

/// A look that waited for nothing and found nothing.
CommandTimes::Look LookAt(milliseconds time) {
  return {.woken = At(time), .now = At(time)};
}

/// Of a command whose exit code arrived after ten seconds, with a linger of five.
CommandTimes Exited() {
  CommandTimes times({.linger = seconds{5}}, At(seconds{0}));
  auto look = LookAt(seconds{10});
  look.exited = true;
  times.Note(look);
  return times;
}

TEST(CommandTimes, ASilenceBeginsWithTheLastByte) {
  CommandTimes times({.silence = seconds{60}}, At(seconds{0}));
  EXPECT_EQ(times.Await(), At(seconds{60}));
  auto look = LookAt(seconds{30});
  look.any = true;
  times.Note(look);
  EXPECT_EQ(times.Await(), At(seconds{90}));
  EXPECT_EQ(times.Passed(At(seconds{89})), std::nullopt);
  EXPECT_EQ(times.Passed(At(seconds{90})), seconds{60});
}

TEST(CommandTimes, TimeInWhichOutputIsHeldIsNoSilence) {
  CommandTimes times({.silence = seconds{60}}, At(seconds{0}));
  times.Await();
  auto look = LookAt(seconds{10});
  look.held = true;
  times.Note(look);
  EXPECT_EQ(times.Await(), base::kNever);
  EXPECT_EQ(times.Passed(At(seconds{1000})), std::nullopt);
  times.Note(LookAt(seconds{1000}));
  EXPECT_EQ(times.Await(), At(seconds{1050}));
  EXPECT_EQ(times.Passed(At(seconds{1050})), seconds{60});
}

TEST(CommandTimes, TheLimitHoldsACommandThatWaitsForItsReaderAndNotItsOutput) {
  CommandTimes times({.limit = seconds{60}}, At(seconds{0}));
  times.Await();
  auto look = LookAt(seconds{10});
  look.held = true;
  times.Note(look);
  EXPECT_EQ(times.Passed(At(seconds{60})), seconds{60});
  look = LookAt(seconds{20});
  look.held = look.exited = true;
  times.Note(look);
  EXPECT_EQ(times.Passed(At(seconds{1000})), std::nullopt);
}

TEST(CommandTimes, TheLimitGetsNothingBackOfWhatWasHeldWhileTheCommandRan) {
  CommandTimes times({.limit = seconds{60}}, At(seconds{0}));
  times.Await();
  auto look = LookAt(seconds{10});
  look.held = true;
  times.Note(look);
  times.Note(LookAt(seconds{50}));
  times.Await();
  look = LookAt(seconds{55});
  look.exited = true;
  times.Note(look);
  EXPECT_EQ(times.Await(), At(seconds{60}));
  look = LookAt(seconds{57});
  look.held = true;
  times.Note(look);
  EXPECT_EQ(times.Await(), base::kNever);
  times.Note(LookAt(seconds{100}));
  EXPECT_EQ(times.Await(), At(seconds{103}));
}

TEST(CommandTimes, AnOutputThatIsOpenAfterTheEndLingers) {
  CommandTimes times = Exited();
  EXPECT_EQ(times.Await(), At(seconds{15}));
  EXPECT_FALSE(times.Lingered(At(seconds{14})));
  EXPECT_TRUE(times.Lingered(At(seconds{15})));
}

TEST(CommandTimes, TimeInWhichOutputIsHeldIsNoLinger) {
  CommandTimes times = Exited();
  times.Await();
  auto look = LookAt(seconds{11});
  look.held = true;
  times.Note(look);
  EXPECT_EQ(times.Await(), base::kNever);
  EXPECT_FALSE(times.Lingered(At(seconds{1000})));
  look = LookAt(seconds{1000});
  look.out = true;
  times.Note(look);
  EXPECT_EQ(times.Await(), At(seconds{1005}));
}

/// As of a pipe that is full.
TEST(CommandTimes, AReaderWhoHoldsUpTheWritingCostsNoOutput) {
  CommandTimes times = Exited();
  times.Await();
  times.Note({.woken = At(seconds{11}), .now = At(seconds{500}), .any = true, .out = true});
  EXPECT_EQ(times.Await(), At(seconds{505}));
}

TEST(CommandTimes, AfterASuspensionWhatHasArrivedIsLookedAtFirst) {
  CommandTimes times = Exited();
  times.Await();
  auto look = LookAt(seconds{500});
  look.out = true;
  times.Note(look);
  EXPECT_FALSE(times.Lingered(At(seconds{500})));
  EXPECT_EQ(times.Await(), At(seconds{505}));
}

TEST(CommandTimes, WhatWritesForEverLingersForAMinute) {
  CommandTimes times = Exited();
  for (milliseconds time = seconds{10}; time < seconds{70}; time += milliseconds{500}) {
    auto look = LookAt(time);
    look.any = look.out = true;
    times.Note(look);
    ASSERT_FALSE(times.Lingered(At(time))) << time.count();
  }
  EXPECT_TRUE(times.Lingered(At(seconds{70})));
}

}  // namespace
}  // namespace jobman::ssh
