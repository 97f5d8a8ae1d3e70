#include "cli/job_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

/// A quarter of a narrow terminal: most of a line is the host's.
constexpr int kLongestLabel = 20;

std::vector<std::string> TextsOf(const std::vector<core::Job>& jobs, bool utf8) {
  std::vector<std::string> names;
  std::vector<std::string> numbers;
  for (const core::Job& job : jobs) {
    names.push_back(ui::Clean(job.name, utf8));
    numbers.push_back(core::FormatJobId(job.id));
  }
  const bool unique = std::set<std::string>(names.begin(), names.end()).size() == names.size();
  const bool fit = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return !name.empty() && ui::DisplayWidth(name) <= kLongestLabel;
  });
  return unique && fit ? names : numbers;
}

}  // namespace

std::vector<JobLabel> LabelsOf(const std::vector<core::Job>& jobs, bool utf8) {
  if (jobs.size() < 2) return std::vector<JobLabel>(jobs.size());
  const auto texts = TextsOf(jobs, utf8);
  int width = 0;
  for (const std::string& text : texts) width = std::max(width, ui::DisplayWidth(text));
  std::vector<JobLabel> labels;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const int blanks = width - ui::DisplayWidth(texts[i]) + 1;
    labels.push_back({.prefix = fmt::format("{}{:{}}", texts[i], "", blanks),
                      .title = NumberAndName(jobs[i]) + ", ",
                      .number = static_cast<int>(i)});
  }
  return labels;
}

std::string NumberAndName(const core::Job& job) {
  return fmt::format("job {} ({})", core::FormatJobId(job.id), ui::Clean(job.name, true));
}

std::string NumberAndShortName(const core::Job& job, bool utf8) {
  return core::FormatJobId(job.id) + " " +
         ui::Truncate(ui::Clean(job.name, utf8), kLongestLabel, utf8);
}

}  // namespace jobman::cli
