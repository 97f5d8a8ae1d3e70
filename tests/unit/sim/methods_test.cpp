// Methods that few clients call, and what every list and reply can do.
#include "service_fixture.hpp"
#include "sim/cloud/catalogue.hpp"
#include "sim/wire/gzip.hpp"

namespace jobman::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class MethodsTest : public ServiceFixture {
 protected:
  const std::string kAlpha = "/v2alpha1/projects/p/locations/us-central2-b/";
  const std::string kAlphaV6 = "/v2alpha1/projects/p/locations/us-east5-b/";

  void CreateV6(const std::string& id, const std::string& type = "v6e-8") {
    Json spec = Spec(type);
    spec["runtimeVersion"] = "v2-alpha-tpuv6e";
    ASSERT_EQ(Call("POST", kAlphaV6 + "nodes", {{"nodeId", id}}, spec).status, 200);
    Pass(1000);
  }
  static std::vector<std::string> Ids(const Json& list, const char* field) {
    std::vector<std::string> ids;
    for (const Json& entry : list) ids.push_back(Text(entry, field));
    return ids;
  }
};

TEST_F(MethodsTest, SimulatedMaintenanceTakesTheHostsAwayAndBack) {
  CreateNode("t1", Spec("v4-16"));
  Pass(1000);
  const Json before = Get("nodes/t1")["networkEndpoints"];
  EXPECT_EQ(
      Call("POST", kAlpha + "nodes/t1:simulateMaintenanceEvent", {}, {{"workerIds", {"2"}}}).status,
      400);
  const Reply reply =
      Call("POST", kAlpha + "nodes/t1:simulateMaintenanceEvent", {}, {{"workerIds", {"1"}}});
  ASSERT_EQ(reply.status, 200);
  EXPECT_EQ(Get("nodes/t1")["health"], "UNHEALTHY_MAINTENANCE");
  EXPECT_EQ(Get("nodes/t1")["upcomingMaintenance"]["maintenanceStatus"], "ONGOING");
  EXPECT_TRUE(fleet.running.empty());
  EXPECT_FALSE(Operation(reply).contains("done"));
  Pass(1000);
  EXPECT_EQ(Operation(reply)["response"]["state"], "READY");
  EXPECT_EQ(Get("nodes/t1")["health"], "HEALTHY");
  EXPECT_NE(Get("nodes/t1")["networkEndpoints"], before);
}

TEST_F(MethodsTest, MaintenanceIsPerformedOnlyWhereItCanBeRescheduled) {
  CreateNode("t1", Spec("v4-8"));
  Pass(1000);
  EXPECT_EQ(Call("POST", kAlpha + "nodes/t1:performMaintenance").status, 400);
  Call("POST", "/sim/maintain", {}, {{"node", "t1"}, {"notice", "1h"}});
  EXPECT_EQ(Call("POST", kAlpha + "nodes/t1:performMaintenance").status, 200) << "any v4";
  CreateV6("t4", "v6e-4");
  Call("POST", "/sim/maintain", {}, {{"node", "t4"}, {"notice", "1h"}});
  EXPECT_EQ(Call("POST", kAlphaV6 + "nodes/t4:performMaintenance").status, 400) << "too small";
  CreateV6("t6");
  Call("POST", "/sim/maintain", {}, {{"node", "t6"}, {"notice", "1h"}});
  const Reply reply = Call("POST", kAlphaV6 + "nodes/t6:performMaintenance");
  ASSERT_EQ(reply.status, 200) << reply.body;
  Pass(1000);
  EXPECT_EQ(Operation(reply)["done"], true);
  EXPECT_FALSE(Get("/v2/projects/p/locations/us-east5-b/nodes/t6").contains("upcomingMaintenance"));
  EXPECT_EQ(Call("POST", kAlpha + "nodes/none:performMaintenance").status, 404);
}

