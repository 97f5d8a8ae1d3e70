#include "tests/contract/slice_clouds.hpp"

#include <gtest/gtest.h>

#include "jobman/base/json.hpp"
#include "jobman/base/process.hpp"
#include "jobman/cloud/cloud.hpp"
#include "jobman/http/curl_transport.hpp"
#include "tests/support/fake_slice_api.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::test {

using base::Code;
using base::Json;
using base::Reason;
using std::chrono::milliseconds;

namespace {

class FakeCloud final : public SliceCloud {
 public:
  ports::SliceApi& slices() override { return api_; }
  ports::Catalog& catalog() override { return api_; }
  asio::io_context& loop() override { return loop_; }
  void Pass() override { clock_.Advance(milliseconds(100)); }

  void TakeTimeToCreate() override {}  // its clock stands still between two calls
  void SetStock(const std::string& type, int slices) override {
    api_.SetStock("us-central2-b", type, slices);
  }
  void Reserve(const std::map<std::string, int>& chips) override {
    for (const auto& [id, size] : chips) {
      core::ReservationSeen seen{.id = id, .state = "ACTIVE"};
      seen.unit = core::ReservationSeen::Unit::kChips;
      seen.size = size;
      api_.AddReservation("us-central2-b", seen);
    }
  }
  void ExhaustQuota() override {
    FailNextCall("quota", {.code = Code::kResourceExhausted, .reason = Reason::kQuota});
  }
  void FailNextCall(const std::string&, base::Error error) override {
    api_.AddFault({.call = "*", .error = std::move(error)});
  }
  void LoseNextReply() override {
    api_.AddFault({.call = "Create",
                   .error = {.code = Code::kUnavailable, .reason = Reason::kUnreachable},
                   .reply_lost = true});
  }
  void Preempt(const std::string& name) override { api_.Preempt(name); }
  void GiveUp(const std::string& queued) override {
    api_.FailQueued(queued, {.code = Code::kResourceExhausted, .reason = Reason::kStockout});
  }
  void PublishHostKeys(const std::string& node, int hosts) override {
    for (int host = 0; host < hosts; ++host) {
      api_.PublishHostKey(node, host, "ssh-ed25519", "AAAA" + std::to_string(host));
    }
  }
  void Vanish() override { api_.SetReachable(false); }
  std::map<std::string, std::string> MetadataOf(const core::SliceRef& node) override {
    for (const core::SliceRequest& request : api_.created()) {
      if (request.ref == node) return request.tpu.metadata;
    }
    return {};
  }

 private:
  asio::io_context loop_;
  FakeClock clock_;
  FakeSliceApi api_{clock_,
                    {.queue = milliseconds(50),
                     .provision = milliseconds(150),
                     .remove = milliseconds(50),
                     .zones = {{"us-central2-b", {"v4-8", "v4-32"}}, {"europe-west4-a", {}}}}};
};

class SimulatedCloud final : public SliceCloud {
 public:
  SimulatedCloud() {
    // Pages of two, so that longer listings need several.
    Sim({"up", "--detach", "--light", "--delays", "10ms", "--delay-create", "300ms", "--set",
         "page_size=2"});
    const auto file = base::ReadFile(dir_ / "sim.json");
    const auto described = base::ParseJson(file.value_or("{}"));
    endpoint_ = base::GetString(described.value_or(Json::object()), "endpoint");
    token_ = base::GetString(described.value_or(Json::object()), "token");
    auto wire = http::MakeCurlTransport(loop_.get_executor());
    // The first answer is tested, so without retries and rate limits.
    cloud::CloudOptions impatient{.token = token_, .retry = {.tries = 1}};
    impatient.rate =
        cloud::RatePolicy{.per_second = 1000, .burst = 1000, .penalty = milliseconds(1)};
    auto cloud = cloud::MakeCloud(loop_.get_executor(), {.endpoint = endpoint_}, impatient);
    if (!wire.ok() || !cloud.ok()) {
      ADD_FAILURE() << "no client: " << (wire.ok() ? cloud.error() : wire.error()).ToString();
      std::abort();
    }
    wire_ = std::move(wire).value();
    cloud_ = std::move(cloud).value();
  }
  ~SimulatedCloud() override {
    if (!gone_) Sim({"down"});
  }

