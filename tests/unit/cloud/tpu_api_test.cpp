#include "jobman/cloud/tpu_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "jobman/core/held_slice.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using base::Reason;
using test::FakeClock;
using test::FakeTransport;
using test::Loop;
using test::Parse;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const core::Place kLab{.project = "p", .zone = "us-central2-b"};

class TpuApiTest : public testing::Test {
 protected:
  std::string Url(std::size_t request) const { return script->requests.at(request).url; }

  Loop loop;
  std::shared_ptr<FakeTransport::Script> script = std::make_shared<FakeTransport::Script>();
  FakeClock clock;
  TpuApi api{std::make_unique<FakeTransport>(script), "https://tpu.googleapis.com/", clock};
};

std::string NodePage(const std::string& id, const std::string& next) {
  return R"({"nodes":[{"name":"projects/p/locations/us-central2-b/nodes/)" + id +
         R"("}],"nextPageToken":")" + next + R"("})";
}

TEST_F(TpuApiTest, ListsAllPages) {
  script->Answer(200, NodePage("a", "to/k+1"));
  script->Answer(200, NodePage("b", "tok2"));
  script->Answer(200, R"({"nodes":[{"name":"projects/p/locations/us-central2-b/nodes/c"}]})");
  const auto nodes = loop.Run(api.ListNodes(kLab));
  ASSERT_TRUE(nodes.ok()) << nodes.error().ToString();
  ASSERT_EQ(nodes->size(), 3U);
  EXPECT_EQ(nodes->at(2).id, "c");
  EXPECT_EQ(Url(0), "https://tpu.googleapis.com/v2/projects/p/locations/us-central2-b/nodes");
  EXPECT_EQ(Url(1), Url(0) + "?pageToken=to%2Fk%2B1");
  EXPECT_EQ(Url(2), Url(0) + "?pageToken=tok2");
}

/// The request may have arrived all the same, so that there is a slice to be found.
TEST_F(TpuApiTest, AnAnswerThatIsTooLargeIsNoRefusal) {
  const base::Error large{.code = Code::kOutOfRange, .message = "the answer is larger than 64 MiB"};
  script->Fail(large);
  const core::SliceRequest request{.ref = {.place = kLab, .name = "q"}};
  const auto created = loop.Run(api.Create(request));
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().code, Code::kUnavailable);
  EXPECT_FALSE(core::IsRefusal(created.error()));
  EXPECT_THAT(created.error().message, HasSubstr("larger than 64 MiB"));
  EXPECT_THAT(created.error().hint, HasSubstr("check the endpoint"));
  script->Fail(large);
  EXPECT_EQ(loop.Run(api.ListNodes(kLab)).error().code, Code::kUnavailable);
}

TEST_F(TpuApiTest, AnEmptyListingIsASuccess) {
  script->Answer(200, "{}\n");
  const auto nodes = loop.Run(api.ListNodes(kLab));
  ASSERT_TRUE(nodes.ok());
  EXPECT_THAT(*nodes, IsEmpty());
}

TEST_F(TpuApiTest, AListingWithAFailedPageIsAnError) {
  script->Answer(200, NodePage("a", "next"));
  script->Answer(500, R"({"error":{"code":500,"message":"oops","status":"INTERNAL"}})");
  const auto nodes = loop.Run(api.ListNodes(kLab));
  ASSERT_FALSE(nodes.ok());
  EXPECT_EQ(nodes.error().code, Code::kInternal);
}

