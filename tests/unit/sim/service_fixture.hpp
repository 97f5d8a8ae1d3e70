#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/service/tpu_service.hpp"
#include "tests/support/reply_check.hpp"

namespace jobman::sim {

/// Hosts without processes.
class FakeFleet final : public HostFleet {
 public:
  std::string Create(const HostPlan& plan) override {
    disks.insert(plan.name);
    return "AAAAkey-of-" + plan.name;
  }
  bool Boot(const std::string& uid, int boot, const std::vector<HostPlan>& plans) override {
    booted[uid] = boot;
    for (const HostPlan& plan : plans) running[plan.name] = plan;
    return !slow;
  }
  void PowerOff(const std::string& name) override { running.erase(name); }
  void SetLink(const std::string& name, Link link) override { links[name] = link; }
  base::Status MayFail(HostFaultKind kind) const override {
    return kind == impossible ? base::Status(base::InvalidArgument("no such hosts")) : base::Ok();
  }
  void SetFault(const std::string& name, const HostFault& fault) override { faults[name] = fault; }
  void Destroy(const std::string& name) override {
    running.erase(name);
    disks.erase(name);
  }
  void UpdateMetadata(const std::string& name, const Metadata& metadata) override {
    running[name].metadata = metadata;
  }

  std::optional<HostFaultKind> impossible = {};
  std::map<std::string, HostFault> faults = {};  ///< the last one of each host
  bool slow = false;                             ///< the test reports the boot
  std::map<std::string, int> booted = {};
  std::map<std::string, HostPlan> running = {};
  std::map<std::string, Link> links = {};  ///< the last change of each link
  std::set<std::string> disks = {};
};

/// A service with a simulated clock. Zone and project are those of the quickstart.
class ServiceFixture : public testing::Test {
 protected:
  static Json Spec(const std::string& type, bool spot = false) {
    Json spec = {{"acceleratorType", type}, {"runtimeVersion", "tpu-ubuntu2204-base"}};
    if (spot) spec["schedulingConfig"] = {{"spot", true}};
    return spec;
  }
  static Json QueuedSpec(const std::string& node, const std::string& type) {
    return {{"spot", Json::object()},
            {"tpu",
             {{"nodeSpec",
               {{{"nodeId", node},
                 {"parent", "projects/p/locations/us-central2-b"},
                 {"node", Spec(type)}}}}}}};
  }

  Reply Call(const std::string& method, const std::string& path,
             std::map<std::string, std::string> query = {}, const Json& body = Json()) {
    const Request request{.method = method,
                          .path = path.starts_with("/") ? path : kParent + path,
                          .query = std::move(query),
                          .body = body.is_null() ? "" : body.dump()};
    Reply reply = service.Handle(request, now);
    if (replies_are_checked) {
      EXPECT_EQ(WrongReply(request, reply), "") << method << " " << path << reply.body.dump();
    }
    return reply;
  }
  /// Whatever a test left there, every version shows it by its schema.
  void TearDown() override {
    for (const char* version : {"v1", "v2", "v2alpha1"}) {
      for (const char* list : {"nodes", "queuedResources", "operations", "reservations"}) {
        Call("GET", std::string("/") + version + "/projects/p/locations/-/" + list);
      }
    }
  }
  Reply CreateNode(const std::string& id, const Json& spec) {
    return Call("POST", "nodes", {{"nodeId", id}}, spec);
  }
  Reply CreateQueued(const std::string& id, const Json& body) {
    return Call("POST", "queuedResources", {{"queuedResourceId", id}}, body);
  }
  Json Get(const std::string& path) {
    Reply reply = Call("GET", path);
    EXPECT_EQ(reply.status, 200) << path << ": " << reply.body.dump();
    return reply.body;
  }
  std::string NodeStateOf(const std::string& id) { return Text(Get("nodes/" + id), "state"); }
  std::string QueuedStateOf(const std::string& id) {
    return Text(Member(Get("queuedResources/" + id), "state"), "state");
  }
  /// The current state of the operation in a reply.
  Json Operation(const Reply& reply) { return Get("/v2/" + Text(reply.body, "name")); }
  void Pass(int milliseconds) {
    now += Duration(milliseconds);
    service.Advance(now);
  }
  void Set(const std::string& assignment) {
    const auto patch = SettingPatch(assignment);
    ASSERT_TRUE(patch.ok());
    const Reply reply = Call("POST", "/sim/settings", {}, *patch);
    ASSERT_EQ(reply.status, 200) << reply.body.dump();
  }
  static std::string Message(const Reply& reply) {
    return Text(Member(reply.body, "error"), "message");
  }

  const std::string kParent = "/v2/projects/p/locations/us-central2-b/";
  bool replies_are_checked = true;  ///< not where a test has them show what no version knows
  TimePoint now = base::FromMillis(1795230038000);
  FakeFleet fleet;
  TpuService service{Settings{}, fleet};
};

}  // namespace jobman::sim
