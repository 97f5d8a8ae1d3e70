#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/last_words.hpp"
#include "jobman/ports/records.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman show`: everything about some jobs.
struct JobDetails {
  struct Item {
    core::Job job = {};
    std::vector<ports::AttemptRecord> attempts = {};
    std::vector<ports::ExitRecord> exits = {};         ///< of all attempts
    std::vector<ports::HookDelivery> deliveries = {};  ///< delivered, waiting and given up
    std::string logs = {};                             ///< folder of the job's files
    std::optional<client::LastOutput> output = {};
  };
  std::vector<Item> items = {};
  core::TimePoint now = {};
};
std::string RenderText(const JobDetails& view, const ui::Style& style);
/// One line per job: id and state.
std::string RenderQuiet(const JobDetails& view);
base::OrderedJson ToJson(const JobDetails& view);

/// A sentence for each delivery that is still waiting or was given up.
std::vector<std::string> HookTroubles(const std::vector<ports::HookDelivery>& deliveries,
                                      core::TimePoint now);

/// The hosts of the job's current attempt and their progress in each stage, as a table; empty if no
/// hosts are known. `run` and `create --follow` end with it.
std::string RenderHosts(const core::Job& job, const std::vector<ports::ExitRecord>& exits,
                        const ui::Style& style);

}  // namespace jobman::cli::views
