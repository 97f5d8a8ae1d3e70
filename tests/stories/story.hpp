#pragma once

#include <string>
#include <vector>

#include "tests/support/reconciling.hpp"

namespace jobman::test {

/// A story is a text: what is seen of one job, line by line, and under each line what jobman
/// decided, indented. Lines that begin with # are for the reader. README.md beside the stories has
/// the words.
///
/// Plays the story again; gives back its text with what is decided now. The error names the line
/// that is no word of a story.
base::Result<std::string> Play(const std::string& text);

/// One job and what is seen of it, in the words of a story.
class Story {
 public:
  Story() { Begin({}); }
  /// Plays one line; gives back what was decided, as it stands under the line.
  base::Result<std::vector<std::string>> PlayLine(const std::string& line);

 private:
  void Begin(core::Job job);
  base::Status Act(const std::string& line);
  base::Status NewJob(const std::string& settings);
  base::Status Set(core::Job& job, const std::string& key, const std::string& value);
  base::Status Command(const std::string& command);
  base::Status Host(const std::string& rest);
  base::Status Look(const std::string& rest);
  static base::Status LookPart(std::string words, core::SliceSeen& seen);
  base::Status BadOutput(const std::string& rest);
  void ToRunning(const std::string& hosts);
  void Explain();
  void Note(const core::Job& before, const core::Step& step);

  std::optional<Reconciling> world_ = {};
  std::vector<std::string> notes_ = {};
  bool quiet_ = false;  ///< a short cut is taken: only where it ends is of interest
};

}  // namespace jobman::test
