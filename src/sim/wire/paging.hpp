#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/wire/request.hpp"

namespace jobman::sim {

/// Limits on the entries per page of a listing.
struct PageSizes {
  std::int64_t usual = 0;    ///< if the request names none; 0: all
  std::int64_t most = 1000;  ///< whatever the request names
};

/// One entry of a listing: the name it is sorted by, and its JSON.
struct Listed {
  std::string name = {};
  std::function<Json()> render = {};
};

/// The page that pageSize, pageToken, filter and orderBy ask for, as {"<field>": [..],
/// "nextPageToken": ".."}. A token names the last entry returned, so that the next page begins at
/// the right place even if entries were added or removed in between.
Reply Page(const Request& request, const PageSizes& sizes, const std::string& field,
           std::vector<Listed> entries);

}  // namespace jobman::sim