TEST_F(MethodsTest, MaintenanceOfAQueuedResource) {
  Json node = Spec("v6e-8");
  node["runtimeVersion"] = "v2-alpha-tpuv6e";
  const Json body = {{"tpu",
                      {{"nodeSpec",
                        {{{"parent", "projects/p/locations/us-east5-b"},
                          {"multiNodeParams", {{"nodeCount", 2}, {"nodeIdPrefix", "m"}}},
                          {"node", node}}}}}}};
  ASSERT_EQ(Call("POST", kAlphaV6 + "queuedResources", {{"queuedResourceId", "q"}}, body).status,
            200);
  Pass(2000);
  const std::string perform = kAlphaV6 + "queuedResources/q:performMaintenanceQueuedResource";
  EXPECT_FALSE(
      Get(kAlphaV6 + "queuedResources/q:getMaintenanceInfo").contains("nodeUpcomingMaintenances"));
  EXPECT_EQ(Call("POST", perform).status, 400);
  Call("POST", "/sim/maintain", {}, {{"node", "m-1"}, {"notice", "1h"}});
  const Json info =
      Get(kAlphaV6 + "queuedResources/q:getMaintenanceInfo")["nodeUpcomingMaintenances"];
  EXPECT_THAT(Ids(info, "nodeName"), ElementsAre("projects/p/locations/us-east5-b/nodes/m-1"));
  EXPECT_EQ(info[0]["upcomingMaintenance"]["canReschedule"], true);
  EXPECT_EQ(Call("POST", perform, {}, {{"nodeNames", {"m-9"}}}).status, 404);
  const Reply reply = Call("POST", perform, {}, {{"nodeNames", {"m-1"}}});
  ASSERT_EQ(reply.status, 200);
  EXPECT_FALSE(Operation(reply).contains("done"));
  Pass(2000);
  EXPECT_EQ(Operation(reply)["done"], true);
}

TEST_F(MethodsTest, ListsReservationsAndWhatTheyHold) {
  Set("reservations.us-central2-b/mine=64");
  const std::string name = "projects/p/locations/us-central2-b/reservations/mine";
  EXPECT_EQ(Get(kAlpha + "reservations")["reservations"][0]["standard"]["usage"], Json::object())
      << "0 is a default, which is not shown";
  Json queued = QueuedSpec("n", "v4-8");
  queued.erase("spot");
  queued["reservationName"] = name;
  CreateQueued("q", queued);
  Pass(2000);
  const Json list = Get(kAlpha + "reservations")["reservations"];
  EXPECT_THAT(Ids(list, "name"), ElementsAre(name));
  EXPECT_EQ(list[0]["standard"]["size"], 64);
  EXPECT_EQ(list[0]["standard"]["usage"]["total"], "4");
  EXPECT_EQ(Call("GET", "reservations").status, 404) << "v2 has no such list";
}

TEST_F(MethodsTest, ListsTensorFlowVersionsInV1) {
  const Json list = Get("/v1/projects/p/locations/us-central2-b/tensorflowVersions");
  EXPECT_THAT(list["tensorflowVersions"], SizeIs(TensorFlowVersions().size()));
  EXPECT_EQ(Get("/v1/projects/p/locations/us-central2-b/tensorflowVersions/2.17.0")["version"],
            "2.17.0");
  EXPECT_EQ(Call("GET", "/v1/projects/p/locations/us-central2-b/tensorflowVersions/9").status, 404);
}

TEST_F(MethodsTest, GuestAttributesOfAPathAndOfKnownWorkers) {
  CreateNode("t1", Spec("v4-16"));
  Pass(1000);
  const auto ask = [this](const Json& body) {
    return Call("POST", "nodes/t1:getGuestAttributes", {}, body);
  };
  const Json keys = ask({{"queryPath", "hostkeys/"}}).body["guestAttributes"];
  ASSERT_THAT(keys, SizeIs(2));
  EXPECT_EQ(keys[0]["queryPath"], "hostkeys/");
  EXPECT_THAT(Ids(keys[0]["queryValue"]["items"], "key"), ElementsAre("ssh-ed25519"));
  const Json one = ask({{"queryPath", "/tpu/hostname"}, {"workerIds", {"1"}}}).body;
  EXPECT_EQ(one["guestAttributes"][0]["queryValue"]["items"][0]["value"], "t1v-n-t1-w-1");
  EXPECT_FALSE(ask({{"queryPath", "no/such/path"}})
                   .body["guestAttributes"][0]["queryValue"]
                   .contains("items"));
  for (const char* id : {"2", "-1", "zero"}) {
    const Reply reply = ask({{"workerIds", {id}}});
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(Message(reply), HasSubstr(id));
  }
}

