#pragma once

#include <string>
#include <utility>

#include "jobman/ui/sink.hpp"

namespace jobman::test {

/// Keeps what was written; all writes fail with `fail_with` unless it is 0.
class StringSink final : public ui::Sink {
 public:
  int Write(std::string_view bytes) override {
    ++writes;
    if (fail_with != 0) return fail_with;
    text.append(bytes);
    return 0;
  }
  /// What was written since the last call.
  std::string Take() { return std::exchange(text, {}); }

  std::string text = {};
  int fail_with = 0;
  int writes = 0;  ///< also those that failed
};

}  // namespace jobman::test
