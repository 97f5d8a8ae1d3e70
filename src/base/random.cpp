#include "jobman/base/random.hpp"

#include <random>

namespace jobman::base {

double RandomUnit() {
  thread_local std::mt19937_64 engine(std::random_device{}());
  return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
}

}  // namespace jobman::base
