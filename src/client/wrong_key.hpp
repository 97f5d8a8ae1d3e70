#pragma once

#include <string>

#include "jobman/config/load.hpp"

namespace jobman::client {

/// The place of a key in the job file; without one, if the file does not tell it.
config::Problem PlaceOf(const config::Loaded& loaded, const std::string& key);
/// An error that points to the key's place in the job file: the cloud does not have what it names.
base::Error WrongKey(config::Problem place, std::string message, std::string hint,
                     base::Reason reason);

}  // namespace jobman::client
