#pragma once

#include <vector>

#include "jobman/core/job_spec.hpp"

namespace jobman::test {

/// All values of an enum of the job file, in its order.
template <class Enum>
std::vector<Enum> ValuesOf() {
  std::vector<Enum> values;
  for (int i = 0; !core::WordOf(static_cast<Enum>(i)).empty(); ++i) {
    values.push_back(static_cast<Enum>(i));
  }
  return values;
}

}  // namespace jobman::test
