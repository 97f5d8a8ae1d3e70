// The metadata server of a host.
#include "service_fixture.hpp"
#include "sim/cloud/guest_tree.hpp"
#include "sim/hosts/guest_metadata.hpp"

namespace jobman::sim {
namespace {

using testing::HasSubstr;

class GuestTest : public ServiceFixture {
 protected:
  GuestReply Ask(const std::string& host, const std::string& key, bool recursive = false) {
    const HostPlan& plan = fleet.running.at(host);
    return service.Guest(plan.internal_ip,
                         {.path = "/computeMetadata/v1/" + key, .recursive = recursive});
  }
};

TEST_F(GuestTest, EachHostReadsItsOwnData) {
  Json spec = Spec("v4-16");
  spec["metadata"] = {{"colour", "blue"}};
  CreateNode("t1", spec);
  Pass(300);
  EXPECT_EQ(Ask("t1v-n-t1-w-1", "instance/name").body, "t1v-n-t1-w-1");
  EXPECT_EQ(Ask("t1v-n-t1-w-1", "instance/attributes/agent-worker-number").body, "1");
  EXPECT_EQ(Ask("t1v-n-t1-w-0", "instance/attributes/accelerator-type").body, "v4-16");
  EXPECT_EQ(Ask("t1v-n-t1-w-0", "instance/attributes/colour").body, "blue");
  EXPECT_THAT(Ask("t1v-n-t1-w-0", "instance/attributes/worker-network-endpoints").body,
              HasSubstr(",unknown:8470:" + fleet.running["t1v-n-t1-w-1"].internal_ip));
  EXPECT_EQ(service.Guest("127.0.0.1", {.path = "/computeMetadata/v1/instance/name"}).status, 404);
}

TEST_F(GuestTest, HasNoNoticeAtFirst) {
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  EXPECT_EQ(Ask("t1v-n-t1-w-0", "instance/preempted").body, "FALSE");
  EXPECT_EQ(Ask("t1v-n-t1-w-0", "instance/maintenance-event").body, "NONE");
  EXPECT_EQ(Ask("t1v-n-t1-w-0", "instance/upcoming-maintenance").status, 404);
}

TEST_F(GuestTest, ListsFoldersAndWritesThemAsJson) {
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  EXPECT_THAT(Ask("t1v-n-t1-w-0", "instance/").body, HasSubstr("attributes/\nhostname\n"));
  const auto json = ParseJson(Ask("t1v-n-t1-w-0", "", true).body);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["instance"]["attributes"]["accelerator-type"], "v4-8");
  EXPECT_EQ((*json)["project"]["project-id"], "p");
}

TEST_F(GuestTest, SeesChangedMetadata) {
  int changes = 0;
  service.OnGuestChange([&] { ++changes; });
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  const std::string before = Ask("t1v-n-t1-w-0", "instance/attributes/", true).ETag();
  Call("PATCH", "nodes/t1", {{"updateMask", "metadata"}}, {{"metadata", {{"a", "b"}}}});
  EXPECT_EQ(changes, 1);
  EXPECT_NE(Ask("t1v-n-t1-w-0", "instance/attributes/", true).ETag(), before);
}

TEST(GuestRequest, IsParsed) {
  const auto request = ParseGuestRequest(
      "GET /computeMetadata/v1/instance/preempted?wait_for_change=true&timeout_sec=5&last_etag=ab "
      "HTTP/1.1\r\nHost: 127.16.0.1:80\r\nmetadata-flavor: Google");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, "/computeMetadata/v1/instance/preempted");
  EXPECT_TRUE(request->wait);
  EXPECT_EQ(request->timeout, std::chrono::seconds(5));
  EXPECT_EQ(request->last_etag, "ab");
  EXPECT_FALSE(Refusal(*request, "127.16.0.1"));
  EXPECT_FALSE(ParseGuestRequest("rubbish"));
}

TEST(GuestRequest, NeedsTheMetadataFlavorHeader) {
  const std::string host = "\r\nHost: 127.16.0.1";
  const auto bare = ParseGuestRequest("GET /computeMetadata/v1/instance/name HTTP/1.1" + host);
  ASSERT_TRUE(bare);
  EXPECT_EQ(Refusal(*bare, "127.16.0.1")->status, 403);
  EXPECT_FALSE(Refusal(*ParseGuestRequest("GET / HTTP/1.1" + host), "127.16.0.1"));
  EXPECT_EQ(Refusal(*ParseGuestRequest("POST / HTTP/1.1" + host), "127.16.0.1")->status, 405);
}

TEST(GuestRequest, NeedsTheNameOfTheServer) {
  const auto status = [](const std::string& host) {
    const auto request = ParseGuestRequest(
        "GET /computeMetadata/v1/instance/name HTTP/1.1\r\nMetadata-Flavor: Google" + host);
    const auto refusal = Refusal(*request, "127.16.0.1");
    return refusal ? refusal->status : 200;
  };
  EXPECT_EQ(status("\r\nHost: 127.16.0.1:33000"), 200);
  EXPECT_EQ(status("\r\nHost: metadata.google.internal"), 200);
  for (const char* host : {"", "\r\nHost: example.org", "\r\nHost: 127.16.0.2:33000"}) {
    EXPECT_EQ(status(host), 403) << host;
  }
}

TEST(GuestMaintenance, IsFormattedForTheGuest) {
  EXPECT_EQ(GuestMaintenance({{"type", "SCHEDULED"},
                              {"maintenanceStatus", "PENDING"},
                              {"windowStartTime", "2026-11-21T05:00:00Z"}}),
            (Json{{"type", "SCHEDULED"},
                  {"maintenance_status", "PENDING"},
                  {"window_start_time", "2026-11-21T05:00:00Z"},
                  {"can_reschedule", "false"}}));
}

}  // namespace
}  // namespace jobman::sim
