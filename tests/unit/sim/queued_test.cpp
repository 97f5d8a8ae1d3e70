#include "service_fixture.hpp"

namespace jobman::sim {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class QueuedTest : public ServiceFixture {
 protected:
  Json StateOf(const std::string& id) { return Get("queuedResources/" + id)["state"]; }
  void MakeActive(const std::string& id, const std::string& node) {
    ASSERT_EQ(CreateQueued(id, QueuedSpec(node, "v4-16")).status, 200);
    Pass(1000);
    ASSERT_EQ(QueuedStateOf(id), "ACTIVE");
  }
};

TEST_F(QueuedTest, GoesThroughItsStates) {
  const Reply reply = CreateQueued("q", QueuedSpec("n", "v4-32"));
  EXPECT_EQ(QueuedStateOf("q"), "CREATING");
  Pass(50);
  EXPECT_EQ(QueuedStateOf("q"), "WAITING_FOR_RESOURCES");
  EXPECT_EQ(Operation(reply)["done"], true) << "accepted, long before ACTIVE";
  Pass(200);
  EXPECT_EQ(QueuedStateOf("q"), "PROVISIONING");
  EXPECT_EQ(NodeStateOf("n"), "CREATING");
  Pass(300);
  EXPECT_EQ(
      StateOf("q"),
      (Json{{"state", "ACTIVE"}, {"activeData", Json::object()}, {"stateInitiator", "SERVICE"}}));
  const Json node = Get("nodes/n");
  EXPECT_EQ(node["schedulingConfig"], (Json{{"spot", true}}));
  EXPECT_EQ(node["queuedResource"],
            "projects/" + ProjectNumber("p") + "/locations/us-central2-b/queuedResources/q");
}

TEST_F(QueuedTest, CanStayAcceptedWhileItWaits) {
  Set("guesses.queue_state=ACCEPTED");
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  Pass(50);
  EXPECT_EQ(StateOf("q")["acceptedData"], Json::object());
}

TEST_F(QueuedTest, CanBeReadByProjectNumber) {
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  const Json queued =
      Get("/v2/projects/" + ProjectNumber("p") + "/locations/us-central2-b/queuedResources/q");
  EXPECT_EQ(queued["name"], "projects/p/locations/us-central2-b/queuedResources/q");
}

TEST_F(QueuedTest, ExpandsMultislice) {
  Json body = QueuedSpec("", "v4-8");
  body["tpu"]["nodeSpec"][0].erase("nodeId");
  body["tpu"]["nodeSpec"][0]["multisliceParams"] = {{"nodeCount", 3}, {"nodeIdPrefix", "ms"}};
  CreateQueued("q", body);
  Pass(1000);
  const Json specs = Get("queuedResources/q")["tpu"]["nodeSpec"];
  ASSERT_THAT(specs, SizeIs(3));
  EXPECT_EQ(specs[2]["nodeId"], "ms-2");
  EXPECT_EQ(Get("nodes/ms-0")["multisliceNode"], true);
  EXPECT_EQ(QueuedStateOf("q"), "ACTIVE");
}

TEST_F(QueuedTest, MultislicePrefixIsItsNameByDefault) {
  Json body = QueuedSpec("", "v4-8");
  body["tpu"]["nodeSpec"][0].erase("nodeId");
  body["tpu"]["nodeSpec"][0]["multisliceParams"] = {{"nodeCount", 2}};
  CreateQueued("q", body);
  Pass(1000);
  EXPECT_EQ(NodeStateOf("q-1"), "READY");
}

TEST_F(QueuedTest, WaitsForStockInOrder) {
  Set("stock.*/v4=8");
  MakeActive("first", "n1");
  CreateQueued("second", QueuedSpec("n2", "v4-16"));
  Pass(10);
  CreateQueued("third", QueuedSpec("n3", "v4-16"));
  Pass(60000);
  EXPECT_EQ(QueuedStateOf("second"), "WAITING_FOR_RESOURCES");
  Call("DELETE", "queuedResources/first", {{"force", "True"}});
  Pass(1000);
  EXPECT_EQ(QueuedStateOf("second"), "ACTIVE");
  EXPECT_EQ(QueuedStateOf("third"), "WAITING_FOR_RESOURCES");
  Set("stock.*/v4=16");
  Pass(1000);
  EXPECT_EQ(QueuedStateOf("third"), "ACTIVE");
}

TEST_F(QueuedTest, FailsWhenItExpires) {
  Set("stock.*/v4=0");
  Json body = QueuedSpec("n", "v4-8");
  body["queueingPolicy"] = {{"validUntilDuration", "60s"}};
  CreateQueued("q", body);
  Pass(59000);
  EXPECT_EQ(QueuedStateOf("q"), "WAITING_FOR_RESOURCES");
  Pass(1000);
  EXPECT_EQ(StateOf("q")["state"], "FAILED");
  EXPECT_EQ(StateOf("q")["failedData"]["error"]["code"], 4);
}

TEST_F(QueuedTest, FailsAtItsTimeUnlessGrantedBefore) {
  Set("stock.*/v4=8");
  for (const std::string name : {"granted", "late"}) {
    Json body = QueuedSpec(name + "-n", "v4-16");
    body["queueingPolicy"] = {
        {"validUntilTime", base::FormatRfc3339(now + std::chrono::minutes{1})}};
    CreateQueued(name, body);
  }
  Pass(59000);
  EXPECT_EQ(QueuedStateOf("granted"), "ACTIVE");
  EXPECT_EQ(QueuedStateOf("late"), "WAITING_FOR_RESOURCES");
  Pass(1000);
  EXPECT_EQ(QueuedStateOf("granted"), "ACTIVE") << "it does not limit use";
  EXPECT_EQ(StateOf("late")["failedData"]["error"]["message"],
            "The queued resource could not be provisioned before its valid-until time.");
}

constexpr const char* kAlphaQueued = "/v2alpha1/projects/p/locations/us-central2-b/queuedResources";

TEST_F(QueuedTest, ItsNodesAreDeletedWhenItsRunDurationIsOver) {
  Json body = QueuedSpec("n", "v4-8");
  body["runDuration"] = {{"maxRunDuration", "60s"}};
  ASSERT_EQ(Call("POST", kAlphaQueued, {{"queuedResourceId", "q"}}, body).status, 200);
  Pass(550);
  ASSERT_EQ(QueuedStateOf("q"), "ACTIVE");
  const TimePoint end = now + std::chrono::seconds{60};
  const Json shown = Get("/v2alpha1/projects/p/locations/us-central2-b/nodes/n");
  const auto told = base::ParseRfc3339(Text(shown["schedulingConfig"], "terminationTimestamp"));
  ASSERT_TRUE(told.ok()) << shown.dump();
  EXPECT_EQ(*told, end);
  EXPECT_EQ(Get("nodes/n")["schedulingConfig"], (Json{{"spot", true}})) << "v2 does not show it";
  Pass(59'999);
  EXPECT_EQ(NodeStateOf("n"), "READY");
  Pass(1);
  EXPECT_EQ(NodeStateOf("n"), "DELETING");
  EXPECT_EQ(StateOf("q"), (Json{{"state", "SUSPENDING"},
                                {"suspendingData", Json::object()},
                                {"stateInitiator", "SERVICE"}}));
  EXPECT_TRUE(fleet.running.empty());
  Pass(200);
  EXPECT_EQ(QueuedStateOf("q"), "SUSPENDED");
  EXPECT_EQ(Call("GET", "nodes/n").status, 404);
}

TEST_F(QueuedTest, ARunDurationEndsNothingThatIsGone) {
  Json body = QueuedSpec("n", "v4-8");
  body["runDuration"] = {{"maxRunDuration", "60s"}};
  Call("POST", kAlphaQueued, {{"queuedResourceId", "q"}}, body);
  Pass(1000);
  Call("DELETE", "queuedResources/q", {{"force", "true"}});
  Pass(1000);
  MakeActive("q", "n");
  Pass(100'000);
  EXPECT_EQ(QueuedStateOf("q"), "ACTIVE") << "another one of that name";
}

TEST_F(QueuedTest, OnlyV2Alpha1HasARunDuration) {
  Json body = QueuedSpec("n", "v4-8");
  body["runDuration"] = {{"maxRunDuration", "60s"}};
  const Reply reply = CreateQueued("q", body);
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(Message(reply),
              HasSubstr("Invalid JSON payload received. Unknown name \"runDuration\""));
  body.erase("runDuration");
  body["provisioningModel"] = "FLEX_START";
  EXPECT_THAT(Message(CreateQueued("q", body)), HasSubstr("Unknown name \"provisioningModel\""));
}

TEST_F(QueuedTest, FlexStartNeedsARunDurationAndATypeThatHasIt) {
  Json body = QueuedSpec("n", "v4-8");
  body.erase("spot");
  body["provisioningModel"] = "FLEX_START";
  const auto create = [&](const std::string& duration) {
    if (!duration.empty()) body["runDuration"] = {{"maxRunDuration", duration}};
    return Call("POST", kAlphaQueued, {{"queuedResourceId", "q"}}, body);
  };
  EXPECT_THAT(Message(create("")), HasSubstr("FLEX_START needs it"));
  EXPECT_THAT(Message(create("604801s")), HasSubstr("longer than 7 days"));
  EXPECT_THAT(Message(create("0s")), HasSubstr("is not a positive duration"));
  ASSERT_EQ(create("604800s").status, 200);
  Pass(1000);
  EXPECT_EQ(StateOf("q")["failedData"]["error"]["code"], 3);
  EXPECT_THAT(Text(StateOf("q")["failedData"]["error"], "message"),
              HasSubstr("is not supported for accelerator type \"v4-8\""));
}

TEST_F(QueuedTest, IsSuspendedByTheServiceWhenItsNodeIsPreempted) {
  MakeActive("q", "n");
  Call("POST", "/sim/preempt", {}, {{"node", "n"}});
  EXPECT_EQ(StateOf("q"), (Json{{"state", "SUSPENDING"},
                                {"suspendingData", Json::object()},
                                {"stateInitiator", "SERVICE"}}));
  EXPECT_EQ(NodeStateOf("n"), "PREEMPTED");
  EXPECT_TRUE(fleet.running.empty());
  Pass(200);
  EXPECT_EQ(QueuedStateOf("q"), "SUSPENDED");
  EXPECT_EQ(Call("GET", "nodes/n").status, 404);
}

TEST_F(QueuedTest, CanKeepItsPreemptedNode) {
  Set("guesses.suspended_keeps_nodes=true");
  MakeActive("q", "n");
  Call("POST", "/sim/preempt", {}, {{"node", "q"}});
  Pass(200);
  EXPECT_EQ(NodeStateOf("n"), "PREEMPTED");
  Call("DELETE", "queuedResources/q", {{"force", "true"}});
  Pass(1000);
  EXPECT_EQ(Call("GET", "nodes/n").status, 404);
}

TEST_F(QueuedTest, HoldsNameAndQuotaWhileSuspended) {
  Set("quota.*/v4-spot=16");
  MakeActive("q", "n");
  Call("POST", "/sim/preempt", {}, {{"node", "n"}});
  Pass(1000);
  EXPECT_EQ(CreateQueued("q", QueuedSpec("n", "v4-16")).status, 409);
  EXPECT_EQ(CreateQueued("q2", QueuedSpec("n", "v4-16")).status, 429);
  EXPECT_EQ(Call("POST", "queuedResources/q:reset").status, 400);
  EXPECT_EQ(Call("DELETE", "queuedResources/q").status, 200) << "no force needed: no node is left";
  Pass(1000);
  EXPECT_EQ(CreateQueued("q2", QueuedSpec("n", "v4-16")).status, 200);
}

TEST_F(QueuedTest, IsSuspendedByTheUserWhenItsNodeIsDeleted) {
  MakeActive("q", "n");
  Call("DELETE", "nodes/n");
  EXPECT_EQ(StateOf("q")["stateInitiator"], "USER");
  Pass(1000);
  EXPECT_EQ(QueuedStateOf("q"), "SUSPENDED");
}

TEST_F(QueuedTest, IsDeletedWithNodesOnlyByForce) {
  MakeActive("q", "n");
  const Reply refused = Call("DELETE", "queuedResources/q");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.body["error"]["status"], "FAILED_PRECONDITION");
  const Reply deleted = Call("DELETE", "queuedResources/q", {{"force", "True"}});
  EXPECT_EQ(StateOf("q")["state"], "DELETING");
  EXPECT_EQ(NodeStateOf("n"), "DELETING");
  Pass(200);
  EXPECT_EQ(Call("GET", "queuedResources/q").status, 404);
  EXPECT_EQ(Call("GET", "nodes/n").status, 404);
  EXPECT_EQ(Operation(deleted)["done"], true);
  EXPECT_TRUE(fleet.disks.empty());
}

TEST_F(QueuedTest, CanBeDeletedWhileItWaits) {
  Set("stock.*/v4=0");
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  Pass(1000);
  EXPECT_EQ(Call("DELETE", "queuedResources/q").status, 200);
  Pass(1000);
  EXPECT_EQ(Call("GET", "queuedResources/q").status, 404);
}

TEST_F(QueuedTest, ResetBootsEveryHostAgain) {
  MakeActive("q", "n");
  const std::string uid = fleet.booted.begin()->first;
  const int boot = fleet.booted[uid];
  const Reply reply = Call("POST", "queuedResources/q:reset");
  EXPECT_EQ(NodeStateOf("n"), "RESTARTING");
  EXPECT_GT(fleet.booted[uid], boot);
  EXPECT_FALSE(Operation(reply).contains("done"));
  Pass(300);
  EXPECT_EQ(NodeStateOf("n"), "READY");
  EXPECT_EQ(QueuedStateOf("q"), "ACTIVE");
  EXPECT_EQ(Operation(reply)["done"], true);
}

TEST_F(QueuedTest, FailsByCommandWithAnInternalError) {
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  Pass(250);
  Call("POST", "/sim/fail", {}, {{"queuedResource", "q"}});
  EXPECT_EQ(StateOf("q")["failedData"]["error"]["code"], 13);
  EXPECT_EQ(Call("GET", "nodes/n").status, 404);
}

TEST_F(QueuedTest, TheSameRequestIdReturnsTheSameOperation) {
  const auto create = [&] {
    return Call("POST", "queuedResources", {{"queuedResourceId", "q"}, {"requestId", "r"}},
                QueuedSpec("n", "v4-8"));
  };
  const Reply first = create();
  EXPECT_EQ(create().body["name"], first.body["name"]);
  Set("guesses.request_id_deduplicates=false");
  EXPECT_EQ(create().status, 409);
}

TEST_F(QueuedTest, CanBeInvisibleAtFirst) {
  Set("guesses.create_visible_after=1s");
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  EXPECT_EQ(Call("GET", "queuedResources/q").status, 404);
  EXPECT_FALSE(Get("queuedResources").contains("queuedResources"));
  Pass(1000);
  EXPECT_EQ(Call("GET", "queuedResources/q").status, 200);
  EXPECT_EQ(Get("queuedResources")["queuedResources"].size(), 1U);
}

TEST_F(QueuedTest, RefusesBadRequests) {
  EXPECT_EQ(CreateQueued("q", Json::object()).status, 400);
  EXPECT_EQ(CreateQueued("q", QueuedSpec("n", "v4-9")).status, 400);
  Json both = QueuedSpec("n", "v4-8");
  both["tpu"]["nodeSpec"][0]["multisliceParams"] = {{"nodeCount", 2}};
  EXPECT_EQ(CreateQueued("q", both).status, 400);
  Json unknown = QueuedSpec("n", "v4-8");
  unknown["tpu"]["nodeSpec"][0]["node"]["nope"] = 1;
  EXPECT_THAT(Message(CreateQueued("q", unknown)), HasSubstr("Unknown name \"nope\""));
}

}  // namespace
}  // namespace jobman::sim
