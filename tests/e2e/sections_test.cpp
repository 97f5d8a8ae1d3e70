// Sections of the job file that prepare the hosts, from `create` to the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

bool HasVenv() {
  return std::system("/usr/bin/python3 -I -c 'import venv, ensurepip' 2>/dev/null") == 0;
}

TEST(Sections, KeysAndAVirtualEnvironmentAreReadyBeforeTheCommand) {
  if (!HasVenv()) GTEST_SKIP() << "/usr/bin/python3 cannot make virtual environments here";
  Place place;
  place.StartSim({"--delays", "0"});
  const base::Path key = place.path() / "pod_key";
  std::ofstream(key) << "the secret of the key\n";
  FILE* const pipe =
      popen("/usr/bin/python3 -I -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'", "r");
  char version[16] = {};
  ASSERT_EQ(fscanf(pipe, "%15s", version), 1);
  pclose(pipe);
  const std::string file = place.JobFile(
      "sections", 2, "python -c 'import sys; print(sys.prefix)'; cat ~/.ssh/pod_key | wc -l",
      "venv: {name: env, python: \"" + std::string(version) + "\"}\n" +
          "setup: [{name: mine, run: \"echo x >> ~/mine\"}]\n");
  const Ran ran = place.Jobman(
      {"run", file, "--set", "job.env_type=venv", "--set",
       "ssh.identities=[{private_key: " + key.string() + ", config_entry: 'Host 10.*'}]"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  for (int host = 0; host < 2; ++host) {
    EXPECT_THAT(place.Log(1, 1, "run", host), HasSubstr("/env\n1\n"));
    EXPECT_THAT(place.Log(1, 1, "setup-0-identities", host), HasSubstr("installed ~/.ssh/pod_key"));
  }
  EXPECT_THAT(ran.err, HasSubstr("setup step 2 of 3, venv"));
  // Nothing is done again on the same machines, and the key is nowhere here.
  const Ran again = place.Jobman({"run", "1"});
  EXPECT_EQ(again.code, 0) << again.All();
  EXPECT_EQ(place.Jobman({"exec", "1", "--", "test $(wc -l < ~/mine) = 1"}).code, 0);
  EXPECT_NE(std::system(("grep -r 'the secret of the key' " + place.home().string() +
                         " --include=*.db* --include=*.log -q")
                            .c_str()),
            0);
}

TEST(Sections, AMissingKeyIsRefusedByCreate) {
  Place place;
  const std::string file = place.JobFile("keys", 1, "true");
  const std::string set = "ssh.identities=[{private_key: /nowhere/key}]";
  const Ran checked = place.Jobman({"config", "check", file, "--set", set});
  EXPECT_EQ(checked.code, 0) << checked.All();
  EXPECT_THAT(checked.All(), HasSubstr("/nowhere/key"));
  const Ran created = place.Jobman({"create", file, "--set", set});
  EXPECT_EQ(created.code, 2) << created.All();
  EXPECT_THAT(created.err, HasSubstr("/nowhere/key"));
}

TEST(Sections, WithoutACommandTheSliceIsHeldUntilTheJobIsCancelled) {
  Place place;
  place.StartSim({"--delays", "0"});
  const base::Path file = place.path() / "hold.yaml";
  std::ofstream(file) << "cloud: local\ntpu: {accelerator: v4-8, zone: us-central2-b}\n";
  const Ran created = place.Jobman({"create", file.string()});
  EXPECT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.All(), HasSubstr("the job holds its slice until it is cancelled"));
  ASSERT_TRUE(place.Reaches("hold", "RUNNING"));
  EXPECT_EQ(place.Jobman({"exec", "hold", "--", "true"}).code, 0);
  EXPECT_EQ(place.Jobman({"cancel", "hold", "--wait"}).code, 0);
  EXPECT_EQ(place.Jobman({"delete", "hold", "--wait"}).code, 0);
}

}  // namespace
}  // namespace jobman::test
