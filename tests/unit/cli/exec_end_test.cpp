#include "cli/exec_end.hpp"

#include <gtest/gtest.h>

namespace jobman::cli {
namespace {

using base::Code;
using base::Reason;

ssh::HostOutcome Exited(int code) {
  return {.result = code};
}
ssh::HostOutcome ErrorOn(Code code, Reason reason) {
  return {.result = base::Error{.code = code, .message = "no", .reason = reason, .hint = "do it"}};
}
ssh::HostOutcome TimedOut() {
  return {.result = base::Error{.code = Code::kDeadlineExceeded, .message = "timeout"},
          .timed_out = true};
}
const ssh::HostOutcome kRefusedHost = ErrorOn(Code::kUnavailable, Reason::kHostRefused);
const ssh::HostOutcome kKey = ErrorOn(Code::kUnauthenticated, Reason::kHostAuth);

int CodeOf(std::vector<ssh::HostOutcome> hosts) {
  return EndOf({.hosts = std::move(hosts)}).code;
}

TEST(ExecEnd, OfOneHostItIsTheCommands) {
  EXPECT_EQ(CodeOf({Exited(0)}), 0);
  EXPECT_EQ(CodeOf({Exited(255)}), 255);
  EXPECT_EQ(CodeOf({TimedOut()}), 124);
  EXPECT_EQ(CodeOf({kRefusedHost}), 75);
  EXPECT_EQ(EndOf({.hosts = {kRefusedHost}}).hint, "do it");
}

TEST(ExecEnd, OfSeveralHostsItIsTheHighest) {
  EXPECT_EQ(CodeOf({Exited(0), Exited(0)}), 0);
  EXPECT_EQ(CodeOf({Exited(3), Exited(0), Exited(130), Exited(2)}), 130);
  EXPECT_EQ(CodeOf({Exited(3), TimedOut(), Exited(0)}), 124);
}

TEST(ExecEnd, AHostThatDidNotRunItCountsFirst) {
  EXPECT_EQ(CodeOf({Exited(0), kRefusedHost, Exited(130)}), 75);
  EXPECT_EQ(EndOf({.hosts = {Exited(0), kRefusedHost}}).hint, "") << "the table has it";
  EXPECT_EQ(CodeOf({kRefusedHost, kKey, Exited(9)}), 5);
  EXPECT_EQ(EndOf({.hosts = {kRefusedHost, kKey}}).hint, "do it");
}

ssh::HostOutcome Numbered(int host, ssh::HostOutcome outcome, bool begun) {
  outcome.host = host;
  outcome.begun = begun;
  return outcome;
}

TEST(ExecEnd, AnInterruptSaysWhereTheCommandMayGoOn) {
  client::StoppableRun run;
  run.result.hosts = {Numbered(0, Exited(143), true), Numbered(1, Exited(0), true)};
  const base::Error all = InterruptedEnd({42}, run);
  EXPECT_EQ(all.code, Code::kCancelled);
  EXPECT_EQ(all.message, "interrupted: the command has ended on hosts 0-1");
  EXPECT_EQ(all.hint, "");
  run.result.hosts = {Numbered(0, Exited(143), true), Numbered(2, kRefusedHost, false),
                      Numbered(3, kRefusedHost, true)};
  const base::Error some = InterruptedEnd({42}, run);
  EXPECT_EQ(
      some.message,
      "interrupted: the command has ended on host 0; it did not begin on host 2; it may go on "
      "on host 3");
  EXPECT_EQ(some.hint,
            "see what runs there: jobman exec 000042 -w 3 --patience 30s --fold -- ps x");
  run.not_ours = {3};
  const base::Error sudo = InterruptedEnd({42}, run);
  EXPECT_EQ(sudo.message,
            "interrupted: the command has ended on host 0; it did not begin on host 2; it goes on "
            "as another user (sudo), whom the login may not signal, on host 3");
  EXPECT_EQ(sudo.hint,
            "see what runs there: jobman exec 000042 -w 3 --patience 30s --fold -- ps ax");
}

}  // namespace
}  // namespace jobman::cli
