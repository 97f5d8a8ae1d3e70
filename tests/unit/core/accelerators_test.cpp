#include "jobman/core/accelerators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"

namespace jobman::core {
namespace {

using base::Json;

/// Every type of acceleratorTypes.list, compiled from Google's documentation pages.
Json PublishedTypes() {
  const auto text =
      base::ReadFile(base::Path(JOBMAN_SOURCE_DIR) / "tests/data/tpu-accelerators.json");
  EXPECT_TRUE(text.ok());
  return text.ok() ? base::ParseJson(*text).value_or(Json::array()) : Json::array();
}

TEST(Accelerators, AgreeWithThePublishedTable) {
  const Json published = PublishedTypes();
  ASSERT_EQ(published.size(), 181U);
  for (const Json& row : published) {
    const std::string type = base::GetString(row, "type");
    SCOPED_TRACE(type);
    const auto found = FindAccelerator(type);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->type, type);
    EXPECT_EQ(found->generation, base::GetString(row, "generation"));
    EXPECT_EQ(found->cores, base::GetInt(row, "cores"));
    EXPECT_EQ(found->chips, base::GetInt(row, "chips"));
    EXPECT_EQ(found->hosts, base::GetInt(row, "workers"));
    EXPECT_EQ(found->topology, base::GetString(row, "topology"));
  }
}

TEST(Accelerators, ListNamesExactlyThePublishedTypes) {
  std::vector<std::string> published;
  for (const Json& row : PublishedTypes()) published.push_back(base::GetString(row, "type"));
  EXPECT_THAT(AcceleratorTypes(), ::testing::UnorderedElementsAreArray(published));
}

/// Every type with a usual topology is found by it.
TEST(Accelerators, AreFoundByTheirTopology) {
  for (const std::string& type : AcceleratorTypes()) {
    const auto known = FindAccelerator(type);
    if (known->topology.empty()) continue;
    const auto found = FindTopology(known->generation, known->topology);
    ASSERT_TRUE(found.ok()) << type;
    // A flat generation has one topology for a size, and no other type has it.
    EXPECT_EQ(*found, *known);
  }
}

TEST(Accelerators, HaveOtherTopologiesOfCubes) {
  const auto found = FindTopology("v4", "4x4x16");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->type, "v4-512");
  EXPECT_EQ(found->hosts, 64);
  EXPECT_EQ(found->topology, "4x4x16");
  EXPECT_EQ(FindTopology("v5p", "4x4x12")->type, "v5p-384") << "it has no usual one";
}

TEST(Accelerators, TopologiesThatThereAreNotAreRefusedWithTheCure) {
  struct Case {
    const char* generation;
    const char* topology;
    const char* message;
    const char* hint;
  };
  const std::vector<Case> cases = {
      {"v4", "4x4", "\"4x4\" is not a topology of slices of v4", "such as 2x2x4"},
      {"v6e", "2x2x4", "\"2x2x4\" is not a topology of slices of v6e", "such as 4x4"},
      {"v4", "2x2xx", "is not a topology of", "2x2x4"},
      {"v4", "2x-2x4", "is not a topology of", "2x2x4"},
      {"v4", "0x2x4", "is not a topology of", "2x2x4"},
      {"v4", "02x2x4", "is not a topology of", "2x2x4"},
      {"v4", "9999x9999x9999", "with 999700029999 chips", "2x2x4"},
      {"v4", "2x2x3", "there are no slices of v4 with 12 chips, as 2x2x3 has", "2x2x4"},
      {"v4", "1x2x4", "there are no slices of v4 with topology 1x2x4", "a v4-16 is 2x2x2"},
      {"v4", "2x4x8", "there are no slices of v4 with topology 2x4x8", "a multiple of 4"},
      {"v4", "8x4x4", "there are no slices of v4 with topology 8x4x4", "no smaller than"},
      {"v5litepod", "2x8", "there are no slices of v5litepod with topology 2x8", "is 4x4"},
      {"v9", "2x2x4", "the topologies of v9 are not known", ""},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.topology);
    const auto found = FindTopology(one.generation, one.topology);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().reason, base::Reason::kBadAccelerator);
    EXPECT_THAT(found.error().message, ::testing::HasSubstr(one.message));
    EXPECT_THAT(found.error().hint, ::testing::HasSubstr(one.hint));
  }
}

TEST(Accelerators, UnknownTypesNameTheNearest) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"v4-33", "did you mean v4-32?"},
      {"v5e-16", "did you mean v5litepod-16?"},
      {"v5litepod-2", "did you mean v5litepod-1?"},
      {"v6-64", "did you mean v6e-64?"},
      {"V4-8", "did you mean v4-8?"},
      {"v3-8192", "did you mean v3-2048?"},
      {"v4_32", "did you mean v4-32?"},
      {"tpu7x-8", "TPU7x is offered through GKE only, not as TPU VMs"},
      {"", "types are written like v2-8, v3-8, v4-8, v5litepod-1, v5p-8, v6e-1"},
      {"a100", "types are written like v2-8, v3-8, v4-8, v5litepod-1, v5p-8, v6e-1"},
  };
  for (const auto& [type, hint] : cases) {
    SCOPED_TRACE(type);
    const auto found = FindAccelerator(type);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().message, "unknown accelerator type \"" + type + "\"");
    EXPECT_EQ(found.error().hint, hint);
    EXPECT_EQ(found.error().reason, base::Reason::kBadAccelerator);
  }
}

TEST(Accelerators, ATypeThatIsNotKnownHereMayBeOneOfTheApi) {
  for (const char* type : {"v3-8192", "v4-8192", "v9x-16", "v4-8x", "v99", "tpu7x-8"}) {
    EXPECT_TRUE(MayBeType(type)) << type;
  }
  for (const char* type : {"", "V4-8", "v4_32", "v4-8 ", "-8", "4-v", "v4/8", "v4-8\n"}) {
    EXPECT_FALSE(MayBeType(type)) << type;
  }
  EXPECT_FALSE(MayBeType(std::string(64, 'v')));
  EXPECT_EQ(GenerationOf("v3-8192"), "v3");
  EXPECT_EQ(GenerationOf("v4-8x"), "v4");
  EXPECT_EQ(GenerationOf("v9x-16"), "");
  EXPECT_EQ(GenerationOf("v99"), "");
}

TEST(Accelerators, EveryGenerationHasARuntime) {
  for (const std::string& type : AcceleratorTypes()) {
    EXPECT_NE(DefaultRuntime(FindAccelerator(type)->generation), "") << type;
  }
  EXPECT_EQ(DefaultRuntime("v4"), "tpu-ubuntu2204-base");
  EXPECT_EQ(DefaultRuntime("v5litepod"), "v2-alpha-tpuv5-lite");
  EXPECT_EQ(DefaultRuntime("v5p"), "v2-alpha-tpuv5");
  EXPECT_EQ(DefaultRuntime("v6e"), "v2-alpha-tpuv6e");
  EXPECT_EQ(DefaultRuntime("v9"), "");
}

}  // namespace
}  // namespace jobman::core
