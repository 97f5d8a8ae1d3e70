#include "jobman/core/late_names.hpp"

#include <algorithm>
#include <array>

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

struct LateName {
  std::string_view key;
  std::string (*value)(const Job&);
};

constexpr std::array kLateNames = {
    LateName{"tpu.name",
             [](const Job& job) { return job.slice ? job.slice->ref.name : std::string(); }},
    LateName{"job.id", [](const Job& job) { return FormatJobId(job.id); }},
    LateName{"job.user", [](const Job& job) { return job.user; }},
    LateName{"tpu.num_workers",
             [](const Job& job) {
               return std::to_string(job.slice ? job.slice->hosts.size() : std::size_t{0});
             }},
};

}  // namespace

bool IsLateName(std::string_view key) {
  return std::any_of(kLateNames.begin(), kLateNames.end(),
                     [&](const LateName& one) { return one.key == key; });
}

std::string BindLateNames(const Job& job, const std::string& text) {
  std::string bound = text;
  for (const LateName& one : kLateNames) {
    const std::string written = "${" + std::string(one.key) + "}";
    if (base::Contains(bound, written)) bound = base::ReplaceAll(bound, written, one.value(job));
  }
  return bound;
}

}  // namespace jobman::core
