// A cloud that lies while a job holds a slice: its answers are garbage, lead to another host, or
// do not end. The slice is kept, no token is told, and the job goes on when the cloud is well.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSilence = "the cloud has not answered";

/// What the API on this port of 127.0.0.1 answers; empty if it cannot be reached.
std::string AskApi(int port, std::string request) {
  request.insert(request.find("\r\n") + 2, "Connection: close\r\n");
  const base::UniqueFd api(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(api.get(), name, sizeof address) != 0) return {};
  if (::send(api.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return {};
  std::string answer;
  std::array<char, 4096> buffer = {};
  for (;;) {
    const ssize_t count = ::recv(api.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return answer;
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// A proxy before the simulator's API that can be made to lie to those who only look.
class Liar {
 public:
  enum class Lie { kNone, kBadGzip, kRedirect, kFlood };

  /// `elsewhere` is where redirects lead.
  Liar(int api_port, std::string elsewhere)
      : api_port_(api_port),
        elsewhere_(std::move(elsewhere)),
        listener_(
            ServiceThatAnswers([this](const std::string& request) { return Answer(request); })) {}

  void Tell(Lie lie) { lie_ = lie; }
  /// How often it was told.
  int told(Lie lie) const { return told_.at(static_cast<std::size_t>(lie)); }
  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(listener_.port()); }
  /// How many requests so far begin with these words.
  std::ptrdiff_t Heard(std::string_view words) const {
    const std::vector<std::string> all = listener_.heard();
    return std::count_if(all.begin(), all.end(), [words](const std::string& request) {
      return request.starts_with(words);
    });
  }

 private:
  std::string Answer(const std::string& request) {
    const Lie lie = lie_;
    if (lie == Lie::kNone || !request.starts_with("GET ")) return AskApi(api_port_, request);
    ++told_.at(static_cast<std::size_t>(lie));
    switch (lie) {
      case Lie::kBadGzip:
        return Http("200 OK\r\nContent-Encoding: gzip", "\x1f\x8b\x08 this is no gzip");
      case Lie::kRedirect:
        return Http("307 Temporary Redirect\r\nLocation: " + elsewhere_, "");
      case Lie::kFlood:
        return Http("200 OK", std::string(100'000'000, ' '));
      case Lie::kNone:
        break;
    }
    return {};
  }
  static std::string Http(const std::string& status_and_fields, const std::string& body) {
    return "HTTP/1.1 " + status_and_fields + "\r\nConnection: close\r\n" +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  int api_port_;
  std::string elsewhere_;
  std::atomic<Lie> lie_ = Lie::kNone;
  std::array<std::atomic<int>, 4> told_ = {};
  Listener listener_;
};

using Lie = Liar::Lie;

class LyingCloud : public testing::Test {
 protected:
  void SetUp() override {
    setenv("JOBMAN_TRACE", "all", 1);  // the log says all that it ever does
    place_.StartSim({"--delays", "0"});
    const std::string api = place_.SimEndpoint();
    const auto port = base::ParseNumber(api.substr(api.rfind(':') + 1));
    // Another name is another host.
    liar_ = std::make_unique<Liar>(
        static_cast<int>(port.value()),
        "http://localhost:" + std::to_string(elsewhere_.port()) + "/v2/projects/sim");
    place_.StartController({"--poll", "1", "--host-limit", Place::kHostLimit});
    unsetenv("JOBMAN_TRACE");
  }
  void TearDown() override {
    if (!liar_) return;
    liar_->Tell(Lie::kNone);
    EXPECT_EQ(place_.Jobman({"delete", "job", "--wait"}).code, 0);
    EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
  }

  /// Creates a job that runs until there is the file ~/go on its host.
  void Create() {
    const auto sim = base::ParseJson(base::ReadFile(place_.home() / "sim" / "sim.json").value());
    const std::string ssh = "ssh: {port: " + std::to_string(base::GetInt(*sim, "ssh_port")) + "}\n";
    const std::string file =
        place_.JobFile("job", 1, "echo up; until [ -e ~/go ]; do sleep 0.5; done; echo gone", ssh);
    const Ran ran =
        place_.Jobman({"--endpoint", liar_->endpoint(), "create", file, "--set", "tpu.project=sim",
                       "--set", "cloud.token_file=" + place_.SimTokenFile().string()});
    ASSERT_EQ(ran.code, 0) << ran.All();
    ASSERT_TRUE(
        place_.Until("the command to be up", [&] { return place_.Log(1, 1, "run", 0) == "up\n"; }));
  }
  std::string Why() { return place_.Jobman({"why", "job"}).out; }
  /// The job outlasts this lie, of which `why` says this.
  void SitOut(Lie lie, const std::string& said) {
    SCOPED_TRACE(said);
    liar_->Tell(lie);
    ASSERT_TRUE(place_.Until("the lie to be told twice", [&] { return liar_->told(lie) >= 2; }));
    ASSERT_TRUE(place_.Until("why to tell of the lie", [&] {
      const std::string why = Why();
      return base::Contains(why, kSilence) && base::Contains(why, said);
    }));
    EXPECT_EQ(place_.StateOf("job"), "RUNNING") << place_.Jobman({"history", "job"}).out;
    EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("job-000001-a1"));
    EXPECT_EQ(liar_->Heard("DELETE "), 0);
  }

  // The controller ends first, with the place.
  Listener elsewhere_{ServiceThatAnswers([](const std::string&) { return std::string(); })};
  std::unique_ptr<Liar> liar_;
  Place place_;
};

TEST_F(LyingCloud, AJobKeepsItsSliceAndGoesOn) {
  Create();
  SitOut(Lie::kBadGzip, "so the slice is left alone: ");
  SitOut(Lie::kRedirect, "the endpoint redirects to http://localhost:");
  SitOut(Lie::kFlood, "the answer is larger than 64 MiB");

  liar_->Tell(Lie::kNone);
  ASSERT_TRUE(
      place_.Until("why to tell of no silence", [&] { return !base::Contains(Why(), kSilence); }));
  const Ran go = place_.Jobman({"exec", "job", "--", "touch ~/go"});
  EXPECT_EQ(go.code, 0) << go.All();
  ASSERT_TRUE(place_.Reaches("job", "SUCCEEDED"));
  EXPECT_EQ(place_.Log(1, 1, "run", 0), "up\ngone\n");
  EXPECT_EQ(place_.Show("job")["attempt"], 1);
  EXPECT_EQ(liar_->Heard("POST /v2/projects/sim/locations/us-central2-b/queuedResources?"), 1)
      << "one slice was requested";
  EXPECT_EQ(liar_->Heard("DELETE "), 0);

  EXPECT_THAT(elsewhere_.heard(), IsEmpty()) << "the redirect was not followed";
  const std::string log = base::ReadFile(place_.home() / "controller.log").value();
  const std::string token(base::Trim(base::ReadFile(place_.SimTokenFile()).value()));
  EXPECT_THAT(log, HasSubstr("cloud: ListNodes"));
  ASSERT_NE(token, "");
  EXPECT_FALSE(base::Contains(log, token)) << "the log tells the token";
}

}  // namespace
}  // namespace jobman::test
