#include "service_fixture.hpp"
#include "sim/cloud/catalogue.hpp"

namespace jobman::sim {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class ServiceTest : public ServiceFixture {};

TEST_F(ServiceTest, ListsTypesVersionsAndZones) {
  const Json types = Get("acceleratorTypes")["acceleratorTypes"];
  EXPECT_EQ(types[0]["type"], "v4-1024") << "sorted by name";
  EXPECT_EQ(Get("acceleratorTypes/v4-32")["acceleratorConfigs"][0],
            (Json{{"type", "V4"}, {"topology", "2x2x4"}}));
  EXPECT_EQ(Call("GET", "acceleratorTypes/v6e-8").status, 404);
  EXPECT_EQ(Get("runtimeVersions/tpu-ubuntu2204-base")["version"], "tpu-ubuntu2204-base");
  const Json zones = Get("/v2/projects/p/locations")["locations"];
  EXPECT_THAT(zones, SizeIs(Zones().size()));
  EXPECT_EQ(Get("/v2/projects/p/locations/us-central2-b")["locationId"], "us-central2-b");
}

TEST_F(ServiceTest, OffersOneHostSlicesWhereThereAreNoPods) {
  EXPECT_TRUE(IsOffered("v2-8", "us-central1-c"));
  EXPECT_FALSE(IsOffered("v2-32", "us-central1-c"));
  EXPECT_TRUE(IsOffered("v2-32", "us-central1-a"));
}

TEST_F(ServiceTest, RefusesDeniedZones) {
  Set(R"(denied_zones=["us-central2-b"])");
  const Reply reply = Call("GET", "nodes");
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.body["error"]["details"][0]["reason"], "LOCATION_POLICY_VIOLATED");
}

TEST_F(ServiceTest, UnknownPathsAreNotFound) {
  EXPECT_EQ(Call("GET", "/v2/projects/p").status, 404);
  EXPECT_EQ(Call("GET", "/v3/projects/p/locations").status, 404);
  EXPECT_EQ(Call("POST", "nodes/t1:explode").status, 404);
  EXPECT_EQ(Call("GET", "/v2/projects//locations").status, 404);
}

TEST_F(ServiceTest, InjectsErrorsIntoTheNextCalls) {
  const Json order = {
      {"method", "nodes.*"}, {"times", 2}, {"error", "unavailable"}, {"retry_after", "7"}};
  ASSERT_EQ(Call("POST", "/sim/faults", {}, order).status, 200);
  const Reply reply = Call("GET", "nodes");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.headers.at("Retry-After"), "7");
  EXPECT_EQ(CreateNode("t1", Spec("v4-8")).status, 503);
  EXPECT_EQ(Call("GET", "nodes").status, 200);
  EXPECT_EQ(Call("GET", "nodes/t1").status, 404);
}

TEST_F(ServiceTest, LosesAReplyAfterTheWorkIsDone) {
  Call("POST", "/sim/faults", {}, {{"method", "nodes.create"}, {"error", "drop_reply"}});
  EXPECT_TRUE(CreateNode("t1", Spec("v4-8")).lost);
  EXPECT_EQ(NodeStateOf("t1"), "CREATING");
}

TEST_F(ServiceTest, LosesARequestBeforeTheWorkIsDone) {
  Call("POST", "/sim/faults", {}, {{"method", "nodes.create"}, {"error", "drop_request"}});
  EXPECT_TRUE(CreateNode("t1", Spec("v4-8")).lost);
  EXPECT_EQ(Call("GET", "nodes/t1").status, 404);
}

TEST_F(ServiceTest, InjectsAStockoutIntoTheOperation) {
  Call("POST", "/sim/faults", {}, {{"method", "nodes.create"}, {"error", "stockout"}});
  const Reply reply = CreateNode("t1", Spec("v4-8"));
  Pass(300);
  EXPECT_EQ(Operation(reply)["error"]["code"], 8);
}

TEST_F(ServiceTest, AListingOmitsWhatExists) {
  CreateNode("t1", Spec("v4-8"));
  CreateNode("t2", Spec("v4-8"));
  Pass(300);
  const auto fault = [&](const char* error) {
    Call("POST", "/sim/faults", {}, {{"method", "*"}, {"error", error}});
  };
  fault("list_empty");
  EXPECT_EQ(NodeStateOf("t1"), "READY") << "it is there, and the fault is for listings";
  EXPECT_EQ(Get("nodes"), Json::object());
  fault("list_part");
  EXPECT_THAT(Get("nodes")["nodes"], SizeIs(1));
  fault("list_unreachable");
  const Json silent = Get("nodes");
  EXPECT_FALSE(silent.contains("nodes"));
  EXPECT_THAT(silent["unreachable"], SizeIs(1));
  fault("list_lost");
  EXPECT_EQ(Get("nodes")["nodes"][1]["state"], "PREEMPTED");
  EXPECT_EQ(NodeStateOf("t2"), "READY");
  EXPECT_THAT(Get("nodes")["nodes"], SizeIs(2));
  const Reply refused =
      Call("POST", "/sim/faults", {}, {{"method", "nodes.get"}, {"error", "list_empty"}});
  EXPECT_EQ(refused.status, 400);
}

