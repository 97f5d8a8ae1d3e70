#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/time.hpp"
#include "jobman/core/spec_fields.hpp"

namespace jobman::core {

using base::Duration;
using base::TimePoint;

// The sections `cloud` and `tpu` of a job file: where slices come from, and what they are.

/// How the slice is requested: `tpu.allocation_mode`.
enum class AllocationMode { kQueuedResources, kTpuVm };
/// What it costs and who may take it away: `tpu.pricing`.
enum class Pricing {
  kSpot,
  kOnDemand,
  kPreemptible,
  kReserved,
  kFlexStart,         ///< taken away when max_run_duration is over
  kReservationBound,  ///< of a reservation in calendar mode, taken away with it
};

/// The endpoint of the API unless another is set.
inline constexpr const char* kDefaultEndpoint = "https://tpu.googleapis.com";

/// Which cloud, and how to authenticate to it.
struct CloudSpec {
  std::string endpoint = {};  ///< "https://tpu.googleapis.com", "http://127.0.0.1:1234", or "local"
  std::string token_file = {};        ///< file with an access token, read again when it changes
  std::string token_command = {};     ///< shell command that prints an access token
  std::string credentials_file = {};  ///< JSON of Google's tools, such as a service account's key
  std::string impersonate_service_account = {};  ///< to act as, after its delegates: "a@p,b@p"
  static void Fields(auto&& field) {
    field("endpoint", &CloudSpec::endpoint);
    field("token_file", &CloudSpec::token_file);
    field("token_command", &CloudSpec::token_command);
    field("credentials_file", &CloudSpec::credentials_file);
    field("impersonate_service_account", &CloudSpec::impersonate_service_account);
  }
  friend bool operator==(const CloudSpec&, const CloudSpec&) = default;
};

struct TpuSpec {
  /// Name of a node that is there already. What only a request needs has no effect then.
  std::string existing = {};
  AllocationMode allocation_mode = AllocationMode::kQueuedResources;
  Pricing pricing = Pricing::kOnDemand;
  std::string accelerator = {};
  /// In chips, one of the accelerator's; empty: the API chooses the usual one.
  std::string topology = {};
  int num_slices = 1;     ///< nodes of this accelerator type; more than one: a multislice
  std::string name = {};  ///< prefix of slice names; empty: the job's name
  std::string project = {};
  std::string zone = {};
  std::string version = {};  ///< runtime version; never empty in a resolved spec
  /// With kReserved or kReservationBound: reservation id or full name; empty: any.
  std::string reservation = {};
  /// For how long the cloud lends the slice; then it takes it away.
  std::optional<Duration> max_run_duration = {};
  std::string network = {};
  std::string subnetwork = {};
  bool external_ips = true;
  std::string service_account = {};
  std::vector<std::string> tags = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> metadata = {};
  std::string startup_script = {};  ///< the script itself, not its path
  /// tpu.valid_until: how long each queued resource may wait, or the time when all waiting ends.
  std::optional<Duration> valid_for = {};
  std::optional<TimePoint> valid_until = {};
  static void Fields(auto&& field) {
    field("existing", &TpuSpec::existing);
    field("allocation_mode", &TpuSpec::allocation_mode);
    field("accelerator", &TpuSpec::accelerator);
    field("topology", &TpuSpec::topology);
    field("num_slices", &TpuSpec::num_slices);
    field("name", &TpuSpec::name);
    field("zone", &TpuSpec::zone);
    field("version", &TpuSpec::version);
    field("pricing", &TpuSpec::pricing);
    field("reservation", &TpuSpec::reservation);
    field("max_run_duration", &TpuSpec::max_run_duration);
    field("network", &TpuSpec::network);
    field("subnetwork", &TpuSpec::subnetwork);
    field("external_ips", &TpuSpec::external_ips);
    field("service_account", &TpuSpec::service_account);
    field("tags", &TpuSpec::tags);
    field("labels", &TpuSpec::labels);
    field("metadata", &TpuSpec::metadata);
    field("startup_script", &TpuSpec::startup_script);
    field("valid_until", OneOf{&TpuSpec::valid_for, &TpuSpec::valid_until});
    field("project", &TpuSpec::project);
  }
  friend bool operator==(const TpuSpec&, const TpuSpec&) = default;
};

// The word for each enum value in job files; empty for a value out of range.

std::string_view AllocationModeName(AllocationMode mode);
std::string_view PricingName(Pricing pricing);
inline std::string_view WordOf(AllocationMode mode) {
  return AllocationModeName(mode);
}
inline std::string_view WordOf(Pricing pricing) {
  return PricingName(pricing);
}

/// "v4-32", or "2 x v4-32" for a multislice; "v4-512 (4x4x16)" with a topology.
std::string AcceleratorText(const TpuSpec& tpu);

}  // namespace jobman::core
