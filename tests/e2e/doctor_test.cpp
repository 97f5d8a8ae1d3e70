// doctor asks a cloud that answers, one that refuses, and one that hangs.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

/// Accepts connections and never answers: nobody takes them off its queue.
class HangingServer {
 public:
  HangingServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), any, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 64), 0);
    EXPECT_EQ(::getsockname(socket_.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  base::UniqueFd socket_;
  int port_ = 0;
};

class Doctor : public testing::Test {
 protected:
  ~Doctor() override {
    for (const char* name :
         {"JOBMAN_COMPUTE_ENDPOINT", "JOBMAN_OSLOGIN_ENDPOINT", "GOOGLE_OAUTH_ACCESS_TOKEN"})
      ::unsetenv(name);
  }
  Ran Look(const std::string& endpoint) {
    return place_.Jobman(
        {"--endpoint", endpoint, "doctor", "--project", "lab", "-z", "us-central2-b"});
  }

  Place place_;
};

TEST_F(Doctor, ACloudThatAnswersIsFine) {
  place_.StartSim({"--delays", "0"});
  const std::string token(base::Trim(*base::ReadFile(place_.SimTokenFile())));
  ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", token.c_str(), 1);
  ::setenv("JOBMAN_COMPUTE_ENDPOINT", place_.SimEndpoint().c_str(), 1);
  const Ran ran = Look(place_.SimEndpoint());
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("ok       credentials    GOOGLE_OAUTH_ACCESS_TOKEN\n"));
  EXPECT_THAT(ran.out,
              HasSubstr("ok       Cloud TPU API  us-central2-b of lab: no slices; they may be "));
  EXPECT_THAT(ran.out, HasSubstr("ok       OS Login       off\n"));
  EXPECT_THAT(ran.out, HasSubstr("skipped  quota          this cloud has no Service Usage\n"));
  ::setenv("JOBMAN_OSLOGIN_ENDPOINT", place_.SimEndpoint().c_str(), 1);
  EXPECT_THAT(Look(place_.SimEndpoint()).out,
              HasSubstr("ok       credentials    GOOGLE_OAUTH_ACCESS_TOKEN, as sim@example.com\n"));
  EXPECT_THAT(ran.out, HasSubstr("ok       addresses      us-central2: 0 of 4096 external"));
  EXPECT_THAT(ran.out, HasSubstr("ok       boot disks     us-central2: 0 of 409600 GB are used"));
}

TEST_F(Doctor, ARefusedTokenIsAFailureOfTheApi) {
  place_.StartSim({"--delays", "0"});
  ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.wrong", 1);
  const Ran ran = Look(place_.SimEndpoint());
  EXPECT_EQ(ran.code, 5) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("FAIL     Cloud TPU API  "));
  EXPECT_FALSE(base::Contains(ran.All(), "ya29.wrong")) << "a token is not shown";
}

TEST_F(Doctor, AServerThatHangsIsNamed) {
  const HangingServer server;
  const Ran ran = Look(server.endpoint());
  EXPECT_EQ(ran.code, 75) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("FAIL     clock          127.0.0.1: no answer within 10s\n"));
  EXPECT_THAT(ran.out, HasSubstr("FAIL     Cloud TPU API  127.0.0.1: no answer within 10s\n"));
  EXPECT_THAT(ran.out, HasSubstr("versions")) << "the rest is looked at";
}

}  // namespace
}  // namespace jobman::test
