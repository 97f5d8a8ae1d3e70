// What every implementation of ports::SliceApi must do, and of ports::Catalog with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "tests/contract/slice_clouds.hpp"

namespace jobman::test {
namespace {

using base::Code;
using base::Reason;
using core::AllocationMode;
using core::NodeState;
using core::OperationSeen;
using core::QueuedState;
using core::SliceRequest;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

enum class Kind { kFake, kCloudClient };

const core::Place kPlace = {.project = "p", .zone = "us-central2-b"};

class SliceApiContract : public testing::TestWithParam<Kind> {
 protected:
  SliceApiContract() : cloud(GetParam() == Kind::kFake ? MakeFakeCloud() : MakeSimulatedCloud()) {}

  static SliceRequest Request(AllocationMode mode, const std::string& name,
                              const std::string& type = "v4-8") {
    SliceRequest request{.ref = {.mode = mode, .place = kPlace, .name = name}};
    request.tpu.allocation_mode = mode;
    request.tpu.pricing = core::Pricing::kSpot;
    request.tpu.accelerator = type;
    request.tpu.version = "tpu-ubuntu2204-base";
    request.tpu.labels = {{"jobman-job", "7"}, {"team", "vision"}};
    request.tpu.metadata = {{"ssh-keys", "me:ssh-ed25519 AAAA me"}, {"note", "a\nb"}};
    return request;
  }
  static SliceRequest Node(const std::string& name, const std::string& type = "v4-8") {
    return Request(AllocationMode::kTpuVm, name, type);
  }
  static SliceRequest Queued(const std::string& name, const std::string& type = "v4-8") {
    return Request(AllocationMode::kQueuedResources, name, type);
  }

  template <class T>
  T Run(base::Task<T> task) {
    return base::RunTask(cloud->loop(), std::move(task));
  }
  ports::SliceApi& api() { return cloud->slices(); }
  base::Result<OperationSeen> Create(const SliceRequest& request) {
    return Run(api().Create(request));
  }
  void MustCreate(const SliceRequest& request) {
    const auto created = Create(request);
    ASSERT_TRUE(created.ok()) << created.error().ToString();
  }
  core::NodeSeen GetNode(const std::string& name) {
    return Run(api().GetNode(kPlace, name)).value_or(core::NodeSeen{});
  }
  core::QueuedSeen GetQueued(const std::string& name) {
    return Run(api().GetQueued(kPlace, name)).value_or(core::QueuedSeen{});
  }

  /// Polls until it is true, and lets time pass in between. False after two minutes.
  bool Until(const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      cloud->Pass();
    }
    return true;
  }
  void AwaitNode(const std::string& name, NodeState state) {
    ASSERT_TRUE(Until([&] { return GetNode(name).state == state; }))
        << name << " is " << GetNode(name).raw_state;
  }
  void AwaitQueued(const std::string& name, QueuedState state) {
    ASSERT_TRUE(Until([&] { return GetQueued(name).state == state; }))
        << name << " is " << GetQueued(name).raw_state;
  }
  void AwaitNoNode(const std::string& name) {
    ASSERT_TRUE(Until([&] {
      const auto node = Run(api().GetNode(kPlace, name));
      return !node.ok() && node.error().code == Code::kNotFound;
    })) << name
        << " does not go away";
  }
  void AwaitNoQueued(const std::string& name) {
    ASSERT_TRUE(Until([&] {
      const auto queued = Run(api().GetQueued(kPlace, name));
      return !queued.ok() && queued.error().code == Code::kNotFound;
    })) << name
        << " does not go away";
  }
  /// Waits until the operation is done, and returns it.
  OperationSeen Await(const OperationSeen& operation) {
    OperationSeen seen = operation;
    EXPECT_TRUE(Until([&] {
      seen = Run(api().GetOperation(operation.name)).value_or(seen);
      return seen.done;
    })) << operation.name
        << " does not end";
    return seen;
  }

