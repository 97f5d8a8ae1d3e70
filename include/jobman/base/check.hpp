#pragma once

namespace jobman::base {

/// Prints the broken invariant and where, then aborts. Never for input from outside.
[[noreturn]] void CheckFailed(const char* condition, const char* message, const char* file,
                              int line);

}  // namespace jobman::base

#define JM_CHECK(condition, message) \
  (static_cast<bool>(condition)      \
       ? static_cast<void>(0)        \
       : ::jobman::base::CheckFailed(#condition, (message), __FILE__, __LINE__))
