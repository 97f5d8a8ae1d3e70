#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/cloud/tpu_json.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Json;
using core::AllocationMode;
using core::Pricing;
using core::SliceRequest;
using test::Parse;

SliceRequest Request(AllocationMode mode, Pricing pricing) {
  SliceRequest request{.ref = {.mode = mode,
                               .place = {.project = "p", .zone = "us-central2-b"},
                               .name = "train-7-a1"}};
  request.tpu.pricing = pricing;
  request.tpu.accelerator = "v4-8";
  request.tpu.version = "tpu-ubuntu2204-base";
  return request;
}

TEST(RenderCreate, SendsASpotNodeAsGcloudDoes) {
  const WireCall call = RenderCreate(Request(AllocationMode::kTpuVm, Pricing::kSpot));
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.Target(), "/v2/projects/p/locations/us-central2-b/nodes?nodeId=train-7-a1");
  EXPECT_EQ(call.body, Parse(R"({"acceleratorType":"v4-8","runtimeVersion":"tpu-ubuntu2204-base",
      "networkConfig":{"enableExternalIps":true,"network":"default"},
      "schedulingConfig":{"spot":true}})"));
}

TEST(RenderCreate, SendsATopologyInPlaceOfTheType) {
  const std::pair<const char*, std::string> cases[] = {
      {"v2-32", "V2"},   {"v3-32", "V3"},  {"v4-32", "V4"}, {"v5litepod-16", "V5LITE_POD"},
      {"v5p-32", "V5P"}, {"v6e-16", "V6E"}};
  for (const auto& [type, config_type] : cases) {
    for (const auto mode : {AllocationMode::kTpuVm, AllocationMode::kQueuedResources}) {
      SliceRequest request = Request(mode, Pricing::kSpot);
      request.tpu.accelerator = type;
      request.tpu.topology = "4x4";
      const Json body = RenderCreate(request).body;
      const Json node = mode == AllocationMode::kTpuVm ? body : body["tpu"]["nodeSpec"][0]["node"];
      EXPECT_EQ(node["acceleratorConfig"], (Json{{"type", config_type}, {"topology", "4x4"}}));
      EXPECT_FALSE(node.contains("acceleratorType"));
    }
  }
}

TEST(RenderCreate, PutsTheTierOfANodeIntoItsSchedulingConfig) {
  const auto scheduling = [](Pricing pricing) {
    return RenderCreate(Request(AllocationMode::kTpuVm, pricing)).body["schedulingConfig"];
  };
  EXPECT_EQ(scheduling(Pricing::kOnDemand), Json::object());
  EXPECT_EQ(scheduling(Pricing::kPreemptible), Parse(R"({"preemptible":true})"));
  EXPECT_EQ(scheduling(Pricing::kReserved), Parse(R"({"reserved":true})"));
}

TEST(RenderCreate, SendsASpotQueuedResourceAsGcloudDoes) {
  const WireCall call = RenderCreate(Request(AllocationMode::kQueuedResources, Pricing::kSpot));
  EXPECT_EQ(call.path, "/v2/projects/p/locations/us-central2-b/queuedResources");
  EXPECT_EQ(call.query.at(0),
            (std::pair<std::string, std::string>("queuedResourceId", "train-7-a1")));
  EXPECT_EQ(call.body, Parse(R"({"spot":{},"tpu":{"nodeSpec":[{"nodeId":"train-7-a1",
      "parent":"projects/p/locations/us-central2-b","node":{"acceleratorType":"v4-8",
      "runtimeVersion":"tpu-ubuntu2204-base",
      "networkConfig":{"enableExternalIps":true,"network":"default"}}}]}})"));
}

TEST(RenderCreate, PutsTheTierOfAQueuedResourceIntoTheQueuedResource) {
  const Json on_demand =
      RenderCreate(Request(AllocationMode::kQueuedResources, Pricing::kOnDemand)).body;
  EXPECT_FALSE(on_demand.contains("spot"));
  EXPECT_FALSE(on_demand.contains("reservationName"));
  EXPECT_FALSE(on_demand["tpu"]["nodeSpec"][0]["node"].contains("schedulingConfig"));

  SliceRequest reserved = Request(AllocationMode::kQueuedResources, Pricing::kReserved);
  EXPECT_EQ(RenderCreate(reserved).body["reservationName"],
            "projects/p/locations/us-central2-b/reservations/-");
  reserved.tpu.reservation = "r1";
  EXPECT_EQ(RenderCreate(reserved).body["reservationName"],
            "projects/p/locations/us-central2-b/reservations/r1");
  reserved.tpu.reservation = "projects/q/locations/z/reservations/r2";
  EXPECT_EQ(RenderCreate(reserved).body["reservationName"],
            "projects/q/locations/z/reservations/r2");
}

