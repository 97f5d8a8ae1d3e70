#include "jobman/base/random.hpp"

#include <fmt/ranges.h>
#include <openssl/rand.h>

#include <algorithm>
#include <random>
#include <vector>

#include "jobman/base/check.hpp"

namespace jobman::base {

double RandomUnit() {
  thread_local std::mt19937_64 engine(std::random_device{}());
  return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
}

std::string RandomHex(int bytes) {
  std::vector<unsigned char> random(static_cast<std::size_t>(std::max(bytes, 0)));
  JM_CHECK(RAND_bytes(random.data(), static_cast<int>(random.size())) == 1,
           "the system's random generator failed");
  return fmt::format("{:02x}", fmt::join(random, ""));
}

}  // namespace jobman::base
