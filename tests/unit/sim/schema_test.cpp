#include "service_fixture.hpp"

// Requests that the schema of the API refuses, and requests that it allows. Most are made from the
// schema itself: every field of every message that a request may carry, right and wrong.

namespace jobman::sim {
namespace {

using testing::HasSubstr;
using Shape = SchemaField::Shape;

class SchemaTest : public ServiceFixture {
 protected:
  static const ApiSchema& Schema() { return ApiSchema::Get(); }
  static bool IsMessage(const SchemaField& field) {
    return Schema().Message(field.type) != nullptr;
  }

  /// A value that the field may have.
  static Json Right(const SchemaField& field, const std::string& version) {
    const Json one = RightOne(field.type, version);
    if (field.shape == Shape::kList) return Json::array({one});
    return field.shape == Shape::kMap ? Json{{"key", one}} : one;
  }
  static Json RightOne(const std::string& type, const std::string& version) {
    if (Schema().Message(type) != nullptr) return Json::object();
    if (const auto* values = Schema().Enum(type)) {
      for (const SchemaValue& value : *values) {
        if (IsIn(value.versions, version)) return value.name;
      }
    }
    if (type == "bool") return true;
    if (type == "int32") return 7;
    if (type == "int64") return "9007199254740993";
    if (type == "time") return "2026-11-21T03:57:00.123456789Z";
    if (type == "duration") return "21600s";
    if (type == "any") return Json::object();
    return "text";
  }
  /// Values that it may not have.
  static std::vector<Json> Wrong(const SchemaField& field) {
    if (field.shape == Shape::kMap) return {"text", 5, Json::array(), {{"key", 5}}};
    std::vector<Json> wrong = WrongOnes(field.type);
    if (field.shape == Shape::kOne) {
      if (field.type != "any") wrong.push_back(Json::array());
      return wrong;
    }
    for (Json& value : wrong) value = Json::array({value});
    wrong.emplace_back("text");
    wrong.push_back(Json::object());
    return wrong;
  }
  static std::vector<Json> WrongOnes(const std::string& type) {
    if (Schema().Message(type) != nullptr) return {"text", 5, true, {{"noSuchField", 1}}};
    if (Schema().Enum(type) != nullptr) return {"NO_SUCH_VALUE", "", 4711, 1.5, Json::object()};
    if (type == "bool") return {"true", 1, Json::object()};
    if (type == "int32") return {"x", 1.5, 2147483648, true, Json::object()};
    if (type == "int64") return {"x", 1.5, "9223372036854775808", true};
    if (type == "time") return {"yesterday", "2026-11-21", "2026-11-21 03:57:00Z", 1795230038};
    if (type == "duration") return {"6h", "6", "1.0000000001s", 6};
    if (type == "any") return {};
    return {5, true, Json::object()};
  }

  static ReadRequest Read(const std::string& message, const std::string& version,
                          const Json& body) {
    return ReadCall({.body = message}, version, {.method = "POST", .body = body.dump()});
  }

