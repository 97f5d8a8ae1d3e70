// quota: which limits become rows, who holds what, and what remains when a service refuses.
#include "jobman/client/quota.hpp"

#include <gmock/gmock.h>

#include "client/quota_rows.hpp"
#include "jobman/base/files.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using ports::TpuLimit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Scope = TpuLimit::Scope;

constexpr const char* kV4Spot = "tpu.googleapis.com/tpu-v4s-preemptible";
constexpr const char* kV4 = "tpu.googleapis.com/tpu-v4s";

/// "WHERE LIMIT HELD BY": one line for each row.
std::vector<std::string> Lines(const std::vector<QuotaRow>& rows) {
  std::vector<std::string> lines;
  for (const QuotaRow& row : rows) {
    std::string limit = row.limit.limit ? std::to_string(*row.limit.limit) : "?";
    if (row.limit.unlimited) limit = "none";
    std::string line = row.counts ? core::TextOf(*row.counts) + " " : row.limit.metric + " ";
    line += row.limit.location + " " + limit;
    line += row.held ? " " + std::to_string(*row.held) : " -";
    for (const QuotaHolder& holder : row.holders) line += " " + holder.node;
    lines.push_back(line);
  }
  return lines;
}

TpuLimit InZone(const std::string& metric, const std::string& zone, std::int64_t limit) {
  return {.metric = metric, .scope = Scope::kZone, .location = zone, .limit = limit};
}

QuotaHolder Node(const std::string& name, const std::string& type, core::Pricing pricing) {
  return {.node = name, .zone = "us-central2-b", .type = type, .pricing = pricing};
}

class QuotaRowsTest : public testing::Test {
 protected:
  std::vector<std::string> Rows() {
    const QuotaRows made = MakeQuotaRows(seen_, query_);
    left_out_ = made.left_out;
    return Lines(made.rows);
  }

  QuotaSeen seen_ = {.holders = std::vector<QuotaHolder>{}};
  QuotaQuery query_ = {};
  int left_out_ = 0;
};

TEST_F(QuotaRowsTest, LimitsOfZeroAreLeftOutUnlessAskedFor) {
  seen_.limits = {InZone(kV4, "us-central2-b", 0), InZone(kV4Spot, "us-central2-b", 32)};
  EXPECT_THAT(Rows(), ElementsAre("v4 us-central2-b 32 0"));
  EXPECT_EQ(left_out_, 1);
  query_.zones = {"us-central2-b"};
  EXPECT_THAT(Rows(), ElementsAre("v4 us-central2-b 32 0", "v4 us-central2-b 0 0"));
  query_.zones = {"europe-west4-a"};
  EXPECT_THAT(Rows(), IsEmpty());
  query_ = {.all = true};
  EXPECT_EQ(Rows().size(), 2U);
}

TEST_F(QuotaRowsTest, ALimitThatIsNotSaidIsNoZero) {
  TpuLimit silent = InZone(kV4, "us-central2-b", 0);
  silent.limit = std::nullopt;
  seen_.limits = {silent};
  query_.all = true;
  EXPECT_THAT(Rows(), ElementsAre("v4 us-central2-b ? 0"));
}

TEST_F(QuotaRowsTest, NodesAreCountedInTheirZoneByTypeAndPricing) {
  seen_.limits = {InZone(kV4, "us-central2-b", 64), InZone(kV4Spot, "us-central2-b", 32),
                  InZone(kV4Spot, "europe-west4-a", 32)};
  seen_.holders = {Node("a", "v4-8", core::Pricing::kSpot),
                   Node("b", "v4-16", core::Pricing::kSpot),
                   Node("c", "v4-32", core::Pricing::kOnDemand)};
  EXPECT_THAT(Rows(), ElementsAre("v4 europe-west4-a 32 0", "v4 us-central2-b 32 24 a b",
                                  "v4 us-central2-b 64 32 c"));
}

TEST_F(QuotaRowsTest, WhatIsHeldWithoutAKnownLimitHasRows) {
  seen_.holders = {Node("a", "v4-8", core::Pricing::kSpot), Node("b", "v4-8", core::Pricing::kSpot),
                   Node("c", "v99-1", core::Pricing::kOnDemand)};
  EXPECT_THAT(Rows(), ElementsAre("v4 us-central2-b ? 16 a b", "v99-1 us-central2-b ? - c"));
}

