// Sample bodies: the golden recording of k8s-config-connector (v5p node, operation), the
// documentation's sample of an ACTIVE v6e queued resource, and shapes of the discovery document.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/cloud/tpu_json.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using base::Reason;
using core::NodeState;
using core::QueuedState;
using test::Parse;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kReadyNode = R"({
  "acceleratorConfig":{"topology":"2x2x1","type":"V5P"},"acceleratorType":"v5p-8","apiVersion":"V2",
  "cidrBlock":"10.20.30.0/24","createTime":"2024-04-01T12:34:56.123456Z","health":"HEALTHY",
  "id":"000000000000","name":"projects/ID/locations/us-central1-a/nodes/N",
  "networkConfig":{"enableExternalIps":true,"network":"projects/ID/global/networks/default",
    "subnetwork":"projects/ID/regions/us-central1/subnetworks/default"},
  "networkEndpoints":[{"accessConfig":{"externalIp":"8.8.8.8"},"ipAddress":"10.20.30.40","port":8470}],
  "runtimeVersion":"tpu-vm-cos-stable","schedulingConfig":{},
  "serviceAccount":{"email":"1-compute@developer.gserviceaccount.com","scope":["a","b"]},
  "shieldedInstanceConfig":{},"state":"READY"})";

TEST(DecodeNode, ReadsAReadyNode) {
  const auto node = DecodeNode(Parse(kReadyNode));
  ASSERT_TRUE(node.ok()) << node.error().ToString();
  EXPECT_EQ(node->id, "N");
  EXPECT_EQ(node->zone, "us-central1-a");
  EXPECT_EQ(node->uid, "000000000000");
  EXPECT_EQ(node->state, NodeState::kReady);
  EXPECT_EQ(node->raw_state, "READY");
  EXPECT_EQ(node->health, "HEALTHY");
  EXPECT_EQ(node->accelerator, "v5p-8");
  EXPECT_EQ(node->queued_resource, "");
  EXPECT_THAT(node->hosts,
              ElementsAre(core::HostAddress{.internal = "10.20.30.40", .external = "8.8.8.8"}));
  EXPECT_EQ(node->create_time, "2024-04-01T12:34:56.123456Z");
  EXPECT_FALSE(node->spot);
}

TEST(DecodeNode, ReadsWhenItEndsWhereAVersionShowsIt) {
  EXPECT_FALSE(DecodeNode(Parse(kReadyNode))->ends_at) << "v2 does not";
  const auto ends_at = [](const std::string& time) {
    return DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/n","state":"READY",
                                "schedulingConfig":{"terminationTimestamp":)" +
                            time + "}}"))
        ->ends_at;
  };
  EXPECT_EQ(ends_at(R"("2026-11-28T04:00:00Z")"),
            base::ParseRfc3339("2026-11-28T04:00:00Z").value());
  EXPECT_FALSE(ends_at(R"("soon")"));
  EXPECT_FALSE(ends_at("7"));
}

TEST(DecodeNode, ReadsWhatItsMetadataSayOfOsLogin) {
  EXPECT_FALSE(DecodeNode(Parse(kReadyNode))->os_login.has_value());
  const auto os_login = [](const std::string& word) {
    return DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/n","state":"READY",
                                "metadata":{"enable-oslogin":")" +
                            word + "\"}}"))
        ->os_login;
  };
  EXPECT_EQ(os_login("true"), true);
  EXPECT_EQ(os_login("FALSE"), false);
}

TEST(DecodeNode, ReadsAnUpcomingMaintenance) {
  const auto notice = [](const std::string& maintenance) {
    return DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/n","state":"READY",
                                "upcomingMaintenance":)" +
                            maintenance + "}"))
        ->notice;
  };
  EXPECT_EQ(notice(R"({"type":"SCHEDULED","maintenanceStatus":"PENDING","canReschedule":true,
                       "windowStartTime":"2026-11-28T00:00:00Z"})"),
            core::Notice{.text = "SCHEDULED, PENDING, from 2026-11-28T00:00:00Z"});
  EXPECT_EQ(notice(R"({"maintenanceStatus":"PENDING",
                       "windowStartTime":"2026-11-28T00:00:00.123456789Z"})"),
            core::Notice{.text = "PENDING, from 2026-11-28T00:00:00Z"});
  EXPECT_EQ(notice(R"({"type":"UNSCHEDULED","maintenanceStatus":"ONGOING"})"),
            (core::Notice{.imminent = true, .text = "UNSCHEDULED, ONGOING"}));
  EXPECT_EQ(notice("{}"), std::nullopt);
  EXPECT_EQ(notice("null"), std::nullopt);
}

