// ssh.host_to_host on a host: the key of the job, and who may log in with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/unit/remote/podrun_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;
using testing::Not;

INSTANTIATE_TEST_SUITE_P(Shells, HostToHostTest, HostsShell(), ShellName);

class HostToHostInEveryShell : public HostToHostTest {};
INSTANTIATE_TEST_SUITE_P(Shells, HostToHostInEveryShell, EveryShell(), ShellName);

TEST_P(HostToHostInEveryShell, TheKeyOfTheJobLogsInToEveryHost) {
  const std::string key = MakeKey("a");
  std::ofstream(host.home() / ".ssh/authorized_keys") << "ssh-rsa BBBB login\n";
  std::ofstream(host.home() / ".ssh/config") << "Host own\n  User me\n";
  const Ended step = Step(key);
  EXPECT_THAT(step.err, HasSubstr("exited 0")) << step.out;
  EXPECT_EQ(InSsh("jobman-peers"), key + "\n");
  const auto words = base::Split(Slurp(host.home() / "a.pub"), ' ');
  const std::string line = words[0] + " " + words[1];
  const std::string allowed = InSsh("authorized_keys");
  EXPECT_THAT(allowed, testing::StartsWith("ssh-rsa BBBB login\n" + line));
  EXPECT_THAT(InSsh("config"), HasSubstr("Host 10.0.0.2 10.0.0.3 127.0.0.1\n"));
  EXPECT_THAT(InSsh("config"), HasSubstr("Host own\n  User me\n"));
  EXPECT_EQ(Slurp(host.home() / "podips.txt"), "10.0.0.3\n");
  EXPECT_THAT(step.out, Not(HasSubstr("PRIVATE")));
  // Again, and for another job: once, and the last.
  Step(key);
  EXPECT_EQ(InSsh("authorized_keys"), allowed);
  std::ofstream(host.home() / ".ssh/jobman-peers-hosts") << "10.0.0.3 ssh-ed25519 OLD\n";
  Step(MakeKey("b"));
  EXPECT_THAT(InSsh("authorized_keys"), Not(HasSubstr(line)));
  EXPECT_FALSE(std::filesystem::exists(host.home() / ".ssh/jobman-peers-hosts"))
      << "the machines may be others";
  EXPECT_EQ(
      std::system(("test $(stat -c %a " + (host.home() / ".ssh/jobman-peers").string() + ") = 600")
                      .c_str()),
      0);
}

TEST_P(HostToHostTest, TheCloudsHostKeysAreKnownFromTheBeginning) {
  env_[kPeersHosts] = "[10.0.0.3]:2222 ssh-ed25519 CLOUD\n";
  env_[kPeersPort] = "2222";
  const Ended step = Step(MakeKey("a"));
  EXPECT_THAT(step.err, HasSubstr("exited 0")) << step.out;
  EXPECT_THAT(InSsh("jobman-peers-hosts"), HasSubstr("[10.0.0.3]:2222 ssh-ed25519 CLOUD\n"));
  EXPECT_THAT(InSsh("config"), HasSubstr("127.0.0.1\n  Port 2222\n"));
}

TEST_P(HostToHostTest, AKeyThatIsNoneOrDidNotArriveIsAFailure) {
  EXPECT_THAT(Step("").out, HasSubstr("the key of the job did not arrive"));
  const Ended step = Step("no key");
  EXPECT_THAT(step.err, HasSubstr("exited 1"));
  EXPECT_THAT(step.out, HasSubstr("ssh-keygen cannot read the key of the job"));
}

}  // namespace
}  // namespace jobman::remote
