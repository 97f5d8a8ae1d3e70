// docs/guide/errors.md has every reason, and is right about what the reconciler does after a
// refusal.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using base::Reason;

/// The rows of the tables, by reason: the other three columns.
std::map<std::string, std::vector<std::string>> Rows() {
  const auto text = base::ReadFile(base::Path{JOBMAN_SOURCE_DIR} / "docs/guide/errors.md");
  std::map<std::string, std::vector<std::string>> rows;
  for (const std::string& line : base::Split(text.value_or(""), '\n')) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (const std::string& cell : base::Split(line, '|')) cells.emplace_back(base::Trim(cell));
    EXPECT_EQ(cells.size(), 6U) << line;
    const std::string reason = cells.at(1).substr(1, cells.at(1).size() - 2);
    EXPECT_TRUE(rows.emplace(reason, std::vector(cells.begin() + 2, cells.begin() + 5)).second)
        << reason << " has two rows";
  }
  return rows;
}

TEST(ErrorsDoc, NamesEveryReasonOnce) {
  const auto rows = Rows();
  std::size_t known = 0;
  for (int number = 1; base::ReasonName(static_cast<Reason>(number)) != "none"; ++number, ++known) {
    const std::string name{base::ReasonName(static_cast<Reason>(number))};
    EXPECT_TRUE(rows.contains(name)) << "docs/guide/errors.md has no row for " << name;
  }
  EXPECT_GE(known, static_cast<std::size_t>(Reason::kNotSupported));
  EXPECT_EQ(rows.size(), known)
      << "docs/guide/errors.md has a row for a reason that does not exist";
}

TEST(ErrorsDoc, LeavesNoColumnEmpty) {
  for (const auto& [reason, cells] : Rows()) {
    for (const std::string& cell : cells) EXPECT_FALSE(cell.empty()) << reason;
  }
}

TEST(ErrorsDoc, SaysOfARefusedRequestWhatHappens) {
  const auto rows = Rows();
  for (int number = static_cast<int>(Reason::kStockout);
       number <= static_cast<int>(Reason::kReservation); ++number) {
    const auto reason = static_cast<Reason>(number);
    const std::string name{base::ReasonName(reason)};
    test::Reconciling r(test::JobBuilder().Build());
    r.Tick().Refused(
        {.code = base::Code::kFailedPrecondition, .message = "refused", .reason = reason});
    ASSERT_TRUE(rows.contains(name));
    const std::string& told = rows.at(name).at(1);
    EXPECT_EQ(told.starts_with("stops at once"), r.state() == "FAILED") << name;
    EXPECT_EQ(told.starts_with("tries again"), r.state() == "BACKOFF") << name;
    EXPECT_EQ(base::Contains(told, "costs no budget"),
              r.state() == "BACKOFF" && r.job().spent.infra == 0)
        << name;
  }
}

}  // namespace
}  // namespace jobman::core
