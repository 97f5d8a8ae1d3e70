#include "cli/line_filter.hpp"

#include <gtest/gtest.h>

namespace jobman::cli {
namespace {

LineFilter LinesWith(const std::string& pattern) {
  auto filter = LineFilter::For(pattern);
  EXPECT_TRUE(filter.ok());
  return *std::move(filter);
}

TEST(LineFilter, KeepsWholeLinesHoweverTheyAreCut) {
  const std::string text = "loss 1\n\nsaving\nloss 2\nthe loss";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    LineFilter filter = LinesWith("^loss");
    std::string kept;
    for (std::size_t at = 0; at < text.size(); at += size)
      kept += filter.Take(0, text.substr(at, size));
    EXPECT_EQ(kept, "loss 1\nloss 2\n") << "pieces of " << size;
    EXPECT_TRUE(filter.Finish().empty());
  }
}

TEST(LineFilter, HostsHaveTheirOwnLines) {
  LineFilter filter = LinesWith("loss");
  EXPECT_EQ(filter.Take(0, "lo"), "");
  EXPECT_EQ(filter.Take(1, "ss\nloss"), "");
  EXPECT_EQ(filter.Take(0, "ss\n"), "loss\n");
  const std::map<int, std::string> rest = {{1, "loss"}};
  EXPECT_EQ(filter.Finish(), rest);
}

TEST(LineFilter, ALineWithoutEndIsCut) {
  LineFilter filter = LinesWith("x$");
  const std::string longest(std::size_t{1} << 20, 'x');
  EXPECT_EQ(filter.Take(0, longest + "yy"), longest);
  EXPECT_EQ(filter.Take(0, "x\n"), "yyx\n");
}

}  // namespace
}  // namespace jobman::cli
