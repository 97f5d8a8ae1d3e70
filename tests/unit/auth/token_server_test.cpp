// Each kind of credentials against a server of tokens that checks what it is sent, over the
// transport that the program uses: how often it is asked, what is said, and that no secret is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "auth/credential_source.hpp"
#include "auth/credentials.hpp"
#include "jobman/auth/identity.hpp"
#include "jobman/base/check.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/task.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/http/redacting_transport.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/test_key.hpp"
#include "tests/unit/http/servers.hpp"

namespace jobman::auth {
namespace {

using http::RawServer;
using testing::HasSubstr;
using testing::Not;

enum class Kind { kUser, kWorkforce, kKey, kActing, kFile, kUrl, kProgram, kMachine };

constexpr const char* kAsksForCloud = "https://www.googleapis.com/auth/cloud-platform";
constexpr const char* kAsksToAct = "https://www.googleapis.com/auth/iam";
constexpr const char* kSecretOfClient = "GOCSPX-made-up-secret";
constexpr const char* kSecretOfLogin = "1//made-up/refresh";
constexpr const char* kSecretOfSubject = "made-up-subject-token";
constexpr const char* kSecretOfSource = "made-up-source-token";
/// base64("the-client:GOCSPX-made-up-secret")
constexpr const char* kSecretPair = "dGhlLWNsaWVudDpHT0NTUFgtbWFkZS11cC1zZWNyZXQ=";
constexpr const char* kPool = "//iam.googleapis.com/pools/p";
constexpr const char* kJwtType = "urn:ietf:params:oauth:token-type:jwt";

/// A request, as the server sees it.
struct Heard {
  std::string head = {};
  std::string body = {};

  bool IsFor(const std::string& path) const { return base::Contains(head, " " + path); }
  /// The value of a header field.
  std::string Field(const std::string& name) const {
    for (const std::string& line : base::Split(head, '\n')) {
      if (line.starts_with(name + ": "))
        return std::string(base::Trim(line.substr(name.size() + 2)));
    }
    return {};
  }
  /// The form in the body, decoded.
  std::map<std::string, std::string> Form() const {
    std::map<std::string, std::string> form;
    for (const std::string& pair : base::Split(body, '&')) {
      const std::size_t at = pair.find('=');
      if (at != std::string::npos) form[pair.substr(0, at)] = Plain(pair.substr(at + 1));
    }
    return form;
  }

 private:
  static std::string Plain(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool coded = text[i] == '%' && i + 2 < text.size();
      plain += coded ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
      if (coded) i += 2;
    }
    return plain;
  }
};

/// Reads a request to its end: a server that closes before may be taken for one that resets.
Heard Hear(int fd) {
  Heard heard{.head = RawServer::ReadHead(fd)};
  const std::string field = "content-length: ";
  const std::string head = base::ToLower(heard.head);
  const std::size_t at = head.find(field);
  if (at == std::string::npos) return heard;
  heard.body.resize(std::stoul(head.substr(at + field.size())));
  const ssize_t got = ::recv(fd, heard.body.data(), heard.body.size(), MSG_WAITALL);
  heard.body.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return heard;
}

struct Reply {
  std::string status = "200 OK";
  std::string body = {};
  std::string fields = {};  ///< "Name: value\r\n"
  bool never = false;       ///< the server hangs
  bool drips = false;       ///< the body comes a byte at a time, for a quarter of an hour
};

/// Sends a byte now and then, so that the connection is never quiet, until the client goes away.
void Drip(int fd) {
  RawServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
  pollfd client{.fd = fd, .events = POLLRDHUP, .revents = 0};
  while (::send(fd, " ", 1, MSG_NOSIGNAL) == 1 && ::poll(&client, 1, 10) == 0) continue;
}

/// What the server answers to the request that is judged, by how often it was sent: 1, 2, ...
using Scene = std::function<Reply(const Heard& heard, int time)>;

/// What came of it.
struct Outcome {
  Result<AccessToken> token = base::Internal("not asked");
  int asked = 0;        ///< how often the server got the request that is judged
  int pauses = 0;       ///< between tries
  std::string wrong{};  ///< what a request lacked
  std::string said{};   ///< the error with its cure; empty without one
};

/// Counts the requests to an address, and gives up on them at once if that is what is tested.
class CountingWire final : public http::Transport {
 public:
  CountingWire(std::unique_ptr<http::Transport> inner, std::string part, int* count, bool hangs)
      : inner_(std::move(inner)), part_(std::move(part)), count_(count), hangs_(hangs) {}
  Task<Result<http::Response>> Send(http::Request request) override {
    if (base::Contains(request.url, part_)) {
      ++*count_;
      if (hangs_) request.timeout = base::Duration{50};
    }
    co_return co_await inner_->Send(std::move(request));
  }

