#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <map>

#include "jobman/controller/controller.hpp"

namespace jobman::controller {

/// Empties the outbox: tells each hook what it is to be told, again and again until it takes it or
/// it is given up, and records every try. Waits for nobody but its own deliveries; several are
/// under way at once. What was taken right before a crash is told twice, with the same event id.
class Courier {
 public:
  Courier(asio::io_context& loop, const Ports& ports, const Options& options);

  /// There may be something new in the outbox: looks now. Does nothing before Start().
  void PollNow();
  void Start(std::int64_t lease_token);
  /// Ends what is under way. That counts as a try: a hook that takes longer than a pass of `tick`
  /// is given up like any other at last.
  base::Task<void> Stop();
  /// Whether something is left to tell, now or later.
  bool Busy() const { return changed_ || !waiting_.empty() || !under_way_.empty(); }
  /// Whether nothing is under way or due, for `tick`.
  bool Quiet(core::TimePoint now) const;

 private:
  struct UnderWay {
    ports::HookDelivery delivery = {};
    std::optional<base::Status> told = {};  ///< how it went, while that is being recorded
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
  bool changed_ = false;     ///< the outbox was not looked at since it may have changed
  bool unreadable_ = false;  ///< the last look failed
  int recorded_ = 0;         ///< tries: a look that one of them overtook is out of date
  std::map<std::int64_t, ports::HookDelivery> waiting_ = {};
  std::map<std::int64_t, UnderWay> under_way_ = {};
  /// What was told and could not be recorded, on a full disk perhaps: not told again before.
  std::map<std::int64_t, core::TimePoint> held_back_ = {};
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
