#include "jobman/core/job.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/overloaded.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::core {
namespace {

constexpr const char* kOwnerLabel = "jobman-owner";

/// The login name, with a part of its hash where a label cannot hold it: ann.lee and ann-lee are
/// two.
std::string OwnerLabel(const std::string& user) {
  constexpr std::size_t kHash = 8;
  std::string label = LabelValue(user);
  if (label == user) return label;
  label.resize(std::min(label.size(), kLongestLabelValue - kHash - 1));
  return label + "-" + base::Sha256Hex(user).substr(0, kHash);
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

std::string TriesText(const std::optional<Search>& search, TimePoint now) {
  if (!search || search->tries < 2) return {};
  return fmt::format("{} tries in {}", search->tries, base::FormatDuration(now - search->since));
}

std::string FormatJobId(JobId id) {
  return fmt::format(FMT_COMPILE("{:06}"), id.value);
}

std::string_view StateName(const JobState& state) {
  using Name = std::string_view;
  return std::visit(Overloaded{
                        [](const Queued&) -> Name { return "QUEUED"; },
                        [](const Requesting&) -> Name { return "REQUESTING"; },
                        [](const Waiting&) -> Name { return "WAITING"; },
                        [](const Provisioning&) -> Name { return "PROVISIONING"; },
                        [](const Setup&) -> Name { return "SETUP"; },
                        [](const Idle&) -> Name { return "IDLE"; },
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

std::optional<TimePoint> GivenBackAt(const Job& job) {
  const auto* const done = std::get_if<Done>(&job.state);
  if (done == nullptr || !job.slice) return std::nullopt;
  const WhenDoneSpec& when = job.spec.when_done;
  if (when.keep) return job.since + *when.keep;
  const bool ended = done->outcome == Outcome::kSucceeded || done->outcome == Outcome::kFailed;
  return when.action == SliceUse::kDelete && ended ? std::optional(job.since) : std::nullopt;
}

bool AskForTheSameSlice(const JobSpec& one, const JobSpec& other) {
  return one.tpu == other.tpu && one.cloud == other.cloud;
}

void ApplySetupWish(Job& job, SetupWish setup) {
  if (setup == SetupWish::kRedo) ++job.setup_epoch;
  if (!job.slice) return;
  auto& done = job.slice->setup_done;
  if (setup == SetupWish::kSkip) {
    done = {.generation = job.slice->generation, .epoch = job.setup_epoch, .vouched = true};
  } else if (done && done->vouched) {
    done.reset();
  }
}

std::map<std::string, std::string> OwnerLabels(const Job& job, const std::string& store_id) {
  return {{"jobman-job", FormatJobId(job.id)},
          {kOwnerLabel, OwnerLabel(job.user)},
          {"jobman-store", LabelValue(store_id)}};
}

bool IsOurs(const std::map<std::string, std::string>& labels,
            const std::map<std::string, std::string>& ours) {
  return std::all_of(ours.begin(), ours.end(), [&](const auto& label) {
    const auto found = labels.find(label.first);
    if (found == labels.end()) return label.first == kOwnerLabel;
    return found->second == label.second;
  });
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