TEST_F(MethodsTest, ExternalAddressesCanBeTurnedOffAndOn) {
  CreateNode("t1", Spec("v4-8"));
  Pass(1000);
  const auto turn = [this](bool on) {
    Call("PATCH", "nodes/t1", {{"updateMask", "network_config.enable_external_ips"}},
         {{"networkConfig", {{"enableExternalIps", on}}}});
    Pass(1000);
    return Get("nodes/t1")["networkEndpoints"][0]["accessConfig"];
  };
  EXPECT_FALSE(turn(false).contains("externalIp"));
  EXPECT_TRUE(turn(true).contains("externalIp"));
}

TEST_F(MethodsTest, EveryTypeHasATopology) {
  for (const std::string zone : {"us-central2-b", "us-east5-a"}) {
    const Json list =
        Get("/v2/projects/p/locations/" + zone + "/acceleratorTypes")["acceleratorTypes"];
    for (const Json& type : list) {
      const std::string topology = Text(type["acceleratorConfigs"][0], "topology");
      const auto shape = FromConfig(Text(type["acceleratorConfigs"][0], "type"), topology);
      ASSERT_TRUE(shape.ok()) << type;
      EXPECT_EQ(shape->type, Text(type, "type")) << topology;
    }
  }
  EXPECT_EQ(TopologyOf(*core::FindAccelerator("v4-384")), "4x4x12");
  EXPECT_EQ(TopologyOf(*core::FindAccelerator("v4-3456")), "12x12x12");
}

TEST_F(MethodsTest, ListsAreFilteredAndSorted) {
  const auto list = [this](std::map<std::string, std::string> query) {
    return Call("GET", "acceleratorTypes", std::move(query));
  };
  const auto types = [&](std::map<std::string, std::string> query) {
    return Ids(list(std::move(query)).body["acceleratorTypes"], "type");
  };
  EXPECT_THAT(types({{"filter", "type=v4-8"}}), ElementsAre("v4-8"));
  EXPECT_THAT(types({{"filter", "type = \"v4-8\" AND name:us-central2-b"}}), ElementsAre("v4-8"));
  EXPECT_THAT(types({{"filter", "type=v4-1* -type:6 NOT type=v4-1024"}, {"pageSize", "1"}}),
              ElementsAre("v4-1152"));
  EXPECT_THAT(types({{"filter", "type=none"}}), SizeIs(0));
  EXPECT_THAT(types({{"orderBy", "type desc"}, {"pageSize", "1"}}), ElementsAre("v4-896"));
  for (const char* bad : {"type", "type==v4", "(type=v4-8)", "type=v4-8 OR type=v4-16", "=v4"}) {
    EXPECT_EQ(list({{"filter", bad}}).status, 400) << bad;
  }
  EXPECT_EQ(list({{"orderBy", "type sideways"}}).status, 400);
  EXPECT_EQ(list({{"pageSize", "-1"}}).status, 400);
  EXPECT_EQ(list({{"pageToken", "zz"}}).status, 400);
  EXPECT_EQ(list({{"pageToken", "61"}}).status, 400) << "made up";
  std::map<std::string, std::string> query = {{"orderBy", "type desc"}, {"pageSize", "10"}};
  std::vector<std::string> all;
  for (Json page = list(query).body;; page = list(query).body) {
    for (const std::string& type : Ids(page["acceleratorTypes"], "type")) all.push_back(type);
    if (!page.contains("nextPageToken")) break;
    query["pageToken"] = page["nextPageToken"];
  }
  EXPECT_THAT(all, SizeIs(TypesIn("us-central2-b").size()));
  EXPECT_TRUE(std::is_sorted(all.rbegin(), all.rend()));
}