TEST_F(TpuApiTest, AWrongClockIsNamedWhereCredentialsAreRefused) {
  const auto refused = [this](int status, const std::string& date) {
    script->Answer(status, R"({"error":{"code":401,"message":"Invalid credentials."}})",
                   {{"Date", date}});
    const auto nodes = loop.Run(api.ListNodes(kLab));
    return nodes ? std::string() : nodes.error().message + "; " + nodes.error().hint;
  };
  // The clock of the test says 00:00.
  const std::string behind = refused(401, "Thu, 01 Jan 2026 00:12:00 GMT");
  EXPECT_THAT(behind, HasSubstr("Invalid credentials; this machine's clock is 12m behind the "
                                "server's; set the clock"));
  EXPECT_THAT(behind, HasSubstr("if that does not help: jobman doctor"));
  EXPECT_THAT(refused(401, "Wed, 31 Dec 2025 22:00:00 GMT"),
              HasSubstr("this machine's clock is 2h ahead of the server's"));
  EXPECT_THAT(refused(401, "Thu, 01 Jan 2026 00:12:05 GMT"), HasSubstr("clock is 12m behind"))
      << "the same text each time";
  for (const auto& [status, date] :
       {std::pair(401, "Thu, 01 Jan 2026 00:00:30 GMT"), std::pair(401, "tomorrow"),
        std::pair(403, "Thu, 01 Jan 2026 00:12:00 GMT")})
    EXPECT_THAT(refused(status, date), Not(HasSubstr("machine's clock"))) << status << date;
}

TEST_F(TpuApiTest, APageTokenThatComesTwiceIsAnError) {
  script->Answer(200, NodePage("a", "again"));
  script->Answer(200, NodePage("b", "again"));
  const auto nodes = loop.Run(api.ListNodes(kLab));
  ASSERT_FALSE(nodes.ok());
  EXPECT_EQ(nodes.error().code, Code::kUnavailable);
  EXPECT_THAT(nodes.error().message, HasSubstr("token"));
}

/// Pages without an end, each with a new token and `items`, and after `pause`.
class Endless final : public http::Transport {
 public:
  Endless(std::string items, FakeClock& clock, base::Duration pause)
      : items_(std::move(items)), clock_(clock), pause_(pause) {}
  Task<Result<http::Response>> Send(http::Request) override {
    clock_.Advance(pause_);
    co_return http::Response{.status = 200,
                             .body = R"({"nodes":[)" + items_ + R"(],"nextPageToken":"t)" +
                                     std::to_string(++pages_) + R"("})"};
  }

 private:
  std::string items_;
  FakeClock& clock_;
  base::Duration pause_;
  int pages_ = 0;
};

base::Error EndOf(const std::string& items, base::Duration pause = {}) {
  Loop loop;
  FakeClock clock;
  TpuApi api(std::make_unique<Endless>(items, clock, pause), "https://h", clock);
  const auto nodes = loop.Run(api.ListNodes(kLab));
  return nodes ? base::Internal("it ended") : nodes.error();
}

TEST(EndlessListing, EndsAtABoundThatTheErrorNames) {
  const std::string listing =
      "the listing of /v2/projects/p/locations/us-central2-b/nodes is "
      "incomplete: it ";
  const base::Error many_pages = EndOf("");
  EXPECT_EQ(many_pages.message, listing + "has more than 2000 pages");
  EXPECT_THAT(many_pages.hint, HasSubstr("endpoint"));
  EXPECT_EQ(many_pages.code, Code::kFailedPrecondition) << "another try would not help";
  EXPECT_EQ(EndOf("", std::chrono::seconds{50}).message, listing + "did not end within 2m");
  std::string many = R"({"name":"n"})";
  for (int i = 1; i < 1000; ++i) many += R"(,{"name":"n"})";
  EXPECT_EQ(EndOf(many).message, listing + "has more than 100000 entries");
  const std::string large = R"({"name":"n","x":")" + std::string(1'000'000, 'x') + R"("})";
  EXPECT_EQ(EndOf(large).message, listing + "has more than 64 MiB");
}

