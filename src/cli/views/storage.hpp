#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/client/storage.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// Buckets: where they are, and how much is in them.
struct Storage {
  client::StorageAnswer answer = {};
  std::string project = {};
};

/// A table, below it what is not known and why.
std::string RenderText(const Storage& view, const ui::Style& style);
/// The names of buckets that are known.
std::string RenderQuiet(const Storage& view);
base::OrderedJson ToJson(const Storage& view);
/// A line for each bucket: name, location, location_type, storage_class, bytes, elsewhere, error;
/// one for what is not known as a whole.
std::string RenderCsv(const Storage& view);

}  // namespace jobman::cli::views
