#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "config/yaml_reader.hpp"

namespace jobman::config {

using EnvLookup = std::function<std::optional<std::string>(const std::string&)>;

/// Replaces every ${...} in the tree, as OmegaConf does: ${tpu.zone}, ${.sibling}, ${..uncle},
/// ${a.${b}}, ${list[0]}, ${oc.env:NAME,default}, ${env:NAME}, ${oc.select:key,default},
/// ${oc.decode:text}; "\${" stands for "${". A value that is a single interpolation takes the type
/// of its target. ${tpu.name} and others stay in what runs on the hosts: see core::IsLateName. What
/// cannot be resolved is reported and becomes a broken value.
void Interpolate(Value& root, const EnvLookup& env, Diagnostics& out);

/// How much interpolation may add to a file; a reference may be short, and what it refers to long.
struct Produced {
  std::size_t bytes = 0;  ///< so far
  std::size_t most = 4 * kLargestFile;
};

/// The same for the part of the tree at `path`, and for what it refers to. `produced` is of the
/// whole file: pass the same one for each of its parts.
void InterpolatePart(Value& root, const std::vector<std::string>& path, const EnvLookup& env,
                     Diagnostics& out, Produced& produced);

/// Whether the text is one ${...} and nothing else.
bool IsOneExpression(std::string_view text);

/// The inverse: Interpolate() turns the result back into `text`.
std::string EscapeInterpolation(std::string_view text);

}  // namespace jobman::config
