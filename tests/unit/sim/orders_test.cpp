// The verbs: how the API and the hosts show each fault.
#include "service_fixture.hpp"

namespace jobman::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class OrdersTest : public ServiceFixture {
 protected:
  Reply Do(const std::string& name, const Json& body) {
    return Call("POST", "/sim/" + name, {}, body);
  }
  void Ready(const std::string& id, const std::string& type = "v4-16", bool spot = true) {
    ASSERT_EQ(CreateNode(id, Spec(type, spot)).status, 200);
    Pass(300);
    ASSERT_EQ(NodeStateOf(id), "READY");
  }
  void Active(const std::string& id, const std::string& node) {
    ASSERT_EQ(CreateQueued(id, QueuedSpec(node, "v4-16")).status, 200);
    Pass(1000);
    ASSERT_EQ(QueuedStateOf(id), "ACTIVE");
  }
  /// Requests nodes NAME-0 and NAME-1 of two hosts each.
  void AskForTwo(const std::string& name) {
    Json body = QueuedSpec("", "v4-16");
    Json& spec = body["tpu"]["nodeSpec"][0];
    spec.erase("nodeId");
    spec["multisliceParams"] = {{"nodeCount", 2}};
    spec["node"]["labels"] = {{"jobman-job", "1"}};
    ASSERT_EQ(CreateQueued(name, body).status, 200);
    Pass(1000);
  }
  std::string Reads(const std::string& host, const std::string& key) {
    const HostPlan& plan = fleet.running.at(host);
    const GuestReply reply =
        service.Guest(plan.internal_ip, {.path = "/computeMetadata/v1/instance/" + key});
    return reply.status == 200 ? reply.body : "";
  }
  Json Errors() {
    Json errors = Json::array();
    const Json log = Get("/sim/events");
    for (const Json& event : log["events"]) {
      if (event.contains("error")) errors.push_back(event["error"]);
    }
    return errors;
  }
};

TEST_F(OrdersTest, APreemptionShowsAnotherStateFirst) {
  for (const auto& [as, state] :
       std::map<std::string, std::string>{{"stopping", "STOPPING"}, {"repairing", "REPAIRING"}}) {
    Ready(as);
    Do("preempt", {{"node", as}, {"as", as}, {"for", "3s"}});
    EXPECT_EQ(NodeStateOf(as), state);
    EXPECT_THAT(fleet.running, IsEmpty());
    Pass(2999);
    EXPECT_EQ(NodeStateOf(as), state);
    Pass(1);
    EXPECT_EQ(NodeStateOf(as), "PREEMPTED");
  }
}

TEST_F(OrdersTest, APreemptionCanLeaveConnectionsHanging) {
  Ready("t1");
  Do("preempt", {{"node", "t1"}, {"as", "silent"}, {"for", "3s"}});
  EXPECT_EQ(NodeStateOf("t1"), "PREEMPTED");
  EXPECT_EQ(fleet.links["t1v-n-t1-w-1"], Link::kCut);
  EXPECT_TRUE(fleet.running.contains("t1v-n-t1-w-1"));
  Pass(3000);
  EXPECT_THAT(fleet.running, IsEmpty());
}

TEST_F(OrdersTest, APreemptedNodeCanDisappear) {
  Ready("t1");
  Do("preempt", {{"node", "t1"}, {"as", "gone"}});
  EXPECT_EQ(Call("GET", "nodes/t1").status, 404);
  Active("q", "n");
  Do("preempt", {{"node", "n"}, {"as", "gone"}});
  EXPECT_EQ(Call("GET", "nodes/n").status, 404);
  EXPECT_EQ(Get("queuedResources/q")["state"], (Json{{"state", "SUSPENDING"},
                                                     {"suspendingData", Json::object()},
                                                     {"stateInitiator", "SERVICE"}}));
  Pass(200);
  EXPECT_EQ(QueuedStateOf("q"), "SUSPENDED");
}

TEST_F(OrdersTest, ANoticeComesBeforeThePreemption) {
  Ready("t1");
  int changes = 0;
  service.OnGuestChange([&] { ++changes; });
  EXPECT_EQ(Reads("t1v-n-t1-w-1", "preempted"), "FALSE");
  Do("preempt", {{"node", "t1"}, {"notice", "30s"}});
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(Reads("t1v-n-t1-w-1", "preempted"), "TRUE");
  Pass(29999);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  Pass(1);
  EXPECT_EQ(NodeStateOf("t1"), "PREEMPTED");
}

