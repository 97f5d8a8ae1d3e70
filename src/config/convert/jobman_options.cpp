#include "config/convert/jobman_options.hpp"

#include <algorithm>
#include <iterator>

namespace jobman::config::convert {
namespace {

constexpr const char* kOfWorker = "the slice is the worker's: jobman worker start chooses it";
constexpr const char* kMailOfWorker =
    "mail is sent by hooks of the worker: on.task_done, on.task_failed";

constexpr JobmanOption kJobmanOptions[] = {
    {"accelerator", ""},
    {"zone", ""},
    {"name", ""},
    {"max-retries", ""},
    {"tpu-version", kOfWorker},
    {"pricing", kOfWorker},
    {"mail-user", kMailOfWorker},
    {"mail-type", kMailOfWorker},
};

}  // namespace

const JobmanOption* FindJobmanOption(std::string_view name) {
  if (!name.starts_with("--")) return nullptr;
  name.remove_prefix(2);
  const auto* const found =
      std::find_if(std::begin(kJobmanOptions), std::end(kJobmanOptions),
                   [&](const JobmanOption& option) { return option.name == name; });
  return found == std::end(kJobmanOptions) ? nullptr : found;
}

std::vector<std::string> JobmanOptionNames() {
  std::vector<std::string> names;
  for (const JobmanOption& option : kJobmanOptions)
    names.push_back("--" + std::string(option.name));
  return names;
}

}  // namespace jobman::config::convert