  std::unique_ptr<SliceCloud> cloud;
};

// --- nodes ---

TEST_P(SliceApiContract, ANodeIsCreatingAndThenReadyWithItsHosts) {
  cloud->TakeTimeToCreate();
  const auto created = Create(Node("t1", "v4-32"));
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  EXPECT_EQ(GetNode("t1").state, NodeState::kCreating);
  const OperationSeen ended = Await(*created);
  EXPECT_FALSE(ended.error) << ended.error->ToString();
  EXPECT_EQ(ended.node, "t1");
  const core::NodeSeen node = GetNode("t1");
  EXPECT_EQ(node.state, NodeState::kReady);
  EXPECT_EQ(node.raw_state, "READY");
  EXPECT_EQ(node.id, "t1");
  EXPECT_EQ(node.zone, kPlace.zone);
  EXPECT_EQ(node.accelerator, "v4-32");
  EXPECT_EQ(node.queued_resource, "");
  EXPECT_TRUE(node.spot);
  EXPECT_NE(node.uid, "");
  EXPECT_TRUE(base::ParseRfc3339(node.create_time).ok()) << node.create_time;
  ASSERT_THAT(node.hosts, SizeIs(4));
  for (const core::HostAddress& host : node.hosts) {
    EXPECT_NE(host.internal, "");
    EXPECT_NE(host.external, "");
  }
}

TEST_P(SliceApiContract, ANodeWithoutExternalAddressesHasInternalOnes) {
  SliceRequest request = Node("t1");
  request.tpu.external_ips = false;
  MustCreate(request);
  AwaitNode("t1", NodeState::kReady);
  ASSERT_THAT(GetNode("t1").hosts, SizeIs(1));
  EXPECT_NE(GetNode("t1").hosts[0].internal, "");
  EXPECT_EQ(GetNode("t1").hosts[0].external, "");
}

TEST_P(SliceApiContract, ANodeKeepsItsLabelsAndMetadata) {
  const SliceRequest request = Node("t1");
  MustCreate(request);
  EXPECT_EQ(GetNode("t1").labels, request.tpu.labels);
  EXPECT_EQ(cloud->MetadataOf(request.ref), request.tpu.metadata);
}

TEST_P(SliceApiContract, ADeletedNodeIsGoneAndItsNameFree) {
  MustCreate(Node("t1"));
  AwaitNode("t1", NodeState::kReady);
  const std::string first = GetNode("t1").uid;
  const auto deleted = Run(api().Delete(Node("t1").ref));
  ASSERT_TRUE(deleted.ok()) << deleted.error().ToString();
  AwaitNoNode("t1");
  EXPECT_FALSE(Await(*deleted).error);
  // Immediately, as after a preemption.
  MustCreate(Node("t1"));
  AwaitNode("t1", NodeState::kReady);
  EXPECT_NE(GetNode("t1").uid, first);
}

TEST_P(SliceApiContract, MissingResourcesAreNotFound) {
  const auto code = [](const auto& result) {
    return result.ok() ? Code::kOk : result.error().code;
  };
  EXPECT_EQ(code(Run(api().GetNode(kPlace, "t1"))), Code::kNotFound);
  EXPECT_EQ(code(Run(api().GetQueued(kPlace, "q1"))), Code::kNotFound);
  EXPECT_EQ(code(Run(api().GetHostKeys(kPlace, "t1"))), Code::kNotFound);
  EXPECT_EQ(code(Run(api().Delete(Node("t1").ref))), Code::kNotFound);
  EXPECT_EQ(code(Run(api().Delete(Queued("q1").ref))), Code::kNotFound);
  const std::string operation = "projects/p/locations/us-central2-b/operations/operation-0";
  EXPECT_EQ(code(Run(api().GetOperation(operation))), Code::kNotFound);
}

TEST_P(SliceApiContract, ANameThatIsTakenIsRefused) {
  MustCreate(Node("t1"));
  MustCreate(Queued("q1"));
  // Other labels make it a different request: an identical one may get the answer of the first.
  for (SliceRequest second : {Node("t1"), Queued("q1")}) {
    second.tpu.labels["jobman-job"] = "8";
    const auto refused = Create(second);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kAlreadyExists) << refused.error().ToString();
  }
  EXPECT_EQ(GetNode("t1").labels.at("jobman-job"), "7");
}

TEST_P(SliceApiContract, APreemptedNodeKeepsItsNameUntilItIsDeleted) {
  MustCreate(Node("t1"));
  AwaitNode("t1", NodeState::kReady);
  cloud->Preempt("t1");
  EXPECT_EQ(GetNode("t1").state, NodeState::kPreempted);
  EXPECT_EQ(Create(Node("t1")).error().code, Code::kAlreadyExists);
  ASSERT_TRUE(Run(api().Delete(Node("t1").ref)).ok());
  AwaitNoNode("t1");
}

