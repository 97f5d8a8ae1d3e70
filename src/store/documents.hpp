#pragma once

#include <string>
#include <string_view>

#include "jobman/base/json.hpp"

// JSON in columns.

namespace jobman::store {

/// Messages of other programs may contain any bytes; the store must accept them.
std::string JsonText(const base::Json& json);
std::string JsonText(const base::OrderedJson& json);
/// kDataLoss, with what to do, if the column is not JSON.
base::Result<base::Json> ParseColumn(std::string_view text);

/// The error, with reason kNewerStore, for what an older jobman does not know.
base::Error WrittenByNewer(const std::string& what);
/// Why a record cannot be read, `doing` "reading job 000001". A value that is invalid here was
/// valid to the jobman that wrote it.
base::Error Unreadable(base::Error error, const std::string& doing);

}  // namespace jobman::store