TEST(DecodeNode, ReadsTheFieldsSetByAQueuedResource) {
  const auto node = DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/train-7-a1",
      "state":"PREEMPTED","queuedResource":"projects/123/locations/z/queuedResources/train-7-a1",
      "schedulingConfig":{"spot":true},"labels":{"jobman-job":"7"}})"));
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->state, NodeState::kPreempted);
  EXPECT_EQ(node->queued_resource, "train-7-a1");
  EXPECT_EQ(node->labels.at("jobman-job"), "7");
  EXPECT_TRUE(node->spot);
  EXPECT_THAT(node->hosts, IsEmpty());
}

TEST(DecodeNode, ReadsWhetherItIsOfAReservation) {
  const auto node = DecodeNode(
      Parse(R"({"name":"projects/p/locations/z/nodes/n","schedulingConfig":{"reserved":true}})"));
  ASSERT_TRUE(node.ok());
  EXPECT_TRUE(node->reserved);
  EXPECT_FALSE(node->spot);
}

TEST(DecodeNode, KeepsAWordItDoesNotKnow) {
  const auto node =
      DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/n","state":"DREAMING","x":[1]})"));
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->state, NodeState::kUnknown);
  EXPECT_EQ(node->raw_state, "DREAMING");
}

TEST(DecodeNode, TakesAnAbsentStateAsUnspecified) {
  const auto node = DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/n"})"));
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->state, NodeState::kUnspecified);
}

TEST(DecodeNode, CountsHostsNotNetworks) {
  const auto node = DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/n",
      "networkConfigs":[{"network":"a"},{"network":"b"}],
      "networkEndpoints":[{"ipAddress":"10.0.0.1","accessConfig":{}},{"ipAddress":"10.1.0.1"},
                          {"ipAddress":"10.0.0.2"},{"ipAddress":"10.1.0.2"}]})"));
  ASSERT_TRUE(node.ok());
  EXPECT_THAT(node->hosts, ElementsAre(core::HostAddress{.internal = "10.0.0.1"},
                                       core::HostAddress{.internal = "10.0.0.2"}));
}

TEST(DecodeNode, SurvivesFieldsOfOtherTypes) {
  const auto node = DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/n","state":7,
      "networkEndpoints":{"a":1},"labels":["x"],"schedulingConfig":"spot","id":12})"));
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->state, NodeState::kUnspecified);
  EXPECT_THAT(node->hosts, IsEmpty());
  EXPECT_THAT(node->labels, IsEmpty());
}

TEST(DecodeNode, RefusesANodeWithoutAName) {
  EXPECT_FALSE(DecodeNode(Parse(R"({"state":"READY"})")).ok());
  EXPECT_FALSE(DecodeNode(Parse("[]")).ok());
  EXPECT_FALSE(DecodeNode(Parse("null")).ok());
  EXPECT_FALSE(DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/"})")).ok());
}

TEST(DecodeNode, KnowsTheTypeByItsTopology) {
  const auto type = [](const std::string& config) {
    const auto node = DecodeNode(Parse(R"({"name":"projects/p/locations/z/nodes/n",
      "acceleratorConfig":)" + config + "}"));
    return node.ok() ? node->accelerator : "no node";
  };
  EXPECT_EQ(type(R"({"type":"V4","topology":"2x2x2"})"), "v4-16");
  EXPECT_EQ(type(R"({"type":"V5LITE_POD","topology":"4x4"})"), "v5litepod-16");
  EXPECT_EQ(type(R"({"type":"V9","topology":"2x2x2"})"), "V9 2x2x2");
  EXPECT_EQ(type(R"({"type":"V4","topology":"3x3x3"})"), "V4 3x3x3");
}