TEST_P(SliceApiContract, ALoginIsAddedToANode) {
  MustCreate(Node("t1"));
  AwaitNode("t1", NodeState::kReady);
  for (int time = 0; time < 2; ++time) {
    const auto added = Run(api().AddLogin(kPlace, "t1", "eve:ssh-ed25519 BBBB eve"));
    EXPECT_TRUE(added.ok()) << added.error().ToString();
  }
  EXPECT_EQ(GetNode("t1").labels.at("jobman-job"), "7") << "nothing else is changed";
  EXPECT_EQ(Run(api().AddLogin(kPlace, "t2", "eve:ssh-ed25519 BBBB eve")).error().code,
            Code::kNotFound);
}

TEST_P(SliceApiContract, LoginsOfANodeAreChangedTogether) {
  MustCreate(Node("t1"));
  AwaitNode("t1", NodeState::kReady);
  const core::LoginChange both{.add = {"ann:ssh-ed25519 AAAA ann", "bob:ssh-ed25519 BBBB bob"}};
  const core::LoginChange one{.add = {"bob:ssh-ed25519 BBBB bob"},
                              .remove = {"ann:ssh-ed25519 AAAA ann"}};
  for (const core::LoginChange& change : {both, one, one}) {
    const auto changed = Run(api().ChangeLogins(kPlace, "t1", change));
    EXPECT_TRUE(changed.ok()) << changed.error().ToString();
  }
  EXPECT_EQ(GetNode("t1").labels.at("jobman-job"), "7") << "nothing else is changed";
  EXPECT_EQ(Run(api().ChangeLogins(kPlace, "t2", both)).error().code, Code::kNotFound);
}

TEST_P(SliceApiContract, ReturnsTheKeysOfAllHosts) {
  MustCreate(Node("t1", "v4-32"));
  AwaitNode("t1", NodeState::kReady);
  cloud->PublishHostKeys("t1", 4);
  const auto keys = Run(api().GetHostKeys(kPlace, "t1"));
  ASSERT_TRUE(keys.ok()) << keys.error().ToString();
  ASSERT_THAT(*keys, SizeIs(4));
  std::set<std::string> different;
  for (int host = 0; host < 4; ++host) {
    EXPECT_EQ((*keys)[static_cast<std::size_t>(host)].host, host);
    different.insert((*keys)[static_cast<std::size_t>(host)].keys.at("ssh-ed25519"));
  }
  EXPECT_THAT(different, SizeIs(4));
}

// --- queued resources ---

TEST_P(SliceApiContract, AQueuedResourceBecomesActiveAndItsNodeReady) {
  const SliceRequest request = Queued("q1", "v4-32");
  const auto created = Create(request);
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  EXPECT_FALSE(Await(*created).error);
  AwaitQueued("q1", QueuedState::kActive);
  const core::QueuedSeen queued = GetQueued("q1");
  EXPECT_EQ(queued.raw_state, "ACTIVE");
  EXPECT_EQ(queued.zone, kPlace.zone);
  EXPECT_EQ(queued.labels, request.tpu.labels);
  EXPECT_FALSE(queued.failure);
  const core::NodeSeen node = GetNode("q1");
  EXPECT_EQ(node.state, NodeState::kReady);
  EXPECT_EQ(node.queued_resource, "q1");
  EXPECT_EQ(node.labels, request.tpu.labels);
  EXPECT_TRUE(node.spot);
  EXPECT_THAT(node.hosts, SizeIs(4));
}

TEST_P(SliceApiContract, DeletingAQueuedResourceDeletesItsNode) {
  MustCreate(Queued("q1"));
  AwaitQueued("q1", QueuedState::kActive);
  const auto deleted = Run(api().Delete(Queued("q1").ref));
  ASSERT_TRUE(deleted.ok()) << deleted.error().ToString();
  AwaitNoQueued("q1");
  AwaitNoNode("q1");
  EXPECT_FALSE(Await(*deleted).error);
  // An identical request might be taken for a late copy of the first; a new attempt's differs.
  SliceRequest next = Queued("q1");
  next.tpu.labels["jobman-job"] = "8";
  MustCreate(next);
  AwaitQueued("q1", QueuedState::kActive);
}

TEST_P(SliceApiContract, AQueuedResourceWaitsForStock) {
  cloud->SetStock("v4-8", 1);
  MustCreate(Queued("q1"));
  AwaitQueued("q1", QueuedState::kActive);
  MustCreate(Queued("q2"));
  AwaitQueued("q2", QueuedState::kWaitingForResources);
  EXPECT_EQ(GetNode("q2").id, "");
  cloud->SetStock("v4-8", 2);
  AwaitQueued("q2", QueuedState::kActive);
}

