#include "service_fixture.hpp"

namespace jobman::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class NodeTest : public ServiceFixture {};

TEST_F(NodeTest, IsCreatingUntilTheDelayIsOverAndThenReady) {
  const Reply reply = CreateNode("t1", Spec("v4-32"));
  EXPECT_EQ(NodeStateOf("t1"), "CREATING");
  EXPECT_FALSE(Get("nodes/t1").contains("networkEndpoints"));
  EXPECT_FALSE(Operation(reply).contains("done"));
  Pass(300);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  EXPECT_THAT(Get("nodes/t1")["networkEndpoints"], SizeIs(4));
  EXPECT_EQ(Operation(reply)["done"], true);
  EXPECT_EQ(Operation(reply)["response"]["state"], "READY");
}

TEST_F(NodeTest, WaitsForItsHostsLongerThanTheDelay) {
  fleet.slow = true;
  CreateNode("t1", Spec("v4-8"));
  Pass(10000);
  EXPECT_EQ(NodeStateOf("t1"), "CREATING");
  const auto& [uid, boot] = *fleet.booted.begin();
  service.HostsBooted(uid, boot, now);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
}

TEST_F(NodeTest, IgnoresHostsOfAnEarlierBoot) {
  fleet.slow = true;
  CreateNode("t1", Spec("v4-8"));
  Pass(1000);
  const auto [uid, boot] = *fleet.booted.begin();
  service.HostsBooted(uid, boot - 1, now);
  EXPECT_EQ(NodeStateOf("t1"), "CREATING");
}

TEST_F(NodeTest, GivesNoHostTheNameOfAnEarlierOne) {
  Set("delays=0");
  CreateNode("t1", Spec("v4-8"));
  const std::set<std::string> first = fleet.disks;
  EXPECT_THAT(first, ElementsAre("t1v-n-t1-w-0"));
  Call("DELETE", "nodes/t1");
  EXPECT_EQ(Call("GET", "nodes/t1").status, 404);
  CreateNode("t1", Spec("v4-8"));
  EXPECT_THAT(fleet.disks, SizeIs(1));
  EXPECT_NE(fleet.disks, first);
}

TEST_F(NodeTest, WithoutDelaysIsReadyInTheNextRequest) {
  Set("delays=0");
  CreateNode("t1", Spec("v4-8"));
  EXPECT_EQ(NodeStateOf("t1"), "READY");
}

TEST_F(NodeTest, ShowsFieldsThatTheServiceFillsIn) {
  CreateNode("t1", {{"acceleratorType", "v4-8"}, {"runtimeVersion", "tpu-ubuntu2204-base"}});
  Pass(300);
  const Json node = Get("nodes/t1");
  EXPECT_EQ(node["apiVersion"], "V2");
  EXPECT_EQ(node["health"], "HEALTHY");
  EXPECT_EQ(node["acceleratorConfig"], (Json{{"type", "V4"}, {"topology", "2x2x1"}}));
  EXPECT_EQ(node["name"], "projects/p/locations/us-central2-b/nodes/t1");
  EXPECT_EQ(node["networkConfig"]["network"], "projects/p/global/networks/default");
  EXPECT_EQ(node["networkConfig"]["subnetwork"],
            "projects/p/regions/us-central2/subnetworks/default");
  EXPECT_EQ(node["networkConfig"]["enableExternalIps"], true);
  EXPECT_EQ(node["schedulingConfig"], Json::object());
  EXPECT_EQ(node["shieldedInstanceConfig"], Json::object());
  EXPECT_TRUE(node["id"].is_string());
  EXPECT_THAT(node["createTime"].get<std::string>(), HasSubstr(".000000000Z"));
  EXPECT_EQ(node["networkEndpoints"][0]["port"], 8470);
  EXPECT_FALSE(node.contains("multisliceNode"));
}

