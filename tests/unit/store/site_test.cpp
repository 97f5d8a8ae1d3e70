#include "jobman/store/site.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

class SiteTest : public testing::Test {
 protected:
  SiteTest() {
    Write("store/jobman.db", "x");
    Write("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  }
  void Write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((dir_ / file).parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(dir_ / file, text).ok());
  }
  void AddCard(const std::string& name, const std::string& address, const std::string& type,
               bool hardware = true) {
    const std::string card = "sys/class/net/" + name;
    Write(card + "/address", address + "\n");
    Write(card + "/addr_assign_type", type + "\n");
    if (hardware) std::filesystem::create_directories(dir_ / (card + "/device"));
  }
  core::Site Look(const std::string& folder = "store") {
    return LookAtSite(dir_ / folder, dir_.path());
  }
  test::TempDir dir_;
};

TEST_F(SiteTest, TheSameStoreIsAtTheSameSite) {
  const core::Site site = Look();
  EXPECT_EQ(Look(), site);
  EXPECT_EQ(site.machine.size(), 16u) << "a hash: machine-id(5)";
  EXPECT_NE(site.file, 0u);
  std::filesystem::create_symlink(dir_ / "store", dir_ / "link");
  EXPECT_EQ(Look("link"), site);
}

TEST_F(SiteTest, ACopyHasAnotherPathAndFile) {
  std::filesystem::copy(dir_ / "store", dir_ / "copy");
  EXPECT_NE(Look("copy").path, Look().path);
  EXPECT_NE(Look("copy").file, Look().file);
  EXPECT_FALSE(core::FindSite(Look("copy"), {Look()}));
  const core::Site before = Look();
  std::filesystem::rename(dir_ / "store", dir_ / "moved");
  EXPECT_TRUE(core::FindSite(Look("moved"), {before}));
}

TEST_F(SiteTest, AMachineMayHaveNoId) {
  const std::string with_id = Look().machine;
  Write("etc/machine-id", "uninitialized\n");
  EXPECT_EQ(Look().machine, "");
  std::filesystem::remove(dir_ / "etc/machine-id");
  EXPECT_EQ(Look().machine, "");
  Write("etc/machine-id", "ffffffffffffffffffffffffffffffff\n");
  EXPECT_NE(Look().machine, with_id);
}

TEST_F(SiteTest, OnlyCardsWithTheirOwnAddressCount) {
  AddCard("eth1", "52:54:00:00:00:02", "0");
  AddCard("eth0", "52:54:00:00:00:01", "0");
  AddCard("wlan0", "aa:aa:aa:aa:aa:aa", "3");           // randomized
  AddCard("docker0", "02:42:00:00:00:01", "0", false);  // no hardware
  AddCard("ib0", "00:00:00:00:00:00", "0");             // no address
  EXPECT_EQ(Look().cards, (std::vector<std::string>{"52:54:00:00:00:01", "52:54:00:00:00:02"}));
}

}  // namespace
}  // namespace jobman::store
