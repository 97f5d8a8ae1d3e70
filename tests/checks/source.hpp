#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace jobman::checks {

struct Include {
  int line = 0;
  std::string path = {};
  bool angled = false;
};

/// One C++ file as the checks see it: comments and the inside of literals are blanks.
struct Source {
  std::string path = {};    ///< from the root of the tree, "src/core/job.cpp"
  std::string module = {};  ///< "core"; empty outside include/jobman/ and src/
  std::vector<std::string> lines = {};
  std::vector<Include> includes = {};

  bool InPublicHeaders() const { return path.starts_with("include/"); }
};

/// The C++ files below `folder` of the tree `root`, sorted by path.
std::vector<Source> LoadSources(const std::filesystem::path& root, const std::string& folder);

/// `text` with comments and the inside of string and character literals blanked out; lines stay.
std::string BlankOut(const std::string& text);

/// What a check complains about, printed as "path:line: message".
struct Finding {
  std::string path = {};
  int line = 0;
  std::string message = {};
};
using Findings = std::vector<Finding>;

Findings CheckLayers(const std::filesystem::path& root);
Findings CheckPurity(const std::filesystem::path& root);
Findings CheckPrints(const std::filesystem::path& root);
Findings CheckSleep(const std::filesystem::path& root);

}  // namespace jobman::checks
