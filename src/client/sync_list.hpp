#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::client {

/// The most that a host may send as one answer, and the longest name that it may have.
inline constexpr std::size_t kMostSyncAnswer = std::size_t{32} << 20;
inline constexpr std::size_t kLongestSyncName = 4096;

/// What a name stands for in a folder that `sync` keeps equal.
struct SyncEntry {
  enum class Kind { kFile, kFolder, kLink, kOther };
  Kind kind = Kind::kFile;
  unsigned mode = 0;        ///< permission bits, nine; 0 of a link
  std::int64_t size = 0;    ///< of a file
  std::int64_t mtime = 0;   ///< of a file, in seconds; those of folders and links are not kept
  std::string sha256 = {};  ///< of a file's content; empty: not known
  std::string target = {};  ///< of a link
  friend bool operator==(const SyncEntry&, const SyncEntry&) = default;
};

/// Names within the folder, without "./", a folder before what is in it.
using SyncEntries = std::map<std::string, SyncEntry>;

/// An entry as the records of hosts have it, without the NUL: see src/remote/sync.sh.
std::string SyncRecord(const std::string& name, const SyncEntry& entry);
/// The records, sorted, each with its NUL: what a host keeps as `list`.
std::string SyncListText(std::vector<std::string> records);
/// Those of all entries.
std::vector<std::string> SyncRecords(const SyncEntries& entries);

/// A host's answer to `look`.
struct SyncLook {
  enum class Kind { kNone, kUnknown, kSame, kDiffers };
  Kind kind = Kind::kNone;
  std::string digest = {};             ///< of the record, unless kNone and kUnknown
  std::vector<std::string> gone = {};  ///< names of the record that are gone or changed
  SyncEntries found = {};              ///< what is there and not as in the record; without hashes
};

/// Reads the answers of `look`, `list` and `hash`. Hosts are not trusted: kFailedPrecondition for
/// what has another form, breaks off, or has a name that leads out of the folder.
base::Result<SyncLook> ParseSyncLook(std::string_view answer);
base::Result<SyncEntries> ParseSyncList(std::string_view answer, std::string_view digest);
base::Result<std::map<std::string, std::string>> ParseSyncHashes(std::string_view answer);

}  // namespace jobman::client