  /// Calls `visit` for each field of each message that a request in this version may carry.
  static void EachField(const std::string& version,
                        const std::function<void(const std::string&, const SchemaField&)>& visit) {
    std::set<std::string> seen;
    std::vector<std::string> open;
    for (const auto& [name, method] : Schema().methods()) open.push_back(method.body);
    while (!open.empty()) {
      const std::string message = open.back();
      open.pop_back();
      if (!seen.insert(message).second) continue;
      for (const SchemaField& field : *Schema().Message(message)) {
        if (!IsIn(field.versions, version)) continue;
        visit(message, field);
        if (IsMessage(field)) open.push_back(field.type);
      }
    }
  }
};

TEST_F(SchemaTest, EveryFieldIsReadInItsRightForms) {
  int probes = 0;
  for (const std::string version : {"v2", "v2alpha1"}) {
    EachField(version, [&](const std::string& message, const SchemaField& field) {
      for (const std::string& name : {field.name, field.original}) {
        ++probes;
        const Json body = {{name, Right(field, version)}};
        const ReadRequest read = Read(message, version, body);
        EXPECT_TRUE(read.violations.empty())
            << message << " " << body << InvalidRequest(read.violations).message;
        EXPECT_EQ(read.body.contains(field.name), !field.output_only) << message << " " << body;
      }
      EXPECT_TRUE(Read(message, version, {{field.name, nullptr}}).violations.empty());
    });
  }
  EXPECT_GT(probes, 300);
}

TEST_F(SchemaTest, EveryFieldIsRefusedInItsWrongForms) {
  int probes = 0;
  for (const std::string version : {"v2", "v2alpha1"}) {
    EachField(version, [&](const std::string& message, const SchemaField& field) {
      for (const Json& value : Wrong(field)) {
        ++probes;
        const Json body = {{field.name, value}};
        const ReadRequest read = Read(message, version, body);
        ASSERT_FALSE(read.violations.empty()) << message << " " << body;
        EXPECT_THAT(InvalidRequest(read.violations).message,
                    testing::AnyOf(HasSubstr(field.original), HasSubstr(field.name)));
      }
      const Json body = {{field.name + "x", Right(field, version)}};
      EXPECT_FALSE(Read(message, version, body).violations.empty()) << message << " " << body;
    });
  }
  EXPECT_GT(probes, 600);
}

TEST_F(SchemaTest, FieldsOfAnotherVersionAreUnknown) {
  int probes = 0;
  for (const std::string version : {"v2", "v2alpha1"}) {
    const std::string other = version == "v2" ? "v2alpha1" : "v2";
    EachField(other, [&](const std::string& message, const SchemaField& field) {
      if (IsIn(field.versions, version)) return;
      ++probes;
      const Json body = {{field.name, Right(field, other)}};
      EXPECT_FALSE(Read(message, version, body).violations.empty()) << message << " " << body;
    });
  }
  EXPECT_GT(probes, 15);
}

TEST_F(SchemaTest, EveryMethodRefusesWhatItDoesNotKnowInTheQuery) {
  for (const auto& [name, method] : Schema().methods()) {
    const auto read = [&method = method](const std::string& key, const std::string& value) {
      Request request{.method = "GET", .query = {{key, value}}};
      if (method.body == "Node" || method.body == "QueuedResource") request.body = "{}";
      return ReadCall(method, *method.versions.rbegin(), request).violations;
    };
    for (const char* unknown : {"pagesize", "nodeID", "parent", "name", "", "node.name"}) {
      EXPECT_FALSE(read(unknown, "x").empty()) << name << " " << unknown;
    }
    EXPECT_FALSE(read("alt", "yaml").empty()) << name;
    EXPECT_FALSE(read("prettyPrint", "maybe").empty()) << name;
    for (const char* standard :
         {"fields", "key", "quotaUser", "access_token", "callback", "$key"}) {
      EXPECT_TRUE(read(standard, "x").empty()) << name << " " << standard;
    }
    EXPECT_TRUE(read("alt", "json").empty()) << name;
    EXPECT_TRUE(read("$alt", "json;enum-encoding=int").empty()) << name;
    EXPECT_TRUE(read("$.xgafv", "2").empty()) << name;
    for (const SchemaField& field : method.query) {
      const bool flag = field.type == "bool";
      const bool number = field.type == "int32";
      if (!IsIn(field.versions, *method.versions.rbegin())) continue;
      EXPECT_TRUE(read(field.name, flag ? "True" : number ? "5" : "x").empty()) << field.name;
      EXPECT_TRUE(read(field.original, flag ? "false" : "5").empty() || flag) << field.name;
      EXPECT_EQ(read(field.name, "maybe").empty(), !flag && !number) << field.name;
    }
  }
}

constexpr const char* kNode =
    R"({"acceleratorType":"v4-8","runtimeVersion":"tpu-ubuntu2204-base"})";

TEST_F(SchemaTest, RefusesTyposInWholeRequests) {
  const std::string parent = R"("parent":"projects/p/locations/us-central2-b")";
  const std::string node = std::string(R"("node":)") + kNode;
  const auto queued = [&](const std::string& spec, const std::string& rest = "") {
    return R"({"tpu":{"nodeSpec":[{)" + spec + "}]}" + rest + "}";
  };
  const std::string good = parent + "," + node + R"(,"nodeId":"n")";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {queued(good, R"(,"spot":{},"guaranteed":{})"), "tier"},
      {queued(good, R"(,"spot":true)"), "queued_resource.spot"},
      {queued(good, R"(,"bestEffort":{})"), "bestEffort"},
      {queued(good, R"(,"runDuration":{"maxRunDuration":"4h"})"), "runDuration"},
      {queued(good, R"(,"provisioningModel":"SPOT")"), "provisioningModel"},
      {queued(good, R"(,"guaranteed":{"reserved":true})"), "reserved"},
      {queued(good, R"(,"guaranteed":{"minDuration":"1h"})"), "min_duration"},
      {queued(good, R"(,"queueingPolicy":{"validUntilDuration":"6h"})"), "valid_until_duration"},
      {queued(good, R"(,"queueingPolicy":{"validUntilDuration":21600})"), "valid_until_duration"},
      {queued(good, R"(,"queueingPolicy":{"validUntilDuration":"1s","validAfterDuration":"1s"})"),
       "start_timing_constraints"},
      {queued(good, R"(,"queueingPolicy":{"validInterval":{"start":"2026-11-21T03:57:00Z"}})"),
       "queued_resource.queueing_policy.valid_interval"},
      {queued(good, R"(,"queuingPolicy":{})"), "queuingPolicy"},
      {queued(good + R"(,"multisliceParams":{"nodeCount":2})"), "name_strategy"},
      {queued(parent + "," + node + R"(,"multiNodeParams":{"nodeCount":2})"), "multiNodeParams"},
      {queued(parent + "," + node + R"(,"multisliceParams":{"nodeCount":"two"})"), "node_count"},
      {queued(node + R"(,"nodeId":"n")"), "parent"},
      {queued(R"("parent":"projects/p/locations/us-central1-a","nodeId":"n",)" + node), "parent"},
      {queued(R"("parent":"projects/q/locations/us-central2-b","nodeId":"n",)" + node), "parent"},
      {queued(R"("parent":"us-central2-b","nodeId":"n",)" + node), "parent"},
      {queued(good + R"(,"node_id":"n")"), "node_id"},
      {R"({"tpu":{"nodeSpec":{}}})", "queued_resource.tpu.node_spec"},
      {R"({"tpu":{"nodeSpecs":[]}})", "nodeSpecs"},
      {R"({"tpu":[]})", "tpu"},
      {"[]", "Root element"},
      {"{", "not JSON"},
      {"", "not JSON"},
      {R"({"tpu":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}", "not JSON"},
  };
  for (const auto& [body, names] : wrong) {
    const Reply reply = service.Handle({.method = "POST",
                                        .path = kParent + "queuedResources",
                                        .query = {{"queuedResourceId", "q"}},
                                        .body = body},
                                       now);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_THAT(Message(reply), HasSubstr(names)) << body;
  }
  for (const std::string& body : {queued(good), queued(good, R"(,"spot":null,"guaranteed":{})")}) {
    const Reply reply = service.Handle({.method = "POST",
                                        .path = kParent + "queuedResources",
                                        .query = {{"queued_resource_id", "q"}},
                                        .body = body},
                                       now);
    EXPECT_EQ(reply.status, reply.body.contains("error") ? 409 : 200) << body << reply.body;
  }
}

TEST_F(SchemaTest, RefusesValuesThatTheServiceDoesNotTake) {
  const auto with = [this](const std::string& field, const Json& value) {
    Json spec = Spec("v4-8");
    spec[field] = value;
    return CreateNode("t1", spec);
  };
  Json labels = Json::object();
  for (int i = 0; i < 65; ++i) labels["k" + std::to_string(i)] = "v";
  Json metadata = Json::object();
  for (const char* key : {"a", "b", "c"}) metadata[key] = std::string(200 << 10, 'x');
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"labels", {{"Team", "a"}}},
      {"labels", {{"1st", "a"}}},
      {"labels", {{"", "a"}}},
      {"labels", {{"a.b", "a"}}},
      {"labels", {{std::string(64, 'a'), "a"}}},
      {"labels", {{"team", "A"}}},
      {"labels", {{"team", "a b"}}},
      {"labels", {{"team", std::string(64, 'a')}}},
      {"labels", labels},
      {"tags", {"Big"}},
      {"tags", {"a1", "9lives", "x"}},
      {"tags", Json(std::vector<std::string>(65, "a"))},
      {"metadata", {{"a b", "x"}}},
      {"metadata", {{"", "x"}}},
      {"metadata", {{"big", std::string((256 << 10) + 1, 'x')}}},
      {"metadata", metadata},
      {"serviceAccount", {{"email", "nobody"}}},
      {"serviceAccount", {{"email", "a b@p.iam"}}},
      {"networkConfig", {{"network", "My Net"}}},
      {"networkConfig", {{"network", "projects/p/global/networks/"}}},
      {"networkConfig", {{"subnetwork", "-sub"}}},
      {"acceleratorConfig", {{"type", "V4"}, {"topology", "2x2x1"}}},
  };
  for (const auto& [field, value] : wrong) {
    const Reply reply = with(field, value);
    EXPECT_EQ(reply.status, 400) << field << " " << value.dump().substr(0, 100);
    const Json& details = reply.body["error"]["details"];
    ASSERT_FALSE(details.is_null()) << Message(reply);
    EXPECT_THAT(Text(details[0]["fieldViolations"][0], "field"), HasSubstr("node."));
  }
  const std::vector<std::pair<std::string, Json>> right = {
      {"labels", {{"team_1-x", ""}, {"\u00fcber", "\u5b57"}}},
      {"tags", {"a1", "web-1", "x"}},
      {"metadata", {{"Startup-Script_1", std::string(256 << 10, 'x')}}},
      {"serviceAccount", {{"email", "me@p.iam.gserviceaccount.com"}}},
      {"networkConfig", {{"network", "projects/my-p/global/networks/net-1"}}},
      {"networkConfig",
       {{"network", "https://www.googleapis.com/compute/v1/projects/p/global/networks/n"},
        {"subnetwork", "regions/us-central2/subnetworks/s"}}}};
  for (const auto& [field, value] : right) {
    const Reply reply = with(field, value);
    EXPECT_TRUE(reply.status == 200 || reply.status == 409) << field << Message(reply);
  }
}

