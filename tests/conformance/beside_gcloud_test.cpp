// What the client sends, beside what gcloud 528 sent for the same wish.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/client_wire.hpp"
#include "tests/conformance/gcloud_differences.hpp"

namespace jobman::conformance {
namespace {

using core::AllocationMode;
using core::Place;
using core::Pricing;
using core::SliceRequest;

const Place kLab{.project = "p", .zone = "us-central2-b"};

// --- the same wishes, through the client ---

using Wish = std::function<void(Client&)>;

template <class Member, class... Arguments>
Wish Calls(std::vector<std::string> answers, Member member, Arguments... arguments) {
  return [=](Client& client) {
    for (const std::string& answer : answers) client.Answer(answer);
    EXPECT_TRUE(client.Run((client.api().*member)(arguments...)).ok());
  };
}

Wish Creates(const SliceRequest& request) {
  return Calls({kOperationReply}, &cloud::TpuApi::Create, request);
}

Wish Deletes(AllocationMode mode, const std::string& name) {
  return Calls({kOperationReply}, &cloud::TpuApi::Delete, PlainRequest(mode, name).ref);
}

SliceRequest Node(const std::string& name, Pricing pricing, const std::string& accelerator = "v4-8",
                  const std::string& version = "tpu-ubuntu2204-base") {
  SliceRequest request = PlainRequest(AllocationMode::kTpuVm, name, accelerator, version);
  request.tpu.pricing = pricing;
  return request;
}

SliceRequest Queued(const std::string& name, Pricing pricing,
                    const std::string& accelerator = "v4-8",
                    const std::string& version = "tpu-vm-v4-base") {
  SliceRequest request = PlainRequest(AllocationMode::kQueuedResources, name, accelerator, version);
  request.tpu.pricing = pricing;
  return request;
}

SliceRequest FullNode() {
  SliceRequest request = Node("t2", Pricing::kOnDemand, "v4-16", "tpu-vm-v4-base");
  request.tpu.labels = {{"a", "b"}, {"owner", "me"}};
  request.tpu.metadata = {{"startup-script", "echo hi"}, {"foo", "bar"}};
  request.tpu.tags = {"t1", "t2"};
  request.tpu.network = "mynet";
  request.tpu.subnetwork = "mysub";
  request.tpu.external_ips = false;
  request.tpu.service_account = "sa@p.iam.gserviceaccount.com";
  return request;
}

SliceRequest Multislice() {
  SliceRequest request = Queued("qr2", Pricing::kSpot, "v4-16");
  request.ref.nodes = 3;
  request.tpu.valid_for = std::chrono::hours{6};
  request.tpu.startup_script = "echo hi";
  return request;
}

SliceRequest Guaranteed() {
  SliceRequest request = Queued("qr3", Pricing::kOnDemand);
  request.tpu.external_ips = false;
  request.tpu.valid_for = std::chrono::hours{2};
  return request;
}

SliceRequest AlphaMultislice() {
  SliceRequest request = Queued("qr5", Pricing::kSpot, "v6e-8", "v2-alpha-tpuv6e");
  request.ref.nodes = 2;
  request.tpu.valid_for = std::chrono::minutes{30};
  return request;
}

SliceRequest FlexStart() {
  SliceRequest request = Queued("qr6", Pricing::kFlexStart, "v6e-8", "v2-alpha-tpuv6e");
  request.tpu.max_run_duration = std::chrono::hours{4};
  return request;
}

/// The first requests of each recording; what follows, gcloud's looks at the operation, is the same
/// for all.
std::map<std::string, Wish> Wishes() {
  using Api = cloud::TpuApi;
  const std::string node = R"({"name":"projects/p/locations/us-central2-b/nodes/t1"})";
  const std::string page = R"({"nextPageToken":"tok1"})";
  const std::string t1 = "t1";
  const std::string line = "me:ssh-ed25519 AAAA me";
  const Place everywhere{.project = "p", .zone = "-"};
  const auto list = Calls({"{}"}, &Api::ListNodes, kLab);
  const auto list_queued = Calls({"{}"}, &Api::ListQueued, kLab);
  const auto describe = Calls({node}, &Api::GetNode, kLab, t1);
  const auto types = Calls({"{}"}, &Api::AcceleratorTypes, kLab);
  return {
      {"01", Creates(Node("t1", Pricing::kSpot))},
      {"02", Creates(FullNode())},
      {"03", Creates(Node("t3", Pricing::kPreemptible))},
      {"04", Creates(Node("t4", Pricing::kReserved, "v4-16", "tpu-vm-v4-base"))},
      {"05", Creates(Node("t5", Pricing::kSpot, "v6e-8", "v2-alpha-tpuv6e"))},
      {"06", list},
      {"07", list},
      {"08", Calls({"{}"}, &Api::ListNodes, everywhere)},
      {"09", Calls({page, "{}"}, &Api::ListNodes, kLab)},
      {"10", list},
      {"11", describe},
      {"12", describe},
      {"15", Calls({node, kOperationReply}, &Api::AddLogin, kLab, t1, line)},
      {"16", Calls({"{}"}, &Api::GetHostKeys, kLab, t1)},
      {"17", Deletes(AllocationMode::kTpuVm, "t1")},
      {"18", Deletes(AllocationMode::kTpuVm, "t3")},
      {"20", Creates(Queued("qr1", Pricing::kSpot))},
      {"21", Creates(Multislice())},
      {"22", Creates(Guaranteed())},
      {"23", Creates(Queued("qr4", Pricing::kReserved))},
      {"24", Creates(AlphaMultislice())},
      {"25", Creates(FlexStart())},
      {"26", list_queued},
      {"27", list_queued},
      {"28", Calls({node}, &Api::GetQueued, kLab, std::string("qr1"))},
      {"29", Deletes(AllocationMode::kQueuedResources, "qr1")},
      {"30", Deletes(AllocationMode::kQueuedResources, "qr1")},
      {"31", Deletes(AllocationMode::kQueuedResources, "qr2")},
      {"40", types},
      {"41", types},
      {"44", Calls({"{}"}, &Api::RuntimeVersions, kLab)},
  };
}

/// The look of `gcloud` at an operation, or at a queued resource that it has created.
void Follow(Client& client, const std::string& path) {
  const std::string name = path.substr(path.find("projects/"));
  const std::string id = name.substr(name.rfind('/') + 1);
  client.Answer(kOperationReply);
  if (path.find("/operations/") != std::string::npos) {
    EXPECT_TRUE(client.Run(client.api().GetOperation(name)).ok()) << path;
  } else {
    EXPECT_TRUE(client.Run(client.api().GetQueued(kLab, id)).ok()) << path;
  }
}

// --- the comparison ---

std::vector<Explained> Table() {
  std::vector<Explained> table;
  for (auto rows : {OfEveryCall(), OfNodes(), OfQueuedResources(), OfUpdates()}) {
    table.insert(table.end(), rows.begin(), rows.end());
  }
  return table;
}

bool Matches(const std::string& value, const std::string& wanted) {
  if (!wanted.ends_with('*')) return value == wanted;
  return value != kAbsent && value.starts_with(wanted.substr(0, wanted.size() - 1));
}

std::string ValueIn(const Parts& parts, const std::string& part) {
  const auto found = parts.find(part);
  return found == parts.end() ? kAbsent : found->second;
}

/// Part to its values in `one` and `other`. An empty object beside one with members is none: its
/// members are.
std::map<std::string, std::pair<std::string, std::string>> Differences(const Parts& one,
                                                                       const Parts& other) {
  std::map<std::string, std::pair<std::string, std::string>> differences;
  for (const Parts& side : {one, other}) {
    for (const auto& [part, value] : side) {
      const auto values = std::pair(ValueIn(one, part), ValueIn(other, part));
      if (values.first == values.second) continue;
      if (HasInside(one, part) || HasInside(other, part)) continue;
      differences[part] = values;
    }
  }
  return differences;
}

/// Which differences each row of the table explains: "02 /body/description".
class Explanations {
 public:
  void Add(const std::string& recording, const std::string& part, const std::string& jobman,
           const std::string& gcloud) {
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const Explained& row = table_[i];
      const bool here = row.recordings.contains(recording) || row.recordings.contains("*");
      const bool of_part = std::find(row.parts.begin(), row.parts.end(), part) != row.parts.end();
      if (!here || !of_part || !Matches(jobman, row.jobman) || !Matches(gcloud, row.gcloud))
        continue;
      seen_[i].insert(recording + " " + part);
      return;
    }
    ADD_FAILURE() << recording << ": nothing explains " << part << ", which is " << jobman
                  << " here and " << gcloud << " in gcloud";
  }