constexpr const char* kAlphaQueued = "/v2alpha1/projects/p/locations/us-central2-b/queuedResources";

TEST(RenderCreate, SendsFlexStartAsGcloudDoes) {
  SliceRequest request = Request(AllocationMode::kQueuedResources, Pricing::kFlexStart);
  request.tpu.max_run_duration = std::chrono::hours{4};
  const WireCall call = RenderCreate(request);
  EXPECT_EQ(call.path, kAlphaQueued);
  EXPECT_EQ(call.body, Parse(R"({"provisioningModel":"FLEX_START",
      "runDuration":{"maxRunDuration":"14400s"},"tpu":{"nodeSpec":[{"nodeId":"train-7-a1",
      "parent":"projects/p/locations/us-central2-b","node":{"acceleratorType":"v4-8",
      "runtimeVersion":"tpu-ubuntu2204-base",
      "networkConfig":{"enableExternalIps":true,"network":"default"}}}]}})"));
  EXPECT_THAT(RenderDelete(request.ref).path, testing::StartsWith("/v2/")) << "v2 can do that";
}

TEST(RenderCreate, ARunDurationGoesWithEveryPricingOfAQueuedResource) {
  SliceRequest request = Request(AllocationMode::kQueuedResources, Pricing::kSpot);
  request.tpu.max_run_duration = std::chrono::minutes{90};
  request.ref.nodes = 2;
  const WireCall call = RenderCreate(request);
  EXPECT_EQ(call.path, kAlphaQueued);
  EXPECT_EQ(call.body["spot"], Json::object());
  EXPECT_EQ(call.body["runDuration"], Parse(R"({"maxRunDuration":"5400s"})"));
  const Json& spec = call.body["tpu"]["nodeSpec"][0];
  EXPECT_EQ(spec["multiNodeParams"], Parse(R"({"nodeCount":2,"nodeIdPrefix":"train-7-a1"})"));
  EXPECT_FALSE(spec.contains("multisliceParams")) << "its name in v2";
}

TEST(RenderCreate, SendsAReservationInCalendarMode) {
  SliceRequest request = Request(AllocationMode::kQueuedResources, Pricing::kReservationBound);
  request.tpu.reservation = "r1";
  const WireCall queued = RenderCreate(request);
  EXPECT_EQ(queued.path, kAlphaQueued);
  EXPECT_EQ(queued.body["provisioningModel"], "RESERVATION_BOUND");
  EXPECT_EQ(queued.body["reservationName"], "projects/p/locations/us-central2-b/reservations/r1");

  request.ref.mode = AllocationMode::kTpuVm;
  const WireCall direct = RenderCreate(request);
  EXPECT_EQ(direct.path, "/v2alpha1/projects/p/locations/us-central2-b/nodes");
  EXPECT_EQ(direct.body["schedulingConfig"], Parse(R"({"provisioningModel":"RESERVATION_BOUND",
      "reservationName":"projects/p/locations/us-central2-b/reservations/r1"})"));
}

TEST(RenderCreate, ANodeOfACertainReservationNeedsAlpha) {
  SliceRequest request = Request(AllocationMode::kTpuVm, Pricing::kReserved);
  EXPECT_THAT(RenderCreate(request).path, testing::StartsWith("/v2/"));
  request.tpu.reservation = "r1";
  const WireCall call = RenderCreate(request);
  EXPECT_THAT(call.path, testing::StartsWith("/v2alpha1/"));
  EXPECT_EQ(call.body["schedulingConfig"], Parse(R"({"reserved":true,
      "reservationName":"projects/p/locations/us-central2-b/reservations/r1"})"));
  request.ref.mode = AllocationMode::kQueuedResources;
  EXPECT_THAT(RenderCreate(request).path, testing::StartsWith("/v2/"));
}

