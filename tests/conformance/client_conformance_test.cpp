// Every request that the client can send, against Google's discovery documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <tuple>

#include "tests/conformance/client_wire.hpp"

namespace jobman::conformance {
namespace {

using base::Result;
using base::Task;
using core::AllocationMode;
using core::Place;
using core::Pricing;
using core::SliceRequest;
using testing::IsEmpty;

const Place kLab{.project = "p", .zone = "us-central2-b"};
constexpr const char* kNodesCreate = "tpu.projects.locations.nodes.create";
constexpr const char* kQueuedCreate = "tpu.projects.locations.queuedResources.create";

// --- every method of the ports ---

/// Notes which methods were called. A new method of a port does not compile until it is here; then
/// it wants a name, and a row in Calls().
class EveryMethod final : public ports::SliceApi, public ports::Catalog, public ports::Maintenance {
 public:
  static constexpr std::array kNames = {"Create",
                                        "Delete",
                                        "ListNodes",
                                        "ListQueued",
                                        "GetNode",
                                        "GetQueued",
                                        "GetOperation",
                                        "AddLogin",
                                        "ChangeLogins",
                                        "GetHostKeys",
                                        "GetVmNames",
                                        "AcceleratorTypes",
                                        "RuntimeVersions",
                                        "Zones",
                                        "Reservations",
                                        "PerformMaintenance",
                                        "PerformQueuedMaintenance"};

  explicit EveryMethod(cloud::TpuApi& api) : api_(api) {}

  Task<Result<core::OperationSeen>> Create(SliceRequest request) override {
    return Noted("Create").Create(std::move(request));
  }
  Task<Result<core::OperationSeen>> Delete(core::SliceRef ref) override {
    return Noted("Delete").Delete(std::move(ref));
  }
  Task<Result<std::vector<core::NodeSeen>>> ListNodes(Place place) override {
    return Noted("ListNodes").ListNodes(std::move(place));
  }
  Task<Result<std::vector<core::QueuedSeen>>> ListQueued(Place place) override {
    return Noted("ListQueued").ListQueued(std::move(place));
  }
  Task<Result<core::NodeSeen>> GetNode(Place place, std::string id) override {
    return Noted("GetNode").GetNode(std::move(place), std::move(id));
  }
  Task<Result<core::QueuedSeen>> GetQueued(Place place, std::string id) override {
    return Noted("GetQueued").GetQueued(std::move(place), std::move(id));
  }
  Task<Result<core::OperationSeen>> GetOperation(std::string name) override {
    return Noted("GetOperation").GetOperation(std::move(name));
  }
  Task<Result<core::OperationSeen>> AddLogin(Place place, std::string node,
                                             std::string line) override {
    return Noted("AddLogin").AddLogin(std::move(place), std::move(node), std::move(line));
  }
  Task<Result<core::OperationSeen>> ChangeLogins(Place place, std::string node,
                                                 core::LoginChange change) override {
    return Noted("ChangeLogins").ChangeLogins(std::move(place), std::move(node), std::move(change));
  }
  Task<Result<std::vector<core::HostKeys>>> GetHostKeys(Place place, std::string node) override {
    return Noted("GetHostKeys").GetHostKeys(std::move(place), std::move(node));
  }
  Task<Result<std::map<int, std::string>>> GetVmNames(Place place, std::string node) override {
    return Noted("GetVmNames").GetVmNames(std::move(place), std::move(node));
  }
  Task<Result<std::vector<std::string>>> AcceleratorTypes(Place place) override {
    return Noted("AcceleratorTypes").AcceleratorTypes(std::move(place));
  }
  Task<Result<std::vector<std::string>>> RuntimeVersions(Place place) override {
    return Noted("RuntimeVersions").RuntimeVersions(std::move(place));
  }
  Task<Result<core::OperationSeen>> PerformMaintenance(Place place, std::string node) override {
    return Noted("PerformMaintenance").PerformMaintenance(std::move(place), std::move(node));
  }

  Task<Result<std::vector<std::string>>> Zones(std::string project) override {
    return Noted("Zones").Zones(std::move(project));
  }
  Task<Result<core::OperationSeen>> PerformQueuedMaintenance(
      Place place, std::string queued, std::vector<std::string> nodes) override {
    return Noted("PerformQueuedMaintenance")
        .PerformQueuedMaintenance(std::move(place), std::move(queued), std::move(nodes));
  }
  Task<Result<std::vector<core::ReservationSeen>>> Reservations(Place place) override {
    return Noted("Reservations").Reservations(std::move(place));
  }

