#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "jobman/base/result.hpp"

namespace jobman::base {

/// The pieces of a text that is made when the first is asked for, and let go after the last: a
/// thousand of them that wait for their turn take no room.
class LateText {
 public:
  /// Pieces of `piece` bytes at most.
  LateText(std::function<Result<std::string>()> make, std::size_t piece);
  /// The next piece; empty at the end. An error of `make`.
  Result<std::string> operator()();

 private:
  std::function<Result<std::string>()> make_;
  std::size_t piece_;
  std::optional<std::string> text_ = {};
  std::size_t given_ = 0;
};

}  // namespace jobman::base
