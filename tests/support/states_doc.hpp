#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::test {

/// From and to: a change of state by one decision.
using Edge = std::pair<std::string, std::string>;

/// The row of docs/states.md for a transition.
struct TransitionRow {
  std::string cause = {};
  std::string story = {};  ///< the cell that links to it
};

/// The tables of transitions in docs/states.md, by their markers.
inline constexpr const char* kJobTransitions = "transitions";
inline constexpr const char* kTaskTransitions = "transitions of tasks";

/// The transitions in docs/states.md: the rows between the markers of the table. That of tasks
/// names no stories.
base::Result<std::map<Edge, TransitionRow>> ReadTransitions(
    const std::string& path, const std::string& table = kJobTransitions);
/// The arrows of its diagram.
base::Result<std::set<Edge>> ReadArrows(const std::string& path);
/// Rewrites the table of jobs: a row for each of `edges`, with cause and story from `rows`;
/// kNoCause where there is none.
base::Status WriteTransitions(const std::string& path, const std::set<Edge>& edges,
                              const std::map<Edge, TransitionRow>& rows);

/// A row of docs/states.md that must name stories, and the stories it names.
struct StoryRow {
  std::string text = {};
  std::vector<std::string> stories = {};
};
/// The rows of all tables from "Observations and what follows" on.
base::Result<std::vector<StoryRow>> ReadStoryRows(const std::string& path);
/// The link to a story: "[preempted](../tests/stories/preempted.txt)".
std::string StoryLink(const std::string& name);

/// Marks a missing cause.
inline constexpr const char* kNoCause = "(say why)";

}  // namespace jobman::test
