#pragma once

#include <string_view>

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

/// `top` over `under`: maps merge key by key; lists, scalars and nulls of `top` replace. A null in
/// the job file thus takes back a default of the user's.
void MergeUnder(Value& top, const Value& under);

/// `cloud: local` becomes `cloud: {endpoint: local}`, so that both forms merge.
void ExpandCloud(Value& root);

/// Puts a value at a path, making the maps on the way. Reports a path that leads through what is
/// no map or list, or beyond a list's end.
void SetAt(Value& root, std::string_view path, Value value, Diagnostics& out);

/// One --set. `source` is the flag's text in `out`.
void ApplySet(Value& root, std::string_view assignment, int source, Diagnostics& out);

}  // namespace jobman::config
