// Buckets as folders of simulated hosts, by real mounts: the program gcsfuse is played by the
// script of tests/support/gcsfuse.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/e2e/place.hpp"
#include "tests/support/gcsfuse.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

class Gcsfuse : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string why = WhyNoMounts();
    if (!why.empty()) GTEST_SKIP() << why;
    InstallGcsfuse(shared_.path(), {"data"});
    std::ofstream(shared_.path() / "buckets/data/shard") << "from the bucket\n";
    place_.StartSim({"--delays", "0", "--fuse", "--share", shared_.path()});
  }
  /// `jobman run` of a job with two hosts that mounts the bucket.
  Ran Run(const std::string& cmd) {
    const std::string file =
        place_.JobFile("mounts", 2, cmd, "gcsfuse: {bucket_name: data, mount_path: ~/gcs}\n");
    const std::string path = shared_.path().string() + "/tools:/usr/bin:/bin";
    return place_.Jobman({"run", file, "--set", "job.environment.PATH=" + path});
  }
  /// How often gcsfuse was called, by all hosts.
  int Mounts() const {
    std::ifstream file(shared_.path() / "arguments");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }
  TempDir shared_;
  Place place_;
};

TEST_F(Gcsfuse, TheBucketIsThereBeforeTheCommandAndAgainAfterARestart) {
  const Ran ran = Run("cat ~/gcs/shard");
  EXPECT_EQ(ran.code, 0) << ran.All();
  for (int host = 0; host < 2; ++host)
    EXPECT_EQ(place_.Log(1, 1, "run", host), "from the bucket\n");
  EXPECT_EQ(Mounts(), 2);
  EXPECT_EQ(place_.Jobman({"run", "1"}).code, 0);
  EXPECT_EQ(Mounts(), 2) << "what is mounted stays mounted";
  ASSERT_EQ(place_.Sim({"host", "mounts-000001-a1/1", "kill"}).code, 0);
  ASSERT_EQ(place_.Sim({"host", "mounts-000001-a1/1", "boot"}).code, 0);
  const Ran again = place_.Jobman({"run", "1"});
  EXPECT_EQ(again.code, 0) << again.All();
  EXPECT_EQ(Mounts(), 3) << "on the host that was restarted";
}

TEST_F(Gcsfuse, ABucketThatIsNotThereEndsTheJobWithACure) {
  std::filesystem::remove_all(shared_.path() / "buckets/data");
  const Ran ran = Run("cat ~/gcs/shard");
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(place_.Jobman({"why", "1"}).out, HasSubstr("check gcsfuse.bucket_name"));
}

}  // namespace
}  // namespace jobman::test
