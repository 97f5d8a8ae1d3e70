#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::test {

/// From one state to the next, as one decision made it.
using Edge = std::pair<std::string, std::string>;

/// What docs/states.md says of a transition.
struct TransitionRow {
  std::string cause = {};
  std::string story = {};  ///< the cell that names it
};

/// The transitions that docs/states.md tells: the rows between its markers.
base::Result<std::map<Edge, TransitionRow>> ReadTransitions(const std::string& path);
/// The arrows of its diagram.
base::Result<std::set<Edge>> ReadArrows(const std::string& path);
/// Writes the table anew: a row for each of `edges`, with the cause and story that `rows` give;
/// where a cause is missing, it asks for one.
base::Status WriteTransitions(const std::string& path, const std::set<Edge>& edges,
                              const std::map<Edge, TransitionRow>& rows);

/// A row of a table of docs/states.md that has to name a story, and the stories it names.
struct StoryRow {
  std::string text = {};
  std::vector<std::string> stories = {};
};
/// The rows of all its tables from "Observations and what follows" on.
base::Result<std::vector<StoryRow>> ReadStoryRows(const std::string& path);
/// "[preempted](../tests/stories/preempted.txt)": what names a story in the document.
std::string StoryLink(const std::string& name);

/// Stands where a cause is missing.
inline constexpr const char* kNoCause = "(say why)";

}  // namespace jobman::test
