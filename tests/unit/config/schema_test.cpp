#include "jobman/config/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "jobman/base/env.hpp"
#include "jobman/base/files.hpp"
#include "tests/unit/config/job_file_doc.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::HasSubstr;
using testing::RequestOf;

TEST(Schema, DocumentationIsUpToDate) {
  const base::Path file = base::Path(JOBMAN_SOURCE_DIR) / "docs/guide/job-file.md";
  if (base::GetEnv("JOBMAN_BLESS")) {
    ASSERT_TRUE(base::WriteFileAtomic(file, testing::JobFileDoc(), 0644).ok());
  }
  EXPECT_EQ(base::ReadFile(file).value_or(""), testing::JobFileDoc())
      << "regenerate it: JOBMAN_BLESS=1 ctest --preset dev -R unit_config";
}

TEST(Schema, EveryKeyIsListedOnceAfterItsParent) {
  std::set<std::string_view> seen;
  for (const KeyRow& row : Schema()) {
    EXPECT_TRUE(seen.insert(row.path).second) << row.path;
    EXPECT_FALSE(row.about.empty()) << row.path;
    std::string_view parent = row.path.substr(0, row.path.rfind('.'));
    if (parent == "on.*[]") parent = "on.failed";  // the same for every event
    if (parent.ends_with("[]")) parent.remove_suffix(2);
    if (row.path.find('.') != std::string_view::npos) {
      EXPECT_TRUE(seen.contains(parent)) << row.path;
    }
  }
}

constexpr const char* kJobWithStep = R"(
command: {cmd: hostname}
tpu: {accelerator: v4-8, zone: us-central2-b, project: p}
setup: [{run: hostname}]
)";

TEST(Schema, EveryUnsupportedKeyIsRefusedByName) {
  int refused = 0;
  for (const KeyRow& row : Schema()) {
    if (row.status != KeyStatus::kNotYet) continue;
    SCOPED_TRACE(std::string(row.path));
    std::string path(row.path);
    if (path.starts_with("setup[].")) path.replace(0, 7, "setup[0]");
    // If the whole section is refused, the message names the section.
    const KeyRow* section = FindKey(path.substr(0, path.find_first_of(".[")));
    const bool whole = section->status == KeyStatus::kNotYet;
    LoadRequest request = RequestOf(kJobWithStep);
    request.sets = {path + "=x"};
    const LoadResult result = Load(request);
    ASSERT_EQ(result.problems.size(), 1U) << testing::Rendered(result);
    EXPECT_EQ(result.problems[0].message,
              (whole ? std::string(section->path) : path) + " is not supported yet");
    EXPECT_EQ(result.problems[0].reason, base::Reason::kNotSupported);
    EXPECT_EQ(ToError(result.problems).reason, base::Reason::kNotSupported);
    ++refused;
  }
  EXPECT_GE(refused, 3);
}

TEST(Explain, ExplainsAKey) {
  EXPECT_EQ(*ExplainKey("tpu.pricing"),
            "tpu.pricing: What the slice costs, and whether it can be preempted. flex-start and "
            "reservation-bound are of Google's API v2alpha1.\n"
            "  value    spot, ondemand, preemptible, reserved, flex-start, reservation-bound\n"
            "  default  ondemand\n"
            "  status   works\n"
            "  since    0.1\n");
  EXPECT_THAT(*ExplainKey("setup[3].run"), HasSubstr("setup[].run: Shell script.\n"));
  EXPECT_THAT(*ExplainKey("job.env_type"), HasSubstr("none, docker, conda, venv"));
  EXPECT_THAT(*ExplainKey("array"), HasSubstr("  value    a list, or text\n"));
  EXPECT_THAT(*ExplainKey("health"), HasSubstr("status   not supported yet\n"));
  EXPECT_THAT(*ExplainKey("job.id"), HasSubstr("status   ignored\n"));
  EXPECT_THAT(*ExplainKey("code"), HasSubstr("\n\nKeys:\n  dir  "));
  EXPECT_THAT(*ExplainKey(""), HasSubstr("retries.backoff"));
  for (const char* path : {"on.failed[0].run", "on.failed.run", "on.*[].run"}) {
    EXPECT_THAT(*ExplainKey(path), HasSubstr("on.*[].run: Shell command")) << path;
  }
  EXPECT_THAT(*ExplainKey("on.failed"), HasSubstr("\nKeys:\n  run "));
  EXPECT_THAT(*ExplainKey("ssh"), HasSubstr("\n  identities[].public_key    "))
      << "as wide as the longest key";
}

TEST(Explain, NamesTheNearestKey) {
  EXPECT_EQ(ExplainKey("tpu.pricng").error().message, "no key \"tpu.pricng\" in job files");
  EXPECT_EQ(ExplainKey("tpu.pricng").error().hint, "did you mean \"tpu.pricing\"?");
  EXPECT_EQ(ExplainKey("zone").error().hint, "did you mean \"tpu.zone\"?");
  EXPECT_EQ(ExplainKey("tpu.qqqqqqqq").error().hint, "");
}

}  // namespace
}  // namespace jobman::config
