#include "client/sync_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "jobman/base/clean.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/sync_script.hpp"

namespace jobman::client {
namespace {

using base::Result;
using Kind = SyncEntry::Kind;

constexpr std::size_t kHexDigest = 64;

base::Error OddAnswer(const std::string& what) {
  return {.code = base::Code::kFailedPrecondition,
          .message = "its answer is not one of jobman's script: " + what,
          .hint =
              "does its login shell, or a program in its PATH, change what find, sort and "
              "sha256sum print?"};
}

bool IsDigest(std::string_view text) {
  return text.size() == kHexDigest &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The name without "./". It stays within the folder.
Result<std::string> NameWithin(std::string_view text) {
  const std::string shown = base::CleanLine(base::Shorten(text, 200));
  if (text.size() > kLongestSyncName) return OddAnswer("a name is too long: " + shown);
  if (!text.starts_with("./")) return OddAnswer("a name leads out of the folder: " + shown);
  text.remove_prefix(2);
  for (const std::string& part : base::Split(text, '/')) {
    if (part.empty() || part == "." || part == "..")
      return OddAnswer("a name leads out of the folder: " + shown);
  }
  return std::string(text);
}

/// Takes the text before the next blank.
std::string_view TakeWord(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

/// Takes a number, of which only what is before a point counts.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  const std::string_view word = TakeWord(text);
  if (word.starts_with('-')) return 0;  // a time before 1970
  return base::ParseNumber(word.substr(0, word.find('.')));
}

std::optional<unsigned> TakeMode(std::string_view& text) {
  unsigned mode = 0;
  const std::string_view word = TakeWord(text);
  if (word.empty() || word.size() > 5) return std::nullopt;
  for (const char digit : word) {
    if (digit < '0' || digit > '7') return std::nullopt;
    mode = mode * 8 + static_cast<unsigned>(digit - '0');
  }
  return mode & 0777U;
}

struct Named {
  std::string name = {};
  SyncEntry entry = {};
};

/// A record of the list, with a hash, or of what find says, with inode and time of change.
Result<Named> ParseRecord(std::string_view record, bool listed) {
  const std::string shown = base::CleanLine(base::Shorten(record, 200));
  Named read;
  const std::string_view kind = TakeWord(record);
  if (kind == "f") {
    const auto mode = TakeMode(record);
    const auto size = TakeNumber(record);
    const auto mtime = TakeNumber(record);
    if (!mode || !size || !mtime) return OddAnswer(shown);
    read.entry = {.kind = Kind::kFile, .mode = *mode, .size = *size, .mtime = *mtime};
    const std::string_view next = TakeWord(record);
    if (listed && !IsDigest(next)) return OddAnswer(shown);
    if (listed) read.entry.sha256 = next;
    if (!listed) TakeWord(record);
  } else if (kind == "d") {
    const auto mode = TakeMode(record);
    if (!mode) return OddAnswer(shown);
    read.entry = {.kind = Kind::kFolder, .mode = *mode};
  } else if (kind == "l") {
    const std::size_t end = record.find("//");
    if (end == std::string_view::npos) return OddAnswer(shown);
    read.entry = {.kind = Kind::kLink, .target = std::string(record.substr(end + 2))};
    record = record.substr(0, end);
  } else if (kind == "o" && !listed) {
    read.entry = {.kind = Kind::kOther};
  } else {
    return OddAnswer(shown);
  }
  JM_ASSIGN_OR_RETURN(read.name, NameWithin(record));
  return read;
}

/// The parts of an answer, without what a login shell printed before it.
Result<std::vector<std::string_view>> PartsOf(std::string_view answer) {
  const std::size_t at = answer.find(remote::kSyncGreeting);
  if (at == std::string_view::npos)
    return OddAnswer(base::CleanLine(base::Shorten(answer, 100)) + " is all that it says");
  answer.remove_prefix(at + remote::kSyncGreeting.size());
  std::vector<std::string_view> parts;
  while (!answer.empty()) {
    const std::size_t end = answer.find('\0');
    if (end == std::string_view::npos) return OddAnswer("it breaks off");
    parts.push_back(answer.substr(0, end));
    answer.remove_prefix(end + 1);
  }
  return parts;
}

/// The same of one that ends with "end".
Result<std::vector<std::string_view>> CompletePartsOf(std::string_view answer) {
  JM_ASSIGN_OR_RETURN(auto parts, PartsOf(answer));
  if (parts.empty() || parts.back() != "end") return OddAnswer("it breaks off");
  parts.pop_back();
  return parts;
}

Result<SyncLook> ParseHead(std::string_view head) {
  using LookKind = SyncLook::Kind;
  if (head == "none") return SyncLook{.kind = LookKind::kNone};
  if (head == "unknown") return SyncLook{.kind = LookKind::kUnknown};
  const std::string_view word = TakeWord(head);
  if ((word != "same" && word != "differs") || !IsDigest(head))
    return OddAnswer(base::CleanLine(base::Shorten(word, 100)));
  return SyncLook{.kind = word == "same" ? LookKind::kSame : LookKind::kDiffers,
                  .digest = std::string(head)};
}

}  // namespace

std::string SyncRecord(const std::string& name, const SyncEntry& entry) {
  switch (entry.kind) {
    case Kind::kFile:
      return fmt::format("f {:o} {} {} {} ./{}", entry.mode, entry.size, entry.mtime, entry.sha256,
                         name);
    case Kind::kFolder:
      return fmt::format("d {:o} ./{}", entry.mode, name);
    case Kind::kLink:
      return fmt::format("l ./{}//{}", name, entry.target);
    case Kind::kOther:
      break;
  }
  return "o ./" + name;
}

std::vector<std::string> SyncRecords(const SyncEntries& entries) {
  std::vector<std::string> records;
  records.reserve(entries.size());
  for (const auto& [name, entry] : entries) records.push_back(SyncRecord(name, entry));
  return records;
}

std::string SyncListText(std::vector<std::string> records) {
  std::sort(records.begin(), records.end());
  std::string text;
  for (const std::string& record : records) {
    text += record;
    text += '\0';
  }
  return text;
}

Result<SyncLook> ParseSyncLook(std::string_view answer) {
  JM_ASSIGN_OR_RETURN(const auto parts, CompletePartsOf(answer));
  if (parts.empty()) return OddAnswer("it is empty");
  JM_ASSIGN_OR_RETURN(SyncLook look, ParseHead(parts.front()));
  const bool more = look.kind == SyncLook::Kind::kUnknown || look.kind == SyncLook::Kind::kDiffers;
  if (!more && parts.size() > 1) return OddAnswer("it goes on");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::string_view record = parts[i];
    const bool found = look.kind == SyncLook::Kind::kUnknown || record.starts_with('\t');
    if (record.starts_with('\t')) record.remove_prefix(1);
    JM_ASSIGN_OR_RETURN(Named named, ParseRecord(record, false));
    if (found)
      look.found.insert_or_assign(std::move(named.name), std::move(named.entry));
    else
      look.gone.push_back(std::move(named.name));
  }
  return look;
}

Result<SyncEntries> ParseSyncList(std::string_view answer, std::string_view digest) {
  const std::size_t at = answer.find(remote::kSyncGreeting);
  const std::size_t begin = at == std::string_view::npos ? 0 : at + remote::kSyncGreeting.size();
  if (base::Sha256Hex(answer.substr(begin)) != digest)
    return OddAnswer("the list of its last sync is not the one that it names");
  JM_ASSIGN_OR_RETURN(const auto parts, PartsOf(answer));
  SyncEntries entries;
  for (const std::string_view record : parts) {
    JM_ASSIGN_OR_RETURN(Named named, ParseRecord(record, true));
    entries.insert_or_assign(std::move(named.name), std::move(named.entry));
  }
  return entries;
}

Result<std::map<std::string, std::string>> ParseSyncHashes(std::string_view answer) {
  JM_ASSIGN_OR_RETURN(const auto parts, CompletePartsOf(answer));
  std::map<std::string, std::string> hashes;
  for (const std::string_view part : parts) {
    const bool formed = part.size() > kHexDigest + 2 && IsDigest(part.substr(0, kHexDigest)) &&
                        part.substr(kHexDigest, 2) == "  ";
    if (!formed) return OddAnswer(base::CleanLine(base::Shorten(part, 200)));
    JM_ASSIGN_OR_RETURN(std::string name, NameWithin(part.substr(kHexDigest + 2)));
    hashes.insert_or_assign(std::move(name), std::string(part.substr(0, kHexDigest)));
  }
  return hashes;
}

}  // namespace jobman::client
