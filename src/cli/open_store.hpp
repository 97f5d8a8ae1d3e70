#pragma once

#include <memory>

#include "cli/app.hpp"

namespace jobman::cli {

/// The store that this program uses: SQLite in StatePaths::StoreDir().
base::Result<ports::Stores> OpenStore(const base::StatePaths& paths, StoreUse use);

}  // namespace jobman::cli