  std::set<std::string> called = {};

 private:
  cloud::TpuApi& Noted(const char* name) {
    called.insert(name);
    return api_;
  }
  cloud::TpuApi& api_;
};

/// A call, its answers, and the methods that its requests are, after "tpu.projects.locations.".
struct MethodCall {
  std::vector<std::string> ids = {};
  std::vector<std::string> answers = {};
  std::function<void(Client&, EveryMethod&)> send = {};
};

std::vector<MethodCall> Calls() {
  const std::string node = R"({"name":"projects/p/locations/us-central2-b/nodes/a"})";
  const std::string page = R"({"nextPageToken":"a/b+c="})";
  const auto direct = PlainRequest(AllocationMode::kTpuVm, "a");
  const auto queued = PlainRequest(AllocationMode::kQueuedResources, "a");
  const auto call = [](auto member, auto... arguments) {
    return [=](Client& client, EveryMethod& api) {
      EXPECT_TRUE(client.Run((api.*member)(arguments...)).ok());
    };
  };
  const std::string a = "a";
  const std::string line = "me:ssh-ed25519 AAAA me";
  const core::LoginChange change{.add = {line}};
  const std::string operation = "projects/p/locations/us-central2-b/operations/operation-1";
  return {
      {{"nodes.create"}, {kOperationReply}, call(&EveryMethod::Create, direct)},
      {{"queuedResources.create"}, {kOperationReply}, call(&EveryMethod::Create, queued)},
      {{"nodes.delete"}, {kOperationReply}, call(&EveryMethod::Delete, direct.ref)},
      {{"queuedResources.delete"}, {kOperationReply}, call(&EveryMethod::Delete, queued.ref)},
      {{"nodes.list", "nodes.list"}, {page, "{}"}, call(&EveryMethod::ListNodes, kLab)},
      {{"queuedResources.list", "queuedResources.list"},
       {page, "{}"},
       call(&EveryMethod::ListQueued, kLab)},
      {{"nodes.get"}, {node}, call(&EveryMethod::GetNode, kLab, a)},
      {{"queuedResources.get"}, {node}, call(&EveryMethod::GetQueued, kLab, a)},
      {{"operations.get"}, {kOperationReply}, call(&EveryMethod::GetOperation, operation)},
      {{"nodes.get", "nodes.patch"},
       {node, kOperationReply},
       call(&EveryMethod::AddLogin, kLab, a, line)},
      {{"nodes.get", "nodes.patch"},
       {node, kOperationReply},
       call(&EveryMethod::ChangeLogins, kLab, a, change)},
      {{"nodes.getGuestAttributes"}, {"{}"}, call(&EveryMethod::GetHostKeys, kLab, a)},
      {{"nodes.getGuestAttributes"}, {"{}"}, call(&EveryMethod::GetVmNames, kLab, a)},
      {{"acceleratorTypes.list", "acceleratorTypes.list"},
       {page, "{}"},
       call(&EveryMethod::AcceleratorTypes, kLab)},
      {{"runtimeVersions.list", "runtimeVersions.list"},
       {page, "{}"},
       call(&EveryMethod::RuntimeVersions, kLab)},
      {{"list", "list"}, {page, "{}"}, call(&EveryMethod::Zones, kLab.project)},
      {{"reservations.list", "reservations.list"},
       {page, "{}"},
       call(&EveryMethod::Reservations, kLab)},
      {{"nodes.performMaintenance"},
       {kOperationReply},
       call(&EveryMethod::PerformMaintenance, kLab, a)},
      {{"queuedResources.performMaintenanceQueuedResource"},
       {kOperationReply},
       call(&EveryMethod::PerformQueuedMaintenance, kLab, a, std::vector<std::string>{"a-0"})},
  };
}

TEST(ClientConformance, EveryMethodSendsWhatTheDocumentHas) {
  std::set<std::string> called;
  for (const MethodCall& call : Calls()) {
    Client client;
    EveryMethod api(client.api());
    for (const std::string& answer : call.answers) client.Answer(answer);
    call.send(client, api);
    called.insert(api.called.begin(), api.called.end());
    const std::vector<Sent> sent = client.sent();
    ASSERT_EQ(sent.size(), call.ids.size()) << call.ids[0];
    for (std::size_t i = 0; i < sent.size(); ++i) {
      const Verdict verdict = JudgeRequest(sent[i]);
      EXPECT_EQ(verdict.id, "tpu.projects.locations." + call.ids[i]) << sent[i].target;
      EXPECT_THAT(verdict.faults, IsEmpty()) << sent[i].target << "\n" << sent[i].body;
      const auto& headers = client.requests()[i].headers;
      EXPECT_EQ(http::FindHeader(headers, "Accept"), "application/json");
      EXPECT_EQ(http::FindHeader(headers, "Content-Type").value_or(""),
                sent[i].body.empty() ? "" : "application/json");
    }
  }
  EXPECT_EQ(called, std::set<std::string>(EveryMethod::kNames.begin(), EveryMethod::kNames.end()));
}

// --- everything that a request for a slice can say ---

/// A change of one member of a request, and all that the change does to what is sent: to the node,
/// wherever it is in the body; to the rest of nodes.create; to the rest of queuedResources.create.
struct MemberCase {
  std::string member = {};  ///< as in TpuSpec::Fields, or "ref.name"
  std::function<void(SliceRequest&)> change = {};
  std::set<std::string> node = {};
  std::set<std::string> direct = {};
  std::set<std::string> queued = {};
};

std::vector<MemberCase> TpuCases() {
  const std::string until = "/body/queueingPolicy/";
  const std::string spec = "/body/tpu/nodeSpec/0/";
  return {
      // Who holds the slice, not what is asked for.
      {"existing", [](SliceRequest& r) { r.tpu.existing = "mine"; }},
      // These four are in the reference of the request.
      {"allocation_mode", [](SliceRequest& r) { r.tpu.allocation_mode = AllocationMode::kTpuVm; }},
      {"num_slices", [](SliceRequest& r) { r.tpu.num_slices = 4; }},
      {"name", [](SliceRequest& r) { r.tpu.name = "other"; }},
      {"project", [](SliceRequest& r) { r.tpu.project = "q"; }},
      {"zone", [](SliceRequest& r) { r.tpu.zone = "us-east5-b"; }},
      {"accelerator", [](SliceRequest& r) { r.tpu.accelerator = "v6e-16"; }, {"/acceleratorType"}},
      {"topology",
       [](SliceRequest& r) { r.tpu.topology = "2x2x1"; },
       {"-/acceleratorType", "/acceleratorConfig/type", "/acceleratorConfig/topology"}},
      {"version", [](SliceRequest& r) { r.tpu.version = "v2-alpha-tpuv6e"; }, {"/runtimeVersion"}},
      {"pricing",
       [](SliceRequest& r) { r.tpu.pricing = Pricing::kSpot; },
       {},
       {"/body/schedulingConfig/spot"},
       {"/body/spot"}},
      {"pricing",
       [](SliceRequest& r) { r.tpu.pricing = Pricing::kPreemptible; },
       {},
       {"/body/schedulingConfig/preemptible"},
       {"/body/spot"}},
      {"pricing",
       [](SliceRequest& r) { r.tpu.pricing = Pricing::kReserved; },
       {},
       {"/body/schedulingConfig/reserved"},
       {"/body/reservationName"}},
      {"reservation", [](SliceRequest& r) { r.tpu.reservation = "unused on demand"; }},
      {"reservation",
       [](SliceRequest& r) {
         r.tpu.pricing = Pricing::kReserved;
         r.tpu.reservation = "mine";
       },
       {},
       {"/path", "/body/schedulingConfig/reserved", "/body/schedulingConfig/reservationName"},
       {"/body/reservationName"}},
      {"pricing",
       [](SliceRequest& r) {
         r.tpu.pricing = Pricing::kReservationBound;
         r.tpu.reservation = "mine";
       },
       {},
       {"/path", "/body/schedulingConfig/provisioningModel",
        "/body/schedulingConfig/reservationName"},
       {"/path", "/body/provisioningModel", "/body/reservationName"}},
      // Only queued resources have these two.
      {"pricing",
       [](SliceRequest& r) { r.tpu.pricing = Pricing::kFlexStart; },
       {},
       {},
       {"/path", "/body/provisioningModel"}},
      {"max_run_duration",
       [](SliceRequest& r) { r.tpu.max_run_duration = std::chrono::hours{4}; },
       {},
       {},
       {"/path", "/body/runDuration/maxRunDuration"}},
      // Of several nodes, which only come by a queued resource.
      {"max_run_duration",
       [](SliceRequest& r) {
         r.tpu.max_run_duration = std::chrono::hours{4};
         r.ref.nodes = 3;
       },
       {},
       {},
       {"/path", "/body/runDuration/maxRunDuration", "-" + spec + "nodeId",
        spec + "multiNodeParams/nodeCount", spec + "multiNodeParams/nodeIdPrefix"}},
      {"network", [](SliceRequest& r) { r.tpu.network = "net"; }, {"/networkConfig/network"}},
      {"subnetwork",
       [](SliceRequest& r) { r.tpu.subnetwork = "sub"; },
       {"/networkConfig/subnetwork", "-/networkConfig/network"}},
      {"external_ips",
       [](SliceRequest& r) { r.tpu.external_ips = false; },
       {"/networkConfig/enableExternalIps"}},
      {"service_account",
       [](SliceRequest& r) { r.tpu.service_account = "sa@p.iam.gserviceaccount.com"; },
       {"/serviceAccount/email", "/serviceAccount/scope/0"}},
      {"tags",
       [](SliceRequest& r) {
         r.tpu.tags = {"t1", "t2"};
       },
       {"/tags/0", "/tags/1"}},
      {"labels",
       [](SliceRequest& r) {
         r.tpu.labels = {{"k", "v"}};
       },
       {"/labels/k"}},
      {"metadata",
       [](SliceRequest& r) {
         r.tpu.metadata = {{"k", "v"}};
       },
       {"/metadata/k"}},
      {"startup_script",
       [](SliceRequest& r) { r.tpu.startup_script = "echo hi"; },
       {"/metadata/startup-script"}},
      {"valid_until",
       [](SliceRequest& r) { r.tpu.valid_for = std::chrono::hours{6}; },
       {},
       {},
       {until + "validUntilDuration"}},
      {"valid_until",
       [](SliceRequest& r) { r.tpu.valid_for = std::chrono::milliseconds{1500}; },
       {},
       {},
       {until + "validUntilDuration"}},
      {"valid_until",
       [](SliceRequest& r) { r.tpu.valid_until = base::FromMillis(1'795'230'038'123); },
       {},
       {},
       {until + "validUntilTime"}},
  };
}

std::vector<MemberCase> RefCases() {
  const std::string spec = "/body/tpu/nodeSpec/0/";
  return {
      {"ref.place.project",
       [](SliceRequest& r) { r.ref.place.project = "example.com:q"; },
       {},
       {"/path"},
       {"/path", spec + "parent"}},
      {"ref.place.zone",
       [](SliceRequest& r) { r.ref.place.zone = "us-east5-b"; },
       {},
       {"/path"},
       {"/path", spec + "parent"}},
      {"ref.name",
       [](SliceRequest& r) { r.ref.name = "b"; },
       {},
       {"/query/nodeId"},
       {"/query/queuedResourceId", spec + "nodeId"}},
      // Several nodes only come by a queued resource.
      {"ref.nodes",
       [](SliceRequest& r) { r.ref.nodes = 3; },
       {},
       {},
       {"-" + spec + "nodeId", spec + "multisliceParams/nodeCount",
        spec + "multisliceParams/nodeIdPrefix"}},
      {"ref.existing", [](SliceRequest& r) { r.ref.existing = true; }},
  };
}

/// The parts that a change touches, where the node of the body is at `node`.
std::set<std::string> Expected(const MemberCase& row, const std::string& node,
                               const std::set<std::string>& rest) {
  std::set<std::string> parts = rest;
  for (const std::string& part : row.node) {
    const bool gone = part.starts_with('-');
    parts.insert(gone ? "-" + node + part.substr(1) : node + part);
  }
  return parts;
}

void CheckCase(const MemberCase& row, AllocationMode mode, const std::set<std::string>& expected) {
  const SliceRequest plain = PlainRequest(mode, "a");
  SliceRequest changed = plain;
  row.change(changed);
  const Sent sent = CreateCall(changed);
  EXPECT_EQ(Changes(PartsOf(CreateCall(plain)), PartsOf(sent)), expected) << sent.body;
  const Verdict verdict = JudgeRequest(sent);
  EXPECT_EQ(verdict.id, mode == AllocationMode::kTpuVm ? kNodesCreate : kQueuedCreate);
  EXPECT_THAT(verdict.faults, IsEmpty()) << sent.body;
}

TEST(ClientConformance, EachMemberOfARequestIsSentWhereTheDocumentHasIt) {
  std::vector<MemberCase> rows = TpuCases();
  for (MemberCase& row : RefCases()) rows.push_back(std::move(row));
  for (const MemberCase& row : rows) {
    SCOPED_TRACE(row.member);
    CheckCase(row, AllocationMode::kTpuVm, Expected(row, "/body", row.direct));
    CheckCase(row, AllocationMode::kQueuedResources,
              Expected(row, "/body/tpu/nodeSpec/0/node", row.queued));
  }
}

TEST(ClientConformance, EachMemberOfARequestHasACase) {
  std::set<std::string> members;
  core::TpuSpec::Fields([&members](std::string_view key, auto) { members.emplace(key); });
  std::set<std::string> with_case;
  for (const MemberCase& row : TpuCases()) with_case.insert(row.member);
  EXPECT_EQ(with_case, members);
  // These have no list of fields: a new member does not compile, and wants a row in RefCases().
  const SliceRequest request;
  const auto& [ref, tpu] = request;
  const auto& [mode, place, name, nodes, existing] = ref;
  const auto& [project, zone] = place;
  std::ignore = std::tie(tpu, mode, name, nodes, existing, project, zone);
}

std::set<std::string> PartNames(const SliceRequest& request) {
  std::set<std::string> names;
  for (const auto& [part, value] : PartsOf(CreateCall(request))) names.insert(part);
  return names;
}

/// What is sent whatever a request says. With the cases above, that is all that encode.cpp writes.
TEST(ClientConformance, APlainRequestSendsNothingElse) {
  EXPECT_EQ(PartNames(PlainRequest(AllocationMode::kTpuVm, "a")),
            (std::set<std::string>{"/method", "/path", "/query/nodeId", "/body/acceleratorType",
                                   "/body/runtimeVersion", "/body/networkConfig/enableExternalIps",
                                   "/body/networkConfig/network", "/body/schedulingConfig"}));
  const std::string spec = "/body/tpu/nodeSpec/0/";
  EXPECT_EQ(
      PartNames(PlainRequest(AllocationMode::kQueuedResources, "a")),
      (std::set<std::string>{
          "/method", "/path", "/query/queuedResourceId", "/query/requestId", spec + "parent",
          spec + "nodeId", spec + "node/acceleratorType", spec + "node/runtimeVersion",
          spec + "node/networkConfig/enableExternalIps", spec + "node/networkConfig/network"}));
}

/// Every part that a plain request or a case has.
std::set<std::string> KnownParts(AllocationMode mode) {
  const bool direct = mode == AllocationMode::kTpuVm;
  const std::string node = direct ? "/body" : "/body/tpu/nodeSpec/0/node";
  std::set<std::string> known = PartNames(PlainRequest(mode, "a"));
  for (const auto& rows : {TpuCases(), RefCases()}) {
    for (const MemberCase& row : rows) {
      known.merge(Expected(row, node, direct ? row.direct : row.queued));
    }
  }
  return known;
}

void SetAllOptional(SliceRequest& request) {
  request.tpu.reservation = "mine";
  request.tpu.network = "net";
  request.tpu.subnetwork = "sub";
  request.tpu.external_ips = false;
  request.tpu.service_account = "sa@p.iam.gserviceaccount.com";
  request.tpu.tags = {"t1", "t2"};
  request.tpu.labels = {{"k", "v"}};
  request.tpu.metadata = {{"k", "v"}};
  request.tpu.startup_script = "echo hi";
  request.tpu.valid_for = std::chrono::hours{6};
}

TEST(ClientConformance, RequestsWithEverythingAtOnceSendNothingElseEither) {
  for (const auto mode : {AllocationMode::kTpuVm, AllocationMode::kQueuedResources}) {
    const std::set<std::string> known = KnownParts(mode);
    for (const auto pricing :
         {Pricing::kSpot, Pricing::kOnDemand, Pricing::kPreemptible, Pricing::kReserved,
          Pricing::kFlexStart, Pricing::kReservationBound}) {
      for (const int nodes : {1, 2}) {
        SliceRequest request = PlainRequest(mode, "a");
        request.ref.nodes = nodes;
        request.tpu.pricing = pricing;
        SetAllOptional(request);
        if (pricing == Pricing::kFlexStart) request.tpu.max_run_duration = std::chrono::hours{4};
        const Sent sent = CreateCall(request);
        EXPECT_THAT(JudgeRequest(sent).faults, IsEmpty()) << sent.body;
        EXPECT_THAT(PartNames(request), testing::Each(testing::AnyOfArray(known))) << sent.body;
      }
    }
  }
}

}  // namespace
}  // namespace jobman::conformance
