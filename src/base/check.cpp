#include "jobman/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace jobman::base {

void CheckFailed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "jobman: defect: %s (%s) at %s:%d\n", message, condition, file, line);
  std::abort();
}

}  // namespace jobman::base
