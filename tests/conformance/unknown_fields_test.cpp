// What Google adds to its replies tomorrow does not harm the client of today.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/decoded.hpp"

namespace jobman::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(UnknownFields, AreIgnoredAtEveryLevelOfEveryRecordedReply) {
  std::map<std::string, int> seen;
  for (const Json& recorded : ReadData("recorded_replies.json")) {
    const std::string target = recorded.at("path");
    const std::string verb = recorded.at("method");
    const int status = recorded.at("status");
    const Json& reply = recorded.at("reply");
    const std::string id = JudgeRequest({.method = verb, .target = target}).id;
    ASSERT_NE(id, "") << verb << " " << target;
    const std::string version = target.starts_with("/v2alpha1/") ? "v2alpha1" : "v2";
    const std::string message = Document(version).at("methods").at(id).at("response");
    const std::string plain = Understood(message, status, reply.dump());
    EXPECT_EQ(Understood(message, status, WithStrangers(reply).dump()), plain) << target;
    EXPECT_EQ(plain.starts_with("failed"), status >= 400) << target << ": " << plain;
    EXPECT_THAT(plain, Not(StartsWith("nothing"))) << target;
    ++seen[status < 400 ? message : "error"];
  }
  for (const char* message :
       {"Node", "QueuedResource", "Operation", "ListNodesResponse", "ListQueuedResourcesResponse",
        "GetGuestAttributesResponse", "ListAcceleratorTypesResponse", "ListRuntimeVersionsResponse",
        "error"}) {
    EXPECT_GT(seen[message], 0) << "no recording has a " << message;
  }
}

TEST(UnknownFields, WouldBeNoticedIfTheyMattered) {
  const std::string plain = R"({"name":"projects/p/locations/z/nodes/a","state":"READY"})";
  const std::string other = R"({"name":"projects/p/locations/z/nodes/a","state":"TOMORROW"})";
  EXPECT_NE(Understood("Node", 200, plain), Understood("Node", 200, other));
  const Json stranger = WithStrangers(Json::parse(R"({"a":[{"b":{}}]})"));
  EXPECT_THAT(stranger["a"][0]["b"].dump(), HasSubstr("TOMORROW"));
}

}  // namespace
}  // namespace jobman::conformance