TEST_F(OrdersTest, ANoticeOutlivesAReboot) {
  Ready("t1");
  Do("preempt", {{"node", "t1"}, {"notice", "30s"}});
  Do("reboot", {{"node", "t1"}});
  Pass(300);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  EXPECT_EQ(Reads("t1v-n-t1-w-0", "preempted"), "TRUE");
  Pass(30000);
  EXPECT_EQ(NodeStateOf("t1"), "PREEMPTED");
}

TEST_F(OrdersTest, ANoticeToAQueuedResourceReachesItsHosts) {
  Active("q", "n");
  Do("preempt", {{"node", "q"}, {"notice", "30s"}});
  EXPECT_EQ(Reads("t1v-n-n-w-0", "preempted"), "TRUE");
  Pass(30000);
  EXPECT_EQ(QueuedStateOf("q"), "SUSPENDING");
}

TEST_F(OrdersTest, ANodeCreatedAgainIsNotPreemptedByAnOldNotice) {
  Ready("t1");
  Do("preempt", {{"node", "t1"}, {"notice", "30s"}});
  Call("DELETE", "nodes/t1");
  Pass(1000);
  Ready("t1");
  Pass(60000);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
}

TEST_F(OrdersTest, MaintenanceIsAnnouncedAndChangesTheAddresses) {
  Ready("t1", "v4-16", false);
  const Json before = Get("nodes/t1");
  Do("maintain", {{"node", "t1"}, {"notice", "60s"}, {"for", "10s"}});
  EXPECT_EQ(Get("nodes/t1")["upcomingMaintenance"]["maintenanceStatus"], "PENDING");
  EXPECT_EQ(Get("nodes/t1")["health"], "HEALTHY");
  EXPECT_EQ(Reads("t1v-n-t1-w-0", "maintenance-event"), "TERMINATE_ON_HOST_MAINTENANCE");
  EXPECT_THAT(Reads("t1v-n-t1-w-0", "upcoming-maintenance"), HasSubstr("window_start_time"));
  Pass(60000);
  EXPECT_THAT(fleet.running, IsEmpty());
  const Json under = Get("nodes/t1");
  EXPECT_EQ(under["state"], "READY");
  EXPECT_EQ(under["health"], "UNHEALTHY_MAINTENANCE");
  EXPECT_EQ(under["upcomingMaintenance"]["maintenanceStatus"], "ONGOING");
  EXPECT_THAT(under["healthDescription"].get<std::string>(), HasSubstr("maintenance event at"));
  Pass(10300);
  const Json after = Get("nodes/t1");
  EXPECT_EQ(after["health"], "HEALTHY");
  EXPECT_FALSE(after.contains("upcomingMaintenance"));
  EXPECT_EQ(after["id"], before["id"]);
  const Json& was = before["networkEndpoints"][1];
  const Json& is = after["networkEndpoints"][1];
  EXPECT_EQ(is["ipAddress"], was["ipAddress"]);
  EXPECT_NE(is["accessConfig"], was["accessConfig"]);
  EXPECT_EQ(Reads("t1v-n-t1-w-0", "maintenance-event"), "NONE");
}

TEST_F(OrdersTest, ARepairEndsWithTheSameHosts) {
  Ready("t1");
  const Json before = Get("nodes/t1")["networkEndpoints"];
  Do("repair", {{"node", "t1"}, {"for", "10s"}});
  EXPECT_EQ(NodeStateOf("t1"), "REPAIRING");
  Pass(10300);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  EXPECT_EQ(Get("nodes/t1")["networkEndpoints"], before);
  EXPECT_THAT(fleet.running, SizeIs(2));
}

TEST_F(OrdersTest, TerminatedSuspendsTheQueuedResource) {
  Active("q", "n");
  Do("terminate", {{"node", "n"}});
  EXPECT_EQ(NodeStateOf("n"), "TERMINATED");
  EXPECT_EQ(QueuedStateOf("q"), "SUSPENDING");
}

TEST_F(OrdersTest, OverridesAreShownUntilTheyAreRemoved) {
  replies_are_checked = false;
  Ready("t1");
  Do("show", {{"node", "t1"}, {"set", {{"state", "FROZEN"}, {"health", "ODD"}}}});
  EXPECT_EQ(NodeStateOf("t1"), "FROZEN");
  EXPECT_EQ(Get("nodes/t1")["health"], "ODD");
  Do("show", {{"node", "t1"}, {"set", {{"state", nullptr}}}});
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  EXPECT_EQ(Get("nodes/t1")["health"], "ODD");
}