TEST_F(NodeTest, LeavesDefaultsOutAndKeepsEmptyMessages) {
  // The body of `gcloud compute tpus tpu-vm create t1 --spot`.
  CreateNode("t1", Json::parse(R"({"acceleratorType":"v4-8","metadata":{},"networkConfig":
    {"enableExternalIps":true,"network":"default"},"runtimeVersion":"tpu-ubuntu2204-base",
    "schedulingConfig":{"preemptible":false,"reserved":false,"spot":true},
    "shieldedInstanceConfig":{"enableSecureBoot":false}})"));
  const Json node = Get("nodes/t1");
  EXPECT_EQ(node["schedulingConfig"], (Json{{"spot", true}}));
  EXPECT_EQ(node["shieldedInstanceConfig"], Json::object());
  EXPECT_FALSE(node.contains("metadata"));
}

TEST_F(NodeTest, HasNoExternalAddressWhenNoneIsWanted) {
  Json spec = Spec("v4-8");
  spec["networkConfig"] = {{"network", "default"}};
  CreateNode("t1", spec);
  Pass(300);
  EXPECT_EQ(Get("nodes/t1")["networkEndpoints"][0]["accessConfig"], Json::object());
}

TEST_F(NodeTest, GivesEveryHostItsOwnAddresses) {
  CreateNode("a", Spec("v4-32"));
  CreateNode("b", Spec("v4-32"));
  Pass(300);
  std::set<std::string> addresses;
  for (const char* id : {"nodes/a", "nodes/b"}) {
    const Json node = Get(id);
    for (const Json& endpoint : node["networkEndpoints"]) {
      addresses.insert(endpoint["ipAddress"].get<std::string>());
      addresses.insert(endpoint["accessConfig"]["externalIp"].get<std::string>());
    }
  }
  EXPECT_THAT(addresses, SizeIs(16));
}

TEST_F(NodeTest, CanBeCreatedByTopology) {
  CreateNode("t4", {{"acceleratorConfig", {{"type", "V4"}, {"topology", "2x2x2"}}},
                    {"runtimeVersion", "tpu-ubuntu2204-base"}});
  EXPECT_EQ(Get("nodes/t4")["acceleratorType"], "v4-16");
  CreateNode("long", {{"acceleratorConfig", {{"type", "V4"}, {"topology", "4x4x16"}}},
                      {"runtimeVersion", "tpu-ubuntu2204-base"}});
  EXPECT_EQ(Get("nodes/long")["acceleratorType"], "v4-512");
  EXPECT_EQ(Get("nodes/long")["acceleratorConfig"]["topology"], "4x4x16") << "not the usual one";
}

TEST_F(NodeTest, ATopologyThatThereIsNotIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"V4", "4x4"}, {"V4", "8x4x4"}, {"V4", "2x2x3"}, {"V6E", "2x8"}, {"V99", "2x2x2"}};
  for (const auto& [type, topology] : cases) {
    const Reply reply =
        CreateNode("bad", {{"acceleratorConfig", {{"type", type}, {"topology", topology}}},
                           {"runtimeVersion", "tpu-ubuntu2204-base"}});
    EXPECT_EQ(reply.status, 400) << type << " " << topology;
  }
}

TEST_F(NodeTest, IsNotFoundWithTheMessageOfTheService) {
  const Reply reply = Call("GET", "nodes/nope");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body["error"]["status"], "NOT_FOUND");
  EXPECT_EQ(Message(reply),
            "Resource 'projects/p/locations/us-central2-b/nodes/nope' was not found");
}

TEST_F(NodeTest, ASecondCreateAlreadyExists) {
  CreateNode("t1", Spec("v4-8"));
  const Reply reply = CreateNode("t1", Spec("v4-8"));
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.body["error"]["status"], "ALREADY_EXISTS");
}