TEST_F(MethodsTest, RepliesCanBePartial) {
  CreateNode("t1", Spec("v4-8"));
  const auto part = [this](const std::string& path, const std::string& fields) {
    return Call("GET", path, {{"fields", fields}});
  };
  EXPECT_EQ(part("nodes/t1", "state,acceleratorConfig/type").body,
            (Json{{"state", "CREATING"}, {"acceleratorConfig", {{"type", "V4"}}}}));
  EXPECT_EQ(
      part("nodes", "nodes(id,accelerator_config(topology)),nextPageToken").body["nodes"][0].size(),
      2U);
  EXPECT_EQ(part("nodes", "nodes.state").body, (Json{{"nodes", {{{"state", "CREATING"}}}}}));
  EXPECT_EQ(part("nodes/t1", "*").body, Get("nodes/t1"));
  for (const char* bad : {"nodez", "state,", "state(", "acceleratorConfig/kind", "a)"}) {
    const Reply reply = part("nodes/t1", bad);
    EXPECT_EQ(reply.status, 400) << bad;
    EXPECT_THAT(Message(reply), HasSubstr("'fields'")) << bad;
  }
}

TEST_F(MethodsTest, RequestsAMinuteCanBeLimited) {
  Set("requests_per_minute.nodes/get=2");
  CreateNode("t1", Spec("v4-8"));
  EXPECT_EQ(Call("GET", "nodes/t1").status, 200);
  EXPECT_EQ(Call("GET", "nodes/t1").status, 200);
  const Reply reply = Call("GET", "nodes/t1");
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.body["error"]["details"][0]["reason"], "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(Call("GET", "nodes").status, 200) << "another method";
  EXPECT_EQ(Call("GET", "/v2/projects/q/locations/us-central2-b/nodes/t1").status, 404)
      << "another project";
  Pass(60000);
  EXPECT_EQ(Call("GET", "nodes/t1").status, 200);
}

TEST_F(MethodsTest, RepliesAreZippedForThoseWhoAsk) {
  for (const char* header : {"gzip", "gzip, deflate", "deflate, GZIP;q=0.5", "*"}) {
    EXPECT_TRUE(AcceptsGzip(header)) << header;
  }
  for (const char* header : {"", "deflate", "gzip;q=0", "x-gzip-not"}) {
    EXPECT_FALSE(AcceptsGzip(header)) << header;
  }
  const std::string text(100000, 'x');
  const auto packed = Gzip(text);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size(), 2000U);
  EXPECT_EQ(packed->substr(0, 2), "\x1f\x8b");
}

TEST_F(MethodsTest, QueriesAreReadWhole) {
  using Parameters = std::map<std::string, std::string>;
  EXPECT_EQ(ParseQuery("/v2/x?$alt=json%3Benum-encoding=int&a=b+c&a=d&e"),
            (Parameters{{"$alt", "json;enum-encoding=int"}, {"a", "b c"}, {"e", ""}}));
  EXPECT_EQ(ParseQuery("/v2/x?p=100%&q=%zz%41"), (Parameters{{"p", "100%"}, {"q", "%zzA"}}));
  EXPECT_EQ(ParseQuery("/v2/x"), Parameters{});
  EXPECT_EQ(ParseQuery("/v2/x?a%FF=b%C3%28"), (Parameters{{"a\uFFFD", "b\uFFFD("}}));
}

TEST_F(MethodsTest, TheComputeApiSetsTheMetadataOfAProject) {
  CreateNode("t1", Spec("v4-8"));
  Pass(1000);
  const std::string project = "/compute/v1/projects/p";
  const Json before = Get(project)["commonInstanceMetadata"];
  const Json wanted = {{"fingerprint", before["fingerprint"]},
                       {"items", {{{"key", "ssh-keys"}, {"value", "me:ssh-ed25519 AAAA me"}}}}};
  const Reply set = Call("POST", project + "/setCommonInstanceMetadata", {}, wanted);
  ASSERT_EQ(set.status, 200);
  EXPECT_EQ(set.body["status"], "DONE");
  EXPECT_EQ(Get(project + "/global/operations/" + Text(set.body, "name"))["status"], "DONE");
  EXPECT_EQ(Get(project)["commonInstanceMetadata"]["items"], wanted["items"]);
  const HostPlan& host = fleet.running.at("t1v-n-t1-w-0");
  EXPECT_EQ(host.metadata.at("ssh-keys"), "me:ssh-ed25519 AAAA me") << "it lets its user in";
  EXPECT_EQ(
      service.Guest(host.internal_ip, {.path = "/computeMetadata/v1/project/attributes/ssh-keys"})
          .body,
      "me:ssh-ed25519 AAAA me");
  EXPECT_EQ(Call("POST", project + "/setCommonInstanceMetadata", {}, wanted).status, 412)
      << "the fingerprint is an old one";
  const Reply wrong = Call("POST", project + "/setCommonInstanceMetadata", {}, {{"itemz", 1}});
  EXPECT_EQ(wrong.status, 400);
}

