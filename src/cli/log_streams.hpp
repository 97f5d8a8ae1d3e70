#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/log_printer.hpp"
#include "cli/narrator.hpp"
#include "jobman/client/log_follower.hpp"

namespace jobman::cli {

/// The output of one or several jobs, printed as it comes, line by line where several write.
class LogStreams {
 public:
  /// `narrator` hears what is printed.
  LogStreams(App& app, client::Context context, Narrator& narrator)
      : app_(app), context_(std::move(context)), narrator_(narrator) {}

  void Add(core::JobId job, client::LogFollower::Options from, LogLook look,
           LineFilter filter = {});
  /// Follows all jobs to their ends. `looked` is called with each job after each look at it, and
  /// whether all of its output is printed. False if the user interrupted, or nobody reads the
  /// output any more; it may be called again.
  base::Result<bool> Follow(const std::function<void(const core::Job& job, bool over)>& looked,
                            base::Duration poll_every = client::kLookAtJobs);
  /// Prints the unfinished lines of all jobs.
  void Finish();
  /// The jobs whose output is all printed, or else the others, as last seen and in the order of
  /// Add().
  std::vector<core::Job> JobsThatAre(bool over) const;

 private:
  struct Stream {
    client::LogFollower follower;
    LogPrinter printer;
    std::optional<client::LogStage> stage = {};
    int host_count = 1;
  };
  bool Take(Stream& stream, const client::LogStage& stage, int host, const client::LogPiece& piece);

  App& app_;
  client::Context context_;
  Narrator& narrator_;
  std::vector<std::unique_ptr<Stream>> streams_ = {};
};

}  // namespace jobman::cli
