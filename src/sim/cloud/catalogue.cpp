#include "sim/cloud/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

/// Where a generation is offered; in the zones of `single`, only single-host slices.
struct Offer {
  const char* generation;
  const char* config_type;
  std::vector<std::string> zones;
  std::vector<std::string> single;
};

std::vector<std::string> Words(const char* text) {
  return base::Split(text, ' ');
}

const std::vector<Offer>& Offers() {
  static const std::vector<Offer> kOffers = {
      {"v2", "V2", Words("us-central1-a europe-west4-a"),
       Words("us-central1-b us-central1-c us-central1-f asia-east1-c")},
      {"v3", "V3", Words("europe-west4-a us-east1-d"),
       Words("us-central1-a us-central1-b us-central1-f")},
      {"v4", "V4", Words("us-central2-b"), {}},
      {"v5litepod",
       "V5LITE_POD",
       Words("us-central1-a us-south1-a us-south1-b us-west1-c us-west4-a us-west4-b "
             "us-east1-b us-east1-c us-east4-b us-east5-a us-east5-b us-east5-c "
             "europe-west1-b europe-west1-c europe-west3-c europe-west4-a "
             "europe-west4-b europe-north1-a europe-north1-c asia-east1-a "
             "asia-east1-b asia-east1-c asia-northeast1-b asia-southeast1-b "
             "northamerica-northeast1-b southamerica-west1-b southamerica-west1-c"),
       {}},
      {"v5p",
       "V5P",
       Words("us-central1-a us-east1-d us-east5-a us-east5-b us-east5-c us-south1-a "
             "us-south1-b us-south1-c europe-west1-b europe-west1-d europe-west4-b"),
       {}},
      {"v6e",
       "V6E",
       Words("us-central1-a us-central1-b us-central1-c us-east1-d us-east4-a "
             "us-east5-a us-east5-b us-east5-c us-south1-a us-south1-c us-west1-c "
             "europe-west4-a asia-northeast1-b asia-south1-b asia-south1-c "
             "asia-southeast1-b southamerica-west1-a"),
       {}},
  };
  return kOffers;
}

bool Has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool IsOfferedBy(const Offer& offer, const core::Accelerator& shape, const std::string& zone) {
  if (shape.generation != offer.generation) return false;
  return Has(offer.zones, zone) || (shape.hosts == 1 && Has(offer.single, zone));
}

/// Whether the number in the name counts chips (of one core), not TensorCores (two per chip).
bool CountsChips(const std::string& generation) {
  return generation == "v5litepod" || generation == "v6e";
}

}  // namespace

const std::vector<std::string>& Zones() {
  static const std::vector<std::string> kZones = [] {
    std::set<std::string> zones;
    for (const Offer& offer : Offers()) {
      zones.insert(offer.zones.begin(), offer.zones.end());
      zones.insert(offer.single.begin(), offer.single.end());
    }
    return std::vector<std::string>(zones.begin(), zones.end());
  }();
  return kZones;
}

bool IsZone(const std::string& zone) {
  return Has(Zones(), zone);
}

std::vector<std::string> TypesIn(const std::string& zone, const MoreTypes& more) {
  std::vector<std::string> types;
  for (const std::string& type : core::AcceleratorTypes()) {
    if (IsOffered(type, zone)) types.push_back(type);
  }
  for (const auto& [name, hosts] : more) {
    if (name.starts_with(zone + "/")) types.push_back(name.substr(zone.size() + 1));
  }
  return types;
}

bool IsOffered(const std::string& type, const std::string& zone, const MoreTypes& more) {
  if (more.contains(zone + "/" + type)) return true;
  const auto shape = core::FindAccelerator(type);
  if (!shape.ok()) return false;
  return std::any_of(Offers().begin(), Offers().end(),
                     [&](const Offer& offer) { return IsOfferedBy(offer, *shape, zone); });
}

base::Result<core::Accelerator> FindType(const std::string& type, const std::string& zone,
                                         const MoreTypes& more) {
  const auto found = more.find(zone + "/" + type);
  if (found == more.end()) return core::FindAccelerator(type);
  const auto hosts = static_cast<int>(std::clamp<std::int64_t>(found->second, 1, 4096));
  return core::Accelerator{.type = type,
                           .generation = type.substr(0, type.rfind('-')),
                           .cores = hosts * 8,
                           .chips = hosts * 4,
                           .hosts = hosts};
}

const std::vector<std::string>& RuntimeVersions() {
  static const std::vector<std::string> kVersions = {
      "tpu-ubuntu2204-base",       "tpu-vm-base",    "tpu-vm-cos-stable", "tpu-vm-tf-2.17.0-pjrt",
      "tpu-vm-tf-2.17.0-pod-pjrt", "tpu-vm-v4-base", "v2-alpha-tpuv5",    "v2-alpha-tpuv5-lite",
      "v2-alpha-tpuv6e",
  };
  return kVersions;
}

bool IsRuntime(const std::string& version) {
  return Has(RuntimeVersions(), version) || version.starts_with("tpu-vm-tf-") ||
         version.starts_with("tpu-vm-cos-");
}

std::string ConfigType(const std::string& generation) {
  for (const Offer& offer : Offers()) {
    if (generation == offer.generation) return offer.config_type;
  }
  return "TYPE_UNSPECIFIED";
}

base::Result<core::Accelerator> FromConfig(const std::string& config_type,
                                           const std::string& topology) {
  for (const Offer& offer : Offers()) {
    if (config_type == offer.config_type) return core::FindTopology(offer.generation, topology);
  }
  return base::InvalidArgument("no accelerator config " + config_type + " " + topology);
}

std::string TopologyOf(const core::Accelerator& shape) {
  if (!shape.topology.empty() || shape.chips % 64 != 0) return shape.topology;
  const int cubes = shape.chips / 64;
  std::array<int, 3> best = {1, 1, cubes};
  for (int a = 1; a * a * a <= cubes; ++a) {
    for (int b = a; a * b * b <= cubes; ++b) {
      const bool fits = cubes % (a * b) == 0;
      if (fits && cubes / (a * b) - a <= best[2] - best[0]) best = {a, b, cubes / (a * b)};
    }
  }
  return fmt::format("{}x{}x{}", 4 * best[0], 4 * best[1], 4 * best[2]);
}

const std::vector<std::string>& TensorFlowVersions() {
  static const std::vector<std::string> kVersions = {"2.16.1", "2.17.0", "2.18.0", "nightly"};
  return kVersions;
}

std::int64_t QuotaUnits(const core::Accelerator& shape) {
  return CountsChips(shape.generation) ? shape.chips : shape.cores;
}

std::string QuotaId(const core::Accelerator& shape, bool spot) {
  const std::string preemptible = spot ? "Preemptible" : "";
  const std::map<std::string, std::string> names = {
      {"v2", "TPUV2s" + preemptible + "Pod"},
      {"v3", "TPUV3s" + preemptible + "Pod"},
      {"v4", "TPUV4s" + preemptible + "Pod"},
      {"v5litepod", "TPUV5s" + preemptible + (shape.chips >= 16 ? "Litepod" : "LitepodServing")},
      {"v5p", "TPUV5P" + preemptible},
      {"v6e", "TPUV6E" + preemptible}};
  const auto found = names.find(shape.generation);
  return (found == names.end() ? "TPU" : found->second) + "PerProjectPerZoneForTPUAPI";
}

}  // namespace jobman::sim