  ports::SliceApi& slices() override { return cloud_->slices(); }
  ports::Catalog& catalog() override { return cloud_->catalog(); }
  asio::io_context& loop() override { return loop_; }
  void Pass() override { base::RunTask(loop_, base::Sleep(milliseconds(2))); }

  void TakeTimeToCreate() override {
    Order("PATCH", "/sim/settings", {{"delays", {{"create", "5s"}}}});
  }
  void SetStock(const std::string& type, int slices) override {
    const int chips = std::stoi(type.substr(type.find('-') + 1)) / 2;
    Order("PATCH", "/sim/settings", {{"stock", {{"us-central2-b/" + type, slices * chips}}}});
  }
  void Reserve(const std::map<std::string, int>& chips) override {
    Json reservations = Json::object();
    for (const auto& [id, size] : chips) reservations["us-central2-b/" + id] = size;
    Order("PATCH", "/sim/settings", {{"reservations", reservations}});
  }
  void ExhaustQuota() override {
    Order("PATCH", "/sim/settings", {{"quota", {{"us-central2-b/v4-spot", 4}}}});
  }
  void FailNextCall(const std::string& word, base::Error) override {
    Order("POST", "/sim/faults", {{"method", "*"}, {"error", word}});
  }
  void LoseNextReply() override {
    Order("POST", "/sim/faults", {{"method", "*.create"}, {"error", "drop_reply"}});
  }
  void Preempt(const std::string& name) override {
    Order("POST", "/sim/preempt", {{"node", name}, {"force", true}});
  }
  void GiveUp(const std::string& queued) override {
    Order("POST", "/sim/fail",
          {{"queuedResource", queued}, {"code", 8}, {"message", "There is no more capacity"}});
  }
  void PublishHostKeys(const std::string&, int) override {}
  void Vanish() override {
    Sim({"down"});
    gone_ = true;
  }
  std::map<std::string, std::string> MetadataOf(const core::SliceRef& node) override {
    const Json shown = Order("GET", "/v2/projects/" + node.place.project + "/locations/" +
                                        node.place.zone + "/nodes/" + node.name);
    return base::GetMember(shown, "metadata").get<std::map<std::string, std::string>>();
  }

 private:
  void Sim(std::vector<std::string> words) {
    words.insert(words.begin(), {JOBMAN_BIN_DIR "/jobman-sim", "--dir", dir_.path().string()});
    const auto ended = base::RunTask(loop_, base::RunProcess(words));
    if (!ended.ok()) {
      ADD_FAILURE() << ended.error().ToString();
    } else {
      EXPECT_EQ(ended->exit_code, 0) << ended->out << ended->err;
    }
  }
  Json Order(const std::string& method, const std::string& path, const Json& body = {}) {
    http::Request request{.method = method, .url = endpoint_ + path};
    request.headers = {{"Authorization", "Bearer " + token_}, {"Content-Type", "application/json"}};
    if (!body.is_null()) request.body = body.dump();
    const auto answer = base::RunTask(loop_, wire_->Send(request));
    if (!answer.ok()) {
      ADD_FAILURE() << method << " " << path << ": " << answer.error().ToString();
      return {};
    }
    EXPECT_EQ(answer->status, 200) << method << " " << path << ": " << answer->body;
    return base::ParseJson(answer->body).value_or(Json());
  }

  TempDir dir_;
  bool gone_ = false;
  asio::io_context loop_;
  std::string endpoint_ = {};
  std::string token_ = {};
  std::unique_ptr<http::Transport> wire_ = {};
  std::unique_ptr<cloud::Cloud> cloud_ = {};
};

}  // namespace

std::unique_ptr<SliceCloud> MakeFakeCloud() {
  return std::make_unique<FakeCloud>();
}

std::unique_ptr<SliceCloud> MakeSimulatedCloud() {
  return std::make_unique<SimulatedCloud>();
}

}  // namespace jobman::test
