// Commands, scripts and storms, which use the table of verbs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "jobman/base/strings.hpp"
#include "sim/command/report.hpp"
#include "sim/command/screen.hpp"
#include "sim/command/verb_words.hpp"
#include "sim/faults/storm.hpp"

namespace jobman::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

Order Only(const std::string& line) {
  const auto orders = ParseOrders(line);
  EXPECT_TRUE(orders.ok()) << line << ": " << orders.error().ToString();
  if (!orders.ok() || orders->size() != 1) return {};
  return orders->front();
}

TEST(Commands, BecomeOrders) {
  const Order preempt = Only("preempt t1 --as stopping --for 3s --notice 30s --force");
  EXPECT_EQ(preempt.verb, "preempt");
  EXPECT_EQ(
      preempt.body,
      (Json{
          {"node", "t1"}, {"as", "stopping"}, {"for", "3s"}, {"notice", "30s"}, {"force", true}}));
  EXPECT_EQ(Only("reboot t1").verb, "reboot");
  EXPECT_EQ(Only("reboot t1").body, (Json{{"node", "t1"}}));
  EXPECT_EQ(Only("show t1 state=REPAIRING health=null").body,
            (Json{{"node", "t1"}, {"set", {{"state", "REPAIRING"}, {"health", nullptr}}}}));
  EXPECT_EQ(Only("host a/b/3 cut --for 2s").body,
            (Json{{"node", "a/b"}, {"index", "3"}, {"action", "cut"}, {"for", "2s"}}));
  EXPECT_EQ(Only("host t1/0-9,100 slow --by 2s").body,
            (Json{{"node", "t1"}, {"index", "0-9,100"}, {"action", "slow"}, {"by", "2s"}}));
  EXPECT_EQ(Only("host t1/1% refuse --seed 7").body,
            (Json{{"node", "t1"}, {"index", "1%"}, {"action", "refuse"}, {"seed", 7}}));
  EXPECT_EQ(Only("fault nodes.create stockout --times 3").body,
            (Json{{"method", "nodes.create"}, {"error", "stockout"}, {"times", 3}}));
  EXPECT_EQ(Only("stockout").body, Json::object());
  EXPECT_EQ(Only("stockout us-central2-b/v4 --for 1m").body["where"], "us-central2-b/v4");
  EXPECT_EQ(Only("calm").verb, "calm");
  EXPECT_THAT(*ParseOrders("set delays=0 quota.*/v4=8"), SizeIs(2));
}

TEST(Commands, ReportErrors) {
  EXPECT_EQ(ParseOrders("premept t1").error().hint, "did you mean preempt?");
  EXPECT_THAT(ParseOrders("preempt").error().ToString(), HasSubstr("preempt: "));
  EXPECT_THAT(ParseOrders("host t1 kill").error().ToString(), HasSubstr("is not NODE/INDEX"));
  EXPECT_THAT(ParseOrders("host t1/5-3 kill").error().ToString(), HasSubstr("is not NODE/INDEX"));
  EXPECT_THAT(ParseOrders("host t1/0% kill").error().ToString(), HasSubstr("not a share of hosts"));
  EXPECT_FALSE(ParseOrders("set nonsense").ok());
  EXPECT_THAT(ParseOrders("maintain t1 --for soon").error().ToString(),
              HasSubstr("--for: \"soon\" is not a duration; write for example 90s"));
  EXPECT_FALSE(ParseOrders("preempt t1 t2").ok());
}

TEST(Script, HasLinesOfTimesAndCommands) {
  const auto body =
      ParseScript("f", "# a rehearsal\n\n5s preempt 'train-*'   # the first\n1m calm\n");
  ASSERT_TRUE(body.ok()) << body.error().ToString();
  const Json& lines = (*body)["lines"];
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0]["after"], "5000ms");
  EXPECT_EQ(lines[0]["order"], "preempt");
  EXPECT_EQ(lines[0]["body"]["node"], "train-*");
  EXPECT_EQ(lines[0]["line"], "5s preempt 'train-*'");
}

TEST(Script, ErrorsNameFileAndLine) {
  EXPECT_THAT(ParseScript("storm.txt", "5s calm\n6s clam\n").error().ToString(),
              HasSubstr("storm.txt:2"));
  EXPECT_THAT(ParseScript("storm.txt", "calm\n").error().ToString(), HasSubstr("storm.txt:1"));
}

Json Status() {
  Json hosts = Json::array({{{"running", true}}, {{"running", true}}});
  Json nodes = Json::array();
  for (const char* name : {"a", "b", "c"}) {
    nodes.push_back({{"name", name}, {"state", "READY"}, {"spot", true}, {"hosts", hosts}});
  }
  nodes[2]["queued_resource"] = "asked";
  return {{"nodes", std::move(nodes)}};
}

TEST(Storm, IssuesCommands) {
  auto storm = Storm::Of(1, {});
  ASSERT_TRUE(storm.ok());
  for (int i = 0; i < 300; ++i) {
    const std::string line = storm->Next(Status()).line;
    ASSERT_TRUE(ParseOrders(line).ok()) << line;
    ASSERT_THAT(line, Not(IsEmpty()));
  }
}

TEST(Storm, UsesEveryKindInTurn) {
  auto storm = Storm::Of(11, {});
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> struck;
    for (std::size_t i = 0; i < StormKinds().size(); ++i) {
      struck.push_back(storm->Next(Status()).kind);
    }
    EXPECT_THAT(struck, UnorderedElementsAreArray(StormKinds()));
  }
}