TEST_F(MethodsTest, UnderOsLoginHostsTakeNoKeysUnlessTheNodeSaysNo) {
  const auto make = [this](const char* id, const Json& metadata) {
    Json spec = Spec("v4-8");
    spec["metadata"] = metadata;
    CreateNode(id, spec);
    Pass(1000);
    return fleet.running.at(std::string("t1v-n-") + id + "-w-0").metadata.contains("ssh-keys");
  };
  const std::string key = "me:ssh-ed25519 AAAA me";
  EXPECT_FALSE(make("t1", {{"ssh-keys", key}, {"enable-oslogin", "TRUE"}}));
  const Json item = {{"key", "enable-oslogin"}, {"value", "TRUE"}};
  EXPECT_EQ(Call("POST", "/compute/v1/projects/p/setCommonInstanceMetadata", {},
                 {{"items", Json::array({item})}})
                .status,
            200);
  EXPECT_FALSE(make("t2", {{"ssh-keys", key}}));
  EXPECT_TRUE(make("t3", {{"ssh-keys", key}, {"enable-oslogin", "FALSE"}}));
}

TEST_F(MethodsTest, UnderOsLoginHostsTakeTheKeysOfTheLoginProfile) {
  Json spec = Spec("v4-8");
  spec["metadata"] = {{"ssh-keys", "me:ssh-ed25519 AAAA me"}, {"enable-oslogin", "TRUE"}};
  CreateNode("t1", spec);
  Pass(1000);
  const std::string account = Call("POST", "/tokeninfo").body["email"];
  const std::string import = "/v1/users/" + account + ":importSshPublicKey";
  EXPECT_FALSE(Get("/v1/users/" + account + "/loginProfile").contains("posixAccounts"));
  const Reply reply = Call("POST", import, {}, {{"key", "ssh-ed25519 BBBB me"}});
  ASSERT_EQ(reply.status, 200) << reply.body;
  const std::string user = reply.body["loginProfile"]["posixAccounts"][0]["username"];
  EXPECT_EQ(fleet.running.at("t1v-n-t1-w-0").metadata.at("ssh-keys"),
            user + ":ssh-ed25519 BBBB me");
  const Json profile = Get("/v1/users/" + account + "/loginProfile");
  EXPECT_EQ(profile, reply.body["loginProfile"]);
  ASSERT_EQ(profile["sshPublicKeys"].size(), 1U) << profile;
  EXPECT_EQ(profile["sshPublicKeys"].begin()->at("key"), "ssh-ed25519 BBBB me");
  EXPECT_EQ(Call("GET", "/v1/users/eve/loginProfile").status, 403);
  EXPECT_EQ(Call("POST", import, {}, {{"key", "a\nb"}}).status, 400);
  EXPECT_EQ(Call("POST", "/v1/users/eve:importSshPublicKey", {}, {{"key", "k"}}).status, 403);
}

TEST_F(MethodsTest, ARegionSaysHowManyAddressesAreUsed) {
  const auto used = [this] {
    const Json region = Get("/compute/v1/projects/p/regions/us-central2");
    EXPECT_EQ(region["quotas"][0]["metric"], "IN_USE_ADDRESSES");
    return region["quotas"][0]["usage"].get<double>();
  };
  EXPECT_EQ(used(), 0);
  CreateNode("t1", Spec("v4-16"));
  Pass(1000);
  EXPECT_EQ(used(), 2) << "one for each host with an external address";
  Set("addresses=8");
  EXPECT_EQ(Get("/compute/v1/projects/p/regions/us-central2")["quotas"][0]["limit"], 8);
  EXPECT_EQ(Call("GET", "/compute/v1/projects/p/regions/mars-north1").status, 404);
}

