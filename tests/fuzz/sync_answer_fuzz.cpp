// What a host may answer to the questions of `sync`: no name leads out of the folder.
#include <cstddef>
#include <cstdint>

#include "client/sync_delivery.hpp"
#include "client/sync_difference.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/remote/sync_script.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

void ExpectWithin(const std::string& name) {
  const std::string framed = "/" + name + "/";
  for (const char* part : {"/../", "/./", "//"})
    fuzz::Expect(framed.find(part) == std::string::npos, "a name stays within the folder");
}

void TryKept(const std::string& text) {
  const std::string sha256 = client::KeptSha256(text, "1f");
  fuzz::Expect(sha256.empty() || text.find("kept 1f " + sha256) != std::string::npos,
               "a hash is the host's");
  fuzz::Expect(sha256.find_first_not_of("0123456789abcdef") == std::string::npos,
               "a hash is safe as a word of a shell");
  if (text.find("kept 1f ") != std::string::npos) return;
  const std::string ours = base::Sha256Hex(text);
  fuzz::Expect(client::KeptSha256(text + '\0' + "kept 1f " + ours + '\0', "1f") == ours,
               "it is found after any noise");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  TryKept(text);
  const std::string greeting(remote::kSyncGreeting);
  for (const std::string& answer : {text, greeting + text, greeting + text + '\0' + "end" + '\0'}) {
    if (const auto look = client::ParseSyncLook(answer); look.ok()) {
      for (const std::string& name : look->gone) ExpectWithin(name);
      for (const auto& [name, entry] : look->found) ExpectWithin(name);
      const auto listed = std::make_shared<client::SyncEntries>();
      const client::SyncState state = client::StateOf(*look, listed);
      const auto all = [](const std::string&) { return true; };
      const client::SyncDifference difference = client::CompareSync({}, state, all);
      for (const std::string& name : difference.remove) ExpectWithin(name);
    }
    if (const auto hashes = client::ParseSyncHashes(answer); hashes.ok()) {
      for (const auto& [name, sha256] : *hashes) ExpectWithin(name);
    }
  }
  if (const auto list = client::ParseSyncList(greeting + text, base::Sha256Hex(text)); list.ok()) {
    for (const auto& [name, entry] : *list) ExpectWithin(name);
    fuzz::Expect(
        client::ParseSyncList(greeting + client::SyncListText(client::SyncRecords(*list)),
                              base::Sha256Hex(client::SyncListText(client::SyncRecords(*list))))
            .ok(),
        "what is written is read again");
  }
  return 0;
}
