#pragma once

#include <span>
#include <string_view>

#include "jobman/config/schema.hpp"

/// The tables of keys that Schema() joins, and the words in which they are written.
namespace jobman::config::schema {

// Of each part of the job file, in the order of docs/guide/job-file.md.

std::span<const KeyRow> JobRows();
std::span<const KeyRow> SliceRows();
std::span<const KeyRow> HostRows();
std::span<const KeyRow> SetupRows();
std::span<const KeyRow> RunRows();
std::span<const KeyRow> HookRows();

using T = Type;
using Text = std::string_view;

constexpr KeyRow Key(Text path, Type type, Text fallback, Text about) {
  return {.path = path, .type = type, .fallback = fallback, .about = about};
}
constexpr KeyRow Required(Text path, Type type, Text example, Text about) {
  return {.path = path, .type = type, .fallback = "required", .about = about, .example = example};
}
/// `allowed` has the words, the least and greatest number, or what takes the place of a map.
constexpr KeyRow Among(Text path, Type type, Text allowed, Text fallback, Text about) {
  return {.path = path, .type = type, .fallback = fallback, .about = about, .allowed = allowed};
}
constexpr KeyRow Translated(KeyRow row) {
  row.status = KeyStatus::kTranslated;
  return row;
}
constexpr KeyRow NotYet(Text path, Type type, Text about) {
  KeyRow row = Key(path, type, "", about);
  row.status = KeyStatus::kNotYet;
  return row;
}
constexpr KeyRow ShortFor(Text key, KeyRow row) {
  row.short_for = key;
  return row;
}
constexpr KeyRow OrOne(KeyRow row) {
  row.or_one = true;
  return row;
}
constexpr KeyRow OrEmpty(KeyRow row) {
  row.empty_is_none = true;
  return row;
}
/// A list of texts; a single one, or none, may be written as a text.
constexpr KeyRow Texts(Text path, Text example, Text about) {
  KeyRow row = OrEmpty(OrOne(Key(path, T::kTextList, "", about)));
  row.example = example;
  return row;
}
constexpr KeyRow Ignored(Text path) {
  KeyRow row = Key(path, T::kAny, "", "Of a snapshot of Python jobman; ignored, with a warning.");
  row.status = KeyStatus::kIgnored;
  return row;
}

}  // namespace jobman::config::schema
