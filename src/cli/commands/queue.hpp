#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "jobman/ports/queue_store.hpp"

namespace jobman::cli {

/// What is asked of `queue`.
struct QueueOptions {
  std::string file = {};
  bool submitted = false;
  bool all = false;
  bool watch = false;
  bool no_header = false;
  std::string output = {};
  bool yes = false;
  std::vector<std::string> show = {};
  std::vector<std::string> reset = {};
  bool reset_all = false;
  bool reset_failed = false;
  std::vector<std::string> prioritize = {};
  std::vector<std::string> done = {};
  bool cleanup = false;

  /// As client::SeeQueues() takes it.
  std::optional<std::string> Queue() const {
    if (submitted) return std::string(ports::kSubmittedQueue);
    return file.empty() ? std::nullopt : std::optional(file);
  }
};

/// How many of the options that change something are given.
int ChangesIn(const QueueOptions& options);
/// Does what the one of them says, after asking where something is lost.
base::Result<int> ChangeQueue(App& app, const QueueOptions& options);

}  // namespace jobman::cli
