#include "store/upgrade_records.hpp"

#include <gtest/gtest.h>

namespace jobman::store {
namespace {

using base::Json;

const char* const kEarly = "2026-01-01T00:00:00.000Z";
const char* const kLate = "2026-01-01T00:00:09.000Z";

Json Slice(const char* phase) {
  return {{"mode", "queued-resources"}, {"name", "train-000042-a1"}, {"phase", phase},
          {"asked_at", kLate},          {"created_at", kEarly},      {"unshown", Json::array()}};
}

TEST(UpgradeSlice, ARequestThatWasRepeatedIsCounted) {
  Json once = Slice("intended");
  once["asked_at"] = kEarly;
  EXPECT_EQ(UpgradeSlice(once)["requests_sent"], 1);
  const Json twice = UpgradeSlice(Slice("intended"));
  EXPECT_EQ(twice["requests_sent"], 2);
  EXPECT_EQ(twice["requested_at"], kLate);
  EXPECT_EQ(twice["last_evidence_at"], kEarly);
}

TEST(UpgradeSlice, ADeleteKeepsItsTime) {
  for (const char* phase : {"deleting", "gone"}) {
    const Json slice = UpgradeSlice(Slice(phase));
    EXPECT_EQ(slice["phase"], "deleting");
    EXPECT_EQ(slice["requests_sent"], 1);
    EXPECT_EQ(slice["requested_at"], kEarly);
    EXPECT_EQ(slice["delete_requested_at"], kLate);
  }
}

TEST(UpgradeSlice, OneNodeAndOneOperationBecomeLists) {
  Json old = Slice("created");
  old.erase("unshown");
  old["node_uid"] = "8123";
  old["operation"] = "operations/1";
  old["hosts"] = {{{"internal", "10.0.0.2"}}, {{"internal", "10.0.0.3"}}};
  const Json slice = UpgradeSlice(old);
  EXPECT_EQ(slice["nodes"], Json::array({{{"uid", "8123"}, {"hosts", 2}}}));
  EXPECT_EQ(slice["operations"], Json::array({"operations/1"}));
  EXPECT_EQ(slice["unshown"], Json::array());
  EXPECT_FALSE(slice.contains("node_uid") || slice.contains("operation"));
}

TEST(UpgradeSlice, UnseenPartsAreAwaited) {
  Json old = Slice("created");
  old.erase("unshown");
  EXPECT_EQ(UpgradeSlice(old)["unshown"], Json::array({"train-000042-a1"}));
  old["mode"] = "tpu-vm";
  old["node_count"] = 2;
  old["cloud_state"] = "CREATING";
  EXPECT_EQ(UpgradeSlice(old)["unshown"], Json::array({"train-000042-a1-0", "train-000042-a1-1"}));
}

TEST(UpgradeStage, TheCommandHasNoStepAndAStepItsNumber) {
  EXPECT_FALSE(UpgradeStage({{"number", -1}}, nullptr).contains("step"));
  EXPECT_FALSE(UpgradeStage({{"name", "run"}}, nullptr).contains("step"));
  EXPECT_EQ(UpgradeStage({{"number", 2}}, {{"generation", 3}})["step"], 2);
  EXPECT_EQ(UpgradeStage({{"number", 2}}, {{"generation", 3}})["generation"], 3);
}

TEST(UpgradeStage, TheStrongestFlagBecomesTheCause) {
  const Json fail = {{"rule", "bad_output"}, {"action", "fail"}};
  const Json restart = {{"rule", "bad_output"}, {"action", "restart"}};
  const Json lost = {{"message", "lost a node"}};
  const auto stop = [](Json old) {
    old["stopping"] = true;
    return UpgradeStage(old, nullptr).value("stop", "");
  };
  EXPECT_EQ(stop({{"alarm", fail}, {"lost", lost}}), "alarm");
  EXPECT_EQ(stop({{"alarm", restart}, {"lost", lost}}), "node_lost");
  EXPECT_EQ(stop({{"alarm", restart}, {"moved", true}}), "alarm");
  EXPECT_EQ(stop({{"moved", true}, {"culprit", 1}}), "machines_replaced");
  EXPECT_EQ(stop({{"timed_out", true}}), "step_timed_out");
  EXPECT_EQ(stop({{"culprit", 1}, {"notice", Json::object()}}), "host_failed");
  EXPECT_EQ(stop({{"notice", Json::object()}}), "notice_grace_over");
  EXPECT_EQ(stop(Json::object()), "stopped_by_user");
  EXPECT_FALSE(UpgradeStage({{"stopping", false}}, nullptr).contains("stop"));
}

TEST(UpgradeStage, TheFirstFailureDuringAGraceIsKept) {
  const Json stage =
      UpgradeStage({{"stopping", false}, {"culprit", 3}, {"notice", Json::object()}}, nullptr);
  EXPECT_EQ(stage["first_failed"], 3);
}

TEST(UpgradeAttempt, HasItsReasonAndItsEnd) {
  EXPECT_EQ(UpgradeAttempt("", "RUNNING", 1), Json::object());
  EXPECT_EQ(UpgradeAttempt("the slice vanished", "RUNNING", 2)["restart"]["cause"], "preempted");
  EXPECT_EQ(UpgradeAttempt("provisioning took too long", "RUNNING", 2)["restart"]["cause"],
            "infra");
  const Json watchdog = UpgradeAttempt("watchdog no_output: no host wrote", "BACKOFF", 2);
  EXPECT_EQ(watchdog["restart"]["cause"], "watchdog");
  EXPECT_EQ(watchdog["restart"]["detail"], "no_output: no host wrote");
  EXPECT_EQ(watchdog["end"]["outcome"], "watchdog");
  EXPECT_EQ(UpgradeAttempt("preempted", "SUCCEEDED", 2)["end"]["outcome"], "succeeded");
  EXPECT_FALSE(UpgradeAttempt("", "QUEUED", 0).contains("end"));
}

}  // namespace
}  // namespace jobman::store
