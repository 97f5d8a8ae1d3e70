#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <map>

#include "jobman/controller/controller.hpp"

namespace jobman::controller {

/// Delivers the outbox to the hooks. Retries each delivery until it succeeds or its tries are used
/// up, and records every try. Several deliveries run at the same time. After a crash a delivery may
/// be repeated, with the same event id.
class Courier {
 public:
  Courier(asio::io_context& loop, const Ports& ports, const Options& options);

  /// Reads the outbox now. Does nothing before Start().
  void PollNow();
  void Start(std::int64_t lease_token);
  /// Ends deliveries in progress. That counts as a try, so that a hook that takes longer than one
  /// `tick` is given up like any other in the end.
  base::Task<void> Stop();
  /// Whether deliveries are left, due now or later.
  bool Busy() const { return changed_ || !waiting_.empty() || !under_way_.empty(); }
  /// Whether no delivery is in progress or due, for `tick`.
  bool Quiet(core::TimePoint now) const;

 private:
  struct UnderWay {
    ports::HookDelivery delivery = {};
    std::optional<base::Status> told = {};  ///< the result, while it is being recorded
  };
  static base::Task<void> Loop(Courier* self);
  static base::Task<void> Deliver(Courier* self, std::int64_t number);
  base::Task<base::Status> TellOnce(ports::HookDelivery delivery);
  base::Task<void> Load();
  void StartDue();
  base::Task<void> Record(ports::HookDelivery delivery, base::Status told);
  core::TimePoint DueAt(const ports::HookDelivery& delivery) const;
  base::Duration UntilNext() const;

  asio::io_context& loop_;
  const Ports& ports_;
  const Options& options_;
  asio::steady_timer wake_;
  std::int64_t lease_token_ = 0;
  bool started_ = false;
  bool changed_ = false;     ///< the outbox may have changed since it was read
  bool unreadable_ = false;  ///< the last read failed
  int recorded_ = 0;         ///< tries; a read that overlaps one is outdated
  std::map<std::int64_t, ports::HookDelivery> waiting_ = {};
  std::map<std::int64_t, UnderWay> under_way_ = {};
  /// Deliveries whose result could not be recorded (a full disk, say), and when to try them again.
  std::map<std::int64_t, core::TimePoint> held_back_ = {};
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
