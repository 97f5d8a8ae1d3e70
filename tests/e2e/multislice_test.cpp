// Jobs of several nodes: tpu.num_slices, in both allocation modes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Multislice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    place_.StartController({"--poll", "1"});
  }
  /// Two slices of two hosts each.
  void Create(const std::string& cmd, const std::string& signal = "TERM") {
    const Ran ran =
        place_.Jobman({"create", place_.JobFile("pair", 2, cmd), "--set", "tpu.num_slices=2",
                       "--set", std::string("tpu.allocation_mode=") + GetParam(), "--set",
                       "command.on_notice.signal=" + signal});
    ASSERT_EQ(ran.code, 0) << ran.All();
    EXPECT_THAT(ran.out, HasSubstr("2 x v4-16, 4 hosts"));
  }
  bool Direct() const { return GetParam() == std::string("tpu-vm"); }

  Place place_;
};

TEST_P(Multislice, EveryHostKnowsItsSliceAndNothingIsLeft) {
  Create(
      "echo slice $JOBMAN_SLICE_INDEX of $JOBMAN_NUM_SLICES, host $JOBMAN_HOST_INDEX of "
      "$JOBMAN_NUM_HOSTS, megascale $MEGASCALE_SLICE_ID $MEGASCALE_NUM_SLICES");
  ASSERT_TRUE(place_.Reaches("pair", "SUCCEEDED"));
  for (int host = 0; host < 4; ++host) {
    const std::string slice = std::to_string(host / 2);
    EXPECT_EQ(place_.Log(1, 1, "run", host), "slice " + slice + " of 2, host " +
                                                 std::to_string(host) + " of 4, megascale" +
                                                 (Direct() ? " " + slice + " 2" : "") + "\n");
  }
  const Ran names = place_.Jobman({"exec", "pair", "-w", "3", "--", "hostname"});
  EXPECT_THAT(names.out, HasSubstr("pair-000001-a1-1-w-1")) << names.All();
  const Ran second =
      place_.Jobman({"exec", "pair", "--slice", "1", "--exclude", "2", "--", "hostname"});
  EXPECT_THAT(second.out, testing::StartsWith("host 3 | "));
  EXPECT_THAT(second.out, testing::EndsWith("pair-000001-a1-1-w-1\n"));
  EXPECT_THAT(second.out, Not(HasSubstr("host 2"))) << second.err;
  EXPECT_EQ(place_.Jobman({"delete", "pair", "--wait"}).code, 0);
  EXPECT_THAT(place_.Sim({"status"}).out, Not(HasSubstr("pair-000001")));
}

TEST_P(Multislice, ADryRunShowsTheRequestsThatAreSent) {
  ASSERT_EQ(place_.Jobman({"run", place_.JobFile("first", 1, "true")}).code, 0);
  const Ran dry =
      place_.Jobman({"create", "--dry-run", "--json", place_.JobFile("pair", 2, "echo up"), "--set",
                     "tpu.num_slices=2", "--set", std::string("tpu.allocation_mode=") + GetParam(),
                     "--set", "command.on_notice.signal=TERM"});
  ASSERT_EQ(dry.code, 0) << dry.All();
  Create("echo up");
  ASSERT_TRUE(place_.Reaches("pair", "SUCCEEDED"));
  const base::Json shown = (*base::ParseJson(dry.out))["requests"];
  const base::Json log = *base::ParseJson(place_.Sim({"requests"}).out);
  std::vector<base::Json> sent;
  for (const base::Json& one : log["requests"]) {
    const bool pair = one["query"].dump().find("pair-") != std::string::npos;
    if (one["method"] == "POST" && pair) sent.push_back(one);
  }
  ASSERT_EQ(shown.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(shown[i]["body"], *base::ParseJson(sent[i]["body"].get<std::string>()));
    std::string url = place_.SimEndpoint() + sent[i]["path"].get<std::string>();
    char before_next = '?';
    for (const auto& [key, value] : sent[i]["query"].items()) {
      url += std::exchange(before_next, '&') + key + "=" + value.get<std::string>();
    }
    EXPECT_EQ(shown[i]["url"], url);
  }
}

