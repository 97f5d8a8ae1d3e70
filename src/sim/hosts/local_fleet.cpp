#include "sim/hosts/local_fleet.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "jobman/base/log.hpp"
#include "sim/hosts/bubblewrap_fleet.hpp"
#include "sim/hosts/plain_fleet.hpp"
#include "sim/hosts/processes.hpp"

namespace jobman::sim {

namespace {
constexpr auto kPoll = std::chrono::milliseconds(2);    ///< while hosts boot
constexpr auto kIdle = std::chrono::milliseconds(250);  ///< to notice hosts that end
}  // namespace

std::string SandboxName(Sandbox sandbox) {
  switch (sandbox) {
    case Sandbox::kBubblewrap:
      return "bubblewrap";
    case Sandbox::kNone:
      return "none";
    case Sandbox::kLight:
      return "light";
  }
  return "none";
}

base::Result<std::unique_ptr<LocalFleet>> LocalFleet::Start(FleetOptions options, Report report) {
  if (FindProgram("sshd").empty()) {
    return base::NotFound("the OpenSSH server (sshd) is not installed",
                          "apt-get install openssh-server");
  }
  JM_TRY(base::EnsureDir(options.dir / "hosts"));
  JM_TRY(base::EnsureDir(options.dir / "logs"));
  std::unique_ptr<LocalFleet> fleet;
  if (options.sandbox == Sandbox::kBubblewrap) {
    fleet = std::make_unique<BubblewrapFleet>(std::move(options), std::move(report));
  } else {
    fleet = std::make_unique<PlainFleet>(std::move(options), std::move(report));
  }
  fleet->EndContainersIn(fleet->HostsDir());  // of a simulator that was killed
  return fleet;
}

LocalFleet::~LocalFleet() {
  Join();
}

void LocalFleet::StartThread() {
  thread_ = std::thread([this] { Run(); });
}

void LocalFleet::Join() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LocalFleet::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  wake_.notify_all();
}

void LocalFleet::PostAndWait(std::function<void()> work) {
  std::mutex done_mutex;
  std::condition_variable done_wake;
  bool done = false;
  Post([&] {
    work();
    const std::lock_guard lock(done_mutex);
    done = true;
    done_wake.notify_all();
  });
  std::unique_lock lock(done_mutex);
  done_wake.wait(lock, [&] { return done; });
}

void LocalFleet::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, booting_.empty() && !tending_ ? kIdle : kPoll,
                   [this] { return stopping_ || !work_.empty(); });
    while (!work_.empty()) {
      const std::function<void()> next = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      next();
      lock.lock();
    }
    lock.unlock();
    WatchBoots();
    tending_ = Tend();
    lock.lock();
  }
}

std::string LocalFleet::Create(const HostPlan& plan) {
  const HostKey key = MakeHostKey(plan.name);
  // Not at once: a disk of the same name may still be waiting for deletion.
  Post([this, name = plan.name, key] {
    const base::Status made = DiskOf(name).Create(key);
    if (!made.ok()) base::Log(base::LogLevel::kError, "hosts", "{}", made.error().ToString());
  });
  return key.public_base64;
}

bool LocalFleet::Boot(const std::string& uid, int boot, const std::vector<HostPlan>& plans) {
  Booting booting{.uid = uid, .boot = boot};
  for (const HostPlan& plan : plans) booting.names.push_back(plan.name);
  Post([this, booting, plans] { BootNow(booting, plans); });
  return false;
}

void LocalFleet::BootNow(const Booting& boot, const std::vector<HostPlan>& plans) {
  for (const HostPlan& plan : plans) {
    // The docker client was still asking for one when the host was switched off.
    EndContainersIn(HostDir(plan.name));
    base::Status status = DiskOf(plan.name).PrepareBoot(plan);
    if (status.ok()) status = Launch(plan);
    if (!status.ok()) return report_(boot.uid, boot.boot, status.error().ToString());
  }
  booting_.push_back(boot);
}

void LocalFleet::WatchBoots() {
  for (auto boot = booting_.begin(); boot != booting_.end();) {
    bool all_up = true;
    std::string failed;
    for (const std::string& name : boot->names) {
      const base::Result<bool> up = IsUp(name);
      if (!up.ok()) failed = up.error().ToString();
      all_up = up.ok() && *up;
      if (!all_up) break;  // no need to look at the others yet
    }
    if (!all_up && failed.empty()) {
      ++boot;
      continue;
    }
    report_(boot->uid, boot->boot, failed);
    boot = booting_.erase(boot);
  }
}

void LocalFleet::PowerOff(const std::string& name) {
  Post([this, name] {
    // The report of an interrupted boot is not needed.
    std::erase_if(booting_, [&](const Booting& boot) {
      return std::find(boot.names.begin(), boot.names.end(), name) != boot.names.end();
    });
    Kill(name);
    EndContainersIn(HostDir(name));
  });
}

void LocalFleet::EndContainersIn(const base::Path& folder) const {
  if (options_.docker) EndContainers(*options_.docker, folder);
}

void LocalFleet::SetLink(const std::string& name, Link link) {
  Post([this, name, link] {
    const bool trickles = link == Link::kTrickling;
    const bool hung = trickles || link == Link::kHung;
    if (hung || link == Link::kMended) {
      const base::Status set = DiskOf(name).SetHung(hung, trickles);
      if (!set.ok()) base::Log(base::LogLevel::kWarn, "hosts", "{}", set.error().ToString());
    }
    if (!hung) Relink(name, link);
  });
}

base::Status LocalFleet::MayFail(HostFaultKind kind) const {
  if (kind == HostFaultKind::kNone) return base::Ok();
  return base::Error{
      .code = base::Code::kFailedPrecondition,
      .message = std::string(HostFaultName(kind)) + " is for hosts without a sandbox",
      .hint = kind == HostFaultKind::kFull
                  ? "start the simulator with --light; or with --dir or --share on a small file "
                    "system, which hosts can fill"
                  : "start the simulator with --light"};
}

void LocalFleet::SetFault(const std::string& name, const HostFault& fault) {
  Post([this, name, fault] { Spoil(name, fault); });
}

void LocalFleet::Destroy(const std::string& name) {
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

void LocalFleet::UpdateMetadata(const std::string& name, const Metadata& metadata) {
  Post([this, name, metadata] {
    const base::Status status = DiskOf(name).WriteMetadata(metadata);
    if (!status.ok()) base::Log(base::LogLevel::kWarn, "hosts", "{}", status.error().ToString());
  });
}

}  // namespace jobman::sim