TEST_F(NodeTest, RefusesTypesThatTheZoneDoesNotOffer) {
  const Reply type = CreateNode("t1", Spec("v6e-8"));
  EXPECT_EQ(type.status, 400);
  EXPECT_THAT(Message(type), HasSubstr("\"v6e-8\", could not be found in the zonal accelerator "
                                       "configurations for \"us-central2-b\".; the accelerator "
                                       "v6e-8 was not found in zone us-central2-b [EID: 0x"));
  Json spec = Spec("v4-8");
  spec["runtimeVersion"] = "ubuntu";
  EXPECT_EQ(CreateNode("t1", spec).status, 400);
  const Reply zone = Call("GET", "/v2/projects/p/locations/mars-north1-a/nodes");
  EXPECT_EQ(zone.status, 400);
  EXPECT_THAT(Message(zone), HasSubstr("The requested zone \"mars-north1-a\" is not supported."));
}

TEST_F(NodeTest, RefusesUnknownFieldsAndBadIds) {
  Json spec = Spec("v4-8");
  spec["acceleratortype"] = "v4-8";
  EXPECT_THAT(Message(CreateNode("t1", spec)), HasSubstr("Unknown name \"acceleratortype\""));
  EXPECT_EQ(CreateNode("../x", Spec("v4-8")).status, 400);
  EXPECT_EQ(CreateNode("", Spec("v4-8")).status, 400);
}