TEST_F(TpuApiTest, AnAnswerThatIsTooDeepIsAnErrorThatNamesTheCall) {
  script->Answer(200, R"({"name":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  const auto node = loop.Run(api.GetNode(kLab, "t1"));
  ASSERT_FALSE(node.ok());
  EXPECT_THAT(node.error().ToString(),
              HasSubstr("GET /v2/projects/p/locations/us-central2-b/nodes/t1"));
  EXPECT_THAT(node.error().message, HasSubstr("more than 64 levels deep"));
}

TEST_F(TpuApiTest, AnUnreachableZoneMakesTheListingIncomplete) {
  script->Answer(200,
                 R"({"queuedResources":[],"unreachable":["projects/p/locations/us-east5-a"]})");
  const auto queued = loop.Run(api.ListQueued({.project = "p", .zone = "-"}));
  ASSERT_FALSE(queued.ok());
  EXPECT_EQ(queued.error().code, Code::kUnavailable);
  EXPECT_THAT(queued.error().message, HasSubstr("projects/p/locations/us-east5-a"));
  EXPECT_THAT(queued.error().hint, HasSubstr("status.cloud.google.com"));
}

TEST_F(TpuApiTest, AListOfAnotherTypeIsNotAnEmptyListing) {
  script->Answer(200, R"({"nodes":{"name":"x"}})");
  EXPECT_FALSE(loop.Run(api.ListNodes(kLab)).ok());
  script->Answer(200, R"({"nodes":[{"state":"READY"}]})");
  EXPECT_FALSE(loop.Run(api.ListNodes(kLab)).ok());
}

TEST_F(TpuApiTest, AnAnswerWithoutContentIsNotAnEmptyListing) {
  for (const char* body : {"", " \n"}) {
    script->Answer(200, body);
    const auto nodes = loop.Run(api.ListNodes(kLab));
    ASSERT_FALSE(nodes.ok());
    EXPECT_EQ(nodes.error().code, Code::kUnavailable);
    EXPECT_THAT(nodes.error().message, HasSubstr("is incomplete: an answer has no content"));
  }
}

TEST_F(TpuApiTest, APageThatIsNotJsonIsNotAnEmptyListing) {
  for (const char* body : {"<html>log in</html>", "[]", "7"}) {
    script->Answer(200, body);
    const auto nodes = loop.Run(api.ListNodes(kLab));
    ASSERT_FALSE(nodes.ok()) << body;
    EXPECT_EQ(nodes.error().code, Code::kUnavailable);
    EXPECT_THAT(nodes.error().hint, HasSubstr("endpoint"));
  }
}

TEST_F(TpuApiTest, NamesTheCallThatGotNoAnswer) {
  script->Fail({.code = Code::kUnavailable,
                .message = "no answer from tpu.googleapis.com port 443: Connection refused",
                .reason = Reason::kUnreachable});
  const auto node = loop.Run(api.GetNode(kLab, "t1"));
  ASSERT_FALSE(node.ok());
  EXPECT_EQ(node.error().reason, Reason::kUnreachable);
  EXPECT_EQ(node.error().ToString(),
            "GET /v2/projects/p/locations/us-central2-b/nodes/t1: no answer from "
            "tpu.googleapis.com port 443: Connection refused");
}

TEST_F(TpuApiTest, CreatesAQueuedResource) {
  script->Answer(200, R"({"name":"projects/p/locations/us-central2-b/operations/o"})");
  core::SliceRequest request{.ref = {.place = kLab, .name = "q"}};
  const auto operation = loop.Run(api.Create(request));
  ASSERT_TRUE(operation.ok()) << operation.error().ToString();
  EXPECT_EQ(operation->name, "projects/p/locations/us-central2-b/operations/o");
  EXPECT_EQ(script->requests[0].method, "POST");
  EXPECT_THAT(Url(0), HasSubstr("/queuedResources?queuedResourceId=q&requestId="));
  EXPECT_EQ(script->requests[0].body, RenderCreate(request).BodyText());
  EXPECT_EQ(http::FindHeader(script->requests[0].headers, "content-type"), "application/json");
}

TEST_F(TpuApiTest, DeletesWithForceAndWithoutABody) {
  script->Answer(200, R"({"name":"projects/p/locations/us-central2-b/operations/o"})");
  const core::SliceRef ref{.place = kLab, .name = "q"};
  ASSERT_TRUE(loop.Run(api.Delete(ref)).ok());
  EXPECT_EQ(script->requests[0].method, "DELETE");
  EXPECT_THAT(Url(0), HasSubstr("/queuedResources/q?force=true&requestId="));
  EXPECT_EQ(script->requests[0].body, "");
}

TEST_F(TpuApiTest, ADeleteAfterAnAnsweredOneIsANewRequest) {
  const core::SliceRef ref{.place = kLab, .name = "q"};
  script->Fail({.code = Code::kUnavailable, .message = "reset"});
  script->Answer(200, R"({"name":"projects/p/locations/us-central2-b/operations/o1"})");
  script->Answer(200, R"({"name":"projects/p/locations/us-central2-b/operations/o2"})");
  EXPECT_FALSE(loop.Run(api.Delete(ref)).ok());
  EXPECT_TRUE(loop.Run(api.Delete(ref)).ok());
  EXPECT_TRUE(loop.Run(api.Delete(ref)).ok());
  EXPECT_EQ(Url(0), Url(1));
  EXPECT_NE(Url(1), Url(2));
}

TEST_F(TpuApiTest, DeletingWhatIsGoneIsNotFound) {
  script->Answer(
      404,
      R"({"error":{"code":404,"message":"Resource 'projects/p/locations/us-central2-b/nodes/n' was not found","status":"NOT_FOUND"}})");
  const auto deleted =
      loop.Run(api.Delete({.mode = core::AllocationMode::kTpuVm, .place = kLab, .name = "n"}));
  ASSERT_FALSE(deleted.ok());
  EXPECT_EQ(deleted.error().code, Code::kNotFound);
}

TEST_F(TpuApiTest, GetsAnOperationByItsName) {
  script->Answer(200, R"({"name":"projects/p/locations/z/operations/o","done":true})");
  const auto operation = loop.Run(api.GetOperation("projects/p/locations/z/operations/o"));
  ASSERT_TRUE(operation.ok());
  EXPECT_TRUE(operation->done);
  EXPECT_EQ(Url(0), "https://tpu.googleapis.com/v2/projects/p/locations/z/operations/o");
}

TEST_F(TpuApiTest, AsksForHostKeys) {
  script->Answer(200, R"({"guestAttributes":[{"queryValue":{"items":[
      {"namespace":"hostkeys","key":"ssh-ed25519","value":"AAAA"}]}}]})");
  const auto keys = loop.Run(api.GetHostKeys(kLab, "t1"));
  ASSERT_TRUE(keys.ok()) << keys.error().ToString();
  ASSERT_EQ(keys->size(), 1U);
  EXPECT_THAT(Url(0), testing::EndsWith("/nodes/t1:getGuestAttributes"));
  EXPECT_EQ(Parse(script->requests[0].body), Parse(R"({"queryPath":"hostkeys/","workerIds":[]})"));
}

