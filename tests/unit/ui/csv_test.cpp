#include "jobman/ui/csv.hpp"

#include <gtest/gtest.h>

namespace jobman::ui {
namespace {

TEST(Csv, PlainFieldsAreWrittenAsTheyAre) {
  EXPECT_EQ(CsvLine({"zone", "v4-8", "", "3.22"}), "zone,v4-8,,3.22\n");
  EXPECT_EQ(CsvLine({}), "\n");
}

TEST(Csv, FieldsThatWouldBreakARecordAreQuoted) {
  EXPECT_EQ(CsvLine({"a,b", "say \"no\"", "two\nlines", "cr\r"}),
            "\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",\"cr\r\"\n");
}

}  // namespace
}  // namespace jobman::ui