TEST_F(SchemaTest, RefusesQueuedResourcesThatCannotBe) {
  const auto body = [](const Json& node) {
    const Json spec = {
        {"parent", "projects/p/locations/us-central2-b"}, {"nodeId", "n"}, {"node", node}};
    return Json{{"tpu", {{"nodeSpec", Json::array({spec})}}}};
  };
  const auto with = [&](const std::string& field, const Json& value) {
    Json queued = body(Spec("v4-8"));
    queued[field] = value;
    return Call("POST", "queuedResources", {{"queuedResourceId", "q"}}, queued);
  };
  const auto policy = [&](const char* name, const std::string& value) {
    return Message(with("queueingPolicy", {{name, value}}));
  };
  EXPECT_THAT(Message(with("reservationName", "a/b")), HasSubstr("reservation_name"));
  EXPECT_THAT(policy("validUntilTime", "2020-01-01T00:00:00Z"),
              HasSubstr("queued_resource.queueing_policy.valid_until_time"));
  const auto interval = [&](const char* start, const char* end) {
    return Message(
        with("queueingPolicy", {{"validInterval", {{"startTime", start}, {"endTime", end}}}}));
  };
  EXPECT_THAT(interval("2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"), HasSubstr("has passed"));
  EXPECT_THAT(interval("2999-01-02T00:00:00Z", "2999-01-01T00:00:00Z"),
              HasSubstr("ends before it starts"));
  EXPECT_THAT(policy("validUntilDuration", "-5s"), HasSubstr("valid_until_duration"));
  EXPECT_THAT(policy("validAfterDuration", "0.000s"), HasSubstr("valid_after_duration"));
  Json node = Spec("v4-8");
  node["labels"] = {{"Team", "a"}};
  EXPECT_THAT(Message(Call("POST", "queuedResources", {{"queuedResourceId", "q"}}, body(node))),
              HasSubstr("queued_resource.tpu.node_spec[0].node.labels"));
  EXPECT_EQ(with("reservationName", "projects/p/locations/z/reservations/-").status, 200);
}

