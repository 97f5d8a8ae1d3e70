// What the simulator answers as the services beside Cloud TPU, against their documents.
#include <map>
#include <set>

#include "tests/conformance/side_wire.hpp"
#include "tests/unit/sim/service_fixture.hpp"

namespace jobman::conformance {
namespace {

class SideSimulatorConformance : public sim::ServiceFixture {
 protected:
  using Query = std::map<std::string, std::string>;

  SideSimulatorConformance() { replies_are_checked = false; }  // by the schema of Cloud TPU
  void TearDown() override {}

  /// A call that the document has, and whose answer it has, too.
  Json Ask(const std::string& api, const std::string& http, const std::string& path,
           const Query& query = {}, const Json& body = Json()) {
    const Verdict verdict =
        JudgeRequest(api, {.method = http,
                           .target = path + TextOf(query),
                           .body = body.is_null() ? std::string() : body.dump()});
    EXPECT_THAT(verdict.faults, testing::IsEmpty()) << http << " " << path;
    const sim::Reply reply = Call(http, path, query, body);
    EXPECT_EQ(reply.status, 200) << http << " " << path << reply.body.dump();
    if (verdict.id.empty() || reply.status != 200) return reply.body;
    answered.insert(verdict.id);
    EXPECT_THAT(JudgeSideReply(api, verdict.id, reply.body), testing::IsEmpty())
        << verdict.id << reply.body.dump();
    return reply.body;
  }
  void AskInVain(const std::string& api, int status, const std::string& http,
                 const std::string& path, const Query& query = {}, const Json& body = Json()) {
    const sim::Reply reply = Call(http, path, query, body);
    EXPECT_EQ(reply.status, status) << http << " " << path << reply.body.dump();
    EXPECT_THAT(JudgeSideError(api, status, reply.body), testing::IsEmpty()) << reply.body.dump();
  }
  void ExpectAllOf(const std::string& api) const {
    std::set<std::string> all;
    for (const auto& [id, method] : Document(api).at("methods").items()) all.insert(id);
    EXPECT_EQ(answered, all);
  }

  std::set<std::string> answered = {};  ///< ids of the methods

 private:
  static std::string TextOf(const Query& query) {
    std::string text;
    for (const auto& [name, value] : query) text += (text.empty() ? "?" : "&") + name + "=" + value;
    return text;
  }
};

TEST_F(SideSimulatorConformance, ComputeEngineIsAnsweredAsTheDocumentHasIt) {
  const std::string compute = "compute.v1";
  const std::string project = "/compute/v1/projects/p";
  const std::string set = project + "/setCommonInstanceMetadata";
  const Json items = Json::array({{{"key", "enable-oslogin"}, {"value", "TRUE"}}});

  const Json bare = Ask(compute, "GET", project, {{"fields", "commonInstanceMetadata"}});
  const Json fingerprint = bare.at("commonInstanceMetadata").at("fingerprint");
  const Json change = {{"fingerprint", fingerprint}, {"items", items}};
  const Json begun = Ask(compute, "POST", set, {{"requestId", "r"}}, change);
  const std::string operation =
      project + "/global/operations/" + begun.at("name").get<std::string>();
  Ask(compute, "GET", operation);
  Ask(compute, "POST", operation + "/wait");
  EXPECT_EQ(Ask(compute, "GET", project).at("commonInstanceMetadata").at("items"), items);

  const std::string region = project + "/regions/us-central2";
  Ask(compute, "GET", region, {{"fields", "quotas"}});
  CreateNode("t1", Spec("v4-8"));
  Pass(300);
  Ask(compute, "GET", region);
  ExpectAllOf(compute);

  AskInVain(compute, 412, "POST", set, {}, change);
  AskInVain(compute, 400, "POST", set, {}, {{"nope", 1}});
  AskInVain(compute, 400, "GET", project, {{"nope", "1"}});
  AskInVain(compute, 400, "GET", project, {{"requestId", "r"}});
  AskInVain(compute, 404, "GET", project + "/regions/mars-north1");
  AskInVain(compute, 404, "GET", operation + "0");
  AskInVain(compute, 404, "DELETE", project);
}

TEST_F(SideSimulatorConformance, OsLoginIsAnsweredAsTheDocumentHasIt) {
  const std::string oslogin = "oslogin.v1";
  const std::string me = "/v1/users/sim@example.com";
  const std::string import = me + ":importSshPublicKey";
  const Json key = {{"key", "ssh-ed25519 AAAA me"}, {"expirationTimeUsec", "1795230038123000"}};

  Ask(oslogin, "GET", me + "/loginProfile");
  EXPECT_TRUE(Ask(oslogin, "POST", import, {{"projectId", "p"}}, key).contains("loginProfile"));
  EXPECT_TRUE(Ask(oslogin, "GET", me + "/loginProfile").contains("posixAccounts"));
  ExpectAllOf(oslogin);

  AskInVain(oslogin, 400, "POST", import, {}, {{"key", ""}});
  AskInVain(oslogin, 403, "GET", "/v1/users/eve/loginProfile");
  AskInVain(oslogin, 403, "POST", "/v1/users/eve:importSshPublicKey", {}, key);
}

TEST_F(SideSimulatorConformance, ServiceUsageIsAnsweredAsTheDocumentHasIt) {
  const std::string usage = "serviceusage.v1beta1";
  const std::string path = "/v1beta1/projects/p/services/tpu.googleapis.com/consumerQuotaMetrics";
  const std::map<std::string, std::string> query = {{"view", "BASIC"}, {"pageSize", "100"}};
  Ask(usage, "GET", path, query);
  Set("quota.us-central2-b/v4-spot=32");
  Set("quota.*/v5p=8");
  Ask(usage, "GET", path, query);
  ExpectAllOf(usage);
  AskInVain(usage, 404, "POST", path, {}, Json::object());
}

}  // namespace
}  // namespace jobman::conformance
