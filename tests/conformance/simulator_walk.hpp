#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/conformance/decoded.hpp"
#include "tests/unit/sim/service_fixture.hpp"

namespace jobman::conformance {

/// Asks the simulator in one version of the API, and judges all that it answers.
class SimulatorWalk : public sim::ServiceFixture, public testing::WithParamInterface<const char*> {
 protected:
  using Parameters = std::map<std::string, std::string>;

  SimulatorWalk() { replies_are_checked = false; }  // by the simulator's own schema
  void TearDown() override {}

  std::string Version() const { return GetParam(); }
  bool Alpha() const { return Version() == "v2alpha1"; }
  /// "/v2/projects/p/locations/us-central2-b".
  std::string Zone(const std::string& zone = "us-central2-b") const {
    return "/" + Version() + "/projects/p/locations/" + zone;
  }

  /// A call that is answered. Its reply is a message of its method's type, and the client
  /// understands the same of it when it has unknown fields.
  Json Ask(const std::string& http, const std::string& path, Parameters query = {},
           const Json& body = Json()) {
    const std::string id = JudgeRequest({.method = http, .target = path}).id;
    EXPECT_NE(id, "") << http << " " << path;
    const sim::Reply reply = Call(http, path, std::move(query), body);
    EXPECT_EQ(reply.status, 200) << http << " " << path << reply.body.dump();
    if (id.empty() || reply.status != 200) return reply.body;
    answered.insert(id);
    const std::string message = Document(Version()).at("methods").at(id).at("response");
    EXPECT_THAT(Unexplained(JudgeReply(Version(), message, reply.body)), testing::IsEmpty())
        << id << ": " << reply.body.dump();
    EXPECT_EQ(Understood(message, 200, reply.body.dump()),
              Understood(message, 200, WithStrangers(reply.body).dump()))
        << reply.body.dump();
    return reply.body;
  }

  /// A call that is refused, in the form of Google's errors.
  void AskInVain(int status, const std::string& http, const std::string& path,
                 Parameters query = {}, const Json& body = Json()) {
    const sim::Reply reply = Call(http, path, std::move(query), body);
    EXPECT_EQ(reply.status, status) << http << " " << path << reply.body.dump();
    EXPECT_THAT(JudgeError(reply.status, reply.body), testing::IsEmpty()) << reply.body.dump();
  }

  /// Looks at all nodes, queued resources and operations as they are now.
  void Look() {
    for (const Json& node : Listed("nodes")) {
      node_states.insert(node.value("state", ""));
      healths.insert(node.value("health", ""));
    }
    for (const Json& queued : Listed("queuedResources")) {
      queued_states.insert(queued.at("state").value("state", ""));
    }
    Listed("operations");
  }
  void LookAfter(int milliseconds) {
    Pass(milliseconds);
    Look();
  }

  /// An order to the simulator itself; what it does is seen at once.
  void Order(const std::string& verb, const Json& order) {
    const sim::Reply reply = Call("POST", "/sim/" + verb, {}, order);
    EXPECT_EQ(reply.status, 200) << verb << reply.body.dump();
    Look();
  }

  /// The operation that a call began, as it is now.
  Json OperationOf(const Json& begun) {
    return Ask("GET", "/" + Version() + "/" + begun.value("name", ""));
  }

  std::set<std::string> answered = {};  ///< ids of the methods
  std::set<std::string> node_states = {};
  std::set<std::string> queued_states = {};
  std::set<std::string> healths = {};
  std::set<std::string> beyond = {};  ///< fields that are shown although no document has them

 private:
  Json Listed(const std::string& kind) {
    const Json page = Ask("GET", Zone("-") + "/" + kind);
    return page.value(kind, Json::array());
  }

  /// Without the fields of a node that Google's documentation shows in a queued resource, in its
  /// sample of `queued-resources describe`, but no document has.
  Faults Unexplained(Faults faults) {
    std::erase_if(faults, [this](const Fault& fault) {
      for (const char* field : {".node.useTpuVm", ".node.bootDisk"}) {
        if (!fault.at.ends_with(field)) continue;
        beyond.insert(field);
        return true;
      }
      return false;
    });
    return faults;
  }
};

}  // namespace jobman::conformance
