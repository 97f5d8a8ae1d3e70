#include "jobman/core/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/overloaded.hpp"

namespace jobman::core {
namespace {

constexpr std::size_t kLongestName = 61;  // RFC 1035 allows 63; multislice appends "-0"

/// Label values allow lower-case letters, digits, _ and -, at most 63 characters.
/// Source: Compute Engine documentation, "Organize resources using labels".
std::string LabelValue(std::string_view text) {
  std::string value;
  for (const char c : text.substr(0, 63)) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool allowed = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') ||
                         lower == '-' || lower == '_';
    value += allowed ? lower : '-';
  }
  return value;
}

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

std::string SliceName(const Job& job, int attempt) {
  const std::string tail = fmt::format("-{}-a{}", FormatJobId(job.id), attempt);
  std::string prefix = LabelValue(job.spec.tpu.name.empty() ? job.name : job.spec.tpu.name);
  std::replace(prefix.begin(), prefix.end(), '_', '-');
  if (prefix.empty() || prefix.front() < 'a' || prefix.front() > 'z') prefix.insert(0, "j");
  prefix.resize(std::min(prefix.size(), kLongestName - tail.size()));
  while (prefix.size() > 1 && prefix.back() == '-') prefix.pop_back();
  return prefix + tail;
}

SliceRef SliceFor(const Job& job, int attempt) {
  const TpuSpec& tpu = job.spec.tpu;
  return {.mode = tpu.allocation_mode,
          .place = {.project = tpu.project, .zone = tpu.zone},
          .name = SliceName(job, attempt),
          .nodes = tpu.num_slices};
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
