// check_sources NAME ROOT: prints what is wrong in the tree ROOT. Exit code 0: nothing, 1:
// something, 2: usage.
#include <cstdio>
#include <exception>
#include <map>

#include "tests/checks/source.hpp"

namespace {

using jobman::checks::Finding;
using jobman::checks::Findings;

const std::map<std::string, Findings (*)(const std::filesystem::path&)> kChecks = {
    {"layers", &jobman::checks::CheckLayers},
    {"purity", &jobman::checks::CheckPurity},
    {"prints", &jobman::checks::CheckPrints},
    {"sleep", &jobman::checks::CheckSleep},
};

int Run(const std::string& name, const std::filesystem::path& root) {
  const auto check = kChecks.find(name);
  if (check == kChecks.end()) {
    std::fprintf(stderr, "no such check: %s\n", name.c_str());
    return 2;
  }
  const Findings findings = check->second(root);
  for (const Finding& finding : findings) {
    std::printf("%s:%d: %s\n", finding.path.c_str(), finding.line, finding.message.c_str());
  }
  return findings.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: check_sources layers|purity|prints|sleep ROOT\n");
    return 2;
  }
  try {
    return Run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "check_sources %s: %s\n", argv[1], error.what());
    return 2;
  }
}
