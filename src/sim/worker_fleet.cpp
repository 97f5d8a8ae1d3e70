#include "sim/worker_fleet.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "jobman/base/log.hpp"

namespace jobman::sim {

namespace {
constexpr auto kPoll = std::chrono::milliseconds(2);    ///< while hosts boot
constexpr auto kIdle = std::chrono::milliseconds(250);  ///< to notice hosts that end
}  // namespace

WorkerFleet::WorkerFleet(FleetOptions options, Report report)
    : options_(std::move(options)), report_(std::move(report)) {}

WorkerFleet::~WorkerFleet() {
  Join();
}

void WorkerFleet::StartThread() {
  thread_ = std::thread([this] { Run(); });
}

void WorkerFleet::Join() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WorkerFleet::Post(std::function<void()> order) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
  }
  wake_.notify_all();
}

void WorkerFleet::PostAndWait(std::function<void()> order) {
  std::mutex done_mutex;
  std::condition_variable done_wake;
  bool done = false;
  Post([&] {
    order();
    const std::lock_guard lock(done_mutex);
    done = true;
    done_wake.notify_all();
  });
  std::unique_lock lock(done_mutex);
  done_wake.wait(lock, [&] { return done; });
}

void WorkerFleet::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, booting_.empty() && !tending_ ? kIdle : kPoll,
                   [this] { return stopping_ || !orders_.empty(); });
    while (!orders_.empty()) {
      const std::function<void()> order = std::move(orders_.front());
      orders_.pop_front();
      lock.unlock();
      order();
      lock.lock();
    }
    lock.unlock();
    LookAfterBoots();
    tending_ = Tend();
    lock.lock();
  }
}

std::string WorkerFleet::Create(const HostPlan& plan) {
  const HostKey key = MakeHostKey(plan.name);
  // In its turn: an earlier order may still take a disk of this name away.
  Post([this, name = plan.name, key] {
    const base::Status made = DiskOf(name).Create(key);
    if (!made.ok()) base::Log(base::LogLevel::kError, "hosts", "{}", made.error().ToString());
  });
  return key.public_base64;
}

bool WorkerFleet::Boot(const std::string& uid, int boot, const std::vector<HostPlan>& plans) {
  Booting order{.uid = uid, .boot = boot};
  for (const HostPlan& plan : plans) order.names.push_back(plan.name);
  Post([this, order, plans] { BootNow(order, plans); });
  return false;
}

void WorkerFleet::BootNow(const Booting& boot, const std::vector<HostPlan>& plans) {
  for (const HostPlan& plan : plans) {
    base::Status status = DiskOf(plan.name).PrepareBoot(plan);
    if (status.ok()) status = Launch(plan);
    if (!status.ok()) return report_(boot.uid, boot.boot, status.error().ToString());
  }
  booting_.push_back(boot);
}

void WorkerFleet::LookAfterBoots() {
  for (auto boot = booting_.begin(); boot != booting_.end();) {
    bool all_up = true;
    std::string failed;
    for (const std::string& name : boot->names) {
      const base::Result<bool> up = IsUp(name);
      if (!up.ok()) failed = up.error().ToString();
      all_up = up.ok() && *up;
      if (!all_up) break;  // the others can wait, however many they are
    }
    if (!all_up && failed.empty()) {
      ++boot;
      continue;
    }
    report_(boot->uid, boot->boot, failed);
    boot = booting_.erase(boot);
  }
}

void WorkerFleet::PowerOff(const std::string& name) {
  Post([this, name] {
    // A boot that is cut short is reported by nobody: the world has given it up.
    std::erase_if(booting_, [&](const Booting& boot) {
      return std::find(boot.names.begin(), boot.names.end(), name) != boot.names.end();
    });
    Kill(name);
  });
}

void WorkerFleet::SetLink(const std::string& name, Link link) {
  Post([this, name, link] { Relink(name, link); });
}

void WorkerFleet::Destroy(const std::string& name) {
  PowerOff(name);
  Post([this, name] {
    const base::Path logs = options_.dir / "logs";
    std::error_code ignored;
    for (const char* log : {"sshd.log", "startup.log"}) {
      std::filesystem::rename(HostDir(name) / "state" / log, logs / (name + "." + log), ignored);
    }
    const base::Status gone = base::RemoveAll(HostDir(name));
    if (!gone.ok()) base::Log(base::LogLevel::kWarn, "hosts", "{}", gone.error().ToString());
  });
}

void WorkerFleet::UpdateMetadata(const std::string& name, const Metadata& metadata) {
  Post([this, name, metadata] {
    const base::Status status = DiskOf(name).WriteMetadata(metadata);
    if (!status.ok()) base::Log(base::LogLevel::kWarn, "hosts", "{}", status.error().ToString());
  });
}

}  // namespace jobman::sim