TEST_F(SchemaTest, RefusesFieldsThatAListedMessageDoesNotHave) {
  EXPECT_EQ(Call("GET", "acceleratorTypes", {{"filter", "type=v4-8"}}).status, 200);
  EXPECT_THAT(Message(Call("GET", "acceleratorTypes", {{"filter", "typ=v4-8"}})),
              HasSubstr("there is no field 'typ'"));
  EXPECT_THAT(Message(Call("GET", "acceleratorTypes", {{"filter", "type.x=v4-8 nope:1"}})),
              HasSubstr("there is no field 'nope'"));
  EXPECT_EQ(Call("GET", "runtimeVersions", {{"orderBy", "version desc"}}).status, 200);
  EXPECT_EQ(Call("GET", "runtimeVersions", {{"orderBy", "size"}}).status, 400);
}

TEST_F(SchemaTest, RefusesAParameterThatComesTwice) {
  Request request{.method = "GET", .path = kParent + "nodes"};
  request.query = ParseQuery(request.path + "?pageSize=1&pageSize=2", &request.repeated);
  EXPECT_THAT(Message(service.Handle(request, now)), HasSubstr("\"pageSize\""));
}

TEST_F(SchemaTest, TheRefusalHasTheFormOfTheService) {
  Json spec = Spec("v4-8");
  spec["networkConfig"] = {{"enableExternalIp", true}};
  spec["tags"] = {1};
  const Reply reply = CreateNode("t1", spec);
  EXPECT_EQ(reply.status, 400);
  const Json& error = reply.body["error"];
  EXPECT_EQ(error["status"], "INVALID_ARGUMENT");
  EXPECT_EQ(error["message"],
            "Invalid JSON payload received. Unknown name \"enableExternalIp\" at "
            "'node.network_config': Cannot find field.\n"
            "Invalid value at 'node.tags[0]' (TYPE_STRING), 1");
  EXPECT_EQ(error["details"][0]["@type"], "type.googleapis.com/google.rpc.BadRequest");
  EXPECT_EQ(error["details"][0]["fieldViolations"][1]["field"], "node.tags[0]");
  spec = Spec("v4-8");
  spec["acceleratorConfig"] = {{"type", "V9"}};
  EXPECT_THAT(
      Message(CreateNode("t1", spec)),
      HasSubstr("(type.googleapis.com/google.cloud.tpu.v2.AcceleratorConfig.Type), \"V9\""));
  EXPECT_THAT(Message(Call("GET", "nodes", {{"pageSise", "1"}})),
              HasSubstr("Field 'pageSise' could not be found in request message."));
}

