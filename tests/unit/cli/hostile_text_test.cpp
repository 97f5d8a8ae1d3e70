// Whatever hosts, the API and errors say: what jobman prints about it controls no terminal and
// forges no line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/lend.hpp"

namespace jobman::test {
namespace {

/// What a hostile peer would write, as words of a longer text.
const std::vector<std::string> kHostile = {"\x1b[31m",            // a colour that is also ours
                                           "\x1b[2J\x1b[1;1H",    // clears the screen
                                           "\x1b]0;owned\x07",    // sets the title
                                           "\x1b]52;c;cm0=\x07",  // writes the clipboard
                                           "\x9b"
                                           "31m",  // CSI of C1, as a byte
                                           "\xc2\x9b"
                                           "31m",           // ... in UTF-8
                                           "\xc2\x85",      // next line
                                           "\xe2\x80\xa8",  // line separator
                                           "\xe2\x80\xae",  // right-to-left override
                                           "\xe2\x81\xa6",  // isolate
                                           "\xff\xfe",      // no UTF-8
                                           "\xe2\x82",      // half a character
                                           "\r",
                                           "\b\b\b",
                                           "\x7f",
                                           std::string(1, '\0'),
                                           "\a",
                                           "\njob 000001 SUCCEEDED",
                                           "\t",
                                           "Größe",
                                           "日本"};

class Hostile {
 public:
  explicit Hostile(unsigned seed) : random_(seed) {}
  std::string Text() {
    std::string text = "x";
    for (int words = Below(6); words >= 0; --words) {
      text += kHostile[static_cast<std::size_t>(Below(static_cast<int>(kHostile.size())))] + "y";
    }
    return text;
  }
  base::Error AnyError() {
    base::Error error{.code = base::Code::kUnavailable, .message = Text(), .hint = Text()};
    error.context = {Text()};
    return error;
  }

 private:
  int Below(int limit) { return std::uniform_int_distribution<>(0, limit - 1)(random_); }
  std::mt19937 random_;
};

core::JobState AnyState(Hostile& hostile, unsigned seed) {
  switch (seed % 3) {
    case 0:
      return core::Running{};
    case 1:
      return core::BackingOff{.until = {}, .error = hostile.AnyError()};
    default:
      return core::Done{.outcome = core::Outcome::kFailed, .error = hostile.AnyError()};
  }
}

core::Slice AnySlice(Hostile& hostile) {
  core::Slice slice{
      .ref = {.place = {.project = hostile.Text(), .zone = hostile.Text()}, .name = hostile.Text()},
      .phase = core::SlicePhase::kCreated,
      .operations = {hostile.Text()},
      .nodes = {{.uid = hostile.Text(), .hosts = 2}},
      .hosts = {{.internal = hostile.Text(), .external = hostile.Text()}, {}},
      .cloud_state = hostile.Text()};
  slice.no_answer = core::NoAnswer{.error = hostile.AnyError()};
  slice.notice = core::Notice{.imminent = true, .text = hostile.Text()};
  return slice;
}

/// A job of which every text that came from outside is hostile.
core::Job AnyJob(Hostile& hostile, unsigned seed) {
  core::Job job = JobBuilder(hostile.Text()).Build();
  job.user = hostile.Text();
  job.spec.labels = {{hostile.Text(), hostile.Text()}};
  job.spec.command.cmd = hostile.Text();
  job.spec.tpu.zone = hostile.Text();
  job.attempt = 1;
  job.wish_new = false;
  job.state = AnyState(hostile, seed);
  job.slice = AnySlice(hostile);
  job.abandoned = {{.ref = job.slice->ref}};
  job.why = hostile.Text();
  return job;
}

/// Says hostile things on both streams and cannot be reached.
class HostileHosts final : public ports::HostShell {
 public:
  explicit HostileHosts(Hostile& hostile) : hostile_(hostile) {}
  base::Task<base::Result<int>> Run(ports::SharedTarget, ports::RemoteCommand, ports::ByteSink out,
                                    ports::ByteSink err) override {
    JM_CO_TRY(out(hostile_.Text()));
    JM_CO_TRY(err(hostile_.Text()));
    co_return hostile_.AnyError();
  }
  void Drop(const ports::HostTarget&) override {}