TEST_F(TpuApiTest, AsksForTheNamesOfTheVms) {
  script->Answer(200, R"({"guestAttributes":[
      {"queryValue":{"items":[{"namespace":"hostkeys","key":"ssh-ed25519","value":"AAAA"},
                              {"namespace":"a","key":"hostname","value":"t1v-n-0-w-0"}]}},
      {"queryValue":{"items":[{"namespace":"a","key":"hostname","value":"a;reboot"}]}},
      {},
      {"queryValue":{"items":[{"key":"hostname","value":"t1v-n-0-w-3.c.p.internal"}]}}]})");
  const auto names = loop.Run(api.GetVmNames(kLab, "t1"));
  ASSERT_TRUE(names.ok()) << names.error().ToString();
  const std::map<int, std::string> expected{{0, "t1v-n-0-w-0"}, {3, "t1v-n-0-w-3.c.p.internal"}};
  EXPECT_EQ(*names, expected);
  EXPECT_THAT(Url(0), testing::EndsWith("/nodes/t1:getGuestAttributes"));
  EXPECT_EQ(Parse(script->requests[0].body), Parse(R"({"workerIds":[]})"));
}

TEST_F(TpuApiTest, ALoginIsAddedToTheMetadataThatIsThere) {
  script->Answer(200, R"({"metadata":{"a":"b","ssh-keys":"eve:ssh-rsa BBBB eve"}})");
  script->Answer(200, R"({"name":"projects/p/locations/z/operations/o"})");
  ASSERT_TRUE(loop.Run(api.AddLogin(kLab, "t1", "ada:ssh-rsa AAAA ada")).ok());
  ASSERT_EQ(script->requests.size(), 2U);
  EXPECT_EQ(script->requests[1].method, "PATCH");
  EXPECT_THAT(Url(1), testing::EndsWith("/nodes/t1?updateMask=metadata"));
  EXPECT_EQ(
      Parse(script->requests[1].body),
      Parse(R"({"metadata":{"a":"b","ssh-keys":"eve:ssh-rsa BBBB eve\nada:ssh-rsa AAAA ada"}})"));
}

