// keys: somebody else logs in to the hosts of jobs with a key of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Keys : public testing::Test {
 protected:
  void SetUp() override {
    if (RunProgram({"bwrap", "--ro-bind", "/", "/", "true"}).code != 0)
      GTEST_SKIP() << "without bubblewrap simulated hosts have only the user of this test";
    place_.StartSim({"--delays", "0"});
    place_.StartController({"--poll", "1"});
    const Ran made = RunProgram(
        {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "eve@laptop", "-f", KeyFile()});
    ASSERT_EQ(made.code, 0) << made.All();
  }
  std::string KeyFile() const { return (place_.path() / "eve").string(); }
  enum class Login { kIn, kRefused, kFailed };
  /// What becomes of it when OpenSSH logs in to host `host` of the job as eve. A login that fails
  /// otherwise, or whose host is not there, was not refused.
  Login LogsIn(const std::string& job, int host) {
    const base::Json shown = place_.Show(job);
    const base::Json& hosts = base::GetMember(base::GetMember(shown, "slice"), "hosts");
    if (!hosts.is_array() || hosts.size() <= static_cast<std::size_t>(host)) return Login::kFailed;
    const auto sim =
        base::ParseJson(base::ReadFile(place_.home() / "sim" / "sim.json").value_or(""));
    if (!sim.ok()) return Login::kFailed;
    const std::string port = std::to_string(base::GetInt(*sim, "ssh_port"));
    const std::string address = base::GetString(hosts[static_cast<std::size_t>(host)], "external");
    const Ran ran = RunProgram({"ssh", "-F", "none", "-i", KeyFile(), "-p", port, "-o",
                                "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o",
                                "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                                "-o", "ConnectTimeout=10", "eve@" + address, "echo in"});
    if (ran.code == 0 && base::Contains(ran.out, "in")) return Login::kIn;
    // ssh ends with 255 for each error of its own.
    const bool refused = ran.code == 255 && base::Contains(ran.err, "Permission denied");
    return refused ? Login::kRefused : Login::kFailed;
  }
  void AwaitLogin(const std::string& job, Login wanted, int host = 0) {
    EXPECT_TRUE(place_.Until(wanted == Login::kIn ? "eve to be let in" : "eve to be refused",
                             [&] { return LogsIn(job, host) == wanted; }));
  }
  Place place_;
};

TEST_F(Keys, AGuestIsLetInNowAndLaterUntilTheyLeave) {
  ASSERT_EQ(place_.Jobman({"create", place_.JobFile("first", 2, "sleep 3600")}).code, 0);
  ASSERT_TRUE(place_.Reaches("first", "RUNNING"));
  AwaitLogin("first", Login::kRefused);
  const Ran added = place_.Jobman({"keys", "add", KeyFile() + ".pub"});
  ASSERT_EQ(added.code, 0) << added.All();
  EXPECT_THAT(added.out, AllOf(HasSubstr("eve (ED25519 SHA256:"), HasSubstr("has the key")));
  AwaitLogin("first", Login::kIn);
  AwaitLogin("first", Login::kIn, 1);
  EXPECT_EQ(place_.Jobman({"exec", "first", "--", "true"}).code, 0) << "jobman's own key is there";
  // A later node has it from its request.
  ASSERT_EQ(place_.Jobman({"create", place_.JobFile("second", 1, "sleep 3600")}).code, 0);
  ASSERT_TRUE(place_.Reaches("second", "RUNNING"));
  AwaitLogin("second", Login::kIn);
  const Ran removed = place_.Jobman({"keys", "remove", "eve"});
  ASSERT_EQ(removed.code, 0) << removed.All();
  EXPECT_THAT(removed.out, HasSubstr("is let in no more\n"));
  AwaitLogin("first", Login::kRefused);
  AwaitLogin("second", Login::kRefused);
  EXPECT_EQ(place_.Jobman({"exec", "first", "--", "true"}).code, 0);
  EXPECT_EQ(place_.Jobman({"keys", "list", "-q"}).out, "");
}

TEST_F(Keys, APrivateKeyIsRefused) {
  const Ran refused = place_.Jobman({"keys", "add", KeyFile()});
  EXPECT_EQ(refused.code, 2) << refused.All();
  EXPECT_THAT(refused.err, HasSubstr("this is a private key"));
}

}  // namespace
}  // namespace jobman::test