TEST(DecodeQueued, ReadsTheDocumentationsSample) {
  const auto queued = DecodeQueued(Parse(R"({
      "createTime":"2022-10-19T19:49:34.123Z","name":"projects/123/locations/us-east5-a/queuedResources/q",
      "state":{"state":"ACTIVE","activeData":{}},"spot":{},
      "tpu":{"nodeSpec":[{"nodeId":"n","parent":"projects/123/locations/us-east5-a","node":{
        "acceleratorType":"v6e-1","bootDisk":{},"networkConfig":{"enableExternalIps":true},
        "queuedResource":"projects/123/locations/us-east5-a/queuedResources/q",
        "runtimeVersion":"v2-alpha-tpuv6e","schedulingConfig":{},"serviceAccount":{},
        "shieldedInstanceConfig":{},"useTpuVm":true,"labels":{"jobman-job":"7"}}}]}})"));
  ASSERT_TRUE(queued.ok()) << queued.error().ToString();
  EXPECT_EQ(queued->id, "q");
  EXPECT_EQ(queued->zone, "us-east5-a");
  EXPECT_EQ(queued->state, QueuedState::kActive);
  EXPECT_EQ(queued->raw_state, "ACTIVE");
  EXPECT_EQ(queued->labels.at("jobman-job"), "7");
  EXPECT_FALSE(queued->failure.has_value());
}

TEST(DecodeQueued, ReadsTheFailureFromItsState) {
  const auto queued = DecodeQueued(Parse(R"({"name":"projects/p/locations/z/queuedResources/q",
      "state":{"state":"FAILED","stateInitiator":"SERVICE","failedData":{"error":
      {"code":13,"message":"an internal error has occurred"}}}})"));
  ASSERT_TRUE(queued->failure.has_value());
  EXPECT_EQ(queued->failure->code, Code::kInternal);
  EXPECT_EQ(queued->failure->reason, Reason::kStockout);
  EXPECT_EQ(queued->failure->context, std::vector<std::string>{"queued resource q in z"});
}

TEST(DecodeQueued, HasAFailureEvenWithoutAReason) {
  const auto queued = DecodeQueued(
      Parse(R"({"name":"projects/p/locations/z/queuedResources/q","state":{"state":"FAILED"}})"));
  ASSERT_TRUE(queued->failure.has_value());
  EXPECT_EQ(queued->failure->code, Code::kUnknown);
}

TEST(DecodeQueued, RefusesAQueuedResourceWithoutAName) {
  EXPECT_FALSE(DecodeQueued(Parse("{}")).ok());
  EXPECT_FALSE(DecodeQueued(Parse(R"({"name":"projects/p/locations/z/queuedResources/"})")).ok());
}

TEST(DecodeQueued, KeepsAWordItDoesNotKnow) {
  const auto queued = DecodeQueued(Parse(
      R"({"name":"projects/p/locations/z/queuedResources/q","state":{"state":"PONDERING"}})"));
  EXPECT_EQ(queued->state, QueuedState::kUnknown);
  EXPECT_EQ(queued->raw_state, "PONDERING");
}

TEST(DecodeOperation, ReadsARunningOne) {
  const auto operation = DecodeOperation(Parse(R"({"name":"projects/ID/locations/Z/operations/o",
      "metadata":{"@type":"type.googleapis.com/google.cloud.common.OperationMetadata",
      "verb":"create","apiVersion":"v2"}})"));
  ASSERT_TRUE(operation.ok());
  EXPECT_EQ(operation->name, "projects/ID/locations/Z/operations/o");
  EXPECT_FALSE(operation->done);
  EXPECT_FALSE(operation->error.has_value());
}

TEST(DecodeOperation, ReadsAStockout) {
  const auto operation = DecodeOperation(Parse(R"({"name":"projects/ID/locations/Z/operations/o",
      "done":true,"error":{"code":8,"message":"There is no more capacity in the zone \"us-central2-b\"; you can try in another zone where Cloud TPU Nodes are offered (see https://cloud.google.com/tpu/docs/regions) [EID: 0x1f]","details":[]}})"));
  ASSERT_TRUE(operation.ok());
  EXPECT_TRUE(operation->done);
  ASSERT_TRUE(operation->error.has_value());
  EXPECT_EQ(operation->error->reason, Reason::kStockout);
}