TEST_F(SchemaTest, ALooseSimulatorIgnoresInstead) {
  Set("loose=true");
  Json spec = Spec("v4-8");
  spec["tags"] = {1, "two"};
  spec["nope"] = 1;
  ASSERT_EQ(Call("POST", "nodes", {{"nodeId", "t1"}, {"nope", "1"}}, spec).status, 200);
  EXPECT_EQ(Get("nodes/t1")["tags"], Json({"two"}));
  EXPECT_FALSE(Get("nodes/t1").contains("nope"));
  EXPECT_EQ(Call("POST", "nodes", {{"nodeId", "t2"}}, Json::array()).status, 400);
}

TEST_F(SchemaTest, ReadsEnumsByNumberAndOriginalNames) {
  const Json body = {{"accelerator_config", {{"type", 7}, {"topology", "2x2x2"}}},
                     {"runtime_version", "tpu-ubuntu2204-base"},
                     {"network_config", {{"enable_external_ips", true}}}};
  ASSERT_EQ(CreateNode("t1", body).status, 200);
  EXPECT_EQ(Get("nodes/t1")["acceleratorType"], "v4-16");
}

TEST_F(SchemaTest, WhatOneVersionHasAnotherDoesNotShow) {
  const std::string alpha = "/v2alpha1/projects/p/locations/us-central2-b/";
  Json spec = Spec("v4-8");
  spec["autocheckpointEnabled"] = true;
  spec["schedulingConfig"] = {{"provisioningModel", "SPOT"}};
  const Reply created = Call("POST", alpha + "nodes", {{"nodeId", "t1"}}, spec);
  ASSERT_EQ(created.status, 200);
  EXPECT_EQ(created.body["metadata"]["apiVersion"], "v2alpha1");
  Pass(1000);
  const Json operation = Get("/v2alpha1/" + Text(created.body, "name"));
  EXPECT_EQ(operation["response"]["@type"], "type.googleapis.com/google.cloud.tpu.v2alpha1.Node");
  EXPECT_EQ(Get(alpha + "nodes/t1")["autocheckpointEnabled"], true);
  EXPECT_FALSE(Get("nodes/t1").contains("autocheckpointEnabled"));
  EXPECT_FALSE(Get("nodes/t1")["schedulingConfig"].contains("provisioningModel"));
  CreateNode("t2", Spec("v4-8"));
  EXPECT_EQ(Get("nodes/t2")["apiVersion"], "V2");
  EXPECT_EQ(Get(alpha + "nodes/t2")["apiVersion"], "V2_ALPHA1") << "which has no V2";
}

