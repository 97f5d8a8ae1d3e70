// A job from its start to its end, and every reply of the simulator held against the API's schema:
// those that jobman gets, and what every other version says to the same question.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <mutex>

#include "jobman/base/strings.hpp"
#include "sim/wire/http_server.hpp"
#include "tests/e2e/place.hpp"
#include "tests/support/reply_check.hpp"

namespace jobman::test {
namespace {

/// A proxy in front of a simulator that checks every reply.
class CheckingProxy {
 public:
  CheckingProxy(std::string target, std::string token)
      : target_(std::move(target)), token_(std::move(token)) {
    auto bound = sim::HttpServer::Bind(0);
    if (!bound.ok()) return;
    server_ = std::move(bound).value();
    server_->Serve(sim::Gate(token_),
                   [this](const sim::Request& request) { return Pass(request); });
  }
  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  std::string wrong() {
    const std::lock_guard lock(mutex_);
    return wrong_;
  }
  int checked() const { return checked_; }

 private:
  sim::Reply Pass(const sim::Request& request) {
    sim::Reply reply = Ask(request);
    if (request.method != "GET" || !request.path.starts_with("/v2/")) return reply;
    for (const char* version : {"/v1/", "/v2alpha1/"}) {
      sim::Request other = request;
      other.path = version + request.path.substr(std::string("/v2/").size());
      Ask(other);
    }
    return reply;
  }
  sim::Reply Ask(const sim::Request& request) {
    httplib::Client client(target_);
    httplib::Request out;
    out.method = request.method;
    out.path = httplib::append_query_params(
        request.path, httplib::Params(request.query.begin(), request.query.end()));
    out.body = request.body;
    out.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + token_}};
    const auto result = client.send(out);
    if (!result) return {.lost = true};
    sim::Reply reply{.status = result->status,
                     .body = sim::ParseJson(result->body).value_or(sim::Json())};
    const std::string wrong = sim::WrongReply(request, reply);
    ++checked_;
    const std::lock_guard lock(mutex_);
    if (!wrong.empty()) wrong_ += request.method + " " + request.path + ": " + wrong;
    return reply;
  }

  std::string target_;
  std::string token_;
  std::unique_ptr<sim::HttpServer> server_ = {};
  std::atomic<int> checked_ = 0;
  std::mutex mutex_ = {};
  std::string wrong_ = {};
};

void RunThrough(const std::vector<std::string>& how) {
  Place place;
  place.StartSim({"--delays", "100ms"});
  const auto file = base::ParseJson(base::ReadFile(place.home() / "sim" / "sim.json").value());
  CheckingProxy proxy(place.SimEndpoint(), base::GetString(*file, "token"));
  const std::string ssh = "ssh: {port: " + std::to_string(base::GetInt(*file, "ssh_port")) + "}\n";
  std::vector<std::string> run = {
      "--endpoint", proxy.endpoint(),
      "run",        place.JobFile("job", 2, "echo here", ssh),
      "--set",      "tpu.project=sim",
      "--set",      "cloud.token_file=" + place.SimTokenFile().string()};
  run.insert(run.end(), how.begin(), how.end());
  const Ran ran = place.Jobman(run);
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_EQ(place.Jobman({"delete", "job", "--wait"}).code, 0);
  EXPECT_EQ(proxy.wrong(), "");
  EXPECT_GT(proxy.checked(), 10);
}

TEST(Replies, FollowTheSchemaForAQueuedSlice) {
  RunThrough({});
}

TEST(Replies, FollowTheSchemaForADirectNode) {
  RunThrough({"--set", "tpu.allocation_mode=tpu-vm"});
}

}  // namespace
}  // namespace jobman::test
