#include <gmock/gmock.h>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using core::WatchdogAction;
using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;
using testing::MustLoad;
using testing::ProblemsOf;
using testing::RequestOf;
using testing::SmallJob;

core::WatchdogSpec WatchdogOf(const std::string& yaml) {
  return MustLoad(RequestOf(SmallJob("watchdog: " + yaml + "\n"))).spec.watchdog;
}

std::string Complaint(const std::string& yaml) {
  return ProblemsOf(SmallJob("watchdog: " + yaml + "\n"));
}

TEST(Watchdog, ShortFormsHaveDefaultActions) {
  const auto spec = WatchdogOf("{no_output: 30m, bad_output: nan, max_duration: 12h}");
  EXPECT_EQ(spec.no_output, minutes{30});
  EXPECT_EQ(spec.on_no_output, WatchdogAction::kRestart);
  EXPECT_EQ(spec.bad_output, std::vector<core::OutputRule>{{.match = "nan"}});
  EXPECT_EQ(spec.bad_output[0].action, WatchdogAction::kFail);
  EXPECT_EQ(spec.max_duration, hours{12});
  EXPECT_EQ(spec.on_max_duration, WatchdogAction::kFail);
}

TEST(Watchdog, LongFormsNameTheAction) {
  const auto spec = WatchdogOf(
      "{no_output: {after: 30m, do: new_slice}, max_duration: {after: 1h, do: restart},\n"
      "           bad_output: [a, {match: b}, {match: \"c|d\", do: new_slice}]}");
  EXPECT_EQ(spec.on_no_output, WatchdogAction::kNewSlice);
  EXPECT_EQ(spec.on_max_duration, WatchdogAction::kRestart);
  EXPECT_EQ(
      spec.bad_output,
      (std::vector<core::OutputRule>{
          {.match = "a"}, {.match = "b"}, {.match = "c|d", .action = WatchdogAction::kNewSlice}}));
}

TEST(Watchdog, OneRuleNeedsNoList) {
  EXPECT_EQ(WatchdogOf("{bad_output: {match: a, do: restart}}").bad_output,
            (std::vector<core::OutputRule>{{.match = "a", .action = WatchdogAction::kRestart}}));
}

TEST(Watchdog, ABadPatternIsReportedAtItsPlace) {
  EXPECT_THAT(
      Complaint("{bad_output: [ok, \"(a\"]}"),
      HasSubstr("job.yaml:3:29: watchdog.bad_output[1]: \"(a\" is not a regular expression"));
  EXPECT_THAT(Complaint("{bad_output: \"\\\\<nan\"}"), HasSubstr("write \\b"));
  EXPECT_THAT(Complaint("{bad_output: [{match: \"[\"}]}"),
              HasSubstr("watchdog.bad_output[0].match: \"[\" is not a regular expression"));
}

TEST(Watchdog, ProblemsAreNamed) {
  EXPECT_THAT(Complaint("{no_output: soon}"), HasSubstr("watchdog.no_output: expected a duration"));
  EXPECT_THAT(Complaint("{no_output: [30m]}"),
              HasSubstr("watchdog.no_output: expected a duration or a map, found a list"));
  EXPECT_THAT(Complaint("{no_output: 0}"), HasSubstr("watchdog.no_output: must be greater than 0"));
  EXPECT_THAT(Complaint("{no_output: {do: fail}}"),
              HasSubstr("watchdog.no_output.after is missing"));
  EXPECT_THAT(Complaint("{no_output: {after: x}}"),
              HasSubstr("watchdog.no_output.after: expected a duration, found \"x\""));
  EXPECT_THAT(Complaint("{no_output: {after: 1h, d: fail}}"),
              HasSubstr("unknown key \"watchdog.no_output.d\""));
  EXPECT_THAT(Complaint("{max_duration: {after: 1h, do: restrt}}"),
              HasSubstr("did you mean restart?"));
  EXPECT_THAT(Complaint("{bad_output: [[a]]}"),
              HasSubstr("watchdog.bad_output[0]: expected text or a map, found a list"));
  EXPECT_THAT(Complaint("{bad_output: [{do: fail}]}"),
              HasSubstr("watchdog.bad_output[0].match is missing"));
}

}  // namespace
}  // namespace jobman::config
