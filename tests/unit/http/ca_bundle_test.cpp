#include "http/ca_bundle.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.hpp"

namespace jobman::http {
namespace {

class CaBundle : public testing::Test {
 protected:
  base::Path Make(const std::string& name, const std::string& text = "PEM") {
    std::ofstream(dir_.path() / name) << text;
    return dir_.path() / name;
  }
  base::Path None() const { return dir_.path() / "none"; }

  test::TempDir dir_;
};

TEST_F(CaBundle, WhatTheUserNamesCountsEvenIfItIsNotThere) {
  EXPECT_EQ(ChooseCaBundle(None(), {Make("system")}, Make("packed")), None());
}

TEST_F(CaBundle, TheSystemsFirstOneIsPreferredToThePackedOne) {
  const auto second = Make("second");
  EXPECT_EQ(ChooseCaBundle("", {None(), Make("empty", ""), second, Make("third")}, Make("packed")),
            second);
}

TEST_F(CaBundle, ThePackedOneIsTheLastResort) {
  const auto packed = Make("packed");
  EXPECT_EQ(ChooseCaBundle("", {None()}, packed), packed);
  EXPECT_EQ(ChooseCaBundle("", {None()}, None()), "") << "libcurl then says what is missing";
}

}  // namespace
}  // namespace jobman::http