TEST_F(OrdersTest, StopsAndStartsNodesThatTheApiWouldRefuseTo) {
  Ready("t1");
  Do("stop", {{"node", "t1"}});
  EXPECT_EQ(NodeStateOf("t1"), "STOPPING");
  Pass(200);
  EXPECT_EQ(NodeStateOf("t1"), "STOPPED");
  EXPECT_EQ(Do("stop", {{"node", "t1"}}).status, 400);
  Do("start", {{"node", "t1"}});
  Pass(300);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
}

TEST_F(OrdersTest, SomebodyDeletesANodeOrAQueuedResource) {
  Active("q", "n");
  Do("delete", {{"node", "n"}});
  EXPECT_EQ(NodeStateOf("n"), "DELETING");
  EXPECT_EQ(Get("queuedResources/q")["state"]["stateInitiator"], "USER");
  Pass(1000);
  EXPECT_EQ(Call("GET", "nodes/n").status, 404);
  EXPECT_EQ(Do("delete", {{"node", "q"}}).status, 200);
  Pass(200);
  EXPECT_EQ(Call("GET", "queuedResources/q").status, 404);
}

TEST_F(OrdersTest, AQueuedResourceFailsOrExpires) {
  Set("stock.*/v4=0");
  CreateQueued("a", QueuedSpec("na", "v4-8"));
  CreateQueued("b", QueuedSpec("nb", "v4-8"));
  Pass(1000);
  Do("fail", {{"queuedResource", "a"}});
  EXPECT_EQ(Get("queuedResources/a")["state"]["failedData"]["error"]["code"], 13);
  Do("fail", {{"queuedResource", "b"}, {"expired", true}});
  EXPECT_EQ(Get("queuedResources/b")["state"]["failedData"]["error"]["code"], 4);
}

