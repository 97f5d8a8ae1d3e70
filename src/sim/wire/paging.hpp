#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/wire/request.hpp"

namespace jobman::sim {

/// How many entries a page of a listing has.
struct PageSizes {
  std::int64_t usual = 0;    ///< when the request asks for none; 0: all
  std::int64_t most = 1000;  ///< whatever the request asks for
};

/// One entry of a listing: the name it is sorted by, and how to show it.
struct Listed {
  std::string name = {};
  std::function<Json()> render = {};
};

/// The page that pageSize and pageToken ask for, as {"<field>": [..], "nextPageToken": ".."}. A
/// token names the last entry given, so that the next page begins at the right place although
/// entries came or went in between.
Reply Page(const Request& request, const PageSizes& sizes, const std::string& field,
           std::vector<Listed> entries);

}  // namespace jobman::sim