TEST_P(Multislice, ThePreemptionOfOneNodeReplacesTheSlice) {
  Create(
      "trap 'sleep 1; echo saved; exit 1' TERM\n"
      "echo attempt $JOBMAN_ATTEMPT\n[ $JOBMAN_ATTEMPT = 2 ] && exit\nwhile :; do sleep 1; done");
  for (int host = 0; host < 4; ++host) {
    ASSERT_TRUE(place_.Until("the first attempt to run",
                             [&] { return place_.Log(1, 1, "run", host) == "attempt 1\n"; }));
  }
  ASSERT_EQ(place_.Sim({"preempt", "pair-000001-a1-1"}).code, 0);
  ASSERT_TRUE(place_.Reaches("pair", "SUCCEEDED"));
  for (int host = 0; host < 4; ++host) EXPECT_EQ(place_.Log(1, 2, "run", host), "attempt 2\n");
  EXPECT_THAT(place_.Sim({"status"}).out, Not(HasSubstr("pair-000001-a1")));
  if (!Direct()) return;  // the service takes all nodes of a queued resource
  for (const int host : {0, 1}) EXPECT_THAT(place_.Log(1, 1, "run", host), HasSubstr("saved"));
}

TEST_P(Multislice, WhenOneNodeMovesTheOthersAreStoppedFirst) {
  Create(
      "[ $JOBMAN_ATTEMPT = 1 ] || exec echo again\nexec 2>/dev/null\n"
      "trap 'echo stopped; exit 143' TERM; echo up; while :; do sleep 1; done",
      "none");
  for (int host = 0; host < 4; ++host) {
    ASSERT_TRUE(place_.Until("the first attempt to run",
                             [&] { return place_.Log(1, 1, "run", host) == "up\n"; }));
  }
  ASSERT_EQ(place_.Sim({"maintain", "pair-000001-a1-1", "--for", "1s"}).code, 0);
  ASSERT_TRUE(place_.Reaches("pair", "SUCCEEDED"));
  for (const int host : {0, 1}) EXPECT_EQ(place_.Log(1, 1, "run", host), "up\nstopped\n");
  for (int host = 0; host < 4; ++host) EXPECT_EQ(place_.Log(1, 2, "run", host), "again\n");
  EXPECT_THAT(place_.Jobman({"history", "pair"}).out, HasSubstr("stopping run on the others"));
}

TEST_P(Multislice, TheUserBeginsTheMaintenanceOfAllNodes) {
  Create("[ $JOBMAN_ATTEMPT != 1 ] || { echo up; sleep 600; }", "none");
  for (int host = 0; host < 4; ++host) {
    ASSERT_TRUE(place_.Until("the first attempt to run",
                             [&] { return place_.Log(1, 1, "run", host) == "up\n"; }));
  }
  const std::vector<std::string> nodes = {"pair-000001-a1-0", "pair-000001-a1-1"};
  for (const std::string& node : nodes)
    ASSERT_EQ(place_.Sim({"maintain", node, "--notice", "1h"}).code, 0);
  const Ran ran = place_.Jobman({"maintain", "pair"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  for (const std::string& node : nodes)
    EXPECT_THAT(ran.out, HasSubstr("maintenance of node " + node + " begins"));
  const auto log = base::ParseJson(place_.Sim({"requests"}).out);
  const base::Json& counts = base::GetMember(*log, "counts");
  EXPECT_EQ(base::GetInt(counts, "queuedResources.performMaintenanceQueuedResource"),
            Direct() ? 0 : 1);
  EXPECT_EQ(base::GetInt(counts, "nodes.performMaintenance"), Direct() ? 2 : 0);
  ASSERT_TRUE(place_.Reaches("pair", "SUCCEEDED"));
}

TEST_P(Multislice, APartialSliceIsDeleted) {
  ASSERT_EQ(place_.Sim({"set", "stock.us-central2-b/v4=8"}).code, 0);  // one v4-16
  Create("echo up");
  if (Direct()) {
    ASSERT_TRUE(place_.Reaches("pair", "BACKOFF"));
    EXPECT_TRUE(place_.Until("the reason", [&] {
      return base::Contains(place_.Jobman({"why", "pair"}).out, "no more capacity");
    }));
    ASSERT_TRUE(place_.Until("the half to be given back", [&] {
      return place_.Sim({"status"}).out.find("pair-000001") == std::string::npos;
    }));
  } else {
    ASSERT_TRUE(place_.Reaches("pair", "WAITING"));
  }
  ASSERT_EQ(place_.Sim({"set", "stock.us-central2-b/v4=16"}).code, 0);
  ASSERT_TRUE(place_.Reaches("pair", "SUCCEEDED"));
}

INSTANTIATE_TEST_SUITE_P(BothModes, Multislice, testing::Values("queued-resources", "tpu-vm"),
                         [](const auto& mode) {
                           return std::string(mode.param) == "tpu-vm" ? "Direct" : "Queued";
                         });

}  // namespace
}  // namespace jobman::test
