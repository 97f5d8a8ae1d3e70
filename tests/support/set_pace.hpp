#pragma once

#include <optional>
#include <string>
#include <utility>

#include "jobman/ports/host_shell.hpp"

namespace jobman::test {

/// Input and output of a command as the test says; call Wake() after a change.
class SetPace final : public ports::Pace {
 public:
  base::Result<std::optional<std::string>> NextInput() override {
    ++asked;
    return std::exchange(next, std::nullopt);
  }
  base::Result<bool> MayRead() override {
    if (broken) return *broken;
    return may_read;
  }
  std::optional<std::string> next = {};  ///< given once
  bool may_read = true;
  std::optional<base::Error> broken = {};
  int asked = 0;  ///< how often for input
};

}  // namespace jobman::test
