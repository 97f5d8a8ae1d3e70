#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "jobman/auth/identity.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/test_key.hpp"

namespace jobman::auth {

/// Credentials of Google's tools, and a server of tokens whose answers are written down.
class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    machine.clock = &clock;
    machine.product_name = dir / "product_name";
    machine.env = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = env.find(name);
      return found == env.end() ? std::nullopt : std::optional(found->second);
    };
    machine.open_transport = [this]() -> Result<std::unique_ptr<http::Transport>> {
      return std::make_unique<test::FakeTransport>(server);
    };
    machine.sleep = [this](base::Duration pause) -> Task<void> {
      pauses.push_back(pause);
      co_await base::Yield();
    };
    env["HOME"] = dir.path().string();
  }

  static const test::TestKey& Key() {
    static const test::TestKey key;
    return key;
  }
  base::Json ServiceAccount() const {
    return {{"type", "service_account"},
            {"client_email", "runner@lab.iam.gserviceaccount.com"},
            {"private_key", Key().pem()},
            {"private_key_id", "k1"},
            {"token_uri", "https://oauth2.googleapis.com/token"}};
  }
  static base::Json User() {
    return {{"type", "authorized_user"},
            {"client_id", "the-client"},
            {"client_secret", "GOCSPX-secret"},
            {"refresh_token", "1//refresh/secret"},
            {"quota_project_id", "payer"}};
  }
  /// As `cloud.credentials_file`.
  Result<Identity> Choose(const base::Json& file) {
    const base::Path path = dir / "credentials.json";
    EXPECT_TRUE(base::WriteFileAtomic(path, file.dump()).ok());
    return ChooseIdentity({.endpoint = "https://tpu.googleapis.com",
                           .credentials_file = path.string(),
                           .impersonate = impersonate},
                          machine);
  }
  std::string WhyNot(const base::Json& file) {
    const auto identity = Choose(file);
    return identity ? "" : identity.error().ToString() + "; " + identity.error().hint;
  }
  Result<AccessToken> Get(Identity& identity) { return loop.Run(identity.tokens->Get()); }
  /// The token of the credentials; an error as text, with its cure.
  std::string TokenOf(const base::Json& file) {
    auto identity = Choose(file);
    if (!identity) return identity.error().ToString() + "; " + identity.error().hint;
    const auto token = Get(*identity);
    return token ? token->value : token.error().ToString() + "; " + token.error().hint;
  }
  void Grant(const std::string& token) {
    server->Answer(
        200, R"({"access_token":")" + token + R"(","expires_in":3599,"token_type":"Bearer"})");
  }
  const http::Request& Sent(std::size_t i) const { return server->requests.at(i); }
  std::string Header(std::size_t i, const std::string& name) const {
    return http::FindHeader(Sent(i).headers, name).value_or("");
  }
  /// The form of a request, decoded.
  std::map<std::string, std::string> Form(std::size_t i) const {
    EXPECT_EQ(Header(i, "Content-Type"), "application/x-www-form-urlencoded");
    std::map<std::string, std::string> form;
    for (const std::string& pair : base::Split(Sent(i).body, '&')) {
      const std::size_t at = pair.find('=');
      form[pair.substr(0, at)] = Unescape(pair.substr(at + 1));
    }
    return form;
  }

  test::Loop loop;
  test::TempDir dir = {};
  test::FakeClock clock;
  std::map<std::string, std::string> env = {};
  std::string impersonate = {};
  Machine machine = {};
  std::vector<base::Duration> pauses = {};
  std::shared_ptr<test::FakeTransport::Script> server =
      std::make_shared<test::FakeTransport::Script>();

 private:
  static std::string Unescape(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool coded = text[i] == '%' && i + 2 < text.size();
      plain += coded ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
      if (coded) i += 2;
    }
    return plain;
  }
};

}  // namespace jobman::auth
