// jobman sync between hosts that may log in to each other: the uplink carries the files once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "jobman/base/hash.hpp"
#include "jobman/base/json.hpp"
#include "tests/e2e/pair_of_hosts.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kHosts = 8;
constexpr std::int64_t kSize = 3'000'000;

/// One job of eight hosts, on which the tests run one after the other.
class SyncRelayed : public PairOfHosts {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Place>();
    place_->StartSim({"--delays", "0"});
    const Ran ran = place_->Jobman(
        {"run", place_->JobFile("pod", kHosts, "true"), "--set", "ssh.host_to_host=true"});
    ASSERT_EQ(ran.code, 0) << ran.All();
  }
  void TearDown() override {
    PairOfHosts::TearDown();
    On("rm -rf ~/code");
  }
  static Ran Sync(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"sync", "here", "1:code"});
    return JobmanIn(place_->path(), std::move(more));
  }
  /// How many hosts got the archive from here; the sums of all are checked to be whole.
  static int SentFromHere(const base::Json& said) {
    int here = 0;
    for (const base::Json& host : said["hosts"]) {
      EXPECT_EQ(host["error"], nullptr) << host.dump();
      const auto sent = host["bytes"].get<std::int64_t>();
      const auto relayed = host["relayed"].get<std::int64_t>();
      EXPECT_GT(sent + relayed, kSize) << host.dump();
      EXPECT_TRUE(sent == 0 || relayed == 0) << host.dump();
      if (sent > 0) ++here;
    }
    return here;
  }
  static void AllHostsAreEqual() {
    const Ran sums = On("cd ~/code && cat big sub/small | sha256sum && ls -A .jobman-sync");
    EXPECT_EQ(sums.code, 0) << sums.All();
    const std::string same = sums.out.substr(sums.out.find(" | ") + 3, 64);
    int hosts = 0;
    for (std::size_t at = sums.out.find(same); at != std::string::npos;
         at = sums.out.find(same, at + 1))
      ++hosts;
    EXPECT_EQ(hosts, kHosts) << sums.out;
    EXPECT_THAT(sums.out, AllOf(Not(HasSubstr("kept-")), Not(HasSubstr("new-")))) << "left behind";
  }
};

TEST_F(SyncRelayed, TheUplinkCarriesTheFilesOnce) {
  Write("big", std::string(kSize, 'x'));
  Write("sub/small", "a");
  const Ran first = Sync({"--json"});
  ASSERT_EQ(first.code, 0) << first.All();
  const auto said = base::ParseJson(first.out);
  ASSERT_TRUE(said.ok()) << first.All();
  EXPECT_EQ(SentFromHere(*said), 1);
  EXPECT_LT((*said)["bytes"].get<std::int64_t>(), 2 * kSize) << "over the uplink, in all";
  AllHostsAreEqual();
  EXPECT_THAT(Sync().err, HasSubstr("nothing to do on 8 hosts")) << "each host knows what it has";
}

TEST_F(SyncRelayed, TheLineSaysWhichWayTheFilesWent) {
  Write("big", std::string(kSize, 'y'));
  Write("sub/small", "b");
  EXPECT_THAT(Sync().err, AllOf(HasSubstr(" over the uplink, "), HasSubstr(" from host to host)")));
}

/// As in a network where a firewall keeps the hosts apart.
TEST_F(SyncRelayed, HostsThatCannotLogInToEachOtherAreSentTheFiles) {
  ASSERT_EQ(On("mv ~/.ssh/jobman-peers ~/.ssh/away").code, 0);
  Write("big", std::string(kSize, 'z'));
  Write("sub/small", "c");
  const Ran ran = Sync({"--json"});
  EXPECT_EQ(On("mv ~/.ssh/away ~/.ssh/jobman-peers").code, 0);
  const auto said = base::ParseJson(ran.out);
  ASSERT_TRUE(said.ok()) << ran.All();
  EXPECT_EQ(SentFromHere(*said), kHosts);
  AllHostsAreEqual();
}

/// Two hosts have lost the folder since the last sync.
TEST_F(SyncRelayed, OnlyHostsThatLackTheFilesTakePart) {
  Write("big", std::string(kSize, 'w'));
  Write("sub/small", "d");
  ASSERT_EQ(Sync().code, 0);
  On("rm -rf ~/code", "2,4");
  const Ran ran = Sync({"--json"});
  const auto said = base::ParseJson(ran.out);
  ASSERT_TRUE(said.ok()) << ran.All();
  EXPECT_EQ((*said)["hosts"][0]["sent"], 0);
  EXPECT_EQ((*said)["hosts"][2]["sent"], 2);
  const bool one_way = (*said)["hosts"][2]["relayed"].get<std::int64_t>() > 0;
  const bool other_way = (*said)["hosts"][4]["relayed"].get<std::int64_t>() > 0;
  EXPECT_NE(one_way, other_way) << "one of the two has it from the other";
  AllHostsAreEqual();
}

/// An archive has at most 20,000 names: the folder and 19,999 files, then the rest.
TEST_F(SyncRelayed, EachPartOfALargeFolderGoesFromHostToHost) {
  const std::string large(200'000, 'v');
  std::filesystem::create_directories(here() / "many");
  for (int i = 0; i < 20'010; ++i)
    std::ofstream(here() / fmt::format("many/{:05}", i)) << (i < 20'000 ? "" : large);
  constexpr std::int64_t kArchives = 20'000 * 512 + 2'000'000;
  const Ran ran = Sync({"--json", "-w", "0-2"});
  ASSERT_EQ(ran.code, 0) << ran.All();
  const auto said = base::ParseJson(ran.out);
  ASSERT_TRUE(said.ok()) << ran.All();
  std::int64_t relayed = 0;
  for (const base::Json& host : (*said)["hosts"]) {
    EXPECT_EQ(host["error"], nullptr) << host.dump();
    relayed += host["relayed"].get<std::int64_t>();
  }
  EXPECT_GT(relayed, 2 * kArchives) << "two hosts have both parts from others";
  EXPECT_LT((*said)["bytes"].get<std::int64_t>(), 2 * kArchives);
  std::string content;
  for (int i = 0; i < 10; ++i) content += large;
  const std::string command = "cd ~/code && cat many/* | sha256sum && ls many | wc -l";
  for (const char* host : {"0", "1", "2"}) {
    EXPECT_THAT(On(command, host).out,
                AllOf(HasSubstr(base::Sha256Hex(content)), HasSubstr("20010")))
        << host;
  }
}

}  // namespace
}  // namespace jobman::test
