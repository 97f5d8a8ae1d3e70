#pragma once

#include <string>
#include <string_view>

#include "jobman/base/result.hpp"
#include "jobman/config/places.hpp"

namespace jobman::config {

/// tpu.name: the prefix of node names, which follow RFC 1035. The limit of 40 characters leaves
/// room for what jobman appends ("-000042-a1").
base::Status CheckSliceName(std::string_view name);
/// job.name: any text on one line, at most 100 bytes. Slice names and labels are derived from it.
base::Status CheckJobName(std::string_view name);
/// A valid name similar to the text; "job" if it has no usable character.
std::string MakeValidName(std::string_view text);

/// The name of a setup step: names its log folder, and is part of stage names.
base::Status CheckStepName(std::string_view name);
/// Linux limits the length of "NAME=value" when it starts a program.
base::Status CheckVariable(std::string_view name, std::string_view value);
/// A network tag.
base::Status CheckTag(std::string_view tag);
/// A network, subnetwork or reservation of Compute Engine, which follow RFC 1035.
base::Status CheckResourceName(std::string_view name);
/// Labels: lower-case letters, digits, _ and -, at most 63; keys begin with a letter.
/// Source: Compute Engine documentation, "Organize resources using labels".
base::Status CheckLabelKey(std::string_view key);
base::Status CheckLabelValue(std::string_view value);
/// A key of instance metadata: at most 128 letters, digits, _ and -.
base::Status CheckMetadataKey(std::string_view key);
/// cloud.endpoint: google, local, or an http(s) URL.
base::Status CheckEndpoint(std::string_view endpoint);
/// A login name that Linux accepts.
base::Status CheckLogin(std::string_view login);
/// The local login name in a form valid on hosts; "jobman" for root, who cannot log in to a TPU VM,
/// and if nothing valid is left.
std::string MakeLogin(std::string_view login);

/// Whether a variable of this name probably holds a secret: HF_TOKEN, WANDB_API_KEY. One that names
/// a file (SSH_KEY_PATH) does not.
bool LooksSecret(std::string_view variable);

}  // namespace jobman::config
