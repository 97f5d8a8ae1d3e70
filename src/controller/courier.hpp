#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <map>

#include "jobman/controller/controller.hpp"

namespace jobman::controller {

/// Empties the outbox: tells each notice to its hook, again and again until it is taken or given
/// up, and records every try. Waits for nobody but its own deliveries; several are under way at
/// once. A notice that was taken right before a crash is told twice, with the same event id.
class Courier {
 public:
  Courier(asio::io_context& loop, const World& world, const Options& options);
  ~Courier();

  /// Looks into the outbox now. Does nothing before Start().
  void Hurry();
  void Start(std::int64_t lease_token);
  /// Ends what is under way. That counts as a try: a hook that takes longer than a pass of `tick`
  /// is given up like any other at last.
  void Stop();
  /// Whether something is left to tell, now or later.
  bool Busy() const { return !waiting_.empty() || !under_way_.empty(); }
  /// Whether nothing is under way or due, for `tick`.
  bool Quiet(core::TimePoint now) const;

 private:
  static base::Task<void> Loop(Courier* self);
  static base::Task<void> Deliver(Courier* self, ports::Notice notice);
  base::Task<base::Status> TellOnce(ports::Notice notice);
  void Load();
  void StartDue();
  void Record(ports::Notice notice, const base::Status& told);
  core::TimePoint DueAt(const ports::Notice& notice) const;
  base::Duration UntilNext() const;

  asio::io_context& loop_;
  const World& world_;
  const Options& options_;
  asio::steady_timer wake_;
  base::CancelScope scope_ = {};
  std::int64_t lease_token_ = 0;
  bool started_ = false;
  bool stale_ = true;
  std::map<std::int64_t, ports::Notice> waiting_ = {};
  std::map<std::int64_t, ports::Notice> under_way_ = {};
  /// What was told and could not be recorded, on a full disk perhaps: not told again before.
  std::map<std::int64_t, core::TimePoint> held_back_ = {};
};

}  // namespace jobman::controller
