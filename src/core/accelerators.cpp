#include "jobman/core/accelerators.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// A TPU generation: what all its sizes share.
struct Generation {
  std::string_view name;
  int cores_per_chip;  ///< 2: the number in the type name counts cores; 1: it counts chips
  bool three_dimensional;
  std::array<int, 8> sizes;  ///< numbers of the type names; 0 ends the list
  int largest;               ///< beyond `sizes`, every multiple of 128 up to here; 0: none
  std::string_view runtime;
};

constexpr std::array<Generation, 6> kGenerations = {{
    {"v2", 2, false, {8, 32, 128, 256, 512}, 0, "tpu-ubuntu2204-base"},
    {"v3", 2, false, {8, 32, 64, 128, 256, 512, 1024, 2048}, 0, "tpu-ubuntu2204-base"},
    {"v4", 2, true, {8, 16, 32, 64}, 6144, "tpu-ubuntu2204-base"},
    {"v5litepod", 1, false, {1, 4, 8, 16, 32, 64, 128, 256}, 0, "v2-alpha-tpuv5-lite"},
    {"v5p", 2, true, {8, 16, 32, 64}, 12288, "v2-alpha-tpuv5"},
    {"v6e", 1, false, {1, 4, 8, 16, 32, 64, 128, 256}, 0, "v2-alpha-tpuv6e"},
}};

constexpr std::array<std::pair<int, std::string_view>, 10> kFlatTopologies = {{
    {1, "1x1"},
    {4, "2x2"},
    {8, "2x4"},
    {16, "4x4"},
    {32, "4x8"},
    {64, "8x8"},
    {128, "8x16"},
    {256, "16x16"},
    {512, "16x32"},
    {1024, "32x32"},
}};

constexpr std::array<std::pair<int, std::string_view>, 13> kCubeTopologies = {{
    {4, "2x2x1"},
    {8, "2x2x2"},
    {16, "2x2x4"},
    {32, "2x4x4"},
    {64, "4x4x4"},
    {128, "4x4x8"},
    {256, "4x8x8"},
    {512, "8x8x8"},
    {768, "8x8x12"},
    {1024, "8x8x16"},
    {2048, "8x16x16"},
    {4096, "16x16x16"},
    {6144, "16x16x24"},
}};

/// Common names of generations that the API does not accept.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNicknames = {{
    {"v5e", "v5litepod"},
    {"v5lite", "v5litepod"},
    {"v5", "v5p"},
    {"v6", "v6e"},
    {"v6litepod", "v6e"},
}};

const Generation* FindGeneration(std::string_view name) {
  for (const Generation& generation : kGenerations) {
    if (generation.name == name) return &generation;
  }
  return nullptr;
}

std::vector<int> SizesOf(const Generation& generation) {
  std::vector<int> sizes;
  for (const int size : generation.sizes) {
    if (size > 0) sizes.push_back(size);
  }
  for (int size = 128; size <= generation.largest; size += 128) sizes.push_back(size);
  return sizes;
}

std::string TypeName(const Generation& generation, int size) {
  return std::string(generation.name) + "-" + std::to_string(size);
}

template <std::size_t N>
std::string TopologyIn(const std::array<std::pair<int, std::string_view>, N>& table, int chips) {
  for (const auto& [count, shape] : table) {
    if (count == chips) return std::string(shape);
  }
  return {};
}

/// Types whose number counts chips come in one VM of 1, 4 or 8 chips; all others in VMs of 4.
int HostsOf(const Generation& generation, int chips) {
  if (generation.cores_per_chip == 1 && chips <= 8) return 1;
  return chips / 4;
}

Accelerator Describe(const Generation& generation, int size) {
  const int chips = size / generation.cores_per_chip;
  return {.type = TypeName(generation, size),
          .generation = std::string(generation.name),
          .cores = size,
          .chips = chips,
          .hosts = HostsOf(generation, chips),
          .topology = generation.three_dimensional ? TopologyIn(kCubeTopologies, chips)
                                                   : TopologyIn(kFlatTopologies, chips)};
}

struct TypeParts {
  std::string generation = {};
  std::optional<std::int64_t> size = {};
};

TypeParts SplitType(std::string_view type) {
  const std::size_t dash = type.rfind('-');
  if (dash == std::string_view::npos) return {.generation = base::ToLower(type)};
  return {.generation = base::ToLower(type.substr(0, dash)),
          .size = base::ParseNumber(type.substr(dash + 1))};
}

std::int64_t NearestSize(const Generation& generation, std::int64_t wanted) {
  const std::vector<int> sizes = SizesOf(generation);
  return *std::min_element(sizes.begin(), sizes.end(), [&](int a, int b) {
    return std::abs(a - wanted) < std::abs(b - wanted);
  });
}

/// The nearest type: by size within a known generation, else by spelling.
std::optional<std::string> NearestType(std::string_view type) {
  TypeParts parts = SplitType(type);
  for (const auto& [nickname, name] : kNicknames) {
    if (parts.generation == nickname) parts.generation = name;
  }
  const Generation* generation = FindGeneration(parts.generation);
  if (generation != nullptr && parts.size && *parts.size < 1'000'000) {
    return TypeName(*generation, static_cast<int>(NearestSize(*generation, *parts.size)));
  }
  return base::Nearest(type, AcceleratorTypes());
}

