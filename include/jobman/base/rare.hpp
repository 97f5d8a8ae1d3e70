#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "jobman/base/check.hpp"

namespace jobman::base {

/// An optional T, for one that is seldom there: as small as a pointer, where std::optional has room
/// for a T. A copy has a T of its own. Moved from, it is empty.
template <class T>
class Rare {
 public:
  Rare() = default;
  Rare(std::nullopt_t) {}
  Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Rare(std::optional<T> value) {
    if (value) value_ = std::make_unique<T>(std::move(*value));
  }
  Rare(const Rare& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(const Rare& other) { return *this = Rare(other); }
  Rare& operator=(Rare&&) noexcept = default;
  ~Rare() = default;

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() & { return *Checked(); }
  const T& operator*() const& { return *Checked(); }
  T&& operator*() && { return std::move(*Checked()); }
  T* operator->() { return Checked(); }
  const T* operator->() const { return Checked(); }
  void reset() { value_.reset(); }

  friend bool operator==(const Rare& a, const Rare& b) {
    return a && b ? *a == *b : a.has_value() == b.has_value();
  }

 private:
  T* Checked() const {
    JM_CHECK(value_ != nullptr, "the value of an empty Rare");
    return value_.get();
  }
  std::unique_ptr<T> value_;
};

}  // namespace jobman::base
