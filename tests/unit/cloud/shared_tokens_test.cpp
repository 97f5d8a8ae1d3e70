// All services of a cloud are asked with one token, over the transport that the program uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/cloud/cloud.hpp"
#include "jobman/cloud/compute_api.hpp"
#include "jobman/cloud/look.hpp"
#include "jobman/cloud/quota_api.hpp"
#include "jobman/cloud/storage_api.hpp"
#include "tests/support/dumpable.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/http/servers.hpp"

namespace jobman::cloud {
namespace {

using base::Json;
using http::RawServer;
using test::Loop;

class SharedTokens : public testing::Test {
 protected:
  SharedTokens() {
    for (const char* service : {"STORAGE", "COMPUTE", "QUOTA"})
      variables_["JOBMAN_" + std::string(service) + "_ENDPOINT"] = server_.Url("");
  }

  core::CloudSpec Spec() const { return {.endpoint = server_.Url("")}; }
  auth::Env Env() const {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
  }
  /// Asks each service, one after the other, as checks of a command do. What is answered is of no
  /// consequence.
  void AskAll(const core::CloudSpec& spec) {
    Loop loop;
    const auto executor = loop.context.get_executor();
    {
      const auto buckets = MakeBuckets(executor, spec, Env());
      ASSERT_TRUE(buckets.ok()) << buckets.error().ToString();
      static_cast<void>(loop.Run((*buckets)->Location("data")));
    }
    {
      const auto projects = MakeProjects(executor, spec, Env());
      ASSERT_TRUE(projects.ok()) << projects.error().ToString();
      static_cast<void>(loop.Run((*projects)->Metadata("lab")));
    }
    {
      const auto quotas = MakeQuotas(executor, spec, Env());
      ASSERT_TRUE(quotas.ok()) << quotas.error().ToString();
      static_cast<void>(loop.Run((*quotas)->TpuLimits("lab")));
    }
    CloudOptions options{.env = Env()};
    options.retry.tries = 1;
    const auto cloud = MakeCloud(executor, spec, std::move(options));
    ASSERT_TRUE(cloud.ok()) << cloud.error().ToString();
    const core::Place place{.project = "lab", .zone = "z"};
    static_cast<void>(loop.Run((*cloud)->slices().ListNodes(place)));
    EXPECT_TRUE(loop.Run(LogIn(spec, Env())).ok());
  }

  test::TempDir dir_ = {};
  std::map<std::string, std::string> variables_ = {};
  std::atomic<int> exchanges_ = 0;
  std::atomic<int> with_token_ = 0;
  std::atomic<int> without_ = 0;
  RawServer server_{[this](int fd) { Serve(fd); }};

 private:
  /// A server of tokens, and of all services.
  void Serve(int fd) {
    const std::string head = RawServer::ReadHead(fd);
    std::string body = "{}";
    if (head.starts_with("POST /token ")) {
      ++exchanges_;
      ReadBody(fd, head);
      body = R"({"access_token":"the-token","expires_in":3599})";
    } else {
      ++(base::Contains(head, "Authorization: Bearer the-token\r\n") ? with_token_ : without_);
    }
    RawServer::Write(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  /// A server that closes before the end of a request may be taken for one that resets.
  static void ReadBody(int fd, const std::string& head) {
    const std::string field = "content-length: ";
    const std::size_t at = base::ToLower(head).find(field);
    if (at == std::string::npos) return;
    std::string body(std::stoul(head.substr(at + field.size())), '\0');
    static_cast<void>(::recv(fd, body.data(), body.size(), MSG_WAITALL));
  }
};

TEST_F(SharedTokens, ATokenCommandStartsOnceForAll) {
  core::CloudSpec spec = Spec();
  const base::Path calls = dir_ / "calls";
  spec.token_command = "echo call >>" + calls.string() + "; echo the-token";
  AskAll(spec);
  EXPECT_EQ(base::ReadFile(calls).value_or(""), "call\n");
  EXPECT_GE(with_token_, 4) << "each service was asked with it";
  EXPECT_EQ(without_, 0);
}

/// The source that is shared has a transport of its own, which ends with the loop.
TEST_F(SharedTokens, AFileIsExchangedOnceForAll) {
  const Json file = {{"type", "external_account"},
                     {"audience", "//iam.googleapis.com/pools/p"},
                     {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
                     {"token_url", server_.Url("/token")},
                     {"credential_source", {{"file", (dir_ / "subject").string()}}}};
  ASSERT_TRUE(base::WriteFileAtomic(dir_ / "subject", "the-subject").ok());
  ASSERT_TRUE(base::WriteFileAtomic(dir_ / "file.json", file.dump()).ok());
  core::CloudSpec spec = Spec();
  spec.credentials_file = (dir_ / "file.json").string();
  AskAll(spec);
  EXPECT_EQ(exchanges_, 1);
  EXPECT_GE(with_token_, 4);
  EXPECT_EQ(without_, 0);
}

TEST_F(SharedTokens, AServerWhosePortBeginsLikeThatOfTheCloudGetsNone) {
  variables_["JOBMAN_OSLOGIN_ENDPOINT"] = server_.Url("");
  core::CloudSpec spec = Spec();
  spec.token_command = "echo the-token";
  Loop loop;
  ASSERT_TRUE(loop.Run(LogIn(spec, Env())).ok());
  EXPECT_EQ(with_token_, 1) << "who the account is";
  spec.endpoint.pop_back();
  ASSERT_TRUE(loop.Run(LogIn(spec, Env())).ok());
  EXPECT_EQ(with_token_, 1);
  EXPECT_EQ(without_, 1);
}

TEST_F(SharedTokens, WithCredentialsTheProcessCannotBeDumped) {
  const auto open = [this](const core::CloudSpec& spec) {
    return test::DumpableAfter([&] {
      Loop loop;
      static_cast<void>(MakeCloud(loop.context.get_executor(), spec, {.env = Env()}));
    });
  };
  core::CloudSpec spec = Spec();
  EXPECT_EQ(open(spec), 1) << "there is no secret";
  spec.token_command = "echo t";
  EXPECT_EQ(open(spec), 0);
  variables_["GOOGLE_OAUTH_ACCESS_TOKEN"] = "t";
  EXPECT_EQ(open(Spec()), 0);
  EXPECT_EQ(open({}), 0);
}

}  // namespace
}  // namespace jobman::cloud
