#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/reconciling.hpp"

namespace jobman::test {

/// A story is a text: observations of one job, line by line, and under each line, indented, what
/// jobman decided. Lines that begin with # are comments. README.md in this folder lists the
/// possible lines.
///
/// Plays a story and returns its text with the current decisions. The error names a line that is
/// not understood.
base::Result<std::string> Play(const std::string& text);

/// One job of a story.
class Story {
 public:
  Story() { Begin({}); }
  /// Plays one line; returns the lines to print under it.
  base::Result<std::vector<std::string>> PlayLine(const std::string& line);

 private:
  void Begin(core::Job job);
  base::Status Act(const std::string& line);
  base::Status NewJob(const std::string& settings);
  base::Status Set(core::Job& job, const std::string& key, const std::string& value);
  base::Status Command(const std::string& command);
  base::Status Host(const std::string& rest);
  base::Status Look(const std::string& rest);
  base::Status LookPart(std::string words, core::SliceSeen& seen);
  base::Status BadOutput(const std::string& rest);
  void ToRunning(const std::string& hosts);
  void Explain();
  void Note(const core::Job& before, const core::Step& step);
  void Offer(const std::string& id);
  void NoteTasks(const core::Step& step);

  std::optional<Reconciling> world_ = {};
  std::map<std::string, core::Task> tasks_ = {};  ///< of the worker's queue, as they are recorded
  std::vector<std::string> notes_ = {};
  bool quiet_ = false;  ///< in a shortcut: only its end is printed
};

}  // namespace jobman::test
