// An ssh-agent that does not answer: the job that needs it says so, and nobody else waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"
#include "tests/support/silent_agent.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SilentAgentOfAJob, IsNamedAndOtherJobsGoOn) {
  Place place;
  place.StartSim({"--delays", "0"});
  const SilentAgent agent(place.path());
  const pid_t controller = place.StartController({"--poll", "1"});
  // Only the agent could unlock this key.
  const std::string key = (place.path() / "locked").string();
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", key}).code, 0);
  const std::string locked =
      place.JobFile("locked", 1, "true", "ssh: {private_key: '" + key + "'}\n");
  ASSERT_EQ(place.Jobman({"create", locked}).code, 0);
  ASSERT_TRUE(place.Reaches("locked", "RUNNING"));
  const Ran other = place.Jobman({"run", place.JobFile("other", 2, "echo done")});
  EXPECT_EQ(other.code, 0) << other.All();
  EXPECT_TRUE(place.Until("why to name the agent", [&] {
    return base::Contains(place.Jobman({"why", "locked"}).out, "the ssh-agent at SSH_AUTH_SOCK=");
  }));
  EXPECT_EQ(place.StateOf("locked"), "RUNNING") << "the fault is not the host's";
  const Ran deleted = place.Jobman({"delete", "locked", "other", "--wait"});
  EXPECT_EQ(deleted.code, 0) << deleted.All();
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
  EXPECT_EQ(kill(controller, 0), 0) << "the first controller did it all";
  EXPECT_THAT(base::ReadFile(place.home() / "controller.log").value_or(""),
              Not(HasSubstr("took over")));
}

}  // namespace
}  // namespace jobman::test