 private:
  std::unique_ptr<http::Transport> inner_;
  std::string part_;
  int* count_;
  bool hangs_;
};

class TokenServer : public testing::TestWithParam<Kind> {
 protected:
  static const test::TestKey& TheKey() {
    static const test::TestKey key;
    return key;
  }

  /// Asks for a token of the credentials, once.
  Outcome Ask(const Scene& scene, bool hangs = false) {
    Outcome outcome;
    {
      int time = 0;
      // The server ends before anybody looks at the outcome.
      RawServer server([&](int fd) { Serve(fd, scene, &time, &outcome.wrong); });
      asio::io_context loop;
      Exchanger exchanger;
      exchanger.transport = Wire(loop, hangs, &outcome.asked);
      exchanger.clock = &clock_;
      exchanger.limit = std::chrono::seconds{60};
      exchanger.sleep = [&outcome](base::Duration) -> Task<void> {
        ++outcome.pauses;
        co_await base::Yield();
      };
      const auto source = MakeCredentialSource(Of(server), Environment(), exchanger);
      outcome.token = base::RunTask(loop, source->Get());
    }
    if (!outcome.token)
      outcome.said = outcome.token.error().ToString() + outcome.token.error().hint;
    ExpectNoSecret(outcome.said);
    return outcome;
  }
  static Reply Good() {
    if (GetParam() == Kind::kActing)
      return {.body = R"({"accessToken":"granted","expireTime":"2026-01-01T01:00:00Z"})"};
    return {.body = R"({"access_token":"granted","expires_in":3599})",
            .fields = "Metadata-Flavor: Google\r\n"};
  }
  /// A refusal that repeats all that it was sent.
  static Reply Revoked(const Heard& heard) {
    const base::Json body = {
        {"error", "invalid_grant"},
        {"error_description", "no: " + heard.Field("Authorization") + " " + heard.body}};
    return {.status = "400 Bad Request", .body = body.dump()};
  }

 private:
  std::shared_ptr<http::Transport> Wire(asio::io_context& loop, bool hangs, int* asked) {
    auto wire =
        http::MakeCurlTransport(loop.get_executor(), {.max_response_bytes = kLongestAnswer});
    JM_CHECK(wire.ok(), "the transport starts");
    auto redacting = http::MakeRedactingTransport(std::move(wire).value());
    return std::make_shared<CountingWire>(std::move(redacting), Judged(), asked, hangs);
  }
  static std::string Judged() {
    if (GetParam() == Kind::kActing) return ":generateAccessToken";
    return GetParam() == Kind::kMachine ? "/computeMetadata/v1/" : "/token";
  }