TEST_F(SchemaTest, VersionsHaveTheirOwnMethods) {
  EXPECT_EQ(Call("GET", "/v1/projects/p/locations/us-central2-b/nodes").status, 404);
  EXPECT_EQ(Call("GET", "/v1/projects/p/locations/us-central2-b/runtimeVersions").status, 404);
  EXPECT_EQ(
      Call("POST", "/v2/projects/p/locations/us-central2-b/nodes/t:performMaintenance").status,
      404);
  EXPECT_EQ(Call("GET", "nodes/t1:start").status, 404);
  const Json type = Get("/v1/projects/p/locations/us-central2-b/acceleratorTypes/v4-8");
  EXPECT_FALSE(type.contains("acceleratorConfigs"));
}

TEST_F(SchemaTest, EnumsAsNumbersWhenAsked) {
  CreateNode("t1", Spec("v4-8"));
  const Json node = Call("GET", "nodes/t1", {{"$alt", "json;enum-encoding=int"}}).body;
  EXPECT_EQ(node["state"], 1);
  EXPECT_EQ(node["acceleratorConfig"]["type"], 7);
}

TEST_F(SchemaTest, TheMetadataOfOperationsCanBeThatOfTheClientLibraries) {
  Set("guesses.operation_metadata=google.cloud.tpu.v2.OperationMetadata");
  const Reply reply = CreateNode("t1", Spec("v4-8"));
  EXPECT_EQ(reply.body["metadata"]["@type"],
            "type.googleapis.com/google.cloud.tpu.v2.OperationMetadata");
  EXPECT_EQ(Get("/v2alpha1/" + Text(reply.body, "name"))["metadata"]["@type"],
            "type.googleapis.com/google.cloud.tpu.v2alpha1.OperationMetadata");
}

}  // namespace
}  // namespace jobman::sim
