#pragma once

#include <asio/steady_timer.hpp>
#include <map>
#include <memory>

#include "controller/abandoned_slices.hpp"
#include "controller/clouds.hpp"
#include "controller/job_book.hpp"

namespace jobman::controller {

/// Polls every place (cloud, project, zone) where a job has a slice or an abandoned request
/// (core::AbandonedRequest), with two list calls for all its jobs: often after a change, every
/// Policy::poll otherwise. The number of calls grows with places, not with jobs.
class ZoneWatch {
 public:
  ZoneWatch(asio::io_context& loop, const Ports& ports, const Options& options, Clouds& clouds,
            JobBook& book);
  ~ZoneWatch();

  /// Starts watching the job's place, if it is not watched already.
  void Watch(const core::Job& job);
  /// Something may have changed there: polls at once.
  void PollNow(const core::CloudSpec& cloud, const core::Place& where);
  /// Whether the last look at the job's place succeeded, and lately.
  bool Answers(const core::Job& job) const;
  /// Whether nothing has changed lately in any place, for `tick`.
  bool Quiet() const;

 private:
  struct Place;
  static base::Task<void> Loop(ZoneWatch* self, std::shared_ptr<Place> place);
  base::Task<base::Status> Look(std::shared_ptr<Place> place);
  base::Task<void> LookAtOperations(std::shared_ptr<ports::SliceApi> api,
                                    std::vector<core::Job> jobs);
  void PostSeen(const Place& place, core::TimePoint began, const Listing& listing);
  void RepeatEffects(const Place& place);
  void PostLookFailed(const Place& place, const base::Error& error);
  std::vector<core::Job> JobsAt(const Place& place) const;

  asio::io_context& loop_;
  const Ports& ports_;
  const Options& options_;
  Clouds& clouds_;
  JobBook& book_;
  AbandonedSlices abandoned_;
  std::map<std::string, std::shared_ptr<Place>> places_ = {};
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
