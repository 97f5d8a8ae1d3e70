// Every method and every state of the simulator, against Google's discovery documents.
#include "tests/conformance/simulator_walk.hpp"

namespace jobman::conformance {
namespace {

/// Methods of the documents that the simulator refuses, after "tpu.projects.locations.": none.
const std::set<std::string> kRefused = {};

class SimulatorConformance : public SimulatorWalk {
 protected:
  void AskForTheCatalogue();
  void MakeNode(const std::string& id, const Json& body);
  void WalkANode();
  void LoseANode();
  void MakeQueued(const std::string& id, const std::string& node, const Json& more = Json());
  void WalkAQueuedResource();
  void WalkAMultislice();
  void AskOfOperations();
  void AskForMaintenance();
  void AskForReservations();
  void AskForATime();

  static Json FullNode() {
    const Json disk = {{"sourceDisk", "projects/p/zones/z/disks/d"}, {"mode", "READ_ONLY"}};
    return {{"acceleratorType", "v4-8"},
            {"runtimeVersion", "tpu-ubuntu2204-base"},
            {"description", "a node"},
            {"labels", {{"a", "b"}, {"empty", ""}}},
            {"metadata", {{"startup-script", "echo hi"}, {"empty", ""}}},
            {"tags", Json::array({"t1", "t2"})},
            {"networkConfig", {{"enableExternalIps", false}, {"network", "net"}}},
            {"schedulingConfig", {{"spot", false}}},
            {"serviceAccount", {{"email", "sa@p.iam.gserviceaccount.com"}}},
            {"dataDisks", Json::array({disk})},
            {"shieldedInstanceConfig", {{"enableSecureBoot", false}}}};
  }
};

void SimulatorConformance::AskForTheCatalogue() {
  const Json first = Ask("GET", "/" + Version() + "/projects/p/locations", {{"pageSize", "1"}});
  Ask("GET", "/" + Version() + "/projects/p/locations",
      {{"pageSize", "1"}, {"pageToken", first.value("nextPageToken", "")}});
  Ask("GET", Zone());
  Ask("POST", Zone() + ":generateServiceIdentity", {}, Json::object());
  Ask("GET", Zone() + "/acceleratorTypes");
  Ask("GET", Zone("us-east5-b") + "/acceleratorTypes", {{"pageSize", "2"}});
  Ask("GET", Zone() + "/acceleratorTypes/v4-8");
  Ask("GET", Zone() + "/runtimeVersions");
  Ask("GET", Zone() + "/runtimeVersions/tpu-ubuntu2204-base");
}

/// Up to READY.
void SimulatorConformance::MakeNode(const std::string& id, const Json& body) {
  const Json begun = Ask("POST", Zone() + "/nodes", {{"nodeId", id}}, body);
  Look();
  OperationOf(begun);
  LookAfter(300);
  EXPECT_TRUE(OperationOf(begun).contains("response"));
  Ask("GET", Zone() + "/nodes/" + id);
}

void SimulatorConformance::WalkANode() {
  const std::string node = Zone() + "/nodes/t1";
  MakeNode("t1", FullNode());
  Ask("POST", node + ":getGuestAttributes", {}, {{"queryPath", "hostkeys/"}});
  Ask("PATCH", node, {{"updateMask", "labels,metadata"}}, {{"labels", {{"c", "d"}}}});
  Ask("POST", node + ":stop", {}, Json::object());
  Look();
  LookAfter(200);
  const Json started = Ask("POST", node + ":start", {}, Json::object());
  Look();
  LookAfter(300);
  OperationOf(started);
  Order("reboot", {{"node", "t1"}});
  LookAfter(300);
  Order("repair", {{"node", "t1"}, {"for", "1s"}});
  LookAfter(1000);
  LookAfter(300);
  Order("maintain", {{"node", "t1"}, {"notice", "10s"}, {"for", "1s"}});
  LookAfter(10000);
  LookAfter(1000);
  LookAfter(300);
  Order("terminate", {{"node", "t1"}});
  Ask("DELETE", node);
  Look();
  LookAfter(200);
  AskInVain(404, "GET", node);
}

void SimulatorConformance::LoseANode() {
  Json spot = {{"acceleratorType", "v4-16"}, {"runtimeVersion", "tpu-ubuntu2204-base"}};
  spot["schedulingConfig"] = {{"spot", true}};
  MakeNode("t2", spot);
  for (const char* state : {"UNKNOWN", "REIMAGING", "HIDING", "HIDDEN", "UNHIDING"}) {
    Order("show", {{"node", "t2"}, {"set", {{"state", state}}}});
  }
  for (const char* health : {"TIMEOUT", "UNHEALTHY_TENSORFLOW"}) {
    Order("show", {{"node", "t2"}, {"set", {{"state", nullptr}, {"health", health}}}});
  }
  Order("preempt", {{"node", "t2"}, {"as", "stopping"}, {"for", "1s"}});
  LookAfter(1000);
}

void SimulatorConformance::MakeQueued(const std::string& id, const std::string& node,
                                      const Json& more) {
  Json body = QueuedSpec(node, "v4-8");
  body["tpu"]["nodeSpec"][0]["node"] = FullNode();
  body["tpu"]["nodeSpec"][0]["node"].erase("schedulingConfig");
  if (more.is_object()) body.update(more);
  const Json begun = Ask("POST", Zone() + "/queuedResources",
                         {{"queuedResourceId", id}, {"requestId", "of-" + id}}, body);
  Look();
  LookAfter(50);
  OperationOf(begun);
  Ask("GET", Zone() + "/queuedResources/" + id);
}

void SimulatorConformance::WalkAQueuedResource() {
  const std::string queued = Zone() + "/queuedResources/";
  MakeQueued("q1", "n1");
  LookAfter(200);
  LookAfter(300);
  Ask("POST", queued + "q1:reset", {}, Json::object());
  Look();
  LookAfter(300);
  AskInVain(400, "DELETE", queued + "q1");
  Order("preempt", {{"node", "n1"}});
  LookAfter(200);
  Ask("DELETE", queued + "q1", {{"force", "true"}});
  Look();
  LookAfter(200);
  Set("guesses.queue_state=ACCEPTED");
  MakeQueued("q2", "n2", {{"queueingPolicy", {{"validUntilDuration", "60s"}}}});
  Order("fail", {{"queuedResource", "q2"}});
  Set("guesses.queue_state=WAITING_FOR_RESOURCES");
}

void SimulatorConformance::WalkAMultislice() {
  Json body = QueuedSpec("", "v4-8");
  Json& spec = body["tpu"]["nodeSpec"][0];
  spec.erase("nodeId");
  spec[Alpha() ? "multiNodeParams" : "multisliceParams"] = {{"nodeCount", 2},
                                                            {"nodeIdPrefix", "m"}};
  Ask("POST", Zone() + "/queuedResources", {{"queuedResourceId", "q3"}}, body);
  LookAfter(50);
  LookAfter(200);
  LookAfter(300);
  Ask("GET", Zone() + "/queuedResources/q3");
  Ask("GET", Zone() + "/nodes/m-1");
}

void SimulatorConformance::AskOfOperations() {
  const Json begun = Ask("POST", Zone() + "/nodes", {{"nodeId", "t3"}}, FullNode());
  const std::string operation = "/" + Version() + "/" + begun.value("name", "");
  Ask("POST", operation + ":cancel");
  OperationOf(begun);
  Ask("DELETE", operation);
  AskInVain(404, "GET", operation);
  Ask("GET", Zone() + "/operations", {{"pageSize", "1"}});
}

void SimulatorConformance::AskForMaintenance() {
  const std::string zone = Zone("us-east5-b");
  Json spec = Spec("v6e-8");
  spec["runtimeVersion"] = "v2-alpha-tpuv6e";
  Json body = QueuedSpec("n6", "v6e-8");
  body["tpu"]["nodeSpec"][0]["parent"] = "projects/p/locations/us-east5-b";
  body["tpu"]["nodeSpec"][0]["node"] = spec;
  Ask("POST", zone + "/nodes", {{"nodeId", "t6"}}, spec);
  Ask("POST", zone + "/queuedResources", {{"queuedResourceId", "q6"}}, body);
  LookAfter(2000);
  Ask("GET", zone + "/queuedResources/q6:getMaintenanceInfo");
  Order("maintain", {{"node", "t6"}, {"notice", "1h"}});
  Order("maintain", {{"node", "n6"}, {"notice", "1h"}});
  Ask("GET", zone + "/queuedResources/q6:getMaintenanceInfo");
  Ask("POST", zone + "/queuedResources/q6:performMaintenanceQueuedResource", {},
      {{"nodeNames", {"projects/p/locations/us-east5-b/nodes/n6"}}});
  Ask("POST", zone + "/nodes/t6:performMaintenance", {}, Json::object());
  Look();
  LookAfter(2000);
  Ask("POST", zone + "/nodes/t6:simulateMaintenanceEvent", {}, {{"workerIds", {"0"}}});
  Look();
  LookAfter(2000);
}

void SimulatorConformance::AskForReservations() {
  Set("reservations.us-central2-b/mine=64");
  Ask("GET", Zone() + "/reservations");
  Json reserved = FullNode();
  reserved["schedulingConfig"] = {
      {"reservationName", "projects/p/locations/us-central2-b/reservations/mine"}};
  MakeNode("t7", reserved);
  Ask("GET", Zone() + "/reservations");
}

/// Flex-start, until its run duration is over.
void SimulatorConformance::AskForATime() {
  const std::string zone = Zone("us-east5-b");
  Json body = QueuedSpec("n8", "v6e-8");
  body.erase("spot");
  body["provisioningModel"] = "FLEX_START";
  body["runDuration"] = {{"maxRunDuration", "60s"}};
  Json& spec = body["tpu"]["nodeSpec"][0];
  spec["parent"] = "projects/p/locations/us-east5-b";
  spec["node"]["runtimeVersion"] = "v2-alpha-tpuv6e";
  Ask("POST", zone + "/queuedResources", {{"queuedResourceId", "q8"}}, body);
  LookAfter(2000);
  const Json node = Ask("GET", zone + "/nodes/n8");
  EXPECT_TRUE(node["schedulingConfig"].contains("terminationTimestamp")) << node.dump();
  LookAfter(60'000);
  Ask("GET", zone + "/queuedResources/q8");
}

/// The values of an enum, but for the first, which stands for none.
std::set<std::string> WordsOf(const std::string& version, const char* message, const char* field) {
  std::set<std::string> words;
  const Json& values = Document(version).at("messages").at(message).at(field).at("enum");
  for (std::size_t i = 1; i < values.size(); ++i) words.insert(values[i].get<std::string>());
  return words;
}

TEST_P(SimulatorConformance, EveryMethodAndStateIsAnsweredAsTheDocumentHasIt) {
  AskForTheCatalogue();
  WalkANode();
  LoseANode();
  WalkAQueuedResource();
  WalkAMultislice();
  AskOfOperations();
  if (Alpha()) AskForMaintenance();
  if (Alpha()) AskForReservations();
  if (Alpha()) AskForATime();

  std::set<std::string> all;
  for (const auto& [id, method] : Document(Version()).at("methods").items()) all.insert(id);
  for (const std::string& id : kRefused) all.erase("tpu.projects.locations." + id);
  EXPECT_EQ(answered, all);
  EXPECT_EQ(node_states, WordsOf(Version(), "Node", "state"));
  EXPECT_EQ(queued_states, WordsOf(Version(), "QueuedResourceState", "state"));
  healths.erase("");
  EXPECT_EQ(healths, WordsOf(Version(), "Node", "health"));
  EXPECT_EQ(beyond, (std::set<std::string>{".node.bootDisk", ".node.useTpuVm"}));
}

TEST_P(SimulatorConformance, ErrorsHaveTheFormOfGooglesApis) {
  MakeNode("t1", FullNode());
  AskInVain(409, "POST", Zone() + "/nodes", {{"nodeId", "t1"}}, FullNode());
  AskInVain(400, "POST", Zone() + "/nodes", {{"nodeId", "t2"}}, {{"nope", 1}});
  const std::map<std::string, int> statuses = {
      {"quota", 429},          {"quota_full", 429}, {"rate_limit", 429}, {"denied", 403},
      {"api_disabled", 403},   {"bad_type", 400},   {"bad_zone", 400},   {"bad_runtime", 400},
      {"zone_denied", 403},    {"not_found", 404},  {"internal", 500},   {"unavailable", 503},
      {"unauthenticated", 401}};
  for (const auto& [error, status] : statuses) {
    Order("fault", {{"method", "nodes.get"}, {"error", error}});
    AskInVain(status, "GET", Zone() + "/nodes/t1");
  }
}

TEST_P(SimulatorConformance, FailedOperationsAndListingsWithFaultsAreStillOfTheDocument) {
  for (const std::string error : {"stockout", "opaque", "reservation"}) {
    Order("fault", {{"method", "nodes.create"}, {"error", error}});
    const Json begun = Ask("POST", Zone() + "/nodes", {{"nodeId", error}}, FullNode());
    Pass(300);
    EXPECT_TRUE(OperationOf(begun).contains("error")) << error;
    Order("fault", {{"method", "queuedResources.create"}, {"error", error}});
    MakeQueued(error, "n-" + error);
  }
  EXPECT_TRUE(queued_states.contains("FAILED"));
  MakeNode("ready", FullNode());
  Ask("POST", Zone() + "/nodes", {{"nodeId", "creating"}}, FullNode());
  for (const char* fault :
       {"list_empty", "list_part", "list_unreachable", "list_lost", "list_foreign", "list_moved"}) {
    Order("fault", {{"method", "nodes.list"}, {"error", fault}});
    Order("fault", {{"method", "queuedResources.list"}, {"error", fault}});
  }
}

/// "/v2/projects/p/locations/us-central2-b/nodes/a:start" of a path of the document.
std::string ExamplePath(std::string path) {
  const auto fill = [&path](const std::string& name, const std::string& value) {
    const std::size_t at = path.find(name);
    if (at != std::string::npos) path.replace(at, name.size(), value);
  };
  fill("{projectsId}", "p");
  fill("{locationsId}", "us-central2-b");
  const std::size_t open = path.find('{');
  if (open != std::string::npos) path.replace(open, path.find('}') - open + 1, "a");
  return path;
}

TEST_P(SimulatorConformance, WhatTheDocumentLacksIsRefused) {
  const Json& methods = Document(Version()).at("methods");
  for (const std::string& id : kRefused) {
    const Json& method = methods.at("tpu.projects.locations." + id);
    AskInVain(404, method.at("http"), ExamplePath(method.at("path")));
  }
  const std::string other = Alpha() ? "v2" : "v2alpha1";
  for (const auto& [id, method] : Document(other).at("methods").items()) {
    if (methods.contains(id)) continue;
    std::string path = ExamplePath(method.at("path"));
    path.replace(1, other.size(), Version());
    AskInVain(404, method.at("http"), path);
  }
  AskInVain(404, "PATCH", Zone() + "/queuedResources/a", {{"updateMask", "tpu"}}, Json::object());
  AskInVain(404, "PUT", Zone() + "/nodes/a", {}, FullNode());
  AskInVain(404, "POST", Zone() + "/nodes/a:fly", {}, Json::object());
  AskInVain(404, "GET", Zone() + "/nodes/a/b");
  AskInVain(404, "GET", Zone() + "/disks");
  AskInVain(404, "GET", "/v3/projects/p/locations/us-central2-b/nodes");
}

TEST_P(SimulatorConformance, WhatAMethodLacksIsRefused) {
  AskInVain(400, "GET", Zone() + "/nodes", {{"filter", "state=READY"}});
  AskInVain(400, "GET", Zone() + "/nodes", {{"pageSize", "many"}});
  Json wrong = FullNode();
  wrong["tags"] = "t1";
  AskInVain(400, "POST", Zone() + "/nodes", {{"nodeId", "a"}}, wrong);
  wrong = FullNode();
  wrong["dataDisks"][0]["mode"] = "READ";
  AskInVain(400, "POST", Zone() + "/nodes", {{"nodeId", "a"}}, wrong);
}

INSTANTIATE_TEST_SUITE_P(Versions, SimulatorConformance, testing::Values("v2", "v2alpha1"));

}  // namespace
}  // namespace jobman::conformance