TEST_F(NodeTest, AStockoutFailsTheOperation) {
  Set("stock.us-central2-b/v4=16");
  CreateNode("a", Spec("v4-32"));
  const Reply reply = CreateNode("b", Spec("v4-8"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(NodeStateOf("b"), "CREATING");
  Pass(300);
  const Json operation = Operation(reply);
  EXPECT_EQ(operation["error"]["code"], 8);
  EXPECT_THAT(operation["error"]["message"].get<std::string>(),
              HasSubstr("There is no more capacity in the zone \"us-central2-b\""));
  EXPECT_EQ(Call("GET", "nodes/b").status, 404);
}

TEST_F(NodeTest, AnExceededQuotaIsRefusedAtOnce) {
  Set("quota.us-central2-b/v4-spot=16");
  EXPECT_EQ(CreateNode("a", Spec("v4-16", true)).status, 200);
  EXPECT_EQ(CreateNode("on-demand", Spec("v4-16")).status, 200);
  const Reply reply = CreateNode("b", Spec("v4-8", true));
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.body["error"]["details"][0]["@type"],
            "type.googleapis.com/google.rpc.QuotaFailure");
  EXPECT_THAT(Message(reply),
              HasSubstr("Quota limit 'TPUV4sPreemptiblePodPerProjectPerZoneForTPUAPI' has been "
                        "exceeded. Limit: 16 in zone us-central2-b."));
}

TEST_F(NodeTest, HoldsNameAndQuotaAfterAPreemptionUntilItIsDeleted) {
  Set("quota.*/v4-spot=8");
  Set("stock.*/v4=4");
  CreateNode("t1", Spec("v4-8", true));
  Pass(300);
  EXPECT_EQ(Call("POST", "/sim/preempt", {}, {{"node", "t1"}}).status, 200);
  EXPECT_EQ(NodeStateOf("t1"), "PREEMPTED");
  EXPECT_TRUE(fleet.running.empty());
  EXPECT_EQ(CreateNode("t1", Spec("v4-8", true)).status, 409);
  EXPECT_EQ(CreateNode("t2", Spec("v4-8", true)).status, 429);
  const Reply deleted = Call("DELETE", "nodes/t1");
  Pass(200);
  EXPECT_EQ(Operation(deleted)["response"], EmptyResponse());
  EXPECT_TRUE(fleet.disks.empty());
  EXPECT_EQ(CreateNode("t1", Spec("v4-8", true)).status, 200);
}

TEST_F(NodeTest, OnDemandIsPreemptedOnlyByForce) {
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  EXPECT_EQ(Call("POST", "/sim/preempt", {}, {{"node", "t1"}}).status, 400);
  EXPECT_EQ(Call("POST", "/sim/preempt", {}, {{"node", "t1"}, {"force", true}}).status, 200);
}

TEST_F(NodeTest, IsDeletingBeforeItIsGone) {
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  const Reply reply = Call("DELETE", "nodes/t1");
  EXPECT_EQ(NodeStateOf("t1"), "DELETING");
  EXPECT_TRUE(fleet.running.empty());
  EXPECT_FALSE(Operation(reply).contains("done"));
  Pass(200);
  EXPECT_EQ(Call("GET", "nodes/t1").status, 404);
  EXPECT_EQ(Operation(reply)["done"], true);
}

TEST_F(NodeTest, DeletedWhileCreatingEndsTheCreation) {
  const Reply created = CreateNode("t1", Spec("v4-8"));
  Call("DELETE", "nodes/t1");
  Pass(1000);
  EXPECT_EQ(Operation(created)["error"]["code"], 10);
  EXPECT_EQ(Call("GET", "nodes/t1").status, 404);
}

TEST_F(NodeTest, StopsAndStartsWithAnotherExternalAddress) {
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  const Json before = Get("nodes/t1")["networkEndpoints"][0];
  Call("POST", "nodes/t1:stop", {}, Json::object());
  EXPECT_EQ(NodeStateOf("t1"), "STOPPING");
  Pass(200);
  EXPECT_EQ(NodeStateOf("t1"), "STOPPED");
  EXPECT_TRUE(fleet.running.empty());
  EXPECT_FALSE(fleet.disks.empty());
  Call("POST", "nodes/t1:start", {}, Json::object());
  EXPECT_EQ(NodeStateOf("t1"), "STARTING");
  Pass(300);
  const Json after = Get("nodes/t1")["networkEndpoints"][0];
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  EXPECT_EQ(after["ipAddress"], before["ipAddress"]);
  EXPECT_NE(after["accessConfig"], before["accessConfig"]);
}

TEST_F(NodeTest, StopIsRefusedOnPodsAndSpot) {
  CreateNode("pod", Spec("v4-16"));
  CreateNode("spot", Spec("v4-8", true));
  Pass(300);
  EXPECT_EQ(Call("POST", "nodes/pod:stop").status, 400);
  EXPECT_EQ(Call("POST", "nodes/spot:stop").status, 400);
}

TEST_F(NodeTest, PatchAppliesOnlyTheMaskAndUpdatesTheHosts) {
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  // gcloud sends the whole node back, output-only fields included.
  Json body = Get("nodes/t1");
  body["labels"] = {{"a", "b"}, {"empty", ""}};
  body["metadata"] = {{"ssh-keys", "me:ssh-ed25519 AAAA me"}};
  body["description"] = "not in the mask";
  const Reply reply = Call("PATCH", "nodes/t1", {{"updateMask", "metadata,labels"}}, body);
  EXPECT_EQ(Operation(reply)["done"], true);
  const Json node = Get("nodes/t1");
  EXPECT_EQ(node["labels"], (Json{{"a", "b"}, {"empty", ""}}));
  EXPECT_FALSE(node.contains("description"));
  EXPECT_EQ(fleet.running.at("t1v-n-t1-w-0").metadata.at("ssh-keys"), "me:ssh-ed25519 AAAA me");
}

TEST_F(NodeTest, PatchFailsInTheOperationWhilePreempted) {
  CreateNode("t1", Spec("v4-8", true));
  Pass(300);
  Call("POST", "/sim/preempt", {}, {{"node", "t1"}});
  const Reply reply = Call("PATCH", "nodes/t1", {{"updateMask", "labels"}}, Json::object());
  const std::string message = Operation(reply)["error"]["message"];
  EXPECT_EQ(Operation(reply)["error"]["code"], 3);
  EXPECT_THAT(message, HasSubstr("update is not supported while in state PREEMPTED [EID: 0x"));
}

TEST_F(NodeTest, ShowsHostKeysAsGuestAttributes) {
  CreateNode("t1", Spec("v4-16"));
  Pass(300);
  const Json all = Call("POST", "nodes/t1:getGuestAttributes", {}, {{"workerIds", {""}}}).body;
  EXPECT_THAT(all["guestAttributes"], SizeIs(2));
  const Json one = Call("POST", "nodes/t1:getGuestAttributes", {}, {{"workerIds", {"1"}}}).body;
  EXPECT_EQ(one["guestAttributes"][0]["queryValue"]["items"][0],
            (Json{{"namespace", "hostkeys"},
                  {"key", "ssh-ed25519"},
                  {"value", "AAAAkey-of-t1v-n-t1-w-1"}}));
}

TEST_F(NodeTest, LosesOneHostSilently) {
  CreateNode("t1", Spec("v4-16"));
  Pass(300);
  EXPECT_EQ(
      Call("POST", "/sim/host", {}, {{"node", "t1"}, {"index", 1}, {"action", "kill"}}).status,
      200);
  EXPECT_EQ(NodeStateOf("t1"), "READY");
  EXPECT_FALSE(fleet.running.contains("t1v-n-t1-w-1"));
  EXPECT_EQ(
      Call("POST", "/sim/host", {}, {{"node", "t1"}, {"index", 2}, {"action", "kill"}}).status,
      400);
}

TEST_F(NodeTest, ShowsFieldsSetByHand) {
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  Call("POST", "/sim/node", {}, {{"node", "t1"}, {"set", {{"health", "UNHEALTHY_MAINTENANCE"}}}});
  EXPECT_EQ(Get("nodes/t1")["health"], "UNHEALTHY_MAINTENANCE");
  Call("POST", "/sim/node", {}, {{"node", "t1"}, {"set", {{"health", nullptr}}}});
  EXPECT_EQ(Get("nodes/t1")["health"], "HEALTHY");
  Call("POST", "/sim/node", {}, {{"node", "t1"}, {"reboot", true}});
  EXPECT_EQ(NodeStateOf("t1"), "RESTARTING");
}

TEST_F(NodeTest, NodesOfTheSameNameInTwoZonesHaveDifferentHostNames) {
  CreateNode("a", {{"acceleratorType", "v4-8"}, {"runtimeVersion", "tpu-ubuntu2204-base"}});
  Call("POST", "/v2/projects/p/locations/us-central1-a/nodes", {{"nodeId", "a"}},
       {{"acceleratorType", "v5p-8"}, {"runtimeVersion", "v2-alpha-tpuv5"}});
  EXPECT_THAT(fleet.disks, SizeIs(2));
  EXPECT_THAT(Get("/v2/projects/p/locations/-/nodes")["nodes"], SizeIs(2));
  EXPECT_THAT(Get("nodes")["nodes"], SizeIs(1));
}

TEST_F(NodeTest, ListsInPages) {
  for (const char* id : {"a", "b", "c"}) CreateNode(id, Spec("v4-8"));
  Json page = Call("GET", "nodes", {{"pageSize", "2"}}).body;
  EXPECT_THAT(page["nodes"], SizeIs(2));
  // Deletions between pages neither skip nor repeat anything.
  Call("DELETE", "nodes/b");
  Pass(1000);
  page = Call("GET", "nodes", {{"pageSize", "2"}, {"pageToken", page["nextPageToken"]}}).body;
  ASSERT_THAT(page["nodes"], SizeIs(1));
  EXPECT_THAT(page["nodes"][0]["name"].get<std::string>(), HasSubstr("nodes/c"));
  EXPECT_FALSE(page.contains("nextPageToken"));
  EXPECT_EQ(Call("GET", "nodes", {{"pageToken", "zz"}}).status, 400);
}

TEST_F(NodeTest, PagesAreNeverLargerThanTheSetting) {
  for (const char* id : {"a", "b", "c"}) CreateNode(id, Spec("v4-8"));
  Set("max_page_size=1");
  EXPECT_THAT(Get("nodes")["nodes"], SizeIs(1));
}

}  // namespace
}  // namespace jobman::sim
