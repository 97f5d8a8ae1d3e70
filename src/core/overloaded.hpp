#pragma once

namespace jobman::core {

/// One lambda per alternative for std::visit; a missing one does not compile.
template <class... Lambdas>
struct Overloaded : Lambdas... {
  using Lambdas::operator()...;
};
template <class... Lambdas>
Overloaded(Lambdas...) -> Overloaded<Lambdas...>;

}  // namespace jobman::core