TEST_F(QuotaRowsTest, TheGeneralLimitIsForPlacesWithoutTheirOwn) {
  const TpuLimit general{.metric = kV4Spot,
                         .scope = Scope::kZone,
                         .limit = 8,
                         .locations = {"us-central2-b", "europe-west4-a", "us-east1-d"}};
  seen_.limits = {general, InZone(kV4Spot, "europe-west4-a", 0)};
  seen_.holders = {Node("a", "v4-8", core::Pricing::kSpot)};
  EXPECT_THAT(Rows(), ElementsAre("v4  8 -", "v4 us-central2-b 8 8 a"));
  const auto rows = MakeQuotaRows(seen_, query_).rows;
  EXPECT_THAT(rows[0].limit.locations, ElementsAre("us-east1-d"));
  query_.zones = {"us-east1-d"};
  EXPECT_THAT(Rows(), ElementsAre("v4 us-east1-d 8 0"));
  query_.zones = {"europe-west4-a"};
  EXPECT_THAT(Rows(), ElementsAre("v4 europe-west4-a 0 0"));
}

TEST_F(QuotaRowsTest, ARegionHasWhatItsZonesHold) {
  TpuLimit region = InZone(kV4Spot, "us-central2", 8);
  region.scope = Scope::kRegion;
  seen_.limits = {region};
  seen_.holders = {Node("a", "v4-8", core::Pricing::kSpot)};
  EXPECT_THAT(Rows(), ElementsAre("v4 us-central2 8 8 a"));
  seen_.limits[0].limit = std::nullopt;
  seen_.limits[0].unlimited = true;
  EXPECT_THAT(Rows(), ElementsAre("v4 us-central2-b ? 8 a")) << "no limit says nothing";
  EXPECT_EQ(left_out_, 1);
}

TEST_F(QuotaRowsTest, AZoneWithoutALimitIsShownWhereSomethingIsHeld) {
  TpuLimit general{.metric = kV4Spot, .scope = Scope::kZone, .unlimited = true};
  seen_.limits = {general};
  EXPECT_THAT(Rows(), IsEmpty());
  seen_.holders = {Node("a", "v4-8", core::Pricing::kSpot)};
  EXPECT_THAT(Rows(), ElementsAre("v4 us-central2-b none 8 a"));
}

TEST_F(QuotaRowsTest, OfAnUnknownMetricNothingIsCounted) {
  seen_.limits = {InZone("tpu.googleapis.com/tpu-odd", "us-central2-b", 8)};
  EXPECT_THAT(Rows(), ElementsAre("tpu.googleapis.com/tpu-odd us-central2-b 8 -"));
  seen_.holders = std::nullopt;
  seen_.limits.push_back(InZone(kV4, "us-central2-b", 8));
  EXPECT_EQ(Rows()[1], "v4 us-central2-b 8 -") << "nothing is known, which is not 0";
}

/// Says what a test has written down.
class WrittenQuota final : public ports::QuotaApi {
 public:
  base::Task<base::Result<std::vector<TpuLimit>>> TpuLimits(std::string /*project*/) override {
    co_return limits;
  }
  base::Result<std::vector<TpuLimit>> limits = std::vector<TpuLimit>{};
};

class WrittenRegions final : public ports::ProjectApi {
 public:
  using Metadatas = std::map<std::string, std::string>;
  base::Task<base::Result<Metadatas>> Metadata(std::string /*project*/) override {
    co_return Metadatas{};
  }
  base::Task<base::Result<std::vector<ports::RegionQuota>>> Quotas(std::string /*project*/,
                                                                   std::string region) override {
    asked.push_back(region);
    co_return quotas;
  }
  base::Result<std::vector<ports::RegionQuota>> quotas = std::vector<ports::RegionQuota>{
      {.metric = "CPUS"}, {.metric = "IN_USE_ADDRESSES", .limit = 8, .usage = 3}};
  std::vector<std::string> asked = {};
};

base::Error Denied() {
  return {.code = base::Code::kPermissionDenied, .message = "no serviceusage.quotas.get"};
}

class QuotaTest : public test::ClientWorld {
 protected:
  QuotaAnswer Ask() {
    client::Context context = Context();
    context.open_quotas = [this](const asio::any_io_executor&, const core::CloudSpec&)
        -> base::Result<std::shared_ptr<ports::QuotaApi>> { return quota_; };
    context.open_projects = [this](const asio::any_io_executor&, const core::CloudSpec&)
        -> base::Result<std::shared_ptr<ports::ProjectApi>> { return regions_; };
    return Await(AskQuota(context, query_));
  }

  QuotaQuery query_ = {.project = "lab"};
  std::shared_ptr<WrittenQuota> quota_ = std::make_shared<WrittenQuota>();
  std::shared_ptr<WrittenRegions> regions_ = std::make_shared<WrittenRegions>();
};

