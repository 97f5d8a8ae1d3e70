#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "jobman/core/job_spec.hpp"
#include "tests/support/values_of.hpp"

namespace jobman::test {

/// Fills specs with random values, the same for the same seed. It uses the lists of fields, so a
/// new field needs no change here.
class SpecFiller {
 public:
  explicit SpecFiller(unsigned seed) : random_(seed) {}

  int Number(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool Coin() { return Number(1) == 1; }

  void Fill(core::HasFields auto& object) {
    using Struct = std::remove_cvref_t<decltype(object)>;
    Struct::Fields([&](std::string_view, auto member) { FillMember(object, member); });
    // An empty map is not written, so its other keys must have their defaults.
    if constexpr (requires { object.empty(); }) {
      if (object.empty()) object = {};
    }
  }

  std::string Text() {
    constexpr std::string_view kLetters = "az09 \n\"\\'${}:#\t-";
    std::string text;
    for (int i = Number(12); i > 0; --i) text += kLetters[static_cast<std::size_t>(Number(15))];
    return text;
  }

 private:
  template <class T, class Value>
  void FillMember(T& object, Value T::*member) {
    Value value = {};
    Fill(value);
    // Empty values are not written, and read as the default.
    if constexpr (requires { value.empty(); }) {
      if (value.empty()) return;
    }
    object.*member = std::move(value);
  }
  template <class T, class First, class Second>
  void FillMember(T& object, core::OneOf<First, Second> either) {
    if (Coin()) return FillMember(object, either.first);
    FillMember(object, either.second);
  }
  template <class T, class Member, class Needed>
  void FillMember(T& object, core::With<Member, Needed> with) {
    if (object.*with.needed) FillMember(object, with.member);
  }
  template <class T, class Member>
  void FillMember(T& object, core::OrUnlimited<Member> limit) {
    FillMember(object, limit.member);
  }

  void Fill(std::string& text) { text = Text(); }
  void Fill(bool& flag) { flag = Coin(); }
  void Fill(int& number) { number = Number(100000); }
  void Fill(std::int64_t& number) { number = Number(100000); }
  void Fill(core::Duration& duration) { duration = core::Duration{Number(100000)}; }
  void Fill(core::TimePoint& time) { time = core::TimePoint{core::Duration{Number(1 << 30)}}; }
  void Fill(core::HostSet& hosts) {
    if (Coin()) hosts = {.all = false, .numbers = {Number(1), 2 + Number(1)}};
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void Fill(Enum& value) {
    const auto values = ValuesOf<Enum>();
    value = values[static_cast<std::size_t>(Number(static_cast<int>(values.size()) - 1))];
  }
  template <class T>
  void Fill(std::optional<T>& value) {
    if (Coin()) Fill(value.emplace());
  }
  void Fill(std::map<std::string, std::string>& map) {
    for (int i = Number(3); i > 0; --i) map[Text()] = Text();
  }
  template <class T>
  void Fill(std::vector<T>& list) {
    for (int i = Number(3); i > 0; --i) Fill(list.emplace_back());
  }
  void Fill(std::vector<core::HookSpec>& hooks) {
    for (int i = Number(3); i > 0; --i) Fill(hooks.emplace_back());
    for (core::HookSpec& hook : hooks) Fill(hook.event);
    std::stable_sort(hooks.begin(), hooks.end(),
                     [](const auto& a, const auto& b) { return a.event < b.event; });
  }

  std::mt19937 random_;
};

inline core::JobSpec RandomSpec(unsigned seed) {
  core::JobSpec spec;
  SpecFiller(seed).Fill(spec);
  return spec;
}

}  // namespace jobman::test