std::string GenerationHint() {
  std::vector<std::string> examples;
  examples.reserve(kGenerations.size());
  for (const Generation& generation : kGenerations) {
    examples.push_back(TypeName(generation, SizesOf(generation)[0]));
  }
  return "types are written like " + base::Join(examples, ", ");
}

base::Error UnknownType(std::string_view type) {
  const std::string message = "unknown accelerator type \"" + std::string(type) + "\"";
  base::Error error = base::InvalidArgument(message, GenerationHint());
  error.reason = base::Reason::kBadAccelerator;
  if (SplitType(type).generation == "tpu7x") {
    error.hint = "TPU7x is offered through GKE only, not as TPU VMs";
  } else if (const auto nearest = NearestType(type)) {
    error.hint = "did you mean " + *nearest + "?";
  }
  return error;
}

/// The numbers of "2x2x4", all positive; empty if it is none.
std::vector<int> SidesOf(std::string_view topology) {
  constexpr std::int64_t kLongest = 10'000;
  std::vector<int> sides;
  for (const std::string& word : base::Split(topology, 'x')) {
    const auto side = base::ParseNumber(word);
    if (!side || *side < 1 || *side > kLongest || word.front() == '0') return {};
    sides.push_back(static_cast<int>(*side));
  }
  return sides;
}

/// In chips, ascending, in cubes of 4x4x4.
bool IsOfCubes(const std::vector<int>& sides) {
  const bool whole =
      std::all_of(sides.begin(), sides.end(), [](int side) { return side % 4 == 0; });
  return whole && std::is_sorted(sides.begin(), sides.end());
}

/// The type of so many chips; nothing if there is none.
std::optional<Accelerator> DescribeChips(const Generation& generation, std::int64_t chips) {
  for (const int size : SizesOf(generation)) {
    if (size == chips * generation.cores_per_chip) return Describe(generation, size);
  }
  return std::nullopt;
}

base::Error WrongTopology(const std::string& message, const std::string& hint) {
  base::Error error = base::InvalidArgument(message, hint);
  error.reason = base::Reason::kBadAccelerator;
  return error;
}

}  // namespace

base::Result<Accelerator> FindTopology(std::string_view generation, std::string_view topology) {
  const std::string named(topology);
  const Generation* known = FindGeneration(generation);
  if (known == nullptr)
    return WrongTopology("the topologies of " + std::string(generation) + " are not known", "");
  const std::string slices = "slices of " + std::string(known->name);
  const std::string example = known->three_dimensional ? "2x2x4" : "4x4";
  const std::vector<int> sides = SidesOf(topology);
  if (sides.size() != (known->three_dimensional ? 3U : 2U)) {
    return WrongTopology("\"" + named + "\" is not a topology of " + slices,
                         "it is in chips, such as " + example);
  }
  std::int64_t chips = 1;
  for (const int side : sides) chips *= side;
  auto type = DescribeChips(*known, chips);
  if (!type) {
    return WrongTopology("there are no " + slices + " with " + std::to_string(chips) +
                             " chips, as " + named + " has",
                         "for example: " + example);
  }
  constexpr int kCube = 64;
  const bool cubes = known->three_dimensional && type->chips >= kCube;
  if (cubes && !IsOfCubes(sides)) {
    return WrongTopology("there are no " + slices + " with topology " + named,
                         "of 64 chips or more, each number is a multiple of 4, and no smaller than "
                         "the one before it, as in 4x4x8");
  }
  if (!cubes && type->topology != named) {
    return WrongTopology("there are no " + slices + " with topology " + named,
                         "a " + type->type + " is " + type->topology);
  }
  type->topology = named;
  return *std::move(type);
}

base::Result<Accelerator> FindAccelerator(std::string_view type) {
  for (const Generation& generation : kGenerations) {
    for (const int size : SizesOf(generation)) {
      if (TypeName(generation, size) == type) return Describe(generation, size);
    }
  }
  return UnknownType(type);
}

bool MayBeType(std::string_view type) {
  constexpr std::size_t kLongest = 63;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !type.empty() && type.size() <= kLongest && type.front() >= 'a' &&
         std::all_of(type.begin(), type.end(), allowed);
}

std::string GenerationOf(std::string_view type) {
  const Generation* found = FindGeneration(SplitType(type).generation);
  return std::string(found == nullptr ? std::string_view{} : found->name);
}

std::vector<std::string> AcceleratorTypes() {
  std::vector<std::string> types;
  for (const Generation& generation : kGenerations) {
    for (const int size : SizesOf(generation)) types.push_back(TypeName(generation, size));
  }
  return types;
}

std::string DefaultRuntime(std::string_view generation) {
  const Generation* found = FindGeneration(generation);
  return std::string(found == nullptr ? std::string_view{} : found->runtime);
}

}  // namespace jobman::core
