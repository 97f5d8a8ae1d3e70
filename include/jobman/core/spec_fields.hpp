#pragma once

#include <string_view>

namespace jobman::core {

// Each struct of job_spec.hpp, and of the headers of its sections, lists its fields once:
//
//   static void Fields(auto&& field) {
//     field("zone", &TpuSpec::zone);
//     ...
//   }
//
// A field is a key of the job file and the member that holds its value. A key with a dot
// ("job.name") is in a nested map. The stored record, `config show`, `show --json` and the reader
// of job files all use these lists; a test compares them with the schema.

/// A key whose value is in one of two members; at most one of them has a value.
template <class First, class Second>
struct OneOf {
  First first;
  Second second;
};
template <class First, class Second>
OneOf(First, Second) -> OneOf<First, Second>;

/// A key that applies only while another member has a value.
template <class Member, class Needed>
struct With {
  Member member;
  Needed needed;
};
template <class Member, class Needed>
With(Member, Needed) -> With<Member, Needed>;

/// An optional number that is written "unlimited" when absent.
template <class Member>
struct OrUnlimited {
  Member member;
};
template <class Member>
OrUnlimited(Member) -> OrUnlimited<Member>;

/// A struct with a list of fields.
template <class T>
concept HasFields = requires {
  T::Fields([](std::string_view, auto) {});
};

}  // namespace jobman::core
