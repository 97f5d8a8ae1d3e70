#pragma once

#include "jobman/base/result.hpp"

namespace jobman::client {

/// A service was asked and did not say anything, not even no: it may the next time.
inline bool DoesNotAnswer(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded ||
         error.code == base::Code::kInternal || error.reason == base::Reason::kRateLimit;
}

}  // namespace jobman::client
