#pragma once

#include <string>
#include <utility>

#include "jobman/config/convert.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config::testing {

/// A description of another tool; the file's name is that of a job without one.
inline Foreign ForeignJob(ForeignKind kind, std::string text) {
  Foreign foreign{.kind = kind, .text = std::move(text)};
  if (kind == ForeignKind::kSky) foreign.file = "task.yaml";
  if (kind == ForeignKind::kSbatch) foreign.file = "train.sh";
  return foreign;
}

/// The job file that it becomes; it must become one.
inline std::string JobFileOf(const Foreign& foreign) {
  const Conversion result = Convert(foreign, TestDefaults());
  for (const Problem& problem : result.problems) ADD_FAILURE() << RenderProblem(problem);
  return result.text;
}

/// What is wrong with it, as the user sees it.
inline std::string RefusalOf(const Foreign& foreign, const Defaults& defaults = TestDefaults()) {
  const Conversion result = Convert(foreign, defaults);
  EXPECT_EQ(result.text.empty(), !result.problems.empty());
  std::string text;
  for (const Problem& problem : result.problems) text += RenderProblem(problem);
  return text;
}

/// What is passed over, as the user sees it.
inline std::string WarningsOf(const Foreign& foreign) {
  std::string text;
  for (const Problem& warning : Convert(foreign, TestDefaults()).warnings)
    text += RenderWarning(warning);
  return text;
}

/// The request of `create --from-...`.
inline LoadRequest RequestFrom(const Foreign& foreign, Defaults defaults = TestDefaults()) {
  return {.file = ConvertedName(foreign),
          .from = foreign,
          .may_lack_project = true,
          .defaults = std::move(defaults)};
}

/// The job that it becomes; it must load.
inline core::JobSpec SpecOf(const Foreign& foreign, Defaults defaults = TestDefaults()) {
  return MustLoad(RequestFrom(foreign, std::move(defaults))).spec;
}

}  // namespace jobman::config::testing