  /// Each row still explains all that it says.
  void CheckSeen(const Recordings& compared) const {
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const Explained& row = table_[i];
      std::set<std::string> wanted;
      for (const std::string& recording :
           row.recordings.contains("*") ? compared : row.recordings) {
        for (const std::string& part : row.parts) wanted.insert(recording + " " + part);
      }
      const auto seen = seen_.find(i);
      EXPECT_EQ(seen == seen_.end() ? std::set<std::string>{} : seen->second, wanted)
          << "no longer different: " << row.why;
    }
  }

 private:
  std::vector<Explained> table_ = Table();
  std::map<std::size_t, std::set<std::string>> seen_ = {};
};

void Compare(const std::string& number, const Json& recorded, const Wish& wish,
             Explanations& explanations) {
  Client client;
  wish(client);
  std::size_t index = 0;
  for (const Json& request : recorded.at("requests")) {
    const Json& body = request.at("body");
    const Sent gcloud{.method = request.at("method"),
                      .target = request.at("path"),
                      .body = body.is_null() ? std::string() : body.dump()};
    const std::string path = gcloud.target.substr(0, gcloud.target.find('?'));
    if (index >= client.sent().size()) Follow(client, path);
    const Sent jobman = client.sent().at(index++);
    for (const auto& [part, values] : Differences(PartsOf(jobman), PartsOf(gcloud))) {
      explanations.Add(number, part, values.first, values.second);
    }
  }
  EXPECT_EQ(client.sent().size(), index) << "gcloud needs fewer requests";
}

