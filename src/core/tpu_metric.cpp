#include "jobman/core/tpu_metric.hpp"

#include <cctype>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

using Part = TpuMetric::Part;

/// A v2-8 or v3-8, which is no slice of a pod.
constexpr int kDeviceCores = 8;
constexpr int kLargestServing = 8;

bool IsGenerationWord(const std::string& word) {
  return word.size() > 1 && word[0] == 'v' && std::isdigit(static_cast<unsigned char>(word[1]));
}

/// "v5s" of "tpu-v5s-litepod", "v4s" of "tpu-v4s": the "s" is of no generation's name.
std::string GenerationInWord(std::string word) {
  if (word.ends_with('s')) word.pop_back();
  return word;
}

/// What one word of a metric's name says; false if it is not known.
bool TakeWord(const std::string& word, TpuMetric& metric) {
  if (IsGenerationWord(word)) {
    metric.generation = GenerationInWord(word);
  } else if (word == "litepod") {
    metric.generation += word;
  } else if (word == "serving") {
    metric.part = Part::kServing;
  } else if (word == "pod") {
    metric.part = Part::kPods;
  } else if (word == "preemptible" || word == "spot") {
    metric.pricing = Pricing::kSpot;
  } else if (word == "reserved") {
    metric.pricing = Pricing::kReserved;
  } else {
    return false;
  }
  return true;
}

bool HasDevices(const std::string& generation) {
  return generation == "v2" || generation == "v3";
}

/// What the name does not say: it is the rest of what another metric of the generation has.
Part PartOf(const TpuMetric& metric) {
  if (HasDevices(metric.generation))
    return metric.part == Part::kPods ? Part::kPods : Part::kDevices;
  if (metric.generation != "v5litepod") return Part::kAll;
  return metric.part == Part::kServing ? Part::kServing : Part::kTraining;
}

bool HasSize(Part part, const Accelerator& type) {
  switch (part) {
    case Part::kAll:
      return true;
    case Part::kDevices:
      return type.cores <= kDeviceCores;
    case Part::kPods:
      return type.cores > kDeviceCores;
    case Part::kServing:
      return type.chips <= kLargestServing;
    case Part::kTraining:
      return type.chips > kLargestServing;
  }
  return false;
}

}  // namespace

std::optional<TpuMetric> ReadTpuMetric(std::string_view metric) {
  const std::string name(metric.substr(metric.rfind('/') + 1));  // npos + 1 is 0
  constexpr std::string_view kPrefix = "tpu-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  TpuMetric read;
  for (const std::string& word : base::Split(name.substr(kPrefix.size()), '-')) {
    if (!TakeWord(word, read)) return std::nullopt;
  }
  if (!IsGenerationWord(read.generation)) return std::nullopt;
  read.part = PartOf(read);
  return read;
}

std::string TextOf(const TpuMetric& metric) {
  switch (metric.part) {
    case Part::kPods:
      return metric.generation + " pods";
    case Part::kServing:
      return metric.generation + " serving";
    case Part::kAll:
    case Part::kDevices:
    case Part::kTraining:
      return metric.generation;
  }
  return metric.generation;
}

Pricing Counted(Pricing pricing) {
  switch (pricing) {
    case Pricing::kSpot:
    case Pricing::kPreemptible:
    case Pricing::kFlexStart:
      return Pricing::kSpot;
    case Pricing::kReserved:
    case Pricing::kReservationBound:
      return Pricing::kReserved;
    case Pricing::kOnDemand:
      break;
  }
  return Pricing::kOnDemand;
}

int UnitsOf(const TpuMetric& metric, const Accelerator& type, Pricing pricing) {
  const bool same = metric.generation == type.generation && metric.pricing == Counted(pricing);
  return same && HasSize(metric.part, type) ? type.cores : 0;
}

}  // namespace jobman::core