TEST_F(TpuApiTest, ALoginThatIsThereIsNotAdded) {
  script->Answer(200, R"({"metadata":{"ssh-keys":"ada:ssh-rsa AAAA ada"}})");
  const auto added = loop.Run(api.AddLogin(kLab, "t1", "ada:ssh-rsa AAAA ada"));
  ASSERT_TRUE(added.ok()) << added.error().ToString();
  EXPECT_TRUE(added->done);
  EXPECT_EQ(script->requests.size(), 1U);
}

TEST_F(TpuApiTest, BeginsMaintenanceThroughV2Alpha1) {
  script->Answer(200, R"({"name":"projects/p/locations/z/operations/o"})");
  ASSERT_TRUE(loop.Run(api.PerformMaintenance(kLab, "t1")).ok());
  EXPECT_EQ(script->requests[0].method, "POST");
  EXPECT_THAT(Url(0),
              testing::EndsWith(
                  "/v2alpha1/projects/p/locations/us-central2-b/nodes/t1:performMaintenance"));
  EXPECT_EQ(script->requests[0].body, "{}");
}

TEST_F(TpuApiTest, BeginsMaintenanceOfSomeNodesOfAQueuedResource) {
  script->Answer(200, R"({"name":"projects/p/locations/z/operations/o"})");
  ASSERT_TRUE(loop.Run(api.PerformQueuedMaintenance(kLab, "q", {"q-0", "q-1"})).ok());
  EXPECT_EQ(script->requests[0].method, "POST");
  EXPECT_THAT(Url(0), testing::EndsWith("/v2alpha1/projects/p/locations/us-central2-b/"
                                        "queuedResources/q:performMaintenanceQueuedResource"));
  EXPECT_EQ(Parse(script->requests[0].body),
            Parse(R"({"nodeNames":["projects/p/locations/us-central2-b/nodes/q-0",
                                   "projects/p/locations/us-central2-b/nodes/q-1"]})"));
}

TEST_F(TpuApiTest, LoginsAreChangedInOneRequestAndAllElseStays) {
  script->Answer(200, R"({"metadata":{"a":"b","ssh-keys":
      "eve:ssh-rsa BBBB eve\nada:ssh-rsa AAAA ada\nbob:ssh-rsa CCCC google-ssh {}"}})");
  script->Answer(200, R"({"name":"projects/p/locations/z/operations/o"})");
  const core::LoginChange change{.add = {"ann:ssh-rsa DDDD ann"},
                                 .remove = {"ada:ssh-rsa AAAA ada"}};
  ASSERT_TRUE(loop.Run(api.ChangeLogins(kLab, "t1", change)).ok());
  ASSERT_EQ(script->requests.size(), 2U);
  EXPECT_THAT(Url(1), testing::EndsWith("/nodes/t1?updateMask=metadata"));
  EXPECT_EQ(Parse(script->requests[1].body), Parse(R"({"metadata":{"a":"b","ssh-keys":
      "eve:ssh-rsa BBBB eve\nbob:ssh-rsa CCCC google-ssh {}\nann:ssh-rsa DDDD ann"}})"));
}

