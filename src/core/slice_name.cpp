#include "jobman/core/slice_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

constexpr std::size_t kLongestName = 61;  // RFC 1035 allows 63; multislice appends "-0"

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string LabelValue(std::string_view text) {
  std::string value;
  for (const char c : text.substr(0, kLongestLabelValue)) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool allowed = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') ||
                         lower == '-' || lower == '_';
    value += allowed ? lower : '-';
  }
  return value;
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
  if (!tpu.existing.empty()) {
    return {.mode = AllocationMode::kTpuVm,
            .place = {.project = tpu.project, .zone = tpu.zone},
            .name = tpu.existing,
            .existing = true};
  }
  return {.mode = tpu.allocation_mode,
          .place = {.project = tpu.project, .zone = tpu.zone},
          .name = SliceName(job, attempt),
          .nodes = tpu.num_slices};
}

std::string NodeId(const SliceRef& ref, int node) {
  return ref.nodes <= 1 ? ref.name : ref.name + "-" + std::to_string(node);
}

std::vector<std::string> NodeIds(const SliceRef& ref) {
  std::vector<std::string> ids;
  for (int node = 0; node < std::max(1, ref.nodes); ++node) ids.push_back(NodeId(ref, node));
  return ids;
}

std::vector<SliceRef> PartsOf(const SliceRef& ref) {
  if (ref.mode == AllocationMode::kQueuedResources) return {ref};
  std::vector<SliceRef> parts;
  for (const std::string& id : NodeIds(ref)) {
    parts.push_back({.mode = ref.mode, .place = ref.place, .name = id});
  }
  return parts;
}

std::vector<std::string> NamesOfParts(const SliceRef& ref) {
  return ref.mode == AllocationMode::kQueuedResources ? std::vector{ref.name} : NodeIds(ref);
}

bool IsPartOf(const std::string& slice, std::string_view name) {
  if (!name.starts_with(slice)) return false;
  name.remove_prefix(slice.size());
  return name.empty() || (name.front() == '-' && AllDigits(name.substr(1)));
}

}  // namespace jobman::core
