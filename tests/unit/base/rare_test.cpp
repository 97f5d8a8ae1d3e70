#include "jobman/base/rare.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace jobman::base {
namespace {

using RareText = Rare<std::string>;

static_assert(sizeof(RareText) == sizeof(void*));

TEST(Rare, IsEmptyUntilItGetsAValue) {
  RareText text;
  EXPECT_FALSE(text);
  EXPECT_FALSE(text.has_value());
  text = std::string("meow");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "meow");
  EXPECT_EQ(text->size(), 4U);
  text.reset();
  EXPECT_FALSE(text);
  EXPECT_FALSE(RareText(std::nullopt));
}

TEST(Rare, ACopyHasAValueOfItsOwn) {
  RareText text(std::string("meow"));
  RareText copy = text;
  copy->append("!");
  EXPECT_EQ(*text, "meow");
  EXPECT_EQ(*copy, "meow!");
  copy = RareText();
  EXPECT_FALSE(copy);
  copy = text;
  EXPECT_EQ(*copy, "meow");
  const RareText& same = copy;
  copy = same;
  EXPECT_EQ(*copy, "meow");
}

TEST(Rare, MovedFromItIsEmpty) {
  RareText text(std::string("meow"));
  const RareText moved = std::move(text);
  EXPECT_EQ(*moved, "meow");
  EXPECT_FALSE(text);  // NOLINT(bugprone-use-after-move): what is promised
}

TEST(Rare, IsMadeFromAnOptional) {
  EXPECT_EQ(*RareText(std::optional<std::string>("meow")), "meow");
  EXPECT_FALSE(RareText(std::optional<std::string>()));
}

TEST(Rare, IsComparedByValue) {
  const RareText meow(std::string("meow"));
  EXPECT_EQ(meow, RareText(std::string("meow")));
  EXPECT_NE(meow, RareText(std::string("woof")));
  EXPECT_NE(meow, RareText());
  EXPECT_NE(RareText(), meow);
  EXPECT_EQ(RareText(), RareText());
}

TEST(RareDeathTest, TheValueOfAnEmptyOneIsABug) {
  const RareText none;
  EXPECT_DEATH(static_cast<void>(none->size()), "the value of an empty Rare");
}

}  // namespace
}  // namespace jobman::base