TEST_F(TpuApiTest, LoginsThatAreAsTheyShouldBeAreNotSent) {
  script->Answer(200, R"({"metadata":{"ssh-keys":"ada:ssh-rsa AAAA ada"}})");
  const core::LoginChange change{.add = {"ada:ssh-rsa AAAA x"}, .remove = {"bob:ssh-rsa BBBB bob"}};
  const auto changed = loop.Run(api.ChangeLogins(kLab, "t1", change));
  ASSERT_TRUE(changed.ok()) << changed.error().ToString();
  EXPECT_TRUE(changed->done);
  EXPECT_EQ(script->requests.size(), 1U);
}

TEST_F(TpuApiTest, UnpublishedHostKeysAreEmpty) {
  script->Answer(404, R"({"error":{"code":404,"status":"NOT_FOUND","message":
      "The resource 'hostkeys/' of type 'Guest Attribute' was not found."}})");
  const auto none = loop.Run(api.GetHostKeys(kLab, "t1"));
  ASSERT_TRUE(none.ok()) << none.error().ToString();
  EXPECT_THAT(*none, IsEmpty());
  script->Answer(404, R"({"error":{"code":404,"status":"NOT_FOUND","message":
      "Resource 'projects/p/locations/us-central2-b/nodes/t1' was not found"}})");
  EXPECT_EQ(loop.Run(api.GetHostKeys(kLab, "t1")).error().code, Code::kNotFound);
}

TEST_F(TpuApiTest, ReadsTheCatalog) {
  script->Answer(200,
                 R"({"acceleratorTypes":[{"name":"projects/p/locations/z/acceleratorTypes/v4-8",
      "type":"v4-8","acceleratorConfigs":[{"type":"V4","topology":"2x2x1"}]}]})");
  script->Answer(200, R"({"runtimeVersions":[
      {"name":"projects/p/locations/z/runtimeVersions/tpu-ubuntu2204-base","version":"tpu-ubuntu2204-base"}]})");
  script->Answer(200, R"({"locations":[{"name":"projects/p/locations/us-central2-b",
      "locationId":"us-central2-b"},{"name":"projects/p/locations/europe-west4-a"}]})");
  EXPECT_THAT(*loop.Run(api.AcceleratorTypes(kLab)), ElementsAre("v4-8"));
  EXPECT_THAT(*loop.Run(api.RuntimeVersions(kLab)), ElementsAre("tpu-ubuntu2204-base"));
  EXPECT_THAT(*loop.Run(api.Zones("p")), ElementsAre("us-central2-b", "europe-west4-a"));
}

TEST_F(TpuApiTest, ReadsReservationsOfEveryKind) {
  using Unit = core::ReservationSeen::Unit;
  script->Answer(200, R"({"nextPageToken":"2","reservations":[
      {"name":"projects/7/locations/us-central2-b/reservations/mine","state":"ACTIVE",
       "standard":{"size":64,"capacityUnits":"CHIPS","usage":{"total":"16"}}}]})");
  script->Answer(200, R"({"reservations":[
      {"name":"projects/7/locations/us-central2-b/reservations/old","state":"EXPIRED",
       "standard":{"size":8,"capacityUnits":"CORES"}},
      {"name":"projects/7/locations/us-central2-b/reservations/odd"}]})");
  const auto all = loop.Run(api.Reservations(kLab));
  ASSERT_TRUE(all.ok()) << all.error().ToString();
  EXPECT_THAT(*all,
              ElementsAre(core::ReservationSeen{"mine", "ACTIVE", Unit::kChips, 64, 16},
                          core::ReservationSeen{"old", "EXPIRED", Unit::kCores, 8, 0},
                          core::ReservationSeen{.id = "odd", .state = "", .unit = Unit::kUnknown}));
}

}  // namespace
}  // namespace jobman::cloud
