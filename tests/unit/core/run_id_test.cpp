#include "jobman/core/run_id.hpp"

#include <gtest/gtest.h>

namespace jobman::core {
namespace {

const JobOnHost kHost = {
    .store = "f5d33d77c34a", .job = {42}, .node = "train-000042-a3", .host = 12};
const SetupRun kStep = {.step = 1, .content = "0123456789ab", .generation = 2, .epoch = 3};

TEST(RunId, NamesStoreJobNodeHostAndRun) {
  EXPECT_EQ(FormatRunId({.on = kHost, .what = CommandRun{.attempt = 4}}),
            "f5d33d77c34a.j000042.train-000042-a3.h12.a4");
  EXPECT_EQ(FormatRunId({.on = kHost, .what = kStep}),
            "f5d33d77c34a.j000042.train-000042-a3.h12.s1-0123456789ab-g2e3");
}

TEST(RunId, RoundTrips) {
  for (const RunId& run :
       {RunId{.on = kHost, .what = CommandRun{.attempt = 4}},
        RunId{.on = kHost, .what = WorkRun{.number = 7}}, RunId{.on = kHost, .what = CommandRun{}},
        RunId{.on = kHost, .what = kStep}})
    EXPECT_EQ(ParseRunId(FormatRunId(run)), run) << FormatRunId(run);
}

TEST(RunId, OnlyRunsOfOneJobOnOneHostShareAPrefix) {
  const std::string prefix = RunIdPrefix(kHost);
  EXPECT_TRUE(FormatRunId({.on = kHost, .what = kStep}).starts_with(prefix));
  JobOnHost other = kHost;
  other.host = 1;
  EXPECT_FALSE(FormatRunId({.on = other, .what = kStep}).starts_with(prefix));
  EXPECT_FALSE(prefix.starts_with(RunIdPrefix(other))) << "1 is a prefix of 12";
  other = kHost;
  other.node = "train-000042-a3-1";
  EXPECT_FALSE(RunIdPrefix(other).starts_with(prefix));
}

TEST(RunId, OtherTextsAreRefused) {
  for (const char* text : {"",
                           "j000042-a2",
                           "j000042-s0-abc-g0e0",
                           "s.j000042.n.h0",
                           "s.j000042.n.h0.",
                           "s.j000042.n.h0.a",
                           "s.j000042.n.h0.a1x",
                           "s.j000042.n.h0.a-1",
                           "s.j000042.n.h-1.a1",
                           "s.j000042.n.h0.a01",
                           "s.j42.n.h0.a1",
                           "s.j.n.h0.a1",
                           ".j000042.n.h0.a1",
                           "s.j000042..h0.a1",
                           "s.j000042.n/.h0.a1",
                           "s.j000042.n.h0.a1.b",
                           "s.j000042.n.h0.a99999999999",
                           "s.j99999999999999999999.n.h0.a1",
                           "s.j000042.n.h0.s0",
                           "s.j000042.n.h0.s0-g0e0",
                           "s.j000042.n.h0.s0--g0e0",
                           "s.j000042.n.h0.s0-ab-g0",
                           "s.j000042.n.h0.s0-ab-g0e0-",
                           "s.j000042.n.h0.r0-ab-g0e0"})
    EXPECT_EQ(ParseRunId(text), std::nullopt) << text;
}

TEST(RunId, CountsHostsWithinTheirNode) {
  Job job{.id = {42}};
  job.slice = Slice{.ref = {.name = "train-000042-a3", .nodes = 2},
                    .nodes = {{.uid = "u0", .hosts = 2}, {.uid = "u1", .hosts = 2}},
                    .hosts = {{}, {}, {}, {}}};
  const JobOnHost third{.store = "s", .job = {42}, .node = "train-000042-a3-1", .host = 0};
  EXPECT_EQ(OnHost("s", job, 2), third);
}

}  // namespace
}  // namespace jobman::core