TEST(BesideGcloud, EveryDifferenceHasItsReason) {
  const std::map<std::string, Wish> wishes = Wishes();
  Explanations explanations;
  Recordings compared;
  Recordings left_out;
  const Json all = ReadData("gcloud_requests.json");
  for (const auto& [name, recorded] : all.items()) {
    SCOPED_TRACE(name + ": " + recorded.at("argv").get<std::string>());
    const std::string number = name.substr(0, 2);
    const auto wish = wishes.find(number);
    if (wish == wishes.end()) {
      left_out.insert(number);
      continue;
    }
    compared.insert(number);
    Compare(number, recorded, wish->second, explanations);
  }
  explanations.CheckSeen(compared);
  EXPECT_EQ(compared.size(), wishes.size());
  Recordings with_reason;
  for (const auto& [number, why] : NotCompared()) with_reason.insert(number);
  EXPECT_EQ(left_out, with_reason);
}

TEST(BesideGcloud, TheDocumentNamesEveryFieldThatDiffers) {
  std::ifstream file(std::string(JOBMAN_SOURCE_DIR) + "/docs/fidelity.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const Explained& row : OfEveryCall()) {
    for (const std::string& part : row.parts) {
      EXPECT_THAT(text, testing::HasSubstr("`" + part.substr(part.rfind('/') + 1) + "`"));
    }
  }
  for (const auto& rows : {OfNodes(), OfQueuedResources()}) {
    for (const Explained& row : rows) {
      const std::string& part = row.parts[0];
      EXPECT_THAT(text, testing::HasSubstr(part.substr(part.rfind('/') + 1))) << part;
    }
  }
}

}  // namespace
}  // namespace jobman::conformance