TEST_F(ServiceTest, AListingThatShowsANodeElsewhereIsStillOfTheApi) {
  CreateNode("t1", Spec("v4-8"));
  const std::string id = Text(Get("nodes/t1"), "id");
  const auto moved = [&] {
    Call("POST", "/sim/faults", {}, {{"method", "nodes.list"}, {"error", "list_moved"}});
    return Get("nodes")["nodes"][0];
  };
  EXPECT_EQ(moved()["id"], std::to_string(std::stoll(id) + 1)) << "another, and an int64 too";
  EXPECT_FALSE(moved().contains("networkEndpoints")) << "it has none yet";
  Pass(300);
  EXPECT_EQ(moved()["networkEndpoints"][0]["ipAddress"], "127.77.7.7");
}

TEST_F(ServiceTest, ListsFaults) {
  const Reply reply =
      Call("POST", "/sim/faults", {}, {{"method", "nodes.create"}, {"error", "fire"}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(Message(reply), HasSubstr("drop_reply"));
}

TEST_F(ServiceTest, AFaultOfNoMethodIsRefusedWithTheMethods) {
  const Reply reply =
      Call("POST", "/sim/faults", {}, {{"method", "nosuch.method"}, {"error", "stockout"}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(Message(reply), HasSubstr("known: acceleratorTypes.get, acceleratorTypes.list"));
}

TEST_F(ServiceTest, CountsAndKeepsRequests) {
  CreateNode("t1", Spec("v4-8"));
  Call("GET", "nodes");
  Call("GET", "nodes");
  const Json log = Get("/sim/requests");
  EXPECT_EQ(log["total"], 3);
  EXPECT_EQ(log["counts"]["nodes.list"], 2);
  EXPECT_EQ(log["requests"][0]["call"], "nodes.create");
  EXPECT_EQ(log["requests"][0]["query"]["nodeId"], "t1");
  EXPECT_THAT(log["requests"][0]["body"].get<std::string>(), HasSubstr("v4-8"));
}

TEST_F(ServiceTest, OperationsCanBeListedCancelledAndDeleted) {
  const Reply reply = CreateNode("t1", Spec("v4-8"));
  const std::string name = "/v2/" + Text(reply.body, "name");
  EXPECT_THAT(Get("operations")["operations"], SizeIs(1));
  EXPECT_EQ(Call("POST", name + ":cancel").status, 200);
  EXPECT_EQ(Get(name)["metadata"]["cancelRequested"], true);
  EXPECT_EQ(Call("DELETE", name).status, 200);
  EXPECT_EQ(Call("GET", name).status, 404);
}

TEST_F(ServiceTest, AnOperationLooksLikeThatOfTheService) {
  const Reply reply = CreateNode("t1", Spec("v4-8"));
  const Json& metadata = reply.body["metadata"];
  EXPECT_EQ(metadata["@type"], "type.googleapis.com/google.cloud.common.OperationMetadata");
  EXPECT_EQ(metadata["target"], "projects/p/locations/us-central2-b/nodes/t1");
  EXPECT_EQ(metadata["verb"], "create");
  EXPECT_EQ(metadata["apiVersion"], "v2");
  EXPECT_FALSE(reply.body.contains("done"));
  EXPECT_TRUE(testing::Matches(testing::MatchesRegex(
      "projects/p/locations/us-central2-b/operations/"
      "operation-[0-9]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+"))(reply.body["name"].get<std::string>()));
}

TEST_F(ServiceTest, AnswersGcloudsRequestForTheProject) {
  EXPECT_EQ(Get("/compute/v1/projects/p")["name"], "p");
}

TEST_F(ServiceTest, RefusesInvalidSettingsAsAWhole) {
  const Json before = Get("/sim/settings");
  const Reply reply =
      Call("POST", "/sim/settings", {}, {{"delays", {{"create", "1s"}, {"creat", "2s"}}}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(Message(reply), HasSubstr("there is no setting creat"));
  EXPECT_EQ(Get("/sim/settings"), before);
  EXPECT_EQ(Call("POST", "/sim/settings", {}, {{"quota", {{"v4", 1}}}}).status, 400);
}

TEST(Settings, RoundTrip) {
  Settings settings;
  ASSERT_TRUE(ApplySettings(settings, *SettingPatch("delays.create=2s")).ok());
  ASSERT_TRUE(ApplySettings(settings, *SettingPatch("stock.*/v4=8")).ok());
  Settings copy;
  ASSERT_TRUE(ApplySettings(copy, ToJson(settings)).ok());
  EXPECT_EQ(ToJson(copy), ToJson(settings));
  EXPECT_EQ(copy.delays.create, std::chrono::seconds(2));
  EXPECT_FALSE(SettingPatch("novalue").ok());
}

TEST(WithoutDefaults, KeepsMapEntriesAndEmptyMessages) {
  const Json value = {{"a", false},
                      {"b", 0},
                      {"c", ""},
                      {"d", Json::array()},
                      {"spot", Json::object()},
                      {"labels", {{"x", ""}}},
                      {"metadata", Json::object()}};
  EXPECT_EQ(WithoutDefaults(value), (Json{{"spot", Json::object()}, {"labels", {{"x", ""}}}}));
}

}  // namespace
}  // namespace jobman::sim
