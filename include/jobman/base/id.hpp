#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace jobman::base {

/// A typed number: an Id<JobTag> is not an Id<TaskTag>. 0 means none.
template <class Tag>
struct Id {
  std::int64_t value = 0;
  explicit operator bool() const { return value != 0; }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 misreads a defaulted <=>
  friend auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace jobman::base

template <class Tag>
struct std::hash<jobman::base::Id<Tag>> {
  std::size_t operator()(const jobman::base::Id<Tag>& id) const noexcept {
    return std::hash<std::int64_t>{}(id.value);
  }
};
