#include "sim/service/simulator.hpp"

#include "jobman/base/clock.hpp"
#include "jobman/base/log.hpp"

namespace jobman::sim {

namespace {
TimePoint Now() {
  return base::SystemClock().Now();
}
}  // namespace

base::Result<std::unique_ptr<Simulator>> Simulator::Start(Settings settings, FleetOptions options) {
  std::unique_ptr<Simulator> simulator(new Simulator);
  Simulator* self = simulator.get();
  JM_ASSIGN_OR_RETURN(simulator->fleet_,
                      LocalFleet::Start(std::move(options), [self](const std::string& uid, int boot,
                                                                   const std::string& error) {
                        self->Report(uid, boot, error);
                      }));
  simulator->service_ = std::make_unique<TpuService>(std::move(settings), *simulator->fleet_);
  simulator->ticker_ = std::thread([self] { self->Tick(); });
  return simulator;
}

Simulator::~Simulator() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  fleet_.reset();  // its thread reports to the service until now
}

Reply Simulator::Handle(const Request& request) {
  const std::lock_guard lock(mutex_);
  if (stopping_) {
    return ToReply({.code = base::Code::kUnavailable, .message = "the simulator is going down"});
  }
  const auto due = service_->NextDue();
  Reply reply = service_->Handle(request, Now());
  if (service_->NextDue() != due) wake_.notify_all();
  return reply;
}

GuestReply Simulator::Guest(const std::string& address, const GuestRequest& request) {
  const std::lock_guard lock(mutex_);
  return service_->Guest(address, request);
}

bool Simulator::IsOwn(const std::string& address, const Peer& peer) const {
  std::string host;
  {
    const std::lock_guard lock(mutex_);
    host = service_->HostAt(address);
  }
  return !host.empty() && fleet_->IsOf(host, peer);
}

void Simulator::OnGuestChange(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  service_->OnGuestChange(std::move(changed));
}

void Simulator::OnUnplug(std::function<void(Duration)> unplug) {
  const std::lock_guard lock(mutex_);
  service_->OnUnplug(std::move(unplug));
}

void Simulator::Report(const std::string& uid, int boot, const std::string& error) {
  const std::lock_guard lock(mutex_);
  if (error.empty()) {
    service_->HostsBooted(uid, boot, Now());
  } else {
    base::Log(base::LogLevel::kError, "hosts", "{}", error);
    service_->HostsFailed(uid, boot, error, Now());
  }
  wake_.notify_all();
}

void Simulator::Tick() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    service_->Advance(Now());
    if (const auto due = service_->NextDue()) {
      wake_.wait_until(lock, *due);
    } else {
      wake_.wait(lock);
    }
  }
}

Json Simulator::Shutdown() {
  Json report;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    report = service_->Status(Now());
  }
  wake_.notify_all();
  report["processes"] = fleet_->Shutdown();
  return report;
}

}  // namespace jobman::sim
