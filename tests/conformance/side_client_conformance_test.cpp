// Every request that the client can send to a service beside Cloud TPU, against its document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "jobman/cloud/billing_api.hpp"
#include "jobman/cloud/bucket_list.hpp"
#include "jobman/cloud/compute_api.hpp"
#include "jobman/cloud/oslogin_api.hpp"
#include "jobman/cloud/quota_api.hpp"
#include "jobman/cloud/storage_api.hpp"
#include "tests/conformance/side_wire.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::conformance {
namespace {

using base::Task;
using ports::BillingQuestion;
template <class T>
using Answered = Task<base::Result<T>>;

/// The clients of all these services, which note what was called. A new method of a port does not
/// compile until it is here; then it wants a name, and a row in SideCalls().
class EverySide final : public ports::ProjectApi,
                        public ports::LoginApi,
                        public ports::QuotaApi,
                        public ports::BucketApi,
                        public ports::BucketList,
                        public ports::BucketSizes,
                        public ports::BillingApi {
 public:
  static constexpr std::array kNames = {"Metadata",       "Quotas",   "ImportKey",
                                        "TpuLimits",      "Location", "OfProject",
                                        "SizesOfProject", "One",      "Ask"};

  Answered<std::map<std::string, std::string>> Metadata(std::string project) override {
    called.insert("Metadata");
    return compute_.Metadata(std::move(project));
  }
  Answered<std::vector<ports::RegionQuota>> Quotas(std::string project,
                                                   std::string region) override {
    called.insert("Quotas");
    return compute_.Quotas(std::move(project), std::move(region));
  }
  Answered<ports::ImportedLogin> ImportKey(ports::KeyToImport key) override {
    called.insert("ImportKey");
    return logins_.ImportKey(std::move(key));
  }
  Answered<std::vector<ports::TpuLimit>> TpuLimits(std::string project) override {
    called.insert("TpuLimits");
    return quotas_.TpuLimits(std::move(project));
  }
  Answered<core::BucketLocation> Location(std::string bucket) override {
    called.insert("Location");
    return storage_.Location(std::move(bucket));
  }
  Answered<std::vector<ports::BucketSeen>> OfProject(std::string project) override {
    called.insert("OfProject");
    return buckets_.OfProject(std::move(project));
  }
  Answered<ports::BucketSeen> One(std::string bucket) override {
    called.insert("One");
    return buckets_.One(std::move(bucket));
  }
  Answered<std::map<std::string, std::int64_t>> OfProject(std::string project,
                                                          base::TimePoint now) override {
    called.insert("SizesOfProject");
    return sizes_.OfProject(std::move(project), now);
  }
  Answered<ports::BillingAnswer> Ask(BillingQuestion question) override {
    called.insert("Ask");
    return billing_.Ask(std::move(question));
  }

  std::set<std::string> called = {};
  std::shared_ptr<test::FakeTransport::Script> script =
      std::make_shared<test::FakeTransport::Script>();

 private:
  std::unique_ptr<http::Transport> Wire() const {
    return std::make_unique<test::FakeTransport>(script);
  }
  const std::string storage_root_ = "https://storage.googleapis.com";

  cloud::ComputeApi compute_{Wire(), "https://compute.googleapis.com"};
  cloud::OsLoginApi logins_{
      Wire(), {.endpoint = "https://oslogin.googleapis.com", .account = "me@example.com"}};
  cloud::QuotaApi quotas_{Wire(), "https://serviceusage.googleapis.com"};
  cloud::StorageApi storage_{Wire(), storage_root_};
  cloud::BucketList buckets_{Wire(), storage_root_};
  cloud::BucketSizes sizes_{Wire(), "https://monitoring.googleapis.com"};
  cloud::BillingApi billing_{Wire(), "https://bigquery.googleapis.com"};
};

struct SideAnswer {
  std::string id = {};  ///< of the method that is answered
  std::string body = {};
  int status = 200;
};
/// A call, and the answers to its requests, with all that the client reads of them.
struct SideCall {
  std::vector<SideAnswer> answers = {};
  std::function<void(test::Loop&, EverySide&)> send = {};
};

constexpr const char* kPage = R"({"nextPageToken":"a/b+c="})";
constexpr const char* kBuckets = "storage.buckets.list";
constexpr const char* kOneBucket = "storage.buckets.get";
constexpr const char* kSeries = "monitoring.projects.timeSeries.list";
constexpr const char* kLimits = "serviceusage.services.consumerQuotaMetrics.list";
constexpr const char* kQuery = "bigquery.jobs.query";
constexpr const char* kResults = "bigquery.jobs.getQueryResults";
constexpr const char* kBucket =
    R"({"name":"b","location":"EU","locationType":"dual-region","storageClass":"STANDARD",)"
    R"("customPlacementConfig":{"dataLocations":["EUROPE-WEST1","EUROPE-WEST4"]}})";
constexpr const char* kPlace = R"({"location":"US","customPlacementConfig":{}})";
constexpr const char* kMayNot =
    R"({"error":{"code":403,"message":"no",)"
    R"("errors":[{"message":"no","domain":"global","reason":"forbidden"}]}})";

auto Sending(auto member, auto... arguments) {
  return [=](test::Loop& loop, EverySide& side) {
    EXPECT_TRUE(loop.Run((side.*member)(arguments...)).ok());
  };
}

std::vector<SideCall> ComputeCalls() {
  const std::string lab = "example.com:lab";
  return {
      {{{"compute.projects.get",
         R"({"commonInstanceMetadata":{"items":[{"key":"enable-oslogin","value":"TRUE"}]}})"}},
       Sending(&EverySide::Metadata, lab)},
      {{{"compute.regions.get",
         R"({"quotas":[{"metric":"IN_USE_ADDRESSES","limit":8.0,"usage":0.0}]})"}},
       Sending(&EverySide::Quotas, lab, std::string("us-central2"))},
  };
}

std::vector<SideCall> LoginAndQuotaCalls() {
  const ports::KeyToImport key{.project = "p",
                               .line = "ssh-ed25519 AAAA me",
                               .expires = base::FromMillis(1'795'230'038'123)};
  const std::string account =
      R"({"primary":true,"username":"me","operatingSystemType":"LINUX","uid":"7"})";
  const std::string bucket = R"({"effectiveLimit":"-1","dimensions":{"zone":"us-central2-b"}})";
  const std::string limit =
      R"({"unit":"1/{project}/{zone}","supportedLocations":["us-central2-b"],"quotaBuckets":[)" +
      bucket + "]}";
  return {
      {{{"oslogin.users.importSshPublicKey",
         R"({"loginProfile":{"name":"me","posixAccounts":[)" + account + "]}}"}},
       Sending(&EverySide::ImportKey, key)},
      {{{kLimits, kPage},
        {kLimits, R"({"metrics":[{"metric":"m","displayName":"M","consumerQuotaLimits":[)" + limit +
                      "]}]}"}},
       Sending(&EverySide::TpuLimits, std::string("p"))},
  };
}

std::vector<SideCall> BucketCalls() {
  const auto sizes = static_cast<Answered<std::map<std::string, std::int64_t>> (EverySide::*)(
      std::string, base::TimePoint)>(&EverySide::OfProject);
  const auto buckets =
      static_cast<Answered<std::vector<ports::BucketSeen>> (EverySide::*)(std::string)>(
          &EverySide::OfProject);
  const std::string b = "b";
  const std::string points =
      R"([{"interval":{"endTime":"2026-01-31T00:00:00Z"},"value":{"doubleValue":8.5}},)"
      R"({"interval":{"endTime":"2026-01-30T00:00:00Z"},"value":{"int64Value":"8"}}])";
  return {
      {{{kOneBucket, kBucket}}, Sending(&EverySide::Location, b)},
      {{{kOneBucket, kMayNot, 403}, {"storage.buckets.getStorageLayout", kPlace}},
       Sending(&EverySide::Location, b)},
      {{{kOneBucket, kBucket}}, Sending(&EverySide::One, b)},
      {{{kBuckets, kPage}, {kBuckets, std::string(R"({"items":[)") + kBucket + "]}"}},
       Sending(buckets, std::string("p"))},
      {{{kSeries, kPage},
        {kSeries, R"({"timeSeries":[{"resource":{"labels":{"bucket_name":"b"}},"points":)" +
                      points + "}]}"}},
       Sending(sizes, std::string("p"), base::FromMillis(1'795'230'038'123))},
  };
}

std::vector<SideCall> BillingCalls() {
  BillingQuestion one{.table = "p.d.gcp_billing_export_v1_0",
                      .runs_in = "p",
                      .project = "q",
                      .from = base::FromMillis(1'795'230'038'123)};
  BillingQuestion all{.table = "p.d.t", .runs_in = "p", .by = BillingQuestion::By::kDay};
  const std::string rows =
      R"({"jobComplete":true,"totalRows":"1",)"
      R"("rows":[{"f":[{"v":"2026-01-31"},{"v":"TPU"},{"v":"1.5"},{"v":"EUR"}]}]})";
  const std::string runs =
      R"({"jobComplete":false,"jobReference":{"projectId":"p","jobId":"j","location":"EU"}})";
  return {
      {{{kQuery, rows}}, Sending(&EverySide::Ask, all)},
      {{{kQuery, runs}, {kResults, runs}, {kResults, rows}}, Sending(&EverySide::Ask, one)},
  };
}

std::vector<SideCall> SideCalls() {
  std::vector<SideCall> all = ComputeCalls();
  for (const auto& more : {LoginAndQuotaCalls(), BucketCalls(), BillingCalls()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

void CheckExchange(const http::Request& request, const SideAnswer& answer) {
  const std::string service = ServiceAt(request.url);
  ASSERT_NE(service, "") << request.url;
  const Sent sent = SentIn(request);
  const Verdict verdict = JudgeRequest(service, sent);
  EXPECT_EQ(verdict.id, answer.id) << sent.target;
  EXPECT_THAT(verdict.faults, testing::IsEmpty()) << sent.target << "\n" << sent.body;
  EXPECT_EQ(http::FindHeader(request.headers, "Content-Type").value_or(""),
            sent.body.empty() ? "" : "application/json");
  const Json reply = Json::parse(answer.body);
  const bool refused = answer.status >= 400;
  EXPECT_THAT(refused ? JudgeSideError(service, answer.status, reply)
                      : JudgeSideReply(service, answer.id, reply),
              testing::IsEmpty())
      << answer.body;
}

TEST(SideClientConformance, EveryMethodSendsAndReadsWhatTheDocumentHas) {
  std::set<std::string> called;
  for (const SideCall& call : SideCalls()) {
    test::Loop loop;
    EverySide side;
    for (const SideAnswer& answer : call.answers) side.script->Answer(answer.status, answer.body);
    call.send(loop, side);
    called.insert(side.called.begin(), side.called.end());
    const auto& requests = side.script->requests;
    ASSERT_EQ(requests.size(), call.answers.size()) << call.answers[0].id;
    for (std::size_t i = 0; i < requests.size(); ++i) CheckExchange(requests[i], call.answers[i]);
  }
  EXPECT_EQ(called, std::set<std::string>(EverySide::kNames.begin(), EverySide::kNames.end()));
}

}  // namespace
}  // namespace jobman::conformance
