// A pod of 256 hosts from a job file to 256 exit codes. With JOBMAN_TEST_HOSTS=1024 a pod of 1,024,
// which takes minutes on a small machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

int Hosts() {
  const auto wanted = base::GetEnv("JOBMAN_TEST_HOSTS");
  return wanted ? static_cast<int>(base::ParseNumber(*wanted).value_or(256)) : 256;
}

TEST(ManyHosts, APodRunsOnAllHostsAndReportsEach) {
  const int hosts = Hosts();
  Place place;
  place.StartSim({"--light", "--delays", "0"});
  const std::string file = place.JobFile("pod", 1, "echo \"I am $JOBMAN_HOST_INDEX\"");
  // v5p is available in every size.
  const Ran ran = place.Jobman({"run", file, "--set", "tpu.zone=us-central1-a", "--set",
                                "tpu.accelerator=v5p-" + std::to_string(8 * hosts)});
  ASSERT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("SUCCEEDED"));

  const base::Json shown = place.Show("1");
  EXPECT_EQ(base::GetString(shown, "state"), "SUCCEEDED");
  const base::Json& exits = base::GetMember(shown, "exits");
  EXPECT_THAT(exits, SizeIs(static_cast<std::size_t>(hosts)));
  for (const base::Json& exit : exits) EXPECT_EQ(base::GetInt(exit, "exit_code"), 0) << exit;
  const Ran exec = place.Jobman({"exec", "1", "--fold", "--", "echo same"});
  EXPECT_EQ(exec.code, 0) << exec.err;
  EXPECT_THAT(exec.out, HasSubstr(std::to_string(hosts) + "): same"));
  for (int host = 0; host < hosts; ++host) {
    EXPECT_EQ(place.Log(1, 1, "run", host), "I am " + std::to_string(host) + "\n");
  }
  const Ran logs = place.Jobman({"logs", "-f", "1"});
  EXPECT_EQ(std::count(logs.out.begin(), logs.out.end(), '\n'), hosts) << logs.err;
  EXPECT_THAT(logs.out, HasSubstr("| I am " + std::to_string(hosts - 1) + "\n"));
  const Ran some = place.Jobman({"logs", "-f", "--fold", "1", "-w", "5-9", "--grep", "am 7$"});
  EXPECT_EQ(some.out, "host 7 | I am 7\n") << some.err;
  EXPECT_EQ(place.Jobman({"delete", "1", "--wait"}).code, 0);
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
}

}  // namespace
}  // namespace jobman::test
