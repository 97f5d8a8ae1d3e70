#include "jobman/http/curl_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <memory>
#include <thread>

#include "servers.hpp"

namespace jobman::http {
namespace {

using base::Code;
using base::Reason;
using testing::HasSubstr;

class HttpServer {
 public:
  HttpServer() {
    port_ = server.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() {
    server.stop();
    thread_.join();
  }
  std::string Url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

  httplib::Server server;

 private:
  int port_ = 0;
  std::thread thread_;
};

TEST(CurlTransport, SendsMethodHeadersAndBodyAndReturnsTheAnswer) {
  HttpServer peer;
  std::string seen;
  peer.server.Patch("/x", [&](const httplib::Request& request, httplib::Response& response) {
    seen = request.method + " " + request.get_header_value("X-Test") + " " + request.body + " " +
           request.get_param_value("q");
    response.set_header("X-Reply", "r");
    response.status = 202;
    response.set_content("done", "text/plain");
  });
  Client client;
  const auto answer = client.Send({.method = "PATCH",
                                   .url = peer.Url("/x?q=a%20b"),
                                   .headers = {{"X-Test", "1"}},
                                   .body = "hello"});
  ASSERT_TRUE(answer.ok()) << answer.error().ToString();
  EXPECT_EQ(answer->status, 202);
  EXPECT_EQ(answer->body, "done");
  EXPECT_EQ(FindHeader(answer->headers, "x-reply"), "r");
  EXPECT_EQ(seen, "PATCH 1 hello a b");
}

TEST(CurlTransport, AHeaderWithALineBreakIsNotSent) {
  HttpServer peer;
  bool asked = false;
  peer.server.Get("/x", [&](const httplib::Request&, httplib::Response&) { asked = true; });
  Client client;
  for (const char* value : {"payer\r\nX-Other: 1", "payer\n", "pay\x01"}) {
    const auto answer =
        client.Send({.url = peer.Url("/x"), .headers = {{"x-goog-user-project", value}}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, Code::kInvalidArgument);
    EXPECT_THAT(answer.error().message, HasSubstr("header x-goog-user-project"));
    EXPECT_EQ(answer.error().message.find("payer"), std::string::npos);
  }
  EXPECT_FALSE(asked);
}

TEST(CurlTransport, SendsADeleteWithoutABody) {
  HttpServer peer;
  std::string length = "none";
  peer.server.Delete("/x", [&](const httplib::Request& request, httplib::Response& response) {
    if (request.has_header("Content-Length")) length = request.get_header_value("Content-Length");
    response.set_content("{}", "application/json");
  });
  Client client;
  const auto answer = client.Send({.method = "DELETE", .url = peer.Url("/x")});
  ASSERT_TRUE(answer.ok()) << answer.error().ToString();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(length, "none");
}

TEST(CurlTransport, NamesItselfInTheUserAgent) {
  HttpServer peer;
  std::string agent;
  peer.server.Get("/", [&](const httplib::Request& request, httplib::Response&) {
    agent = request.get_header_value("User-Agent");
  });
  Client client;
  ASSERT_TRUE(client.Send({.url = peer.Url("/")}).ok());
  EXPECT_EQ(agent, DefaultUserAgent());
  EXPECT_THAT(agent, testing::StartsWith("jobman/"));
}

TEST(CurlTransport, ErrorStatusesAreAnswers) {
  HttpServer peer;
  Client client;
  const auto missing = client.Send({.url = peer.Url("/nothing")});
  ASSERT_TRUE(missing.ok()) << missing.error().ToString();
  EXPECT_EQ(missing->status, 404);
  peer.server.Get("/broken", [](const httplib::Request&, httplib::Response& response) {
    response.status = 503;
    response.set_header("Retry-After", "7");
  });
  const auto broken = client.Send({.url = peer.Url("/broken")});
  ASSERT_TRUE(broken.ok()) << broken.error().ToString();
  EXPECT_EQ(broken->status, 503);
  EXPECT_EQ(FindHeader(broken->headers, "Retry-After"), "7");
}

TEST(CurlTransport, DoesNotFollowRedirects) {
  HttpServer peer;
  peer.server.Get("/a", [](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("/b");
  });
  Client client;
  const auto answer = client.Send({.url = peer.Url("/a")});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 302);
}

TEST(CurlTransport, UnpacksGzip) {
  HttpServer peer;
  const std::string text(100'000, 'x');
  peer.server.Get("/", [&](const httplib::Request& request, httplib::Response& response) {
    EXPECT_THAT(request.get_header_value("Accept-Encoding"), HasSubstr("gzip"));
    response.set_content(text, "application/json");
  });
  Client client;
  const auto answer = client.Send({.url = peer.Url("/")});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(FindHeader(answer->headers, "content-encoding"), "gzip");
  EXPECT_EQ(answer->body, text);
}

TEST(CurlTransport, KeepsTheConnectionForTheNextRequest) {
  const std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  RawServer peer([&](int fd) {
    while (!RawServer::ReadHead(fd).empty()) RawServer::Write(fd, reply);
  });
  Client client;
  for (int i = 0; i < 5; ++i) {
    const auto answer = client.Send({.url = peer.Url()});
    ASSERT_TRUE(answer.ok()) << answer.error().ToString();
    EXPECT_EQ(answer->body, "ok");
  }
  EXPECT_EQ(peer.connections(), 1);
}

base::Task<bool> SendMany(Transport* transport, std::string url, int count) {
  int good = 0;
  auto one = [](Transport* to, std::string where, int* sum) -> base::Task<void> {
    Request request{.url = std::move(where)};
    const auto answer = co_await to->Send(std::move(request));
    if (answer.ok() && answer->status == 200) ++*sum;
  };
  int ended = 0;
  const auto executor = co_await asio::this_coro::executor;
  for (int i = 0; i < count; ++i) {
    base::Spawn(executor, one(transport, url, &good), [&ended](bool) { ++ended; });
  }
  while (ended < count) co_await base::Sleep(base::Duration{1});
  co_return good == count;
}

TEST(CurlTransport, CarriesManyRequestsAtOnceOverFewConnections) {
  HttpServer peer;
  peer.server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok", "text/plain");
  });
  Client client({.max_host_connections = 2});
  EXPECT_TRUE(base::RunTask(client.loop, SendMany(client.transport.get(), peer.Url("/"), 50)));
}

TEST(CurlTransport, RefusesAnInvalidUrl) {
  Client client;
  const auto answer = client.Send({.url = "tpu.googleapis.com/v2"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kInvalidArgument);
  EXPECT_THAT(answer.error().message, HasSubstr("tpu.googleapis.com/v2"));
}

TEST(CurlTransport, NamesHostPortAndCauseWhenNobodyListens) {
  int port = 0;
  {
    port = RawServer([](int) {}).port();
  }
  Client client;
  const auto answer =
      client.Send({.url = "http://127.0.0.1:" + std::to_string(port) + "/v2/x?key=secret"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_EQ(answer.error().reason, Reason::kUnreachable);
  EXPECT_EQ(answer.error().message,
            "no answer from 127.0.0.1 port " + std::to_string(port) + ": Connection refused");
}

}  // namespace
}  // namespace jobman::http
