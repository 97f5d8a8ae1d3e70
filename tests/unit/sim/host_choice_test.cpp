// Which hosts of a node an order means.
#include "sim/faults/host_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace jobman::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Node Of(std::size_t hosts) {
  Node node;
  node.key.id = "t1";
  node.hosts.resize(hosts);
  for (NodeHost& host : node.hosts) host.running = true;
  return node;
}

std::vector<std::size_t> Chosen(const Node& node, const std::string& text, std::uint64_t seed = 0) {
  const auto choice = ParseHostChoice(text);
  EXPECT_TRUE(choice.ok()) << text;
  if (!choice.ok()) return {};
  const auto hosts = HostsOf(node, *choice, seed);
  EXPECT_TRUE(hosts.ok()) << text;
  return hosts.ok() ? *hosts : std::vector<std::size_t>{};
}

TEST(HostChoice, IsNumbersRangesOrAll) {
  EXPECT_THAT(Chosen(Of(4), "3"), ElementsAre(3));
  EXPECT_THAT(Chosen(Of(6), "5,0-2"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(Chosen(Of(3), "*"), ElementsAre(0, 1, 2));
  for (const char* wrong : {"", "x", "1-", "-1", "3-1", "%", "0%", "101%", "1x%", "nan%", "-1%"})
    EXPECT_FALSE(ParseHostChoice(wrong).ok()) << wrong;
  const auto beyond = HostsOf(Of(4), *ParseHostChoice("4"), 0);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().message, "node t1 has 4 hosts, numbered from 0");
}

TEST(HostChoice, AShareIsDeterminedByItsSeed) {
  const Node node = Of(1024);
  const auto one = Chosen(node, "1%", 7);
  EXPECT_THAT(one, SizeIs(10));
  EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
  EXPECT_EQ(std::adjacent_find(one.begin(), one.end()), one.end());
  EXPECT_EQ(Chosen(node, "1%", 7), one);
  EXPECT_NE(Chosen(node, "1%", 8), one);
  EXPECT_THAT(Chosen(Of(4), "0.1%"), SizeIs(1)) << "at least one";
  EXPECT_THAT(Chosen(Of(4), "100%"), ElementsAre(0, 1, 2, 3));
}

TEST(HostChoice, AShareIsOfHostsThatAreWell) {
  Node node = Of(5);
  node.hosts[0].running = false;
  node.hosts[1].cut = true;
  node.hosts[2].hung = true;
  node.hosts[3].fault = HostFaultKind::kSlow;
  EXPECT_THAT(Chosen(node, "20%"), ElementsAre(4));
  const auto more = HostsOf(node, *ParseHostChoice("40%"), 0);
  ASSERT_FALSE(more.ok());
  EXPECT_THAT(more.error().message, HasSubstr("only 1 run"));
}

}  // namespace
}  // namespace jobman::sim
