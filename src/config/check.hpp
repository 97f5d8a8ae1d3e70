#pragma once

#include <span>

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "jobman/base/json.hpp"
#include "jobman/config/load.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config {

/// What the checker knows of one kind of file: its keys, and the forms of its texts.
struct Format {
  std::span<const KeyRow> rows = {};
  base::Status (*form)(std::string_view row_path, std::string_view text) = nullptr;
  base::Status (*member)(std::string_view row_path, std::string_view name,
                         std::string_view value) = nullptr;
  /// What to do in place of a key that there is not; empty if that is not known.
  std::string_view (*advice)(std::string_view key) = nullptr;
};

/// A map within a file: the rows of its keys begin with `prefix` ("setup[]."), messages call it
/// `path` ("setup[0]"), and report at `place` what it lacks.
struct MapPlace {
  std::string path = {};
  std::string prefix = {};
  Position place = {};
};

/// Checks a map against the rows of a format and returns its supported keys as core::SpecFromJson()
/// reads them: values in their exact form, paths made absolute. Reports unknown, unsupported and
/// missing keys, and values of the wrong type or form. Reported values are left out, and marked
/// broken so that they are not reported again. Expands short forms in the tree: a text for a map,
/// an item for a list.
base::Json CheckMap(Value& map, const Format& format, const MapPlace& where,
                    const Defaults& defaults, Diagnostics& out);
/// The same for a whole job file.
base::Json CheckAgainstSchema(Value& root, const Defaults& defaults, Diagnostics& out);

/// Of docker, conda and venv only the section that job.env_type names is used.
bool IsUnusedSection(const Value& root, std::string_view section);

/// The hint for an unknown key of a job file, "did you mean \"tpu.zone\"?"; may be empty. `prefix`
/// is the common prefix of the rows searched, `shown` their parent as the user wrote it.
std::string NearestKeyHint(std::string_view prefix, std::string_view shown, std::string_view key);

}  // namespace jobman::config
