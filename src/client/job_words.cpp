#include "jobman/client/job_words.hpp"

#include <algorithm>
#include <map>
#include <utility>

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

/// A name means the job of the highest rank: one that is not deleted, and of these the newest.
using Rank = std::pair<bool, core::JobId>;

Rank RankOf(const ports::JobSummary& job) {
  const core::JobState deleted = core::Done{.outcome = core::Outcome::kDeleted};
  return {job.state != core::StateName(deleted), job.id};
}

}  // namespace

std::vector<std::string> WordsOf(const std::vector<ports::JobSummary>& jobs,
                                 const std::vector<ports::JobSummary>& all) {
  std::map<std::string, Rank> meant;
  for (const ports::JobSummary& job : all) {
    Rank& rank = meant[job.name];
    rank = std::max(rank, RankOf(job));
  }
  std::vector<std::string> words;
  for (const ports::JobSummary& job : jobs) {
    const bool means_it = IsWord(job.name) && meant[job.name] <= RankOf(job);
    words.push_back(means_it ? job.name : core::FormatJobId(job.id));
  }
  return words;
}

}  // namespace jobman::client
