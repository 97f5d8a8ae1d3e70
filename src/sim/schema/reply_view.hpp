#pragma once

#include <string>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// How a reply is written.
struct ReplyView {
  std::string version = {};   ///< of the API: "v2alpha1"
  bool enum_numbers = false;  ///< $alt=json;enum-encoding=int
};

/// A message as a version of the API shows it: without fields that only other versions have. A
/// value of an enum that the version does not have becomes the last one that it has. A message of
/// the API in an Any gets the version's type. What no version knows stays: a client must bear it.
Json ShownIn(const ReplyView& view, const std::string& message, Json body);

}  // namespace jobman::sim
