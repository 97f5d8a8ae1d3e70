#pragma once

#include <string>

namespace jobman::base {

/// A random number in [0, 1), for jitter; secrets come from RandomHex().
double RandomUnit();
/// `bytes` random bytes of the system's generator, in hexadecimal.
std::string RandomHex(int bytes);

}  // namespace jobman::base
