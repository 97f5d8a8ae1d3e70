// A job file: what loads is written out as YAML, which loads to the same job.
#include <cstddef>
#include <cstdint>

#include "jobman/config/load.hpp"
#include "jobman/core/spec_json.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

config::LoadResult Load(const std::string& text) {
  return config::Load({.file = "/nowhere/job.yaml",
                       .text = text,
                       .defaults = {.env = [](const std::string&) { return std::nullopt; },
                                    .home = "/nowhere",
                                    .working_dir = "/nowhere",
                                    .state_dir = "/nowhere",
                                    .login = "fuzz"}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  const auto first = Load(text);
  fuzz::Expect(first.loaded.has_value() == first.problems.empty(), "a job, or problems");
  for (const auto& problem : first.problems) config::RenderProblem(problem);
  if (!first.loaded) return 0;
  const std::string written = config::ResolvedYaml(*first.loaded, true);
  const auto second = Load(written);
  fuzz::Expect(second.loaded.has_value(), "what was written loads:\n" + written);
  fuzz::Expect(core::SpecToJson(second.loaded->spec) == core::SpecToJson(first.loaded->spec),
               "as the same job:\n" + written);
  return 0;
}