TEST(DecodeOperation, AnErrorNamesTheNode) {
  const auto operation = DecodeOperation(Parse(R"({"name":"projects/p/locations/z/operations/o",
      "metadata":{"target":"projects/p/locations/z/nodes/n"},"done":true,
      "error":{"code":5,"message":"Reservation not found"}})"));
  ASSERT_TRUE(operation->error.has_value());
  EXPECT_EQ(operation->error->ToString(), "the operation on node n in z: Reservation not found");
}

TEST(DecodeHostKeys, ReadsOneMapForEachHost) {
  const auto keys = DecodeHostKeys(Parse(R"({"guestAttributes":[
      {"queryPath":"hostkeys/","queryValue":{"items":[
        {"namespace":"hostkeys","key":"ssh-ed25519","value":"AAAAC3Nz"},
        {"namespace":"hostkeys","key":"ssh-rsa","value":"ssh-rsa AAAAB3Nz root@h"},
        {"namespace":"tpu","key":"hostname","value":"h"}]}},
      {},
      {"queryValue":{"items":[{"namespace":"hostkeys","key":"ssh-ed25519","value":" AAAA2 \n"}]}}]})"));
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].host, 0);
  EXPECT_EQ(keys[0].keys, (std::map<std::string, std::string>{{"ssh-ed25519", "AAAAC3Nz"},
                                                              {"ssh-rsa", "AAAAB3Nz"}}));
  EXPECT_EQ(keys[1].host, 2);
  EXPECT_EQ(keys[1].keys.at("ssh-ed25519"), "AAAA2");
}

TEST(DecodeHostKeys, SkipsWhatWouldBeAnotherLineOfKnownHosts) {
  const auto keys = DecodeHostKeys(Parse(R"({"guestAttributes":[{"queryValue":{"items":[
      {"namespace":"hostkeys","key":"ssh-ed25519","value":"AAAA\nother ssh-rsa BBBB"},
      {"namespace":"hostkeys","key":"ssh-rsa K\nother ssh-rsa","value":"CCCC"},
      {"namespace":"hostkeys","key":"ecdsa-sha2-nistp256","value":"D+/="}]}}]})"));
  ASSERT_THAT(keys, SizeIs(1));
  EXPECT_THAT(keys[0].keys, ElementsAre(Pair("ecdsa-sha2-nistp256", "D+/=")));
}

TEST(DecodeHostKeys, WhatAHostWritesThereIsBounded) {
  std::string items = R"({"namespace":"hostkeys","key":"ssh-ed25519","value":"AAAA"})";
  for (int i = 0; i < 1000; ++i) {
    items +=
        R"(,{"namespace":"hostkeys","key":"ssh-rsa)" + std::to_string(i) + R"(","value":"BBBB"})";
  }
  items +=
      R"(,{"namespace":"hostkeys","key":"ssh-rsa","value":")" + std::string(10'000, 'C') + R"("})";
  const auto keys =
      DecodeHostKeys(Parse(R"({"guestAttributes":[{"queryValue":{"items":[)" + items + "]}}]}"));
  ASSERT_THAT(keys, SizeIs(1));
  EXPECT_THAT(keys[0].keys, ElementsAre(Pair("ssh-ed25519", "AAAA")));
}

TEST(DecodeHostKeys, ToleratesEveryShape) {
  for (const char* text :
       {"{}", "[]", "null", R"({"guestAttributes":{}})", R"({"guestAttributes":[null,7,"x"]})",
        R"({"guestAttributes":[{"queryValue":[]},{"queryValue":{"items":{}}}]})",
        R"({"guestAttributes":[{"queryValue":{"items":[null,{"namespace":"hostkeys"}]}}]})"}) {
    EXPECT_THAT(DecodeHostKeys(Parse(text)), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace jobman::cloud