TEST_P(SliceApiContract, APreemptedQueuedResourceIsSuspendedByTheService) {
  MustCreate(Queued("q1"));
  AwaitQueued("q1", QueuedState::kActive);
  cloud->Preempt("q1");
  AwaitQueued("q1", QueuedState::kSuspended);
  ASSERT_TRUE(Run(api().Delete(Queued("q1").ref)).ok());
  AwaitNoQueued("q1");
}

TEST_P(SliceApiContract, DeletingTheNodeOfAQueuedResourceSuspendsIt) {
  MustCreate(Queued("q1"));
  AwaitQueued("q1", QueuedState::kActive);
  ASSERT_TRUE(Run(api().Delete(Node("q1").ref)).ok());
  AwaitQueued("q1", QueuedState::kSuspended);
  AwaitNoNode("q1");
}

TEST_P(SliceApiContract, AFailedQueuedResourceSaysWhy) {
  MustCreate(Queued("q1"));
  AwaitQueued("q1", QueuedState::kActive);
  cloud->GiveUp("q1");
  AwaitQueued("q1", QueuedState::kFailed);
  const core::QueuedSeen queued = GetQueued("q1");
  ASSERT_TRUE(queued.failure);
  EXPECT_EQ(queued.failure->reason, Reason::kStockout);
}

// --- listings ---

TEST_P(SliceApiContract, ListsEverythingOfAPlace) {
  for (const char* name : {"t1", "t2", "t3"}) MustCreate(Node(name));
  for (const char* name : {"q1", "q2"}) MustCreate(Queued(name));
  SliceRequest elsewhere = Node("far", "v5litepod-8");
  elsewhere.ref.place.zone = "europe-west4-a";
  MustCreate(elsewhere);
  for (const char* name : {"q1", "q2"}) AwaitQueued(name, QueuedState::kActive);

  const auto ids = [](const auto& listing) {
    std::vector<std::string> all;
    if (listing.ok()) {
      for (const auto& one : *listing) all.push_back(one.id);
    }
    return all;
  };
  EXPECT_THAT(ids(Run(api().ListNodes(kPlace))),
              UnorderedElementsAre("t1", "t2", "t3", "q1", "q2"));
  EXPECT_THAT(ids(Run(api().ListQueued(kPlace))), UnorderedElementsAre("q1", "q2"));
  const core::Place everywhere{.project = "p", .zone = "-"};
  EXPECT_THAT(ids(Run(api().ListNodes(everywhere))), SizeIs(6));
}

TEST_P(SliceApiContract, ListingAnEmptyPlaceSucceeds) {
  const auto nodes = Run(api().ListNodes(kPlace));
  const auto queued = Run(api().ListQueued(kPlace));
  ASSERT_TRUE(nodes.ok() && queued.ok());
  EXPECT_THAT(*nodes, IsEmpty());
  EXPECT_THAT(*queued, IsEmpty());
}

// --- refusals ---

TEST_P(SliceApiContract, AStockoutEndsTheOperationAndLeavesNoNode) {
  cloud->SetStock("v4-8", 0);
  const auto created = Create(Node("t1"));
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  const OperationSeen ended = Await(*created);
  ASSERT_TRUE(ended.error);
  EXPECT_EQ(ended.error->reason, Reason::kStockout);
  AwaitNoNode("t1");
}

