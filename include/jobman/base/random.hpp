#pragma once

namespace jobman::base {

/// A random number in [0, 1), for jitter; secrets come from RandomHex().
double RandomUnit();

}  // namespace jobman::base
