// An endpoint that is hostile or broken, while there is a token: over the transport that the
// program uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "jobman/cloud/cloud.hpp"
#include "jobman/cloud/storage_api.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/unit/http/servers.hpp"

namespace jobman::cloud {
namespace {

using http::RawServer;
using test::Loop;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTokenSent = "ya29.made-up-access-token";

/// Answers each request with this head and body, and counts those that have the token.
RawServer::Handler SayingTo(std::atomic<int>* with_token, const std::string& status_and_fields,
                            const std::string& body) {
  return [with_token, status_and_fields, body](int fd) {
    const std::string head = RawServer::ReadHead(fd);
    if (head.find(std::string("Authorization: Bearer ") + kTokenSent) != std::string::npos)
      ++*with_token;
    RawServer::Write(fd, "HTTP/1.1 " + status_and_fields + "\r\nConnection: close\r\n" +
                             "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  };
}

constexpr std::size_t k100Megabytes = 100'000'000;

/// Answers with a body of this size, as far as the client takes it, and counts the bytes that it
/// took.
RawServer::Handler Pouring(std::atomic<std::size_t>* taken, const std::string& fields,
                           std::size_t size) {
  return [taken, fields, size](int fd) {
    RawServer::ReadHead(fd);
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n" + fields + "\r\n");
    const std::string chunk(std::size_t{1} << 20U, ' ');
    for (std::size_t left = size; left > 0;) {
      const ssize_t sent = ::send(fd, chunk.data(), std::min(left, chunk.size()), MSG_NOSIGNAL);
      if (sent <= 0) return;
      *taken += static_cast<std::size_t>(sent);
      left -= static_cast<std::size_t>(sent);
    }
  };
}

class HostileApi : public testing::Test {
 protected:
  /// What comes of a listing of nodes.
  base::Error ListAt(const RawServer& server) {
    Loop loop;
    CloudOptions options{.env = Environment()};
    options.retry.tries = 1;
    const auto cloud =
        MakeCloud(loop.context.get_executor(), {.endpoint = server.Url("")}, options);
    if (!cloud.ok()) return cloud.error();
    const core::Place place{.project = "lab", .zone = "z"};
    const auto nodes = loop.Run((*cloud)->slices().ListNodes(place));
    return nodes.ok() ? base::Error{.code = base::Code::kOk, .message = "nodes"} : nodes.error();
  }
  /// What comes of a look for a bucket.
  base::Error LookAt(const RawServer& server) {
    Loop loop;
    const auto buckets = MakeBuckets(loop.context.get_executor(), {.endpoint = server.Url("")},
                                     Environment(server.Url("")));
    if (!buckets.ok()) return buckets.error();
    const auto found = loop.Run((*buckets)->Location("data"));
    return found.ok() ? base::Error{.code = base::Code::kOk, .message = "a place"} : found.error();
  }

  std::atomic<int> sent = 0;    ///< tokens that the endpoint got
  std::atomic<int> stolen = 0;  ///< and that went elsewhere

 private:
  static auth::Env Environment(const std::string& storage = {}) {
    return [storage](const std::string& name) -> std::optional<std::string> {
      if (name == "GOOGLE_OAUTH_ACCESS_TOKEN") return kTokenSent;
      if (name == "JOBMAN_STORAGE_ENDPOINT" && !storage.empty()) return storage;
      return std::nullopt;
    };
  }
};

TEST_F(HostileApi, ARedirectDoesNotTakeTheTokenToAnotherHost) {
  for (const char* status : {"301 Moved", "302 Found", "303 See", "307 Stay", "308 Stay"}) {
    SCOPED_TRACE(status);
    RawServer thief(SayingTo(&stolen, "200 OK", "{}"));
    const std::string port = std::to_string(thief.port());
    for (const std::string& place :
         {thief.Url("/v2/"), "http://localhost:" + port + "/v2/", "//localhost:" + port + "/"}) {
      RawServer server(SayingTo(&sent, std::string(status) + "\r\nLocation: " + place, ""));
      for (const base::Error& error : {ListAt(server), LookAt(server)}) {
        EXPECT_NE(error.code, base::Code::kOk) << place;
        EXPECT_THAT(error.ToString() + error.hint, Not(HasSubstr(kTokenSent)));
      }
    }
    EXPECT_EQ(thief.connections(), 0);
  }
  EXPECT_GE(sent, 30) << "the endpoint itself gets the token";
  EXPECT_EQ(stolen, 0);
}

TEST_F(HostileApi, BrokenGzipIsNoAnswer) {
  RawServer server(
      SayingTo(&sent, "200 OK\r\nContent-Encoding: gzip", "\x1f\x8b\x08 this is no gzip"));
  for (const base::Error& error : {ListAt(server), LookAt(server)}) {
    EXPECT_EQ(error.code, base::Code::kUnavailable) << error.message;
    EXPECT_THAT(error.message, Not(HasSubstr(kTokenSent)));
  }
}

/// libcurl takes what was unpacked until then for the whole.
TEST_F(HostileApi, GzipThatEndsTooSoonIsNoEmptyList) {
  // The beginning of what gzip makes of {"nodes": []}: a header alone, and some letters.
  const std::string whole("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\x56\xca\xcb", 14);
  for (const std::size_t size : {10U, 14U}) {
    RawServer server(SayingTo(&sent, "200 OK\r\nContent-Encoding: gzip", whole.substr(0, size)));
    EXPECT_EQ(ListAt(server).code, base::Code::kUnavailable) << size;
  }
}

TEST_F(HostileApi, ABodyOf100MegabytesIsCutOff) {
  std::atomic<std::size_t> taken = 0;
  RawServer server(
      Pouring(&taken, "Content-Length: " + std::to_string(k100Megabytes) + "\r\n", k100Megabytes));
  for (const base::Error& error : {ListAt(server), LookAt(server)}) {
    EXPECT_NE(error.code, base::Code::kOk);
    EXPECT_THAT(error.message, HasSubstr("the answer is larger than 64 MiB"));
    EXPECT_THAT(error.ToString() + error.hint, Not(HasSubstr(kTokenSent)));
  }
}

TEST_F(HostileApi, OfAnEndlessBodyNoMoreIsTakenThanTheLimit) {
  std::atomic<std::size_t> taken = 0;
  {
    RawServer server(Pouring(&taken, "", 100 * k100Megabytes));
    EXPECT_THAT(ListAt(server).message, HasSubstr("the answer is larger than 64 MiB"));
  }
  // The limit, and what the system's buffers hold.
  EXPECT_LT(taken, k100Megabytes);
}

TEST_F(HostileApi, APageOfAPortalIsNoAnswer) {
  RawServer server(SayingTo(&sent, "200 OK\r\nContent-Type: text/html; charset=utf-8",
                            "<!doctype html><html><body>Please log in</body></html>"));
  const base::Error listed = ListAt(server);
  EXPECT_THAT(listed.message, HasSubstr("did not answer like the Cloud TPU API"));
  EXPECT_THAT(listed.hint, HasSubstr("a login page may have answered"));
  for (const base::Error& error : {listed, LookAt(server)}) {
    EXPECT_EQ(error.code, base::Code::kUnavailable) << error.message;
    EXPECT_THAT(error.ToString() + error.hint, Not(HasSubstr("Please log in")));
  }
}

TEST_F(HostileApi, TheBodyCountsNotItsType) {
  RawServer server(SayingTo(&sent, "200 OK\r\nContent-Type: text/html", R"({"nodes": []})"));
  EXPECT_EQ(ListAt(server).message, "nodes");
}

}  // namespace
}  // namespace jobman::cloud
