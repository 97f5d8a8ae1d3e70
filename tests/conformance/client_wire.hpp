#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobman/cloud/tpu_api.hpp"
#include "tests/conformance/discovery.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::conformance {

inline constexpr const char* kOperationReply =
    R"({"name":"projects/p/locations/us-central2-b/operations/operation-1"})";

/// The client, with its requests kept and its answers from a list.
class Client {
 public:
  void Answer(std::string body, int status = 200) { script_->Answer(status, std::move(body)); }
  template <class T>
  T Run(base::Task<T> task) {
    return loop_.Run(std::move(task));
  }
  cloud::TpuApi& api() { return api_; }

  const std::vector<http::Request>& requests() const { return script_->requests; }
  std::vector<Sent> sent() const {
    std::vector<Sent> all;
    for (const http::Request& request : requests()) {
      all.push_back({.method = request.method,
                     .target = request.url.substr(std::string(kEndpoint).size()),
                     .body = request.body});
    }
    return all;
  }

 private:
  static constexpr const char* kEndpoint = "https://tpu.googleapis.com";
  test::Loop loop_ = {};
  std::shared_ptr<test::FakeTransport::Script> script_ =
      std::make_shared<test::FakeTransport::Script>();
  test::FakeClock clock_ = {};
  cloud::TpuApi api_{std::make_unique<test::FakeTransport>(script_), kEndpoint, clock_};
};

/// What the client sends to create a slice.
inline Sent CreateCall(const core::SliceRequest& request) {
  Client client;
  client.Answer(kOperationReply);
  EXPECT_TRUE(client.Run(client.api().Create(request)).ok());
  return client.sent().at(0);
}

/// With what every request has, and no more.
inline core::SliceRequest PlainRequest(core::AllocationMode mode, const std::string& name,
                                       const std::string& accelerator = "v4-8",
                                       const std::string& version = "tpu-ubuntu2204-base") {
  core::SliceRequest request;
  request.ref.mode = mode;
  request.ref.place = {.project = "p", .zone = "us-central2-b"};
  request.ref.name = name;
  request.tpu.accelerator = accelerator;
  request.tpu.version = version;
  return request;
}

/// A request by its parts: "/method", "/path", "/query/nodeId", "/body/networkConfig/network".
using Parts = std::map<std::string, std::string>;

/// An empty object or list is a part of its own, with the value null.
inline Parts PartsOf(const Sent& sent) {
  const std::size_t question = std::min(sent.target.find('?'), sent.target.size());
  Json whole = {{"method", sent.method}, {"path", sent.target.substr(0, question)}};
  std::string query = sent.target.substr(std::min(question + 1, sent.target.size()));
  for (std::size_t end = 0; !query.empty(); query.erase(0, end)) {
    end = std::min(query.find('&'), query.size());
    const std::string pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    whole["query"][PercentDecoded(pair.substr(0, equals))] =
        PercentDecoded(pair.substr(std::min(equals + 1, pair.size())));
    end = std::min(end + 1, query.size());
  }
  if (!sent.body.empty()) whole["body"] = Json::parse(sent.body, nullptr, false);
  Parts parts;
  const Json flat = whole.flatten();
  for (const auto& [part, value] : flat.items()) {
    parts[part] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return parts;
}

/// Whether `parts` has a part inside this one.
inline bool HasInside(const Parts& parts, const std::string& part) {
  const auto next = parts.lower_bound(part + "/");
  return next != parts.end() && next->first.starts_with(part + "/");
}

/// The parts that are new or have another value, and with a "-" before them those that are gone. An
/// object that was empty and now has members is not gone. Without requestId, which follows from the
/// rest.
inline std::set<std::string> Changes(const Parts& before, const Parts& after) {
  std::set<std::string> changes;
  for (const auto& [part, value] : after) {
    const auto old = before.find(part);
    if (old == before.end() || old->second != value) changes.insert(part);
  }
  for (const auto& [part, value] : before) {
    if (!after.contains(part) && !HasInside(after, part)) changes.insert("-" + part);
  }
  changes.erase("/query/requestId");
  return changes;
}

}  // namespace jobman::conformance
