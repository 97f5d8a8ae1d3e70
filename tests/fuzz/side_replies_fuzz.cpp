// What the services beside Cloud TPU may answer: Cloud Storage, Cloud Monitoring, Compute Engine,
// Service Usage, OS Login and BigQuery. Each gets the text as an answer and as a refusal.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "jobman/base/time.hpp"
#include "jobman/cloud/billing_api.hpp"
#include "jobman/cloud/bucket_list.hpp"
#include "jobman/cloud/compute_api.hpp"
#include "jobman/cloud/oslogin_api.hpp"
#include "jobman/cloud/quota_api.hpp"
#include "jobman/cloud/storage_api.hpp"
#include "tests/fuzz/expect.hpp"
#include "tests/support/fake_transport.hpp"

using namespace jobman;

namespace {

constexpr const char* kServer = "https://side.example";
const base::TimePoint kToday = base::FromMillis(1'767'268'800'000);

/// A service that answers so twice, as of a list with pages, and then not at all.
struct Service {
  int status = 200;
  std::string text = {};

  std::unique_ptr<http::Transport> Wire() const {
    auto script = std::make_shared<test::FakeTransport::Script>();
    for (int i = 0; i < 2; ++i) script->Answer(status, text);
    return std::make_unique<test::FakeTransport>(std::move(script));
  }
};

/// The result of a call, whose error says something.
template <class T>
base::Result<T> Run(base::Task<base::Result<T>> call) {
  test::Loop loop;
  base::Result<T> result = loop.Run(std::move(call));
  if (!result.ok()) {
    fuzz::Expect(result.error().code != base::Code::kOk, "an error is none that means well");
    fuzz::Expect(!result.error().message.empty(), "an error says something");
  }
  return result;
}

void AskStorage(const Service& service) {
  cloud::StorageApi storage(service.Wire(), kServer);
  const auto location = Run(storage.Location("data"));
  if (location.ok()) fuzz::Expect(!location->name.empty(), "a location has a name");
  cloud::BucketList list(service.Wire(), kServer);
  const auto buckets = Run(list.OfProject("lab"));
  if (buckets.ok()) {
    for (const auto& bucket : *buckets) fuzz::Expect(!bucket.name.empty(), "a bucket has a name");
  }
  cloud::BucketList one(service.Wire(), kServer);
  const auto bucket = Run(one.One("data"));
  if (bucket.ok()) fuzz::Expect(!bucket->name.empty(), "a bucket has a name");
}

void AskMonitoring(const Service& service) {
  cloud::BucketSizes sizes(service.Wire(), kServer);
  const auto found = Run(sizes.OfProject("lab", kToday));
  if (!found.ok()) return;
  for (const auto& [bucket, bytes] : *found)
    fuzz::Expect(!bucket.empty() && bytes >= 0, "a bucket holds something");
}

void AskCompute(const Service& service) {
  cloud::ComputeApi metadata(service.Wire(), kServer);
  (void)Run(metadata.Metadata("lab"));
  cloud::ComputeApi region(service.Wire(), kServer);
  const auto quotas = Run(region.Quotas("lab", "us-central2"));
  if (!quotas.ok()) return;
  for (const auto& quota : *quotas)
    fuzz::Expect(std::isfinite(quota.limit) && std::isfinite(quota.usage), "a quota is a number");
}

void AskQuota(const Service& service) {
  cloud::QuotaApi api(service.Wire(), kServer);
  const auto limits = Run(api.TpuLimits("lab"));
  if (!limits.ok()) return;
  for (const auto& one : *limits) {
    fuzz::Expect(!one.metric.empty(), "a limit is on something");
    fuzz::Expect(!one.limit || (!one.unlimited && *one.limit >= 0), "a limit is one, or none");
  }
}

void AskOsLogin(const Service& service, const std::string& account) {
  cloud::OsLoginApi api(
      service.Wire(),
      {.endpoint = kServer, .token_info = std::string(kServer) + "/tokeninfo", .account = account});
  const auto login =
      Run(api.ImportKey({.project = "lab", .line = "ssh-ed25519 AAAA made-up", .expires = kToday}));
  if (login.ok())
    fuzz::Expect(!login->account.empty() && !login->user.empty(), "somebody can log in");
}

void AskBigQuery(const Service& service) {
  cloud::BillingApi api(service.Wire(), kServer);
  const ports::BillingQuestion question{
      .table = "lab.bills.export", .runs_in = "lab", .from = kToday};
  const auto answer = Run(api.Ask(question));
  if (!answer.ok()) return;
  for (const auto& row : answer->rows)
    fuzz::Expect(!row.day.empty() && std::isfinite(row.cost), "a day cost so much");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const int status : {200, 403}) {
    const Service service{.status = status, .text = fuzz::Text(data, size)};
    AskStorage(service);
    AskMonitoring(service);
    AskCompute(service);
    AskQuota(service);
    AskOsLogin(service, "");
    AskOsLogin(service, "bot@lab.example");
    AskBigQuery(service);
  }
  return 0;
}
