// Servers of tokens that are hostile or broken, through the transport that the program uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <memory>
#include <string>

#include "auth/login_sources.hpp"
#include "jobman/auth/identity.hpp"
#include "jobman/base/check.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/task.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/http/redacting_transport.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/unit/http/servers.hpp"

namespace jobman::auth {
namespace {

using http::RawServer;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kClientSecret = "GOCSPX-made-up";
constexpr const char* kRefreshToken = "1//refresh-made-up";
constexpr const char* kGranted = R"({"access_token":"granted","expires_in":3599})";

/// Reads a request to its end: a server that closes before may be taken for one that resets.
std::string ReadForm(int fd) {
  const std::string head = base::ToLower(RawServer::ReadHead(fd));
  const std::string field = "content-length: ";
  const std::size_t at = head.find(field);
  if (at == std::string::npos) return {};
  std::string body(std::stoul(head.substr(at + field.size())), '\0');
  const ssize_t got = ::recv(fd, body.data(), body.size(), MSG_WAITALL);
  body.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return body;
}

/// Answers each request with this head and body.
RawServer::Handler Saying(const std::string& status_and_fields, const std::string& body) {
  return [status_and_fields, body](int fd) {
    ReadForm(fd);
    RawServer::Write(fd, "HTTP/1.1 " + status_and_fields + "\r\nConnection: close\r\n" +
                             "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  };
}

class HostileTokens : public testing::Test {
 protected:
  Result<AccessToken> TokenFrom(const RawServer& server) {
    const UserLogin login{.client_id = "the-client",
                          .client_secret = kClientSecret,
                          .refresh_token = kRefreshToken,
                          .token_url = server.Url("/token")};
    const Asker asker{.origin = "the file", .kind = "u", .cure = "log in again"};
    const auto source = MakeUserSource(login, ByCurl(), asker);
    return base::RunTask(loop_, source->Get());
  }
  base::Error ErrorFrom(const RawServer& server) {
    const auto token = TokenFrom(server);
    if (token.ok()) return {.code = base::Code::kOk, .message = "a token: " + token->value};
    const std::string text = token.error().ToString() + token.error().hint;
    EXPECT_THAT(text, HasSubstr("the file"));
    EXPECT_THAT(text, Not(HasSubstr(kClientSecret)));
    EXPECT_THAT(text, Not(HasSubstr(kRefreshToken)));
    return token.error();
  }

  base::Duration limit = std::chrono::seconds{20};
  int pauses = 0;

 private:
  Exchanger ByCurl() {
    auto wire =
        http::MakeCurlTransport(loop_.get_executor(), {.max_response_bytes = kLongestAnswer});
    JM_CHECK(wire.ok(), "the transport starts");
    Exchanger exchanger;
    exchanger.transport = http::MakeRedactingTransport(std::move(wire).value());
    exchanger.clock = &clock_;
    exchanger.limit = limit;
    exchanger.sleep = [this](base::Duration) -> Task<void> {
      ++pauses;
      co_await base::Yield();
    };
    return exchanger;
  }

  asio::io_context loop_ = {};
  test::FakeClock clock_;
};

TEST_F(HostileTokens, AnHonestServerGetsTheSecretAndGivesAToken) {
  std::string heard;
  RawServer server([&heard](int fd) {
    heard = ReadForm(fd);
    const std::string body = kGranted;
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  const auto token = TokenFrom(server);
  ASSERT_TRUE(token.ok()) << token.error().ToString();
  EXPECT_EQ(token->value, "granted");
  EXPECT_THAT(heard, HasSubstr(kClientSecret));
}

TEST_F(HostileTokens, ARedirectIsNotFollowed) {
  for (const char* status : {"301 Moved", "302 Found", "303 See", "307 Stay", "308 Stay"}) {
    RawServer thief(Saying("200 OK", kGranted));
    RawServer server(Saying(std::string(status) + "\r\nLocation: " + thief.Url("/token"), ""));
    const base::Error error = ErrorFrom(server);
    EXPECT_EQ(error.code, base::Code::kUnauthenticated) << status;
    EXPECT_THAT(error.message, HasSubstr("HTTP " + std::string(status, 3)));
    EXPECT_EQ(server.connections(), 1) << status;
    EXPECT_EQ(thief.connections(), 0) << status;
  }
}

TEST_F(HostileTokens, AnEndlessBodyIsCutOff) {
  RawServer server([](int fd) {
    ReadForm(fd);
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\n\r\n");
    const std::string chunk(1U << 16U, ' ');
    while (::send(fd, chunk.data(), chunk.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  const base::Error error = ErrorFrom(server);
  EXPECT_EQ(error.code, base::Code::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("larger than 1 MiB"));
}

TEST_F(HostileTokens, ABodyOf100MegabytesIsCutOff) {
  RawServer server([](int fd) {
    ReadForm(fd);
    RawServer::Write(fd,
                     "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n{\"access_token\":\"");
    const std::string chunk(100'000, 'x');
    for (int i = 0; i < 1000; ++i) {
      if (::send(fd, chunk.data(), chunk.size(), MSG_NOSIGNAL) <= 0) return;
    }
  });
  const base::Error error = ErrorFrom(server);
  EXPECT_EQ(error.code, base::Code::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("larger than 1 MiB"));
}

TEST_F(HostileTokens, APageOfAPortalIsNoToken) {
  RawServer server(Saying("200 OK\r\nContent-Type: text/html", "<html>Please log in</html>"));
  const base::Error error = ErrorFrom(server);
  EXPECT_EQ(error.code, base::Code::kUnauthenticated);
  EXPECT_THAT(error.message, HasSubstr("it is no JSON"));
  EXPECT_THAT(error.message, Not(HasSubstr("Please")));
}

TEST_F(HostileTokens, TheBodyCountsNotItsType) {
  RawServer server(Saying("200 OK\r\nContent-Type: text/html", kGranted));
  const auto token = TokenFrom(server);
  ASSERT_TRUE(token.ok()) << token.error().ToString();
  EXPECT_EQ(token->value, "granted");
}

TEST_F(HostileTokens, BrokenGzipIsNoToken) {
  RawServer server(Saying("200 OK\r\nContent-Encoding: gzip", "\x1f\x8b\x08 this is no gzip"));
  const base::Error error = ErrorFrom(server);
  EXPECT_EQ(error.code, base::Code::kUnavailable);
  EXPECT_EQ(pauses, 2) << "it is tried three times";
}

TEST_F(HostileTokens, AServerThatNeverAnswersEndsInTheLimit) {
  RawServer server([](int fd) { RawServer::WaitForEnd(fd); });
  limit = base::Duration{50};
  const base::Error error = ErrorFrom(server);
  EXPECT_EQ(error.code, base::Code::kUnavailable);
  EXPECT_EQ(pauses, 2) << "it is tried three times";
}

TEST_F(HostileTokens, AServerThatDripsEndsInTheLimit) {
  RawServer server([](int fd) {
    ReadForm(fd);
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{");
    RawServer::WaitForEnd(fd);
  });
  limit = base::Duration{50};
  EXPECT_EQ(ErrorFrom(server).code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace jobman::auth
