// Each story shows what jobman does today, and docs/states.md links to them. JOBMAN_BLESS=1
// rewrites the stories, and the links for transitions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/base/env.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/stories/story.hpp"
#include "tests/support/states_doc.hpp"

namespace jobman::test {
namespace {

const std::string kDoc = std::string{JOBMAN_SOURCE_DIR} + "/docs/states.md";

/// The texts of all stories, by name.
std::map<std::string, std::string> AllStories() {
  std::map<std::string, std::string> stories;
  const std::string folder = std::string{JOBMAN_SOURCE_DIR} + "/tests/stories";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() != ".txt" || name == "CMakeLists") continue;
    stories[name] = base::ReadFile(entry.path()).value_or("");
  }
  return stories;
}

/// The transitions that a story shows.
std::set<Edge> EdgesOf(const std::string& story) {
  std::set<Edge> edges;
  for (const std::string& line : base::Split(story, '\n')) {
    const auto words = base::Split(base::Split(base::Trim(line), ';')[0], ' ');
    if (line.starts_with("    ") && words.size() == 3 && words[1] == "->") {
      edges.emplace(words[0], words[2]);
    }
  }
  return edges;
}

TEST(Stories, TellWhatJobmanDoes) {
  const auto stories = AllStories();
  EXPECT_GT(stories.size(), 40U);
  for (const auto& [name, text] : stories) {
    const auto told = Play(text);
    ASSERT_TRUE(told.ok()) << name << ": " << told.error().ToString();
    if (base::GetEnv("JOBMAN_BLESS")) {
      const std::string path = fmt::format("{}/tests/stories/{}.txt", JOBMAN_SOURCE_DIR, name);
      ASSERT_TRUE(base::WriteFileAtomic(path, *told, 0644).ok());
      continue;
    }
    EXPECT_EQ(*told, text) << name << ": JOBMAN_BLESS=1 accepts the new decisions";
  }
}

TEST(Stories, AnUnknownWordIsNamed) {
  const auto told = Play("job\nfly\n");
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().message, "\"fly\": not a line of a story");
}

TEST(StatesDoc, TheStoryOfATransitionShowsIt) {
  auto rows = ReadTransitions(kDoc);
  ASSERT_TRUE(rows.ok()) << rows.error().ToString();
  std::map<Edge, std::set<std::string>> shown;
  for (const auto& [name, text] : AllStories()) {
    for (const Edge& edge : EdgesOf(text)) shown[edge].insert(StoryLink(name));
  }
  std::set<Edge> edges;
  for (auto& [edge, row] : *rows) {
    edges.insert(edge);
    const auto& links = shown[edge];
    if (base::GetEnv("JOBMAN_BLESS") && !links.contains(row.story)) {
      row.story = links.empty() ? std::string{} : *links.begin();
    }
    EXPECT_TRUE(links.contains(row.story))
        << edge.first << " -> " << edge.second << " is not in its story (JOBMAN_BLESS=1 finds one)";
  }
  if (base::GetEnv("JOBMAN_BLESS")) {
    ASSERT_TRUE(WriteTransitions(kDoc, edges, *rows).ok());
  }
  for (const auto& [edge, links] : shown) {
    const bool stays = edge.first == edge.second;
    EXPECT_TRUE(stays || rows->contains(edge))
        << *links.begin() << " shows " << edge.first << " -> " << edge.second
        << ", which is not in docs/states.md";
  }
}

TEST(StatesDoc, EachRowNamesAStoryAndEachStoryIsNamed) {
  const auto rows = ReadStoryRows(kDoc);
  ASSERT_TRUE(rows.ok()) << rows.error().ToString();
  EXPECT_GT(rows->size(), 120U);
  const auto stories = AllStories();
  std::set<std::string> named;
  for (const StoryRow& row : *rows) {
    EXPECT_FALSE(row.stories.empty()) << "names no story: " << row.text;
    for (const std::string& story : row.stories) {
      EXPECT_TRUE(stories.contains(story)) << story << " does not exist: " << row.text;
      named.insert(story);
    }
  }
  for (const auto& [name, text] : stories) {
    EXPECT_TRUE(named.contains(name)) << "no row of docs/states.md names the story " << name;
  }
}

}  // namespace
}  // namespace jobman::test
