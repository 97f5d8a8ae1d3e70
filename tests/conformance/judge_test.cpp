// The judge finds what is wrong, so that its silence says something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/discovery.hpp"

namespace jobman::conformance {
namespace {

using testing::ElementsAre;
using testing::Field;

constexpr const char* kParent = "/v2/projects/p/locations/z/";

Faults FaultsOf(const std::string& method, const std::string& target, const std::string& body) {
  return JudgeRequest({.method = method, .target = kParent + target, .body = body}).faults;
}

auto OneAt(const std::string& at) {
  return ElementsAre(Field(&Fault::at, at));
}

TEST(ConformanceJudge, KnowsTheMethodByItsVerbAndPath) {
  const auto id = [](const std::string& method, const std::string& target) {
    return JudgeRequest({.method = method, .target = target}).id;
  };
  EXPECT_EQ(id("GET", "/v2/projects/p/locations/z/nodes/a"), "tpu.projects.locations.nodes.get");
  EXPECT_EQ(id("POST", "/v2/projects/p/locations/z/nodes/a:stop"),
            "tpu.projects.locations.nodes.stop");
  EXPECT_EQ(id("GET", "/v2/projects/p/locations/z"), "tpu.projects.locations.get");
  EXPECT_EQ(id("GET", "/v2alpha1/projects/p/locations/z/reservations"),
            "tpu.projects.locations.reservations.list");
  for (const char* path :
       {"nodes/a/b", "nodes/", "nodes/a:fly", "reservations", "nodes/a:b:stop"}) {
    EXPECT_EQ(id("GET", kParent + std::string(path)), "") << path;
  }
  EXPECT_EQ(id("PUT", "/v2/projects/p/locations/z/nodes/a"), "");
}

TEST(ConformanceJudge, FindsAWrongQuery) {
  EXPECT_THAT(FaultsOf("GET", "nodes?pageSize=1&alt=json", ""), testing::IsEmpty());
  EXPECT_THAT(FaultsOf("GET", "nodes?filter=a", ""), OneAt("query.filter"));
  EXPECT_THAT(FaultsOf("GET", "nodes?pageSize=many", ""), OneAt("query.pageSize"));
  EXPECT_THAT(FaultsOf("GET", "nodes?alt=xml", ""), OneAt("query.alt"));
  EXPECT_THAT(FaultsOf("DELETE", "queuedResources/q?force=True", ""), OneAt("query.force"));
  EXPECT_THAT(FaultsOf("PATCH", "nodes/a?updateMask=metadata%2Cnetwork_config", "{}"),
              testing::IsEmpty());
  EXPECT_THAT(FaultsOf("PATCH", "nodes/a?updateMask=nope", "{}"), OneAt("query.updateMask"));
  EXPECT_THAT(FaultsOf("PATCH", "nodes/a?updateMask=state", "{}"), OneAt("query.updateMask"));
  EXPECT_THAT(FaultsOf("PATCH", "nodes/a?updateMask=networkConfig.nope", "{}"),
              OneAt("query.updateMask"));
}

TEST(ConformanceJudge, FindsAWrongBody) {
  const auto node = [](const std::string& body) {
    return FaultsOf("POST", "nodes?nodeId=a", body);
  };
  EXPECT_THAT(FaultsOf("GET", "nodes", "{}"), OneAt("body"));
  EXPECT_THAT(node(""), OneAt("body"));
  EXPECT_THAT(node("[]"), OneAt("body"));
  EXPECT_THAT(node(R"({"nope":1})"), OneAt("body.nope"));
  EXPECT_THAT(node(R"({"state":"READY"})"), OneAt("body.state"));
  EXPECT_THAT(node(R"({"tags":"a"})"), OneAt("body.tags"));
  EXPECT_THAT(node(R"({"tags":[1]})"), OneAt("body.tags[0]"));
  EXPECT_THAT(node(R"({"labels":{"a":1}})"), OneAt("body.labels.a"));
  EXPECT_THAT(node(R"({"schedulingConfig":{"spot":"true"}})"), OneAt("body.schedulingConfig.spot"));
  EXPECT_THAT(node(R"({"dataDisks":[{"mode":"READ"}]})"), OneAt("body.dataDisks[0].mode"));
  EXPECT_THAT(node(R"({"networkConfig":{"queueCount":"1"}})"),
              OneAt("body.networkConfig.queueCount"));
  EXPECT_THAT(node(R"({"networkConfig":{"queueCount":1}})"), testing::IsEmpty());
}

TEST(ConformanceJudge, FindsAWrongFormat) {
  const auto policy = [](const std::string& text) {
    return FaultsOf("POST", "queuedResources?queuedResourceId=q",
                    R"({"queueingPolicy":)" + text + "}");
  };
  EXPECT_THAT(policy(R"({"validUntilDuration":"1.5s","validUntilTime":"2026-11-21T08:00:00Z"})"),
              testing::IsEmpty());
  EXPECT_THAT(policy(R"({"validUntilDuration":"6h"})"),
              OneAt("body.queueingPolicy.validUntilDuration"));
  EXPECT_THAT(policy(R"({"validUntilTime":"2026-11-21 08:00:00"})"),
              OneAt("body.queueingPolicy.validUntilTime"));
}

TEST(ConformanceJudge, FindsAWrongReply) {
  const auto judged = [](const char* message, const Json& reply) {
    return JudgeReply("v2", message, reply);
  };
  EXPECT_THAT(judged("Node", {{"id", "7"}, {"state", "READY"}}), testing::IsEmpty());
  EXPECT_THAT(judged("Node", {{"id", 7}}), OneAt("reply.id"));
  EXPECT_THAT(judged("Node", {{"state", "FLYING"}}), OneAt("reply.state"));
  EXPECT_THAT(judged("Node", {{"autocheckpointEnabled", true}}),
              OneAt("reply.autocheckpointEnabled"));
  EXPECT_THAT(judged("Operation", {{"name", "o"}, {"done", false}}), OneAt("reply.done"));
  EXPECT_THAT(judged("Node", {{"id", "0"}}), OneAt("reply.id"));
  EXPECT_THAT(judged("Node", {{"state", "STATE_UNSPECIFIED"}}), OneAt("reply.state"));
}

TEST(ConformanceJudge, LooksIntoAnAny) {
  const auto response = [](Json any) {
    return JudgeReply("v2", "Operation", {{"response", std::move(any)}});
  };
  const std::string prefix = "type.googleapis.com/";
  EXPECT_THAT(response({{"@type", prefix + "google.cloud.tpu.v2.Node"}, {"state", "READY"}}),
              testing::IsEmpty());
  EXPECT_THAT(response({{"@type", prefix + "google.cloud.tpu.v2.Node"}, {"nope", "READY"}}),
              OneAt("reply.response.nope"));
  EXPECT_THAT(response({{"@type", prefix + "google.cloud.tpu.v2alpha1.Node"}}),
              OneAt("reply.response"));
  EXPECT_THAT(response(Json::object()), OneAt("reply.response"));
  EXPECT_THAT(response({{"@type", prefix + "google.protobuf.Empty"}, {"a", "b"}}),
              OneAt("reply.response.a"));
}

TEST(ConformanceJudge, KnowsTheFormOfErrors) {
  const Json good = {{"error", {{"code", 404}, {"message", "no"}, {"status", "NOT_FOUND"}}}};
  EXPECT_THAT(JudgeError(404, good), testing::IsEmpty());
  EXPECT_THAT(JudgeError(400, good), OneAt("reply.error.code"));
  EXPECT_THAT(JudgeError(404, Json::object()), OneAt("reply"));
  EXPECT_THAT(JudgeError(404, {{"error", {{"code", 404}, {"message", "no"}}}}),
              OneAt("reply.error"));
}

}  // namespace
}  // namespace jobman::conformance