 private:
  Hostile& hostile_;
};

class HostileText : public testing::TestWithParam<unsigned> {
 protected:
  HostileText() {
    world_.open_shell = Lend(hosts_);
    world_.fill = [this](MemoryStore& store) {
      const core::Job job = AnyJob(hostile_, GetParam());
      const core::JobId id = *store.Create(job, hostile_.Text(), world_.clock.Now());
      core::Job stored = job;
      stored.id = id;
      stored.version = store.Get(id)->version;
      ports::Turn turn{.job = stored};
      turn.events = {
          {.job = id, .kind = "note", .subject = hostile_.Text(), .text = hostile_.Text()}};
      turn.exits = {{.job = id, .attempt = 1, .stage = hostile_.Text(), .error = hostile_.Text()}};
      turn.attempts = {{.job = id,
                        .attempt = 1,
                        .slice = hostile_.Text(),
                        .zone = hostile_.Text(),
                        .reason = hostile_.Text(),
                        .outcome = hostile_.Text()}};
      EXPECT_TRUE(store.Commit(turn, 0).ok());
    };
    for (int host = 0; host < 2; ++host) {
      world_.WriteLog(1, 1, "run", host, hostile_.Text() + "\n" + hostile_.Text());
    }
  }

  /// Nothing but text, line breaks, tabs and, with `colour`, our own colours.
  static void ExpectHarmless(std::string_view text, bool colour, const std::string& what) {
    for (std::string_view rest = text; !rest.empty();) {
      const auto [code, size] = base::FirstChar(rest);
      std::size_t taken = size;
      for (const std::string_view own : {"\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m",
                                         "\x1b[34m", "\x1b[35m", "\x1b[36m"}) {
        if (colour && rest.starts_with(own)) taken = own.size();
      }
      const bool harmless = taken > size || code == '\n' || code == '\t' ||
                            (code != base::Utf8Char::kInvalid && !base::IsControl(code));
      ASSERT_TRUE(harmless) << what << " printed " << testing::PrintToString(std::string(text))
                            << " at byte " << text.size() - rest.size();
      rest.remove_prefix(taken);
    }
    EXPECT_THAT(std::string(text), testing::Not(testing::ContainsRegex("(^|\n)job 000001 SUCC")))
        << what << " printed a line of somebody else";
  }

  void ExpectHarmlessViews(std::vector<std::vector<std::string>> commands, bool colour) {
    for (std::vector<std::string>& words : commands) {
      for (const char* mode : {"--no-color", "--json", "-q"}) {
        std::vector<std::string> args = words;
        if (!colour || std::string(mode) != "--no-color") args.insert(args.begin() + 1, mode);
        const auto ended = world_.Run(args);
        const std::string what = testing::PrintToString(args);
        ExpectHarmless(ended.out, colour, what);
        ExpectHarmless(ended.err, colour, what);
      }
    }
  }

  Hostile hostile_{GetParam()};
  HostileHosts hosts_{hostile_};
  CliWorld world_;
};

const std::vector<std::vector<std::string>> kViews = {
    {"list"},           {"show", "1"},           {"why", "1"},
    {"history", "1"},   {"history", "1", "-v"},  {"list", "-v"},
    {"why", "\x1b[2J"}, {"ssh", "1", "-w", "9"}, {"logs", "1", "--stage", "\x9b"},
    {"\x1b[31mlist"}};
const std::vector<std::vector<std::string>> kHostOutput = {
    {"logs", "1"}, {"logs", "1", "--host", "0"}, {"logs", "1", "--fold"}, {"logs", "1", "-t"}};

TEST_P(HostileText, ControlsNothingInAPipe) {
  ExpectHarmlessViews(kViews, false);
}

TEST_P(HostileText, ControlsNoTerminal) {
  world_.around = {.out_tty = true, .err_tty = true, .term = "xterm", .locale = "C.UTF-8"};
  ExpectHarmlessViews(kViews, true);
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostileText, testing::Range(1U, 13U));

/// Hosts may write what they like, also lines that look like ours; each has its prefix then.
class HostileOutput : public HostileText {};

TEST_P(HostileOutput, ControlsNoTerminal) {
  world_.around = {.out_tty = true, .err_tty = true, .term = "xterm", .locale = "C.UTF-8"};
  for (const auto& args : kHostOutput) {
    const auto ended = world_.Run(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    std::string text = base::ReplaceAll(ended.out, "\njob 000001 SUCC", "\n");
    ExpectHarmless(text, true, testing::PrintToString(args));  // the hosts are told apart
  }
}

TEST_P(HostileOutput, StaysAsItIsInAPipe) {
  const std::string log = *base::ReadFile(world_.paths().LogPath(1, 1, "run", 0));
  EXPECT_EQ(world_.Run({"logs", "1", "--host", "0"}).out, log);
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostileOutput, testing::Range(1U, 13U));

}  // namespace
}  // namespace jobman::test
