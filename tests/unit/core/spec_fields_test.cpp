// Every member of every spec struct is in its list of fields; others would be lost in the store.
#include <gtest/gtest.h>

#include <type_traits>

#include "jobman/core/job_spec.hpp"
#include "jobman/core/task.hpp"

namespace jobman::core {
namespace {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// Initialises any member except an optional, which would also take it as its own value.
struct Any {
  template <class T>
  requires(!IsOptional<T>::value) operator T() const;
};
struct AnyOptional {
  template <class T>
  operator std::optional<T>() const;
};

/// The number of members of an aggregate: how many initialisers it takes.
template <class T, class... Given>
constexpr int CountMembers() {
  if constexpr (requires { T{Given{}..., Any{}}; }) return CountMembers<T, Given..., Any>();
  if constexpr (requires { T{Given{}..., AnyOptional{}}; }) {
    return CountMembers<T, Given..., AnyOptional>();
  }
  return sizeof...(Given);
}

struct FieldCounter {
  int count = 0;
  constexpr void operator()(std::string_view, auto) { ++count; }
  template <class First, class Second>
  constexpr void operator()(std::string_view, OneOf<First, Second>) {
    count += 2;
  }
};

template <class T>
int CountFields() {
  FieldCounter counter;
  T::Fields(counter);
  return counter.count;
}

template <class T>
void ExpectAllListed(int besides = 0) {
  EXPECT_EQ(CountFields<T>() + besides, (CountMembers<T>())) << typeid(T).name();
}

TEST(SpecFields, EveryMemberIsListed) {
  ExpectAllListed<CloudSpec>();
  ExpectAllListed<TpuSpec>();
  ExpectAllListed<SshSpec>();
  ExpectAllListed<CodeSpec>();
  ExpectAllListed<CodeSnapshot>();
  ExpectAllListed<SetupStep>();
  ExpectAllListed<SecretRef>();
  ExpectAllListed<SecretSource>();
  ExpectAllListed<OnNotice>();
  ExpectAllListed<CommandSpec>();
  ExpectAllListed<RetrySpec>();
  ExpectAllListed<OutputRule>();
  ExpectAllListed<WatchdogSpec>();
  ExpectAllListed<QueueSpec>();
  ExpectAllListed<BrevoSpec>();
  ExpectAllListed<HookSpec>(1);  // its event is the key of the hook
  ExpectAllListed<SmtpSpec>();
  ExpectAllListed<JobSpec>();
  ExpectAllListed<TaskDefinition>();
}

}  // namespace
}  // namespace jobman::core
