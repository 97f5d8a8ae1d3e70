#include "jobman/client/job_words.hpp"

#include <algorithm>
#include <map>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

bool IsPlain(char c) {
  constexpr std::string_view kSigns = "._-+@=,";
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  const bool beyond_ascii = (static_cast<unsigned char>(c) & 0x80U) != 0;
  return letter || beyond_ascii || kSigns.find(c) != std::string_view::npos;
}

/// Whether a shell, and `cp` before a colon, take the name as it is. A number would mean the job
/// with that number, if not now then later.
bool IsWord(const std::string& name) {
  if (name.empty() || name.front() == '-' || base::ParseNumber(name)) return false;
  return std::all_of(name.begin(), name.end(), IsPlain) && base::CleanLine(name) == name;
}

}  // namespace

std::vector<std::string> WordsOf(const std::vector<ports::JobSummary>& jobs,
                                 const std::vector<ports::JobSummary>& all) {
  std::map<std::string, core::JobId> newest;
  for (const ports::JobSummary& job : all) {
    core::JobId& id = newest[job.name];
    id = std::max(id, job.id);
  }
  std::vector<std::string> words;
  for (const ports::JobSummary& job : jobs) {
    const bool means_it = IsWord(job.name) && newest[job.name] <= job.id;
    words.push_back(means_it ? job.name : core::FormatJobId(job.id));
  }
  return words;
}

}  // namespace jobman::client
