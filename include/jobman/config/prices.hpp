#pragma once

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "jobman/core/prices.hpp"

namespace jobman::config {

/// The folder of the user's own settings: $XDG_CONFIG_HOME/jobman, else ~/.config/jobman.
base::Path UserFolder();

/// The built-in price list, under that of the file `folder`/prices.json if there is one. A file
/// that cannot be used is kInvalidArgument, with its name, the cause and the cure.
base::Result<core::PriceList> LoadPrices(const base::Path& folder = UserFolder());

}  // namespace jobman::config