TEST_F(MethodsTest, ARegionSaysHowMuchDiskIsUsed) {
  Set("disk_gb=1000");
  CreateNode("t1", Spec("v4-16"));
  Pass(1000);
  const Json quotas = Get("/compute/v1/projects/p/regions/us-central2")["quotas"];
  EXPECT_EQ(quotas[1], (Json{{"metric", "SSD_TOTAL_GB"}, {"limit", 1000}, {"usage", 200}}));
  EXPECT_EQ(quotas[2], (Json{{"metric", "HDB_TOTAL_GB"}, {"limit", 1000}, {"usage", 0}}));
}

TEST_F(MethodsTest, ServiceUsageHasTheQuotasThatAreSet) {
  const std::string path = "/v1beta1/projects/p/services/tpu.googleapis.com/consumerQuotaMetrics";
  Set("quota.us-central2-b/v4-spot=32");
  const Json body = Get(path);
  for (const Json& metric : body["metrics"]) {
    const bool set = metric["metric"] == "tpu.googleapis.com/tpu-v4s-preemptible";
    const Json& limit = metric["consumerQuotaLimits"][0];
    EXPECT_EQ(limit["unit"], "1/{project}/{zone}");
    EXPECT_EQ(limit["quotaBuckets"][0]["effectiveLimit"], "-1") << "no limit elsewhere";
    ASSERT_EQ(limit["quotaBuckets"].size(), set ? 2U : 1U) << metric;
    if (!set) continue;
    EXPECT_EQ(limit["quotaBuckets"][1]["effectiveLimit"], "32");
    EXPECT_EQ(limit["quotaBuckets"][1]["dimensions"]["zone"], "us-central2-b");
  }
  EXPECT_EQ(body["metrics"].size(), 18U);
  EXPECT_EQ(Call("POST", path).status, 404);
  EXPECT_EQ(
      Call("GET", "/v1beta1/projects//services/tpu.googleapis.com/consumerQuotaMetrics").status,
      404);
}

TEST_F(MethodsTest, TheComputeApiSays404ToWhatItDoesNotHave) {
  for (const char* path : {"/compute/v1/projects/", "/compute/v1/projects/p/zones",
                           "/compute/v1/projects/p/global/operations/operation-1",
                           "/compute/v1/projects/p/global/networks/default"}) {
    const Reply reply = Call("GET", path);
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_EQ(reply.body["error"]["errors"][0]["reason"], "notFound") << path;
  }
  EXPECT_EQ(Call("DELETE", "/compute/v1/projects/p").status, 404);
  // An operation is known in its own project only, and in the form in which it was given.
  const Reply set = Call("POST", "/compute/v1/projects/p/setCommonInstanceMetadata", {},
                         {{"items", Json::array()}});
  const std::string name = Text(set.body, "name");
  EXPECT_EQ(Call("GET", "/compute/v1/projects/p/global/operations/" + name).status, 200);
  EXPECT_EQ(Call("POST", "/compute/v1/projects/p/global/operations/" + name + "/wait").status, 200);
  for (const std::string& path :
       {"q/global/operations/" + name, "p/global/operations/" + name + "0",
        std::string("p/global/operations/operation--1"), "p/global/operations/" + name + "/wait"}) {
    EXPECT_EQ(Call("GET", "/compute/v1/projects/" + path).status, 404) << path;
  }
}

TEST_F(MethodsTest, TheComputeApiRefusesWhatItDoesNotKnow) {
  const std::string project = "/compute/v1/projects/p";
  EXPECT_EQ(Call("GET", project, {{"alt", "json"}, {"fields", "name"}}).status, 200);
  EXPECT_THAT(Message(Call("GET", project, {{"zone", "a"}})), HasSubstr("Unknown name \"zone\""));
  const Json item = {{"key", "a"}, {"value", "b"}, {"kind", "c"}};
  const Json body = {{"items", Json::array({item})}};
  EXPECT_EQ(Call("POST", project + "/setCommonInstanceMetadata", {}, body).status, 400);
}

}  // namespace
}  // namespace jobman::sim
