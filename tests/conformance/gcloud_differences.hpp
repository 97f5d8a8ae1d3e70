#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace jobman::conformance {

/// A part that a request does not have.
inline constexpr const char* kAbsent = "-";
/// By their numbers: "01".
using Recordings = std::set<std::string>;

/// Differences that are meant: in each of these recordings, each of these parts has these values.
/// A "*" at the end of a value stands for anything; `recordings` {"*"} for all that are compared.
struct Explained {
  std::vector<std::string> parts = {};
  std::string jobman = {};
  std::string gcloud = {};
  Recordings recordings = {};
  std::string why = {};
};

std::vector<Explained> OfEveryCall();
std::vector<Explained> OfNodes();
std::vector<Explained> OfQueuedResources();
/// The request of jobman that changes a node (AddLogin, ChangeLogins), beside `tpu-vm update`.
std::vector<Explained> OfUpdates();

/// Recordings without a call of jobman's beside them, and why.
const std::map<std::string, std::string>& NotCompared();

}  // namespace jobman::conformance