TEST_F(OrdersTest, AnUnknownMemberIsRefused) {
  Ready("t1");
  const Reply reply = Do("preempt", {{"node", "t1"}, {"notce", "30s"}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(Message(reply), HasSubstr("preempt has no member \"notce\""));
  EXPECT_EQ(NodeStateOf("t1"), "READY");
}

TEST_F(OrdersTest, AnUnknownVerbIsNotFoundAndTheNearestNamed) {
  const Reply reply = Do("premept", {{"node", "t1"}});
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(Message(reply), HasSubstr("did you mean preempt?"));
}

TEST_F(OrdersTest, FaultsAndSettingsAreResourcesToo) {
  EXPECT_EQ(Do("fault", {{"method", "*"}, {"error", "internal"}}).status, 200);
  EXPECT_EQ(Do("faults", {{"method", "*"}, {"error", "internal"}}).status, 200);
  EXPECT_EQ(Get("/sim/faults")["faults"].size(), 2U);
  EXPECT_EQ(Do("set", {{"page_size", 7}}).status, 200);
  EXPECT_EQ(Get("/sim/settings")["page_size"], 7);
  EXPECT_EQ(Call("PATCH", "/sim/settings", {}, {{"page_size", 8}}).status, 200);
  EXPECT_EQ(Get("/sim/settings")["page_size"], 8);
}

TEST_F(OrdersTest, APatternMeansSeveralNodes) {
  Ready("train-1");
  Ready("train-2");
  Ready("other");
  EXPECT_EQ(Do("preempt", {{"node", "train-*"}}).status, 200);
  EXPECT_EQ(NodeStateOf("train-1"), "PREEMPTED");
  EXPECT_EQ(NodeStateOf("train-2"), "PREEMPTED");
  EXPECT_EQ(NodeStateOf("other"), "READY");
  EXPECT_EQ(Do("preempt", {{"node", "nope-*"}}).status, 404);
}

TEST_F(OrdersTest, AKilledHostCanBootAgain) {
  Ready("t1");
  Do("host", {{"node", "t1"}, {"index", 1}, {"action", "kill"}, {"for", "5s"}});
  EXPECT_FALSE(fleet.running.contains("t1v-n-t1-w-1"));
  Pass(5000);
  EXPECT_TRUE(fleet.running.contains("t1v-n-t1-w-1"));
  EXPECT_EQ(NodeStateOf("t1"), "READY");
}

TEST_F(OrdersTest, AHostsNetworkCanBeCutAndRestored) {
  Ready("t1");
  Do("host", {{"node", "t1"}, {"index", 0}, {"action", "cut"}, {"for", "5s"}});
  EXPECT_EQ(fleet.links["t1v-n-t1-w-0"], Link::kCut);
  EXPECT_EQ(Get("/sim/status")["nodes"][0]["hosts"][0]["cut"], true);
  Pass(5000);
  EXPECT_EQ(fleet.links["t1v-n-t1-w-0"], Link::kMended);
  Do("host", {{"node", "t1"}, {"index", "*"}, {"action", "hangup"}});
  EXPECT_EQ(fleet.links["t1v-n-t1-w-1"], Link::kBroken);
}

TEST_F(OrdersTest, AFaultThatTheFleetDoesNotHaveIsRefused) {
  Ready("t1");
  fleet.impossible = HostFaultKind::kFull;
  const Reply reply = Do("host", {{"node", "t1"}, {"index", 0}, {"action", "full"}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(Message(reply), HasSubstr("no such hosts"));
  EXPECT_THAT(fleet.faults, IsEmpty());
  EXPECT_EQ(Do("host", {{"node", "t1"}, {"index", 0}, {"action", "wobble"}}).status, 400);
  EXPECT_EQ(Do("host", {{"node", "t1"}, {"index", 2}, {"action", "kill"}}).status, 400);
  EXPECT_EQ(Do("host", {{"node", "t1"}, {"index", 0}, {"action", "boot"}}).status, 200);
}

TEST_F(OrdersTest, AFaultOfAHostEndsWhenItIsMendedOrOver) {
  Ready("t1");
  const auto shown = [this] { return Get("/sim/status")["nodes"][0]["hosts"][0]["fault"]; };
  const auto kind = [this] { return fleet.faults["t1v-n-t1-w-0"].kind; };
  Json order = {{"node", "t1"}, {"index", 0}, {"action", "slow"}, {"by", "2s"}, {"for", "5s"}};
  EXPECT_EQ(Do("host", order).status, 200);
  EXPECT_EQ(kind(), HostFaultKind::kSlow);
  EXPECT_EQ(fleet.faults["t1v-n-t1-w-0"].late, Duration{2000});
  EXPECT_EQ(shown(), "slow");
  Pass(5000);
  EXPECT_EQ(kind(), HostFaultKind::kNone);
  EXPECT_EQ(shown(), "");
  order = {{"node", "t1"}, {"index", 0}, {"action", "wrong-key"}};
  Do("host", order);
  EXPECT_EQ(kind(), HostFaultKind::kWrongKey);
  Do("host", {{"node", "t1"}, {"index", 0}, {"action", "mend"}});
  EXPECT_EQ(kind(), HostFaultKind::kNone);
  Do("host", order);
  Do("calm", Json::object());
  EXPECT_EQ(kind(), HostFaultKind::kNone);
  Do("host", order);
  Do("reboot", {{"node", "t1"}});
  EXPECT_EQ(shown(), "") << "the fleet ends it with the power";
  order = {{"node", "t1"}, {"index", 0}, {"action", "reset"}, {"by", "2s"}};
  EXPECT_THAT(Message(Do("host", order)), HasSubstr("--by goes with slow"));
}

TEST_F(OrdersTest, SeveralHostsFailAtOnce) {
  Ready("big", "v4-1024");
  const Reply some = Do("host", {{"node", "big"}, {"index", "0-9,100"}, {"action", "refuse"}});
  EXPECT_EQ(some.body["hosts"]["projects/p/locations/us-central2-b/nodes/big"], "0-9,100");
  EXPECT_THAT(fleet.faults, SizeIs(11));
  const Reply share = Do("host", {{"node", "big"}, {"index", "10%"}, {"action", "reset"}});
  EXPECT_EQ(share.status, 200);
  EXPECT_THAT(fleet.faults, SizeIs(24)) << "13 of those without a fault";
  EXPECT_EQ(Do("host", {{"node", "big"}, {"index", "0,128"}, {"action", "mend"}}).status, 400);
  EXPECT_EQ(fleet.faults["t1v-n-big-w-0"].kind, HostFaultKind::kRefuse) << "all or none";
  Do("host", {{"node", "big"}, {"index", "*"}, {"action", "mend"}});
  for (const auto& [host, fault] : fleet.faults)
    EXPECT_EQ(fault.kind, HostFaultKind::kNone) << host;
}

TEST_F(OrdersTest, AStockoutEndsByItself) {
  Do("stockout", {{"where", "us-central2-b/v4*"}, {"for", "10s"}});
  const Reply direct = CreateNode("t1", Spec("v4-8"));
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  Pass(9999);
  EXPECT_EQ(Operation(direct)["error"]["code"], 8);
  EXPECT_EQ(QueuedStateOf("q"), "WAITING_FOR_RESOURCES");
  Pass(1);
  EXPECT_EQ(QueuedStateOf("q"), "PROVISIONING");
}

TEST_F(OrdersTest, ALongerStockoutIsNotCutShortByAnEarlierOne) {
  Do("stockout", {{"for", "10s"}});
  Do("stockout", {{"for", "20s"}});
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  Pass(19999);
  EXPECT_EQ(QueuedStateOf("q"), "WAITING_FOR_RESOURCES");
  Pass(1);
  EXPECT_EQ(QueuedStateOf("q"), "PROVISIONING");
}

TEST_F(OrdersTest, TheApiIsUnpluggedForATime) {
  Duration out{0};
  service.OnUnplug([&](Duration time) { out = time; });
  Do("unplug", {{"for", "3s"}});
  EXPECT_EQ(out, std::chrono::seconds(3));
}

TEST_F(OrdersTest, ARequestWaitsForEver) {
  Do("faults", {{"method", "*.create"}, {"error", "waits_forever"}, {"times", 2}});
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  CreateNode("t1", Spec("v4-8"));
  Pass(3'600'000);
  EXPECT_EQ(QueuedStateOf("q"), "WAITING_FOR_RESOURCES");
  EXPECT_EQ(NodeStateOf("t1"), "CREATING");
  Do("calm", Json::object());
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  Pass(300);
  EXPECT_EQ(QueuedStateOf("q"), "ACTIVE");
}

TEST_F(OrdersTest, ProvisioningNeverEnds) {
  Do("faults", {{"method", "queuedResources.create"}, {"error", "provisions_forever"}});
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  Pass(3'600'000);
  EXPECT_EQ(QueuedStateOf("q"), "PROVISIONING");
  EXPECT_EQ(NodeStateOf("n"), "CREATING");
}

TEST_F(OrdersTest, ARequestCanFailDuringProvisioning) {
  Do("faults", {{"method", "queuedResources.create"}, {"error", "gives_up"}});
  CreateQueued("q", QueuedSpec("n", "v4-8"));
  Pass(250);
  EXPECT_EQ(QueuedStateOf("q"), "PROVISIONING");
  Pass(300);
  EXPECT_EQ(QueuedStateOf("q"), "SUSPENDING");
  Pass(200);
  EXPECT_EQ(Get("queuedResources/q")["state"]["failedData"]["error"]["code"], 13);
  EXPECT_EQ(Call("GET", "nodes/n").status, 404);
}

TEST_F(OrdersTest, SomebodyElseTakesTheNameFirst) {
  Do("faults", {{"method", "*.create"}, {"error", "taken"}, {"times", 2}});
  Json spec = Spec("v4-8");
  spec["labels"] = {{"jobman-job", "1"}};
  EXPECT_EQ(CreateNode("t1", spec).status, 409);
  EXPECT_FALSE(Get("nodes/t1").contains("labels"));
  EXPECT_EQ(CreateQueued("q", QueuedSpec("n", "v4-8")).status, 409);
  Pass(60000);
  EXPECT_EQ(QueuedStateOf("q"), "WAITING_FOR_RESOURCES");
  EXPECT_EQ(Get("/sim/status")["nodes"][0]["foreign"], true);
}

TEST_F(OrdersTest, ANewResourceMayBeInvisible) {
  Set("guesses.create_visible_after=2s");
  CreateNode("t1", Spec("v4-8"));
  EXPECT_EQ(Call("GET", "nodes/t1").status, 404);
  EXPECT_FALSE(Get("nodes").contains("nodes"));
  Pass(2000);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  EXPECT_EQ(Get("nodes")["nodes"].size(), 1U);
}

TEST_F(OrdersTest, RefusalsLookLikeThoseOfTheService) {
  const std::map<std::string, int> refusals = {
      {"quota", 429},    {"quota_full", 429},   {"rate_limit", 429},
      {"denied", 403},   {"bad_type", 400},     {"bad_runtime", 400},
      {"bad_zone", 400}, {"api_disabled", 403}, {"zone_denied", 403}};
  for (const auto& [name, status] : refusals) {
    Do("faults", {{"method", "nodes.create"}, {"error", name}});
    EXPECT_EQ(CreateNode("t1", Spec("v4-8")).status, status) << name;
  }
}

TEST_F(OrdersTest, CalmRemovesPendingFaults) {
  Ready("t1");
  Do("preempt", {{"node", "t1"}, {"notice", "30s"}});
  Do("host", {{"node", "t1"}, {"index", 0}, {"action", "kill"}});
  Do("host", {{"node", "t1"}, {"index", 1}, {"action", "cut"}});
  Do("faults", {{"method", "*"}, {"error", "internal"}, {"times", 100}});
  Do("stockout", {{"for", "1h"}});
  Do("calm", Json::object());
  EXPECT_EQ(Reads("t1v-n-t1-w-0", "preempted"), "FALSE");
  EXPECT_EQ(fleet.links["t1v-n-t1-w-1"], Link::kMended);
  Pass(60000);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  Active("q", "n");
}

TEST_F(OrdersTest, AScriptRunsAtItsTimes) {
  Ready("t1");
  Ready("t2");
  const Json lines = {{{"after", "10s"}, {"order", "preempt"}, {"body", {{"node", "t1"}}}},
                      {{"after", "20s"},
                       {"order", "preempt"},
                       {"body", {{"node", "nobody"}}},
                       {"line", "20s preempt nobody"}},
                      {{"after", "30s"}, {"order", "preempt"}, {"body", {{"node", "t2"}}}}};
  EXPECT_EQ(Do("script", {{"lines", lines}}).body["to_come"], 3);
  Pass(9999);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  Pass(1);
  EXPECT_EQ(NodeStateOf("t1"), "PREEMPTED");
  Pass(10000);
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("there is no node nobody")));
  EXPECT_EQ(Get("/sim/status")["script_lines_to_come"], 1);
  Do("calm", Json::object());
  Pass(60000);
  EXPECT_EQ(NodeStateOf("t2"), "READY");
}

TEST_F(OrdersTest, ANameThatNoNodeHasIsAnsweredWithWhatWasMeant) {
  Ready("sweep-1-000004-a1");
  const auto refusal = [&](const std::string& name) {
    const Reply reply = Do("preempt", {{"node", name}});
    EXPECT_EQ(reply.status, 404) << name;
    return Text(Member(reply.body, "error"), "message");
  };
  EXPECT_EQ(refusal("sweep-1"), "there is no node sweep-1; 'sweep-1*' means sweep-1-000004-a1");
  EXPECT_EQ(refusal("sweep-1-000004-b1"),
            "there is no node sweep-1-000004-b1; did you mean sweep-1-000004-a1?");
  EXPECT_EQ(refusal("nobody"), "there is no node nobody; `jobman-sim status` lists them");
  EXPECT_EQ(refusal("x*"), "there is no node like x*; `jobman-sim status` lists them");
}

TEST_F(OrdersTest, LosingOneNodeOfARequestLosesAll) {
  const std::vector<Json> ways = {{{"node", "q-1"}},
                                  {{"node", "q-1"}, {"as", "stopping"}, {"for", "1s"}},
                                  {{"node", "q-1"}, {"as", "repairing"}, {"for", "1s"}},
                                  {{"node", "q-1"}, {"as", "silent"}, {"for", "1s"}},
                                  {{"node", "q-1"}, {"as", "gone"}},
                                  {{"node", "q-1"}, {"notice", "1s"}},
                                  {{"node", "q"}, {"notice", "1s"}}};
  for (const Json& way : ways) {
    AskForTwo("q");
    ASSERT_EQ(QueuedStateOf("q"), "ACTIVE") << way;
    EXPECT_EQ(Do("preempt", way).status, 200) << way;
    Pass(1500);
    EXPECT_EQ(QueuedStateOf("q"), "SUSPENDED") << way;
    EXPECT_THAT(fleet.running, IsEmpty()) << way;
    EXPECT_EQ(Get("/sim/status")["queued_resources"][0]["nodes"], 2);
    Call("DELETE", "queuedResources/q", {{"force", "true"}});
    Pass(1000);
    const Json left = Get("/sim/status");
    EXPECT_THAT(left["nodes"], IsEmpty()) << way;
    EXPECT_THAT(left["queued_resources"], IsEmpty()) << way;
    EXPECT_THAT(left["ownerless"], IsEmpty()) << way;
  }
}

TEST_F(OrdersTest, OneNodeOfARequestCanBeUnavailableAlone) {
  const std::vector<std::pair<std::string, Json>> outages = {
      {"maintain", {{"node", "q-1"}, {"for", "1s"}}},
      {"repair", {{"node", "q-1"}, {"for", "1s"}}},
      {"reboot", {{"node", "q-1"}}}};
  AskForTwo("q");
  for (const auto& [order, body] : outages) {
    const Json endpoints = Get("nodes/q-0")["networkEndpoints"];
    const Json moved = Get("nodes/q-1")["networkEndpoints"];
    EXPECT_EQ(Do(order, body).status, 200);
    EXPECT_THAT(fleet.running, SizeIs(order == "reboot" ? 4 : 2)) << order;
    EXPECT_EQ(QueuedStateOf("q"), "ACTIVE") << order;
    Pass(2000);
    EXPECT_THAT(fleet.running, SizeIs(4)) << order;
    EXPECT_EQ(Get("nodes/q-0")["networkEndpoints"], endpoints) << order;
    EXPECT_EQ(Get("nodes/q-1")["networkEndpoints"] == moved, order != "maintain");
  }
}

TEST_F(OrdersTest, SeveralNodesAreGrantedTogetherOrNotAtAll) {
  Set("stock.us-central2-b/v4=8");  // one node of two hosts
  AskForTwo("q");
  EXPECT_EQ(QueuedStateOf("q"), "WAITING_FOR_RESOURCES");
  EXPECT_THAT(Get("/sim/status")["nodes"], IsEmpty());
  Set("stock.us-central2-b/v4=16");
  Pass(1000);
  EXPECT_EQ(QueuedStateOf("q"), "ACTIVE");
}

TEST_F(OrdersTest, LeaksAreResourcesWithoutAnOwner) {
  Json ours = Spec("v4-8");
  ours["labels"] = {{"jobman-job", "1"}};
  CreateNode("ours", ours);
  CreateNode("bare", Spec("v4-8"));
  const Json ownerless = Get("/sim/status")["ownerless"];
  ASSERT_THAT(ownerless, SizeIs(1));
  EXPECT_THAT(ownerless[0]["name"].get<std::string>(), HasSubstr("nodes/bare"));
}

TEST_F(OrdersTest, RequestsAreCountedPerMinute) {
  for (int i = 0; i < 30; ++i) Call("GET", "nodes");
  Pass(60000);
  for (int i = 0; i < 10; ++i) Call("GET", "nodes");
  Pass(60000);
  const Json rates = Get("/sim/status")["requests"];
  EXPECT_EQ(rates["total"], 40);
  EXPECT_EQ(rates["peak_per_minute"], 30);
  EXPECT_DOUBLE_EQ(rates["mean_per_minute"].get<double>(), 20.0);
}

TEST_F(OrdersTest, AHostCanHangAndBeMended) {
  Ready("t1");
  Do("host", {{"node", "t1"}, {"index", 0}, {"action", "hang"}, {"for", "5s"}});
  EXPECT_EQ(fleet.links["t1v-n-t1-w-0"], Link::kHung);
  EXPECT_EQ(Get("/sim/status")["nodes"][0]["hosts"][0]["hung"], true);
  Pass(5000);
  EXPECT_EQ(fleet.links["t1v-n-t1-w-0"], Link::kMended);
  EXPECT_EQ(Get("/sim/status")["nodes"][0]["hosts"][0]["hung"], false);
  Do("host", {{"node", "t1"}, {"index", 1}, {"action", "trickle"}, {"for", "5s"}});
  EXPECT_EQ(fleet.links["t1v-n-t1-w-1"], Link::kTrickling);
  Pass(5000);
  EXPECT_EQ(fleet.links["t1v-n-t1-w-1"], Link::kMended);
  Do("host", {{"node", "t1"}, {"index", "*"}, {"action", "hang"}});
  EXPECT_EQ(fleet.links["t1v-n-t1-w-1"], Link::kHung);
  Do("calm", Json::object());
  EXPECT_EQ(fleet.links["t1v-n-t1-w-1"], Link::kMended);
}

}  // namespace
}  // namespace jobman::sim