TEST(RenderCreate, SendsHowLongAQueuedResourceMayWait) {
  SliceRequest request = Request(AllocationMode::kQueuedResources, Pricing::kSpot);
  EXPECT_FALSE(RenderCreate(request).body.contains("queueingPolicy"));
  request.tpu.valid_for = std::chrono::hours{6};
  EXPECT_EQ(RenderCreate(request).body["queueingPolicy"],
            Parse(R"({"validUntilDuration":"21600s"})"));
  request.tpu.valid_for.reset();
  request.tpu.valid_until = base::ParseRfc3339("2026-11-21T08:00:00Z").value();
  EXPECT_EQ(RenderCreate(request).body["queueingPolicy"],
            Parse(R"({"validUntilTime":"2026-11-21T08:00:00.000Z"})"));
}

TEST(RenderCreate, SendsEveryField) {
  SliceRequest request = Request(AllocationMode::kTpuVm, Pricing::kOnDemand);
  request.tpu.network = "net";
  request.tpu.subnetwork = "sub";
  request.tpu.external_ips = false;
  request.tpu.service_account = "sa@p.iam.gserviceaccount.com";
  request.tpu.tags = {"t1", "t2"};
  request.tpu.labels = {{"jobman-job", "7"}};
  request.tpu.metadata = {{"ssh-keys", "me:ssh-ed25519 AAAA me"}, {"startup-script", "echo hi"}};
  const Json body = RenderCreate(request).body;
  EXPECT_EQ(body["networkConfig"],
            Parse(R"({"enableExternalIps":false,"network":"net","subnetwork":"sub"})"));
  EXPECT_EQ(body["serviceAccount"], Parse(R"({"email":"sa@p.iam.gserviceaccount.com",
      "scope":["https://www.googleapis.com/auth/cloud-platform"]})"));
  EXPECT_EQ(body["tags"], Parse(R"(["t1","t2"])"));
  EXPECT_EQ(body["labels"], Parse(R"({"jobman-job":"7"})"));
  EXPECT_EQ(body["metadata"],
            Parse(R"({"ssh-keys":"me:ssh-ed25519 AAAA me","startup-script":"echo hi"})"));
}

TEST(RenderCreate, EncodesNamesInPathAndQuery) {
  SliceRequest request = Request(AllocationMode::kTpuVm, Pricing::kSpot);
  request.ref.place = {.project = "example.com:p", .zone = "z/../y"};
  request.ref.name = "a&b=c";
  EXPECT_EQ(RenderCreate(request).Target(),
            "/v2/projects/example.com%3Ap/locations/z%2F..%2Fy/nodes?nodeId=a%26b%3Dc");
}

TEST(RenderCreate, SurvivesBytesThatAreNotText) {
  SliceRequest request = Request(AllocationMode::kTpuVm, Pricing::kSpot);
  request.tpu.metadata = {{"startup-script", "echo \xff"}};
  EXPECT_TRUE(base::ParseJson(RenderCreate(request).BodyText()).ok());
}

TEST(RequestId, IsAUuidThatFollowsFromTheRequest) {
  const SliceRequest request = Request(AllocationMode::kQueuedResources, Pricing::kSpot);
  const auto id = [](const WireCall& call) { return call.query.at(1).second; };
  EXPECT_EQ(RenderCreate(request).query.at(1).first, "requestId");
  EXPECT_THAT(
      id(RenderCreate(request)),
      testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(id(RenderCreate(request)), id(RenderCreate(request)));

  SliceRequest other = request;
  other.ref.name = "train-7-a2";
  EXPECT_NE(id(RenderCreate(request)), id(RenderCreate(other)));
  EXPECT_NE(id(RenderCreate(request)), id(RenderDelete(request.ref)));
  EXPECT_EQ(id(RenderDelete(request.ref)), id(RenderDelete(request.ref)));
  EXPECT_NE(id(RenderDelete(request.ref)), id(RenderDelete(request.ref, 1)));
}

TEST(RenderDelete, ForcesQueuedResourcesOnly) {
  core::SliceRef ref = Request(AllocationMode::kQueuedResources, Pricing::kSpot).ref;
  EXPECT_EQ(RenderDelete(ref).method, "DELETE");
  EXPECT_THAT(RenderDelete(ref).Target(),
              testing::StartsWith("/v2/projects/p/locations/us-central2-b/queuedResources/"
                                  "train-7-a1?force=true&requestId="));
  ref.mode = AllocationMode::kTpuVm;
  EXPECT_EQ(RenderDelete(ref).Target(), "/v2/projects/p/locations/us-central2-b/nodes/train-7-a1");
}

}  // namespace
}  // namespace jobman::cloud
