#include "jobman/core/job.hpp"

#include <fmt/format.h>

#include "core/overloaded.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::core {
namespace {

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSucceeded:
      return "SUCCEEDED";
    case Outcome::kFailed:
      return "FAILED";
    case Outcome::kCancelled:
      return "CANCELLED";
    case Outcome::kDeleted:
      return "DELETED";
  }
  return "FAILED";
}

}  // namespace

std::string FormatJobId(JobId id) {
  return fmt::format("{:06}", id.value);
}

std::string_view StateName(const JobState& state) {
  using Name = std::string_view;
  return std::visit(Overloaded{
                        [](const Queued&) -> Name { return "QUEUED"; },
                        [](const Requesting&) -> Name { return "REQUESTING"; },
                        [](const Waiting&) -> Name { return "WAITING"; },
                        [](const Provisioning&) -> Name { return "PROVISIONING"; },
                        [](const Setup&) -> Name { return "SETUP"; },
                        [](const Running&) -> Name { return "RUNNING"; },
                        [](const BackingOff&) -> Name { return "BACKOFF"; },
                        [](const Cancelling&) -> Name { return "CANCELLING"; },
                        [](const Deleting&) -> Name { return "DELETING"; },
                        [](const Done& done) -> Name { return OutcomeName(done.outcome); },
                    },
                    state);
}

bool IsFinal(const JobState& state) {
  return std::holds_alternative<Done>(state);
}

std::map<std::string, std::string> OwnerLabels(const Job& job, const std::string& store_id) {
  return {{"jobman-job", FormatJobId(job.id)},
          {"jobman-owner", LabelValue(job.user)},
          {"jobman-store", LabelValue(store_id)}};
}

bool IsOurs(const std::map<std::string, std::string>& labels, JobId job,
            const std::string& store_id) {
  auto carries = [&](const std::string& key, const std::string& value) {
    const auto found = labels.find(key);
    return found != labels.end() && found->second == value;
  };
  return carries("jobman-job", FormatJobId(job)) && carries("jobman-store", LabelValue(store_id));
}

SliceRequest RequestFor(const Job& job, SliceRef slice, const std::string& store_id) {
  SliceRequest request{.ref = std::move(slice), .tpu = job.spec.tpu};
  for (const auto& [key, value] : OwnerLabels(job, store_id)) request.tpu.labels[key] = value;
  if (!job.spec.tpu.startup_script.empty()) {
    request.tpu.metadata["startup-script"] = job.spec.tpu.startup_script;
  }
  return request;
}

}  // namespace jobman::core
