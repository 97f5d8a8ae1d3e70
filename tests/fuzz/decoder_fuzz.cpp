// What the API may answer: nodes, queued resources, operations, host keys, errors.
#include <cstddef>
#include <cstdint>

#include "jobman/cloud/error_map.hpp"
#include "jobman/cloud/tpu_json.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  const base::Error refused =
      cloud::ErrorFromResponse({.status = 400, .body = text}, {.project = "p", .zone = "z"});
  fuzz::Expect(!refused.message.empty(), "an error says something");
  const auto json = base::ParseJson(text);
  if (!json.ok()) return 0;
  if (const auto node = cloud::DecodeNode(*json); node.ok()) {
    fuzz::Expect(!node->id.empty(), "a node has an id");
  }
  if (const auto queued = cloud::DecodeQueued(*json); queued.ok()) {
    fuzz::Expect(!queued->id.empty(), "a queued resource has an id");
  }
  if (const auto operation = cloud::DecodeOperation(*json); operation.ok()) {
    fuzz::Expect(!operation->name.empty(), "an operation has a name");
  }
  for (const auto& keys : cloud::DecodeHostKeys(*json)) {
    fuzz::Expect(!keys.keys.empty(), "hosts without keys are left out");
  }
  return 0;
}
