// The order in which a fleet carries out what the service asks.
#include <gtest/gtest.h>

#include <future>

#include "sim/hosts/local_fleet.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::sim {
namespace {

/// Hosts with disks but without processes. The worker starts when the test says so.
class DiskFleet final : public LocalFleet {
 public:
  DiskFleet(const base::Path& dir, Report report)
      : LocalFleet({.dir = dir, .ssh_port = 2022}, std::move(report)) {
    Post([begun = begin_.get_future().share()] { begun.wait(); });
    StartThread();
  }
  ~DiskFleet() override { Join(); }

  void Begin() { begin_.set_value(); }
  std::vector<std::string> Shutdown() override { return {}; }
  bool IsOf(const std::string&, const Peer&) const override { return false; }

 protected:
  base::Status Launch(const HostPlan& plan) override {
    return base::ReadFile(DiskOf(plan.name).etc() / "host_key").ok()
               ? base::Ok()
               : base::Status(base::NotFound("the host key"));
  }
  base::Result<bool> IsUp(const std::string&) override { return true; }
  void Kill(const std::string&) override {}
  void Relink(const std::string&, Link) override {}
  HostDisk DiskOf(const std::string& name) const override {
    return HostDisk({.root = HostDir(name), .etc = "/etc", .state = "/state", .port = 2022});
  }

 private:
  std::promise<void> begin_ = {};
};

TEST(LocalFleet, ANewHostWithTheNameOfADeletedOneKeepsItsDisk) {
  const test::TempDir dir;
  std::promise<std::string> booted;
  DiskFleet fleet(dir.path(), [&](const std::string&, int, const std::string& error) {
    booted.set_value(error);
  });
  const HostPlan plan{.name = "t1v-n-train-w-0", .internal_ip = "127.16.0.1"};
  fleet.Create(plan);
  fleet.Destroy(plan.name);
  fleet.Create(plan);
  fleet.Boot("2", 1, {plan});
  fleet.Begin();
  EXPECT_EQ(booted.get_future().get(), "");
}

TEST(LocalFleet, AHostWithoutADiskIsReportedWithItsBoot) {
  const test::TempDir dir;
  std::promise<std::string> booted;
  DiskFleet fleet(dir.path(), [&](const std::string&, int, const std::string& error) {
    booted.set_value(error);
  });
  fleet.Boot("1", 1, {{.name = "t1v-n-train-w-0", .internal_ip = "127.16.0.1"}});
  fleet.Begin();
  EXPECT_NE(booted.get_future().get(), "");
}

}  // namespace
}  // namespace jobman::sim
