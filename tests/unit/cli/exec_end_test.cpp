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

}  // namespace
}  // namespace jobman::cli
