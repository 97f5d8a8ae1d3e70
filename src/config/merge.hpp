#pragma once

#include <string_view>

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

/// Merges `under` into `top`: maps merge key by key; lists, scalars and nulls of `top` win. So a
/// null in the job file removes a user's default.
void MergeUnder(Value& top, const Value& under);

/// `cloud: local` becomes `cloud: {endpoint: local}`, so that both forms merge.
void ExpandCloud(Value& root);

/// job.worker_num, unless it is kFreeNumber, becomes the suffix of the names, before anything
/// refers to them.
void AddSuffix(Value& root);
/// Whether it is one that Python jobman stored: its names have their suffix.
bool IsSnapshot(const Value& root);
/// As job.worker_num: a number that is known only when the job is stored.
inline constexpr std::string_view kFreeNumber = "auto";

/// Sets the value at a path, creating maps on the way. Reports a path through something that is not
/// a map or list, or beyond the end of a list.
void SetAt(Value& root, std::string_view path, Value value, Diagnostics& out);

/// Applies one --set. `source` is the flag's text in `out`. Text is taken as it is typed; values of
/// other types are YAML.
void ApplySet(Value& root, std::string_view assignment, int source, Diagnostics& out);
/// Applies one --set-file: the value is the content of a file. `flag` is the source of the flag's
/// text, `file` that of the content.
struct FileSources {
  int flag = -1;
  int file = -1;
};
void ApplySetFile(Value& root, std::string_view key, std::string_view content, FileSources sources,
                  Diagnostics& out);

}  // namespace jobman::config