  // The credentials.
  Credentials Of(const RawServer& server) {
    if (GetParam() == Kind::kMachine) {
      return {.login = MachineAccount{.host = "127.0.0.1:" + std::to_string(server.port())},
              .origin = "the file"};
    }
    auto found = ParseCredentials(File(server).dump(), "the file");
    JM_CHECK(found.ok(), "the credentials are read");
    // A user's tokens are Google's, whatever the file says.
    if (auto* const user = std::get_if<UserLogin>(&found->login))
      user->token_url = server.Url("/token");
    found->acts = GetParam() == Kind::kKey;
    return std::move(found).value();
  }
  base::Json File(const RawServer& server) {
    switch (GetParam()) {
      case Kind::kUser:
        return Login("authorized_user");
      case Kind::kWorkforce:
        return Login("external_account_authorized_user");
      case Kind::kKey:
        return KeyFile(server);
      case Kind::kActing:
        return {{"type", "impersonated_service_account"},
                {"service_account_impersonation_url",
                 server.Url("/v1/projects/-/serviceAccounts/robot@lab.com:generateAccessToken")},
                {"delegates", {"mid@lab.com", "projects/-/serviceAccounts/last@lab.com"}},
                {"source_credentials", KeyFile(server)}};
      case Kind::kFile:
        Write("subject", kSecretOfSubject, 0600);
        return Federated(server, {{"file", (dir_ / "subject").string()}});
      case Kind::kUrl: {
        const base::Json headers = {{"X-Subject", "please"}};
        return Federated(server, {{"url", server.Url("/subject")}, {"headers", headers}});
      }
      case Kind::kProgram: {
        Write("program",
              "#!/bin/sh\nprintf '{\"version\":1,\"success\":true,\"token_type\":\"%s\","
              "\"id_token\":\"%s\"}' \"$GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE\" " +
                  std::string(kSecretOfSubject) + "\n",
              0700);
        const base::Json run = {{"command", (dir_ / "program").string()},
                                {"timeout_millis", 120'000}};
        return Federated(server, {{"executable", run}});
      }
      case Kind::kMachine:
        break;
    }
    return {};
  }
  static base::Json Login(const std::string& type) {
    return {{"type", type},
            {"client_id", "the-client"},
            {"client_secret", kSecretOfClient},
            {"refresh_token", kSecretOfLogin}};
  }
  static base::Json KeyFile(const RawServer& server) {
    return {{"type", "service_account"},
            {"client_email", "runner@lab.com"},
            {"private_key", TheKey().pem()},
            {"private_key_id", "k1"},
            {"token_uri", server.Url("/token")}};
  }
  static base::Json Federated(const RawServer& server, base::Json source) {
    return {{"type", "external_account"},
            {"audience", kPool},
            {"subject_token_type", kJwtType},
            {"token_url", server.Url("/token")},
            {"client_id", "the-client"},
            {"client_secret", kSecretOfClient},
            {"credential_source", std::move(source)}};
  }
  void Write(const std::string& name, const std::string& text, int mode) {
    ASSERT_TRUE(base::WriteFileAtomic(dir_ / name, text, static_cast<mode_t>(mode)).ok());
  }
  static Env Environment() {
    return [](const std::string& name) -> std::optional<std::string> {
      if (name == "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES") return "1";
      return std::nullopt;
    };
  }

  // The server. It runs in a thread of its own.
  void Serve(int fd, const Scene& scene, int* time, std::string* wrong) const {
    const Heard heard = Hear(fd);
    Reply reply;
    std::string lacks;
    if (heard.IsFor("/subject ")) {
      reply.body = kSecretOfSubject;
      if (heard.Field("X-Subject") != "please") lacks = "the header of the source";
    } else if (GetParam() == Kind::kActing && heard.IsFor("/token ")) {
      reply.body =
          R"({"access_token":")" + std::string(kSecretOfSource) + R"(","expires_in":3599})";
      lacks = LacksOfKey(heard);
    } else {
      reply = scene(heard, ++*time);
      lacks = Lacks(heard);
    }
    if (!lacks.empty()) *wrong = lacks + ", in: " + heard.head + heard.body;
    if (reply.never) return RawServer::WaitForEnd(fd);
    if (reply.drips) return Drip(fd);
    RawServer::Write(fd, "HTTP/1.1 " + reply.status + "\r\nConnection: close\r\n" + reply.fields +
                             "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" +
                             reply.body);
  }
  /// What a request lacks; empty if it is as it should be.
  std::string Lacks(const Heard& heard) const {
    switch (GetParam()) {
      case Kind::kUser:
        return LacksOfForm(heard, "cred-type/u", "",
                           {{"grant_type", "refresh_token"},
                            {"client_id", "the-client"},
                            {"client_secret", kSecretOfClient},
                            {"refresh_token", kSecretOfLogin}});
      case Kind::kWorkforce:
        return LacksOfForm(heard, "cred-type/u", "Basic " + std::string(kSecretPair),
                           {{"grant_type", "refresh_token"}, {"refresh_token", kSecretOfLogin}});
      case Kind::kKey:
        return LacksOfKey(heard);
      case Kind::kActing:
        return LacksOfActing(heard);
      case Kind::kFile:
      case Kind::kUrl:
      case Kind::kProgram:
        return LacksOfForm(
            heard, "cred-type/u", "Basic " + std::string(kSecretPair),
            {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
             {"audience", kPool},
             {"scope", kAsksForCloud},
             {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
             {"subject_token", kSecretOfSubject},
             {"subject_token_type", kJwtType}});
      case Kind::kMachine:
        if (!heard.head.starts_with("GET /computeMetadata/v1/instance/service-accounts/default/"
                                    "token?scopes="))
          return "the path";
        if (heard.Field("Metadata-Flavor") != "Google") return "the header Metadata-Flavor";
        return LacksOfHead(heard, "cred-type/mds", "");
    }
    return "a kind";
  }
  static std::string LacksOfHead(const Heard& heard, const std::string& kind,
                                 const std::string& authorization) {
    if (heard.Field("x-goog-api-client") != "gl-cpp/20 auth-request-type/at " + kind)
      return "x-goog-api-client";
    if (heard.Field("Authorization") != authorization) return "Authorization";
    return heard.Field("Accept") == "application/json" ? "" : "Accept";
  }
  static std::string LacksOfForm(const Heard& heard, const std::string& kind,
                                 const std::string& authorization,
                                 const std::map<std::string, std::string>& form) {
    if (!heard.head.starts_with("POST /token ")) return "the path";
    if (heard.Field("Content-Type") != "application/x-www-form-urlencoded") return "Content-Type";
    if (heard.Form() != form) return "the form";
    return LacksOfHead(heard, kind, authorization);
  }
  /// What the key has signed, for the clock of the test.
  std::string LacksOfKey(const Heard& heard) const {
    const std::string jwt = heard.Form()["assertion"];
    base::Json header;
    const base::Json claims = TheKey().Verify(jwt, &header);
    const std::int64_t now = base::ToMillis(clock_.Now()) / 1000;
    const std::int64_t issued = base::GetInt(claims, "iat");
    if (base::GetString(header, "alg") != "RS256" || base::GetString(header, "kid") != "k1")
      return "the header of the JWT";
    if (base::GetString(claims, "iss") != "runner@lab.com") return "iss, or the signature";
    if (base::GetString(claims, "aud") != "https://oauth2.googleapis.com/token") return "aud";
    if (base::GetString(claims, "scope") != kAsksToAct) return "scope";
    if (issued > now || issued < now - 60) return "iat";
    if (base::GetInt(claims, "exp") != issued + 3600) return "exp";
    return LacksOfForm(
        heard, "cred-type/sa", "",
        {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", jwt}});
  }
  static std::string LacksOfActing(const Heard& heard) {
    const base::Json wanted = {
        {"delegates",
         {"projects/-/serviceAccounts/mid@lab.com", "projects/-/serviceAccounts/last@lab.com"}},
        {"lifetime", "3600s"},
        {"scope", base::Json::array({kAsksForCloud})}};
    if (!heard.head.starts_with(
            "POST /v1/projects/-/serviceAccounts/robot@lab.com:generateAccessToken "))
      return "the path";
    if (heard.Field("Content-Type") != "application/json") return "Content-Type";
    if (base::ParseJson(heard.body).value_or(base::Json()) != wanted) return "the body";
    return LacksOfHead(heard, "cred-type/imp", "Bearer " + std::string(kSecretOfSource));
  }

  static void ExpectNoSecret(const std::string& said) {
    for (const char* secret :
         {kSecretOfClient, kSecretOfLogin, "1%2F%2Fmade-up%2Frefresh", kSecretOfSubject,
          kSecretOfSource, kSecretPair, "PRIVATE KEY", "eyJ"}) {
      EXPECT_THAT(said, Not(HasSubstr(secret)));
    }
  }

  test::TempDir dir_ = {};
  test::FakeClock clock_;
};

TEST_P(TokenServer, GivesATokenForTheRightRequest) {
  const Outcome got = Ask([](const Heard&, int) { return Good(); });
  EXPECT_EQ(got.wrong, "");
  ASSERT_TRUE(got.token.ok()) << got.said;
  EXPECT_EQ(got.token->value, "granted");
  EXPECT_TRUE(got.token->expires.has_value());
  EXPECT_EQ(got.asked, 1);
}

TEST_P(TokenServer, ARefusalIsSaidAndNotRepeated) {
  const Outcome got = Ask([](const Heard& heard, int) { return Revoked(heard); });
  EXPECT_EQ(got.wrong, "");
  ASSERT_FALSE(got.token.ok());
  EXPECT_EQ(got.token.error().code, base::Code::kUnauthenticated);
  EXPECT_EQ(got.token.error().reason, base::Reason::kNoToken);
  EXPECT_THAT(got.said, HasSubstr("the file"));
  EXPECT_THAT(got.said, HasSubstr("127.0.0.1 gives no token: HTTP 400 invalid_grant"));
  EXPECT_NE(got.token.error().hint, "");
  EXPECT_EQ(got.asked, 1);
}

TEST_P(TokenServer, AWrongClockIsNamed) {
  const Outcome got = Ask([](const Heard& heard, int) {
    Reply reply = Revoked(heard);
    reply.fields = "Date: Thu, 01 Jan 2026 00:12:00 GMT\r\n";  // it is 00:00 here
    return reply;
  });
  ASSERT_FALSE(got.token.ok());
  EXPECT_EQ(got.token.error().code, base::Code::kUnauthenticated);
  EXPECT_THAT(got.said, HasSubstr("this machine's clock is 12m behind the server's"));
  EXPECT_EQ(got.asked, 1);
}

TEST_P(TokenServer, AStumbleIsOvercome) {
  const Outcome got = Ask([](const Heard&, int time) {
    return time == 1 ? Reply{.status = "503 Service Unavailable"} : Good();
  });
  EXPECT_EQ(got.wrong, "");
  ASSERT_TRUE(got.token.ok()) << got.said;
  EXPECT_EQ(got.asked, 2);
  EXPECT_EQ(got.pauses, 1);
}

TEST_P(TokenServer, OneThatFailsForEverIsAskedThreeTimes) {
  const Outcome got = Ask([](const Heard& heard, int) {
    Reply reply = Revoked(heard);
    reply.status = "500 Internal Server Error";
    return reply;
  });
  ASSERT_FALSE(got.token.ok());
  EXPECT_EQ(got.token.error().code, base::Code::kUnavailable) << "it may pass";
  EXPECT_THAT(got.said, HasSubstr("the file"));
  EXPECT_THAT(got.said, HasSubstr("127.0.0.1 gives no token: HTTP 500"));
  EXPECT_EQ(got.asked, 3);
  EXPECT_EQ(got.pauses, 2);
}

TEST_P(TokenServer, OneThatHangsOrDripsIsGivenUpThreeTimes) {
  for (const Reply& slow : {Reply{.never = true}, Reply{.drips = true}}) {
    const Outcome got = Ask([slow](const Heard&, int) { return slow; }, true);
    ASSERT_FALSE(got.token.ok());
    EXPECT_EQ(got.token.error().code, base::Code::kUnavailable) << "it may pass";
    EXPECT_THAT(got.said, HasSubstr("127.0.0.1 gives no token: "));
    EXPECT_EQ(got.asked, 3);
    EXPECT_EQ(got.pauses, 2);
  }
}

TEST_P(TokenServer, AnAnswerThatIsNoneIsNoToken) {
  for (const char* body : {"<html>Please log in</html>", "", "{}", "[]", R"({"access_token":7})",
                           R"({"access_token":"a b","accessToken":"a b"})", "\x1f\x8b\x08"}) {
    SCOPED_TRACE(body);
    const Outcome got = Ask([body](const Heard&, int) {
      Reply reply = Good();
      reply.body = body;
      return reply;
    });
    ASSERT_FALSE(got.token.ok());
    EXPECT_EQ(got.token.error().code, base::Code::kUnauthenticated);
    EXPECT_THAT(got.said, HasSubstr("the file"));
    EXPECT_THAT(got.said, Not(HasSubstr("Please")));
    EXPECT_EQ(got.asked, 1);
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) {
  constexpr const char* kNames[] = {"User", "Workforce", "Key",     "Acting",
                                    "File", "Url",       "Program", "Machine"};
  return kNames[static_cast<int>(kind.param)];
}

INSTANTIATE_TEST_SUITE_P(Each, TokenServer,
                         testing::Values(Kind::kUser, Kind::kWorkforce, Kind::kKey, Kind::kActing,
                                         Kind::kFile, Kind::kUrl, Kind::kProgram, Kind::kMachine),
                         NameOf);

}  // namespace
}  // namespace jobman::auth
