#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/settings.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// One entry of a collection: the name it is sorted and found again by, and how to show it.
struct Listed {
  std::string name = {};
  std::function<Json()> render = {};
};

/// The page that pageSize and pageToken ask for, as {"<field>": [..], "nextPageToken": ".."}.
/// `entries` are sorted by name. A token names the last entry given, so that a page goes on at the
/// right place when entries came or went in between.
Reply Page(const Request& request, const Settings& settings, const std::string& field,
           const std::vector<Listed>& entries);

}  // namespace jobman::sim
