// CurlTransport against servers that misbehave.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <asio/steady_timer.hpp>

#include "servers.hpp"

namespace jobman::http {
namespace {

using base::Code;
using base::Duration;
using base::Reason;
using testing::HasSubstr;

base::Error ErrorOf(RawServer& peer, CurlOptions options = {},
                    Duration timeout = std::chrono::seconds{20}) {
  Client client(std::move(options));
  auto answer = client.Send({.url = peer.Url(), .timeout = timeout});
  if (answer.ok()) return {.code = Code::kOk, .message = "it was an answer: " + answer->body};
  return answer.error();
}

TEST(HostileServer, ThatClosesAtOnceIsUnreachable) {
  RawServer peer([](int fd) { RawServer::ReadHead(fd); });
  const base::Error error = ErrorOf(peer);
  EXPECT_EQ(error.code, Code::kUnavailable);
  EXPECT_EQ(error.reason, Reason::kUnreachable);
  EXPECT_THAT(error.message, HasSubstr("127.0.0.1 port " + std::to_string(peer.port())));
}

TEST(HostileServer, ThatClosesMidBodyIsUnreachableNotAShortAnswer) {
  RawServer peer([](int fd) {
    RawServer::ReadHead(fd);
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"nodes\":[");
  });
  const base::Error error = ErrorOf(peer);
  EXPECT_EQ(error.code, Code::kUnavailable);
  EXPECT_EQ(error.reason, Reason::kUnreachable);
}

/// What a metadata server of the machine says is not for a proxy of the network.
TEST(CurlTransport, ADirectRequestDoesNotGoThroughTheProxyOfTheEnvironment) {
  RawServer proxy([](int fd) {
    RawServer::ReadHead(fd);
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  ::setenv("http_proxy", proxy.Url("").c_str(), 1);
  Client client;
  const std::string url = "http://metadata.invalid/token";
  EXPECT_TRUE(client.Send({.url = url}).ok());
  EXPECT_FALSE(client.Send({.url = url, .timeout = std::chrono::seconds{5}, .direct = true}).ok());
  EXPECT_EQ(proxy.connections(), 1);
  ::unsetenv("http_proxy");
}

TEST(HostileServer, ThatSendsGarbageIsUnreachable) {
  RawServer peer([](int fd) {
    RawServer::ReadHead(fd);
    RawServer::Write(fd, "SSH-2.0-OpenSSH_9.2\r\nwhat do you want\r\n");
  });
  EXPECT_EQ(ErrorOf(peer).reason, Reason::kUnreachable);
}

TEST(HostileServer, ThatNeverAnswersRunsIntoTheDeadline) {
  RawServer peer([](int fd) { RawServer::WaitForEnd(fd); });
  const base::Error error = ErrorOf(peer, {}, Duration{50});
  EXPECT_EQ(error.code, Code::kDeadlineExceeded);
  EXPECT_THAT(error.message, HasSubstr("127.0.0.1 port"));
}

TEST(HostileServer, ThatDripsItsBodyRunsIntoTheDeadline) {
  RawServer peer([](int fd) {
    RawServer::ReadHead(fd);
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx");
    RawServer::WaitForEnd(fd);
  });
  EXPECT_EQ(ErrorOf(peer, {}, Duration{50}).code, Code::kDeadlineExceeded);
}

TEST(HostileServer, WithHugeHeadersIsCutOff) {
  RawServer peer([](int fd) {
    RawServer::ReadHead(fd);
    std::string head = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 500; ++i)
      head += "X-" + std::to_string(i) + ": " + std::string(1000, 'h') + "\r\n";
    RawServer::Write(fd, head + "\r\n");
  });
  const base::Error error = ErrorOf(peer);
  EXPECT_EQ(error.code, Code::kOutOfRange);
  EXPECT_THAT(error.message, HasSubstr("256 KiB of headers"));
}

TEST(HostileServer, WithAnEndlessBodyIsCutOff) {
  RawServer peer([](int fd) {
    RawServer::ReadHead(fd);
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\n\r\n");
    const std::string chunk(1U << 16U, 'x');
    for (int i = 0; i < 100; ++i) RawServer::Write(fd, chunk);
  });
  const base::Error error = ErrorOf(peer, {.max_response_bytes = std::size_t{1} << 20U});
  EXPECT_EQ(error.code, Code::kOutOfRange);
  EXPECT_THAT(error.message, HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(error.hint, HasSubstr("a proxy (HTTPS_PROXY) or another endpoint"));
}

TEST(HostileServer, WithBrokenGzipGivesNoAnswer) {
  for (const char* body : {"\x1f\x8b\x08 this is no gzip", "plain text"}) {
    RawServer peer([body](int fd) {
      RawServer::ReadHead(fd);
      RawServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                               std::to_string(std::strlen(body)) + "\r\n\r\n" + body);
    });
    const base::Error error = ErrorOf(peer);
    EXPECT_EQ(error.code, Code::kUnavailable) << body << ": " << error.message;
    EXPECT_EQ(error.reason, Reason::kUnreachable);
    EXPECT_THAT(error.message, HasSubstr("127.0.0.1 port " + std::to_string(peer.port())));
  }
}

TEST(HostileServer, DoesNotSpoilTheNextRequest) {
  RawServer peer([](int fd) {
    const std::string head = RawServer::ReadHead(fd);
    if (head.starts_with("GET /good")) {
      RawServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  Client client;
  EXPECT_FALSE(client.Send({.url = peer.Url("/bad")}).ok());
  const auto answer = client.Send({.url = peer.Url("/good")});
  ASSERT_TRUE(answer.ok()) << answer.error().ToString();
  EXPECT_EQ(answer->body, "ok");
}

TEST(Cancellation, EndsTheExchangeAndFreesTheConnection) {
  std::atomic<bool> gone = false;
  std::atomic<bool> arrived = false;
  RawServer peer([&](int fd) {
    RawServer::ReadHead(fd);
    arrived = true;
    RawServer::WaitForEnd(fd);
    gone = true;
  });
  Client client;
  bool cancelled = false;
  bool ended = false;
  base::CancelScope scope;
  auto body = [](Transport* transport, std::string url) -> base::Task<void> {
    Request request{.url = std::move(url)};
    const auto answer = co_await transport->Send(std::move(request));
    ADD_FAILURE() << "answered: " << answer.ok();
  };
  base::Spawn(client.loop.get_executor(), scope, body(client.transport.get(), peer.Url()),
              [&](bool was_cancelled) {
                cancelled = was_cancelled;
                ended = true;
              });
  while (!arrived) client.loop.run_one_for(std::chrono::milliseconds{5});
  scope.Cancel();
  while (!ended) client.loop.run_one_for(std::chrono::milliseconds{5});
  EXPECT_TRUE(cancelled);
  while (!gone) client.loop.poll();
}

TEST(Cancellation, ByATimeoutAroundTheCallGivesDeadlineExceeded) {
  RawServer peer([](int fd) { RawServer::WaitForEnd(fd); });
  Client client;
  Request request{.url = peer.Url()};
  auto limited = base::WithTimeout(client.transport->Send(std::move(request)), Duration{20}, "it");
  const auto answer = base::RunTask(client.loop, std::move(limited));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
}

TEST(Cancellation, ByTheEndOfTheLoopLeaksNothing) {
  RawServer peer([](int fd) { RawServer::WaitForEnd(fd); });
  asio::io_context loop;
  auto transport = MakeCurlTransport(loop.get_executor());
  ASSERT_TRUE(transport.ok());
  auto body = [](Transport* to, std::string url) -> base::Task<void> {
    Request request{.url = std::move(url)};
    const auto answer = co_await to->Send(std::move(request));
    ADD_FAILURE() << "answered: " << answer.ok();
  };
  base::Spawn(loop.get_executor(), body(transport->get(), peer.Url()));
  while (peer.connections() == 0) loop.run_one_for(std::chrono::milliseconds{5});
  EXPECT_EQ(peer.connections(), 1);
}

}  // namespace
}  // namespace jobman::http
