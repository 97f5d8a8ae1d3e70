#pragma once

#include <string>
#include <string_view>

#include "jobman/base/result.hpp"
#include "jobman/config/places.hpp"

namespace jobman::config {

/// tpu.name: begins node names, which follow RFC 1035; 40 characters leave room for what jobman
/// appends ("-000042-a1"). The hint proposes a valid name.
base::Status CheckSliceName(std::string_view name);
/// job.name: as CheckSliceName(), and "_", which slice names replace by "-".
base::Status CheckJobName(std::string_view name);
/// A valid name similar to the text; "job" if no character of it is allowed.
std::string MakeValidName(std::string_view text);

/// The name of a setup step: a folder of logs, and part of stage names.
base::Status CheckStepName(std::string_view name);
/// Whether Linux starts a program with the variable: the length of "NAME=value" is limited.
base::Status CheckVariable(std::string_view name, std::string_view value);
/// A network tag.
base::Status CheckTag(std::string_view tag);
/// Labels: lower-case letters, digits, _ and -, at most 63; keys begin with a letter.
/// Source: Compute Engine documentation, "Organize resources using labels".
base::Status CheckLabelKey(std::string_view key);
base::Status CheckLabelValue(std::string_view value);
/// A key of instance metadata: at most 128 letters, digits, _ and -.
base::Status CheckMetadataKey(std::string_view key);
/// A login name that Linux accepts.
base::Status CheckLogin(std::string_view login);
/// The local login name in a form valid on hosts, else "jobman": root cannot log in to a TPU VM.
std::string MakeLogin(std::string_view login);

}  // namespace jobman::config
