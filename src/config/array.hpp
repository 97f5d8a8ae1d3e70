#pragma once

#include <string>
#include <utility>

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

/// Most jobs that one file makes.
inline constexpr int kMostElements = 1000;

/// Which job of a file with `array` or `matrix`.
struct ElementChoice {
  int index = 0;          ///< from 0
  std::string file = {};  ///< the name of the job if the file gives none
};
/// Replaces the values of `array` or `matrix` by those of one job, and makes its name; before
/// anything refers to them. Returns how many jobs the file makes; 1 if it has neither, or is one
/// job of an array already.
int TakeElement(Value& root, const ElementChoice& choice, Diagnostics& out);

/// --array: the key that it sets, and its value. "0-9" sets array, "lr=1,2" sets matrix.lr.
std::pair<std::string, std::string> PlaceOfArray(const std::string& option);

}  // namespace jobman::config