TEST(Storm, ChoosesSingleNodesAndWholeRequests) {
  auto storm = Storm::Of(4, {"preempt"});
  std::set<std::string> taken;
  for (int i = 0; i < 200; ++i) {
    taken.insert(ParseOrders(storm->Next(Status()).line)->front().body["node"]);
  }
  EXPECT_THAT(taken, UnorderedElementsAre("a", "b", "c", "asked"));
}

TEST(Storm, ChoosesTheSameForTheSameSeed) {
  auto one = Storm::Of(7, {});
  auto two = Storm::Of(7, {});
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(one->Pause(30), two->Pause(30));
    ASSERT_EQ(one->Next(Status()).line, two->Next(Status()).line);
    one->Next(Status());
    two->Next(Json::object());
  }
}

TEST(Storm, ChoosesDifferentlyForAnotherSeed) {
  auto one = Storm::Of(7, {});
  auto two = Storm::Of(8, {});
  int same = 0;
  for (int i = 0; i < 200; ++i) {
    same += one->Next(Status()).line == two->Next(Status()).line ? 1 : 0;
  }
  EXPECT_LT(same, 100);
}

TEST(Storm, KeepsToItsKindsAndRate) {
  auto storm = Storm::Of(3, {"preempt", "kill"});
  Duration sum{0};
  for (int i = 0; i < 1000; ++i) {
    sum += storm->Pause(30);
    EXPECT_THAT(storm->Next(Status()).line,
                testing::AnyOf(testing::StartsWith("preempt "), HasSubstr(" kill ")));
  }
  EXPECT_GT(sum, std::chrono::minutes(25));
  EXPECT_LT(sum, std::chrono::minutes(42));
  EXPECT_FALSE(Storm::Of(3, {"fire"}).ok());
  EXPECT_THAT(storm->Next(Json::object()).line, IsEmpty());
}

TEST(LeakReport, NamesOwnersAndRequestsButNotForeignSlices) {
  const Json report = {
      {"nodes", {{{"id", "theirs"}, {"foreign", true}}}},
      {"ownerless", {{{"name", "projects/p/locations/z/nodes/bare"}}}},
      {"requests", {{"total", 40}, {"mean_per_minute", 20.0}, {"peak_per_minute", 30}}}};
  const std::string text = LeakReport(report);
  EXPECT_THAT(text, HasSubstr("nothing was left"));
  EXPECT_THAT(text, Not(HasSubstr("theirs")));
  EXPECT_THAT(text, HasSubstr("nodes/bare"));
  EXPECT_THAT(text, HasSubstr("requests: 40, 20.0 a minute, 30 in the busiest one"));
}

TEST(LeakReport, NamesEveryNode) {
  Json nodes = Json::array();
  for (const char* id : {"ms-0", "ms-1"}) {
    nodes.push_back({{"id", id}, {"state", "PREEMPTED"}, {"queued_resource", "ms"}});
  }
  const Json queued = {{"id", "ms"}, {"type", "v4-8"}, {"nodes", 2}, {"state", "SUSPENDED"}};
  const std::string text =
      LeakReport({{"nodes", nodes}, {"queued_resources", Json::array({queued})}});
  EXPECT_THAT(text, testing::ContainsRegex("ms-0 .*PREEMPTED .*of ms\n.*ms-1 .*of ms\n"));
  EXPECT_THAT(text, testing::ContainsRegex("ms .*2 x v4-8 .*SUSPENDED"));
}

TEST(StatusText, OfUsualNamesFitsIntoEightyColumns) {
  const Json hosts = Json::array({{{"running", true}}});
  const Json node = {{"id", "sweep-1-000012-a1"},
                     {"zone", "europe-west4-b"},
                     {"type", "v5litepod-16"},
                     {"state", "PREEMPTED"},
                     {"hosts", hosts}};
  const std::string text = StatusText({{"nodes", Json::array({node})}});
  EXPECT_THAT(text, HasSubstr("  sweep-1-000012-a1  europe-west4-b  v5litepod-16  PREEMPTED  1/1 "
                              "hosts up\n"));
}

TEST(FitLines, CutsNoWord) {
  EXPECT_EQ(FitLines("one two three\nfour\n", 0), "one two three\nfour\n");
  EXPECT_EQ(FitLines("one two three\nfour\n", 10), "one two\n    three\nfour\n");
  EXPECT_EQ(FitLines("one two", 7), "one two");
  EXPECT_EQ(FitLines("  known: a, b", 10), "  known:\n  a, b") << "below its text";
  EXPECT_EQ(FitLines("a-very-long-word and", 8), "a-very-long-word\n    and") << "stays whole";
  EXPECT_EQ(FitLines("  a-very-long-word", 8), "  a-very-long-word");
}

TEST(FitLines, ATextGoesOnBelowItselfOrBelowItsKey) {
  EXPECT_EQ(FitLines("  --port INT   Port of the API on the loopback", 45),
            "  --port INT   Port of the API on the\n               loopback");
  EXPECT_EQ(FitLines("  --port INT   Port of the API on the loopback", 40),
            "  --port INT\n      Port of the API on the loopback");
}

}  // namespace
}  // namespace jobman::sim