TEST_F(QuotaTest, NodesOfJobsAndOfOthersAreNamed) {
  core::Job job = Put(test::JobBuilder().Build());
  job.user = base::UserName();
  cloud_.AddNode({.id = "train-1",
                  .zone = "us-central2-b",
                  .accelerator = "v4-8",
                  .labels = core::OwnerLabels(job, *store_.StoreId()),
                  .spot = true});
  cloud_.AddNode({.id = "other",
                  .zone = "us-central2-b",
                  .accelerator = "v4-16",
                  .labels = core::OwnerLabels(job, "another store"),
                  .spot = true});
  quota_->limits = std::vector<TpuLimit>{InZone(kV4Spot, "us-central2-b", 32)};
  const QuotaAnswer answer = Ask();
  ASSERT_THAT(Lines(answer.tpus), ElementsAre("v4 us-central2-b 32 24 other train-1"));
  EXPECT_EQ(answer.tpus[0].holders[0].job, std::nullopt);
  EXPECT_EQ(answer.tpus[0].holders[1].job, job.id);
  ASSERT_EQ(answer.addresses.size(), 1U);
  EXPECT_EQ(answer.addresses[0].region, "us-central2");
  EXPECT_EQ(answer.addresses[0].quota->limit, 8);
  EXPECT_THAT(regions_->asked, ElementsAre("us-central2"));
}

TEST_F(QuotaTest, AFlexStartJobsNodesTakeThePreemptibleQuota) {
  core::Job job = test::JobBuilder().Build();
  job.spec.tpu.pricing = core::Pricing::kFlexStart;
  job = Put(job);
  job.user = base::UserName();
  cloud_.AddNode({.id = "train-1",
                  .zone = "us-central2-b",
                  .accelerator = "v4-8",
                  .labels = core::OwnerLabels(job, *store_.StoreId())});
  cloud_.AddNode({.id = "other", .zone = "us-central2-b", .accelerator = "v4-16"});
  quota_->limits =
      std::vector<TpuLimit>{InZone(kV4Spot, "us-central2-b", 32), InZone(kV4, "us-central2-b", 64)};
  EXPECT_THAT(Lines(Ask().tpus),
              ElementsAre("v4 us-central2-b 32 8 train-1", "v4 us-central2-b 64 16 other"));
}

TEST_F(QuotaTest, WhatOneServiceRefusesLeavesTheOthersRows) {
  quota_->limits = Denied();
  cloud_.AddNode({.id = "a", .zone = "us-central2-b", .accelerator = "v4-8"});
  QuotaAnswer answer = Ask();
  EXPECT_THAT(Lines(answer.tpus), ElementsAre("v4 us-central2-b ? 8 a"));
  ASSERT_TRUE(answer.no_limits);
  EXPECT_THAT(answer.no_limits->hint, HasSubstr("roles/serviceusage.serviceUsageViewer"));
  EXPECT_THAT(answer.no_limits->hint,
              HasSubstr("apis/library/serviceusage.googleapis.com?project=lab"));
  EXPECT_TRUE(answer.addresses.at(0).quota);

  quota_->limits = std::vector<TpuLimit>{InZone(kV4, "us-central2-b", 32)};
  cloud_.SetReachable(false);
  regions_->quotas = Denied();
  answer = Ask();
  EXPECT_THAT(Lines(answer.tpus), ElementsAre("v4 us-central2-b 32 -"));
  EXPECT_TRUE(answer.no_nodes);
  EXPECT_THAT(answer.addresses.at(0).refused->hint, HasSubstr("compute.googleapis.com"));
}

TEST_F(QuotaTest, ACloudWithoutTheServicesHasWhatItsNodesTake) {
  quota_ = nullptr;
  regions_ = nullptr;
  const QuotaAnswer answer = Ask();
  EXPECT_EQ(answer.no_limits->message, "this cloud has no Service Usage");
  EXPECT_THAT(answer.addresses, IsEmpty());
}

TEST_F(QuotaTest, OnlyRegionsOfNamedZonesAreAsked) {
  query_.zones = {"europe-west4-a", "europe-west4-b"};
  quota_->limits = std::vector<TpuLimit>{InZone(kV4, "us-central2-b", 32)};
  EXPECT_THAT(Ask().tpus, IsEmpty());
  EXPECT_THAT(regions_->asked, ElementsAre("europe-west4"));
  query_.addresses = false;
  EXPECT_THAT(Ask().addresses, IsEmpty());
}

}  // namespace
}  // namespace jobman::client