TEST_P(SliceApiContract, AnExhaustedQuotaRefusesTheCreate) {
  cloud->ExhaustQuota();
  const auto refused = Create(Node("t1"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_EQ(refused.error().reason, Reason::kQuota);
  EXPECT_EQ(GetNode("t1").id, "");
}

TEST_P(SliceApiContract, SaysWhyItRefuses) {
  struct Case {
    std::string word;
    Code code;
    Reason reason;
  };
  for (const Case& one : {Case{"rate_limit", Code::kResourceExhausted, Reason::kRateLimit},
                          Case{"quota", Code::kResourceExhausted, Reason::kQuotaZero},
                          Case{"denied", Code::kPermissionDenied, Reason::kPermission},
                          Case{"api_disabled", Code::kPermissionDenied, Reason::kApiDisabled},
                          Case{"internal", Code::kInternal, Reason::kNone},
                          Case{"unavailable", Code::kUnavailable, Reason::kNone}}) {
    cloud->FailNextCall(one.word, {.code = one.code, .reason = one.reason});
    const auto listed = Run(api().ListNodes(kPlace));
    ASSERT_FALSE(listed.ok()) << one.word;
    EXPECT_EQ(listed.error().code, one.code) << listed.error().ToString();
    EXPECT_EQ(listed.error().reason, one.reason) << listed.error().ToString();
    EXPECT_TRUE(Run(api().ListNodes(kPlace)).ok()) << one.word;
  }
}

TEST_P(SliceApiContract, ACreateWhoseReplyIsLostIsDone) {
  cloud->LoseNextReply();
  const auto lost = Create(Node("t1"));
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().reason, Reason::kUnreachable) << lost.error().ToString();
  AwaitNode("t1", NodeState::kReady);
}

TEST_P(SliceApiContract, AnUnreachableCloudIsUnavailable) {
  MustCreate(Node("t1"));
  cloud->Vanish();
  const auto nodes = Run(api().ListNodes(kPlace));
  ASSERT_FALSE(nodes.ok());
  EXPECT_EQ(nodes.error().code, Code::kUnavailable);
  EXPECT_EQ(nodes.error().reason, Reason::kUnreachable);
}

// --- the catalog ---

TEST_P(SliceApiContract, KnowsWhatAZoneOffers) {
  const auto types = Run(cloud->catalog().AcceleratorTypes(kPlace));
  ASSERT_TRUE(types.ok()) << types.error().ToString();
  EXPECT_THAT(*types, Contains("v4-8"));
  EXPECT_THAT(*types, Contains("v4-32"));
  EXPECT_THAT(*types, Not(Contains("v5p-8")));
  const auto runtimes = Run(cloud->catalog().RuntimeVersions(kPlace));
  EXPECT_THAT(runtimes.value_or({}), Contains("tpu-ubuntu2204-base"));
  const auto zones = Run(cloud->catalog().Zones(kPlace.project));
  EXPECT_THAT(zones.value_or({}),
              testing::AllOf(Contains(kPlace.zone), Not(Contains("mars-north1-a"))));
}

TEST_P(SliceApiContract, KnowsTheReservationsOfAZone) {
  const auto none = Run(cloud->catalog().Reservations(kPlace));
  ASSERT_TRUE(none.ok()) << none.error().ToString();
  EXPECT_THAT(*none, IsEmpty());
  cloud->Reserve({{"lab", 64}, {"mine", 8}, {"theirs", 16}});
  const auto all = Run(cloud->catalog().Reservations(kPlace));
  ASSERT_TRUE(all.ok()) << all.error().ToString();
  std::map<std::string, std::int64_t> chips;
  for (const core::ReservationSeen& one : *all) {
    EXPECT_EQ(one.state, "ACTIVE") << one.id;
    EXPECT_EQ(one.unit, core::ReservationSeen::Unit::kChips) << one.id;
    EXPECT_EQ(one.used, 0) << one.id;
    chips[one.id] = one.size;
  }
  const std::map<std::string, std::int64_t> expected = {{"lab", 64}, {"mine", 8}, {"theirs", 16}};
  EXPECT_EQ(chips, expected) << "of all pages";
  const core::Place other{.project = "p", .zone = "europe-west4-a"};
  const auto elsewhere = Run(cloud->catalog().Reservations(other));
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.error().ToString();
  EXPECT_THAT(*elsewhere, IsEmpty());
}

TEST_P(SliceApiContract, RefusesWhatAZoneDoesNotOffer) {
  for (const SliceRequest& request : {Node("t1", "v5p-8"), Queued("q1", "v5p-8")}) {
    const auto refused = Create(request);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().reason, Reason::kBadAccelerator) << refused.error().ToString();
  }
  SliceRequest nowhere = Node("t1");
  nowhere.ref.place.zone = "mars-north1-a";
  EXPECT_EQ(Create(nowhere).error().reason, Reason::kBadZone);
  EXPECT_EQ(Run(cloud->catalog().AcceleratorTypes(nowhere.ref.place)).error().reason,
            Reason::kBadZone);
}

INSTANTIATE_TEST_SUITE_P(Every, SliceApiContract, testing::Values(Kind::kFake, Kind::kCloudClient),
                         [](const auto& kind) {
                           return kind.param == Kind::kFake ? "Fake" : "CloudClient";
                         });

}  // namespace
}  // namespace jobman::test
