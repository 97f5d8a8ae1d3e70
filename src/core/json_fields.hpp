#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"

namespace jobman::core {

// JSON members shared by several parts of a job (job_json.hpp).

/// The error for an unknown word: reason kNewerStore.
base::Error UnknownWord(std::string_view what, const std::string& word);

int GetSmallInt(const base::Json& object, std::string_view key);
/// Writes nothing when `text` is empty.
void PutText(base::Json& object, const char* key, std::string_view text);
/// Writes nothing for the epoch.
void PutTime(base::Json& object, const char* key, TimePoint time);
/// An absent time is the epoch.
base::Result<TimePoint> ReadTime(const base::Json& object, std::string_view key);
base::Result<std::optional<TimePoint>> ReadMaybeTime(const base::Json& object,
                                                     std::string_view key);
/// The member "error".
std::optional<base::Error> ReadError(const base::Json& object);
/// The member "notice".
void PutNotice(base::Json& object, const std::optional<Notice>& notice);
base::Result<std::optional<Notice>> ReadNotice(const base::Json& object);

/// The value with that name, according to `name_of`.
template <class Enum, std::size_t N>
std::optional<Enum> FindName(std::string_view (*name_of)(Enum), const std::array<Enum, N>& values,
                             std::string_view name) {
  for (const Enum value : values)
    if (name_of(value) == name) return value;
  return std::nullopt;
}

}  // namespace jobman::core
