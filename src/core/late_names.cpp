#include "jobman/core/late_names.hpp"

#include <algorithm>
#include <array>

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

struct LateName {
  std::string_view key;
  std::string (*value)(const Job& job, const std::string& job_dir);
};

constexpr std::array kLateNames = {
    LateName{"tpu.name",
             [](const Job& job, const std::string&) {
               return job.slice ? job.slice->ref.name : std::string();
             }},
    LateName{"job.id", [](const Job& job, const std::string&) { return FormatJobId(job.id); }},
    LateName{"job.user", [](const Job& job, const std::string&) { return job.user; }},
    LateName{"job.dir", [](const Job&, const std::string& job_dir) { return job_dir; }},
    LateName{"tpu.num_workers",
             [](const Job& job, const std::string&) {
               return std::to_string(job.slice ? job.slice->hosts.size() : std::size_t{0});
             }},
};

}  // namespace

bool IsLateName(std::string_view key) {
  return std::any_of(kLateNames.begin(), kLateNames.end(),
                     [&](const LateName& one) { return one.key == key; });
}

std::string BindLateNames(const Job& job, const std::string& job_dir, const std::string& text) {
  std::string bound = text;
  for (const LateName& one : kLateNames) {
    const std::string written = "${" + std::string(one.key) + "}";
    if (base::Contains(bound, written))
      bound = base::ReplaceAll(bound, written, one.value(job, job_dir));
  }
  return bound;
}

}  // namespace jobman::core
