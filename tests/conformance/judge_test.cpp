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

TEST(ConformanceJudge, JudgesTheServicesBesideCloudTpu) {
  const auto faults = [](const char* service, const char* http, const char* target,
                         const char* body = "") {
    return JudgeRequest(service, {.method = http, .target = target, .body = body}).faults;
  };
  const char* const region = "/compute/v1/projects/p/regions/r";
  EXPECT_THAT(faults("compute.v1", "GET", region), testing::IsEmpty());
  EXPECT_THAT(faults("compute.v1", "PUT", region), OneAt("path"));
  EXPECT_THAT(faults("compute.v1", "GET", "/compute/v1/projects/p/regions"), OneAt("path"));
  EXPECT_THAT(faults("storage.v1", "GET", "/storage/v1/b?project=p&nope=1"), OneAt("query.nope"));
  EXPECT_THAT(faults("storage.v1", "GET", "/storage/v1/b?maxResults=many"),
              OneAt("query.maxResults"));
  const char* const series = "/v3/projects/p/timeSeries?aggregation.perSeriesAligner=ALIGN_";
  const auto aligned = [&](const std::string& how) {
    return faults("monitoring.v3", "GET", (series + how).c_str());
  };
  EXPECT_THAT(aligned("NEXT_OLDER"), testing::IsEmpty());
  EXPECT_THAT(aligned("UP"), OneAt("query.aggregation.perSeriesAligner"));
  EXPECT_THAT(aligned("MAX&aggregation.alignmentPeriod=1d"),
              OneAt("query.aggregation.alignmentPeriod"));
  const auto query = [&](const char* body) {
    return faults("bigquery.v2", "POST", "/bigquery/v2/projects/p/queries", body);
  };
  EXPECT_THAT(query(R"({"timeoutMs":4000000000,"useLegacySql":false})"), testing::IsEmpty());
  EXPECT_THAT(query(R"({"timeoutMs":-1})"), OneAt("body.timeoutMs"));
  EXPECT_THAT(query(R"({"maximumBytesBilled":1})"), OneAt("body.maximumBytesBilled"));
  EXPECT_THAT(query(R"({"queryParameters":[{"nope":1}]})"), OneAt("body.queryParameters[0].nope"));
  const char* const import = "/v1/users/me:importSshPublicKey";
  EXPECT_THAT(faults("oslogin.v1", "POST", import, R"({"expirationTimeUsec":1})"),
              OneAt("body.expirationTimeUsec"));
  EXPECT_THAT(faults("oslogin.v1", "POST", import, R"({"fingerprint":"f"})"),
              OneAt("body.fingerprint"));
}

TEST(ConformanceJudge, FindsAWrongReplyOfAServiceBesideCloudTpu) {
  const auto region = [](const Json& reply) { return JudgeReply("compute.v1", "Region", reply); };
  EXPECT_THAT(region({{"quotas", {{{"metric", "IN_USE_ADDRESSES"}, {"usage", 0.0}}}}}),
              testing::IsEmpty());
  EXPECT_THAT(region({{"nope", 1}}), OneAt("reply.nope"));
  EXPECT_THAT(region({{"id", 7}}), OneAt("reply.id"));
  EXPECT_THAT(region({{"status", "SIDEWAYS"}}), OneAt("reply.status"));
  EXPECT_THAT(region({{"quotas", {{{"limit", "8"}}}}}), OneAt("reply.quotas[0].limit"));
  EXPECT_THAT(region({{"quotas", {{{"metric", "TEA"}}}}}), OneAt("reply.quotas[0].metric"));
  EXPECT_THAT(JudgeReply("compute.v1", "Metadata", {{"fingerprint", "no base64"}}),
              OneAt("reply.fingerprint"));
  EXPECT_THAT(JudgeReply("oslogin.v1", "PosixAccount", {{"primary", false}}),
              OneAt("reply.primary"));
}

TEST(ConformanceJudge, LooksIntoFields) {
  const auto buckets = [](const std::string& fields) {
    return JudgeRequest("storage.v1",
                        {.method = "GET", .target = "/storage/v1/b?project=p&fields=" + fields})
        .faults;
  };
  for (const char* good : {"*", "items", "nextPageToken,items(name,location)", "items/name",
                           "items(labels/mine,owner/entity),kind"}) {
    EXPECT_THAT(buckets(good), testing::IsEmpty()) << good;
  }
  for (const char* bad : {"", "nope", "items(nope)", "items/name/nope", "items(name", "items)",
                          "name", "items,", "nextPageToken(name)"}) {
    EXPECT_THAT(buckets(bad), OneAt("query.fields")) << bad;
  }
}

TEST(ConformanceJudge, KnowsTheOlderFormOfErrors) {
  const Json entry = {{"message", "no"}, {"domain", "global"}, {"reason", "notFound"}};
  Json good = {{"error", {{"code", 404}, {"message", "no"}, {"errors", Json::array({entry})}}}};
  EXPECT_THAT(JudgeOlderError(404, good), testing::IsEmpty());
  EXPECT_THAT(JudgeOlderError(400, good), OneAt("reply.error.code"));
  good["error"]["nope"] = 1;
  EXPECT_THAT(JudgeOlderError(404, good), OneAt("reply.error.nope"));
  good["error"].erase("nope");
  good["error"]["errors"][0].erase("reason");
  EXPECT_THAT(JudgeOlderError(404, good), OneAt("reply.error.errors"));
  good["error"].erase("errors");
  EXPECT_THAT(JudgeOlderError(404, good), OneAt("reply.error.errors"));
}

}  // namespace
}  // namespace jobman::conformance
