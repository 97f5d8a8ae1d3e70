#include "client/sync_archive.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "jobman/base/handle.hpp"

namespace jobman::client {
namespace {

constexpr std::int64_t kTarBlock = 512;
constexpr std::size_t kTarName = 100;  // longer ones have a member of their own before them
constexpr std::size_t kRecentPieces = 8;

constexpr char kTarFile = '0';
constexpr char kTarLink = '2';
constexpr char kTarFolder = '5';
constexpr char kTarLongName = 'L';
constexpr char kTarLongTarget = 'K';

std::int64_t Padded(std::int64_t bytes) {
  return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock;
}

/// An octal number, or if that has no room one to the base of 256.
void PutNumber(std::string& header, std::size_t at, std::size_t width, std::uint64_t value) {
  const std::string octal = fmt::format("{:0{}o}", value, width - 1);
  if (octal.size() < width) {
    header.replace(at, octal.size(), octal);
    return;
  }
  for (std::size_t i = at + width - 1; i > at; --i, value >>= 8U)
    header[i] = static_cast<char>(value & 0xffU);
  header[at] = static_cast<char>(0x80);
}

struct TarFacts {
  std::string name = {};
  char type = kTarFile;
  unsigned mode = 0644;
  std::int64_t size = 0;
  std::int64_t mtime = 0;
  std::string target = {};
};

/// One block.
std::string PlainHeader(const TarFacts& facts) {
  std::string header(kTarBlock, '\0');
  header.replace(0, std::min(facts.name.size(), kTarName), facts.name, 0, kTarName);
  PutNumber(header, 100, 8, facts.mode);
  PutNumber(header, 108, 8, 0);
  PutNumber(header, 116, 8, 0);
  PutNumber(header, 124, 12, static_cast<std::uint64_t>(facts.size));
  PutNumber(header, 136, 12, static_cast<std::uint64_t>(facts.mtime));
  header.replace(148, 8, 8, ' ');
  header[156] = facts.type;
  header.replace(157, std::min(facts.target.size(), kTarName), facts.target, 0, kTarName);
  header.replace(257, 7, "ustar  ");
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  header.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
  return header;
}

/// A member of the archive that is wholly in memory.
std::string WholeMember(const TarFacts& facts, const std::string& content) {
  TarFacts sized = facts;
  sized.size = std::ssize(content);
  std::string member = PlainHeader(sized) + content;
  member.resize(static_cast<std::size_t>(kTarBlock + Padded(std::ssize(content))), '\0');
  return member;
}

std::string LongText(char type, const std::string& text) {
  const TarFacts facts{.name = "././@LongLink", .type = type};
  return WholeMember(facts, text + '\0');
}

std::string TarHeader(const TarFacts& facts) {
  std::string header;
  if (facts.target.size() > kTarName) header += LongText(kTarLongTarget, facts.target);
  if (facts.name.size() > kTarName) header += LongText(kTarLongName, facts.name);
  return header + PlainHeader(facts);
}

std::string HeaderOf(const SyncEntries::value_type& row) {
  const SyncEntry& entry = row.second;
  TarFacts facts{.name = "tree/" + row.first, .mode = entry.mode};
  if (entry.kind == SyncEntry::Kind::kFolder) {
    facts.name += '/';
    facts.type = kTarFolder;
    facts.mode |= 0700U;  // it must be filled and moved; the orders say its own mode
  } else if (entry.kind == SyncEntry::Kind::kLink) {
    facts.type = kTarLink;
    facts.mode = 0777;
    facts.target = entry.target;
  } else {
    facts.size = entry.size;
    facts.mtime = entry.mtime;
  }
  return TarHeader(facts);
}

std::string ListFile(const std::string& name, const std::string& content) {
  return WholeMember({.name = "ctl/" + name}, content);
}

/// A file of names.
std::string NamesFile(const std::string& name, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::string text;
  for (const std::string& one : names) {
    text += "./" + one;
    text += '\0';
  }
  return ListFile(name, text);
}

/// Reads `count` bytes; nothing if the file is not any more the one that was hashed.
std::optional<std::string> ReadPart(const base::Path& path, const FileStamp& stamp,
                                    std::int64_t from, std::int64_t count) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || StampOf(info) != stamp) return std::nullopt;
  std::string part(static_cast<std::size_t>(count), '\0');
  std::size_t have = 0;
  while (have < part.size()) {
    const ssize_t got = ::pread(file.get(), part.data() + have, part.size() - have,
                                from + static_cast<std::int64_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    have += static_cast<std::size_t>(got);
  }
  // Written to meanwhile: what was read may be half old, half new.
  if (::fstat(file.get(), &info) != 0 || StampOf(info) != stamp) return std::nullopt;
  return part;
}

class ArchiveReader final : public ports::Pace {
 public:
  ArchiveReader(std::shared_ptr<SyncArchive> archive, bool complete,
                std::function<void(std::int64_t)> on_sent)
      : archive_(std::move(archive)), complete_(complete), on_sent_(std::move(on_sent)) {}
  base::Result<std::optional<std::string>> NextInput() override {
    std::string piece = Next();
    if (on_sent_) on_sent_(std::ssize(piece));
    return std::optional<std::string>(std::move(piece));
  }
  base::Result<bool> MayRead() override { return true; }

 private:
  std::string Next() {
    if (next_ < archive_->pieces()) return *archive_->Piece(next_++);
    if (next_ == archive_->pieces()) {
      ++next_;
      ending_ = archive_->Ending(complete_);
    }
    std::string piece = ending_.substr(0, SyncArchive::kPiece);
    ending_.erase(0, piece.size());
    return piece;
  }
  std::shared_ptr<SyncArchive> archive_;
  bool complete_;
  std::function<void(std::int64_t)> on_sent_;
  std::size_t next_ = 0;
  std::string ending_ = {};
};

}  // namespace

SyncArchive::SyncArchive(const SyncTree* tree, const std::vector<std::string>& names,
                         SyncOrders orders)
    : tree_(tree), orders_(std::move(orders)) {
  for (const std::string& name : names) {
    const auto row = tree_->entries.find(name);
    if (row == tree_->entries.end()) continue;
    const std::int64_t content = size_ + std::ssize(HeaderOf(*row));
    members_.push_back({.entry = &*row, .begin = size_, .content = content});
    size_ = content + Padded(row->second.size);
  }
}

std::size_t SyncArchive::pieces() const {
  return (static_cast<std::size_t>(size_) + kPiece - 1) / kPiece;
}

std::shared_ptr<const std::string> SyncArchive::Piece(std::size_t number) {
  for (const auto& [which, piece] : recent_) {
    if (which == number) return piece;
  }
  const auto begin = static_cast<std::int64_t>(number * kPiece);
  const std::int64_t end = std::min(size_, begin + static_cast<std::int64_t>(kPiece));
  auto piece = std::make_shared<const std::string>(MakePiece(begin, end));
  recent_.emplace_back(number, piece);
  if (recent_.size() > kRecentPieces) recent_.pop_front();
  return piece;
}

std::string SyncArchive::MakePiece(std::int64_t begin, std::int64_t end) {
  std::string piece;
  piece.reserve(static_cast<std::size_t>(end - begin));
  auto member = std::upper_bound(members_.begin(), members_.end(), begin,
                                 [](std::int64_t at, const Member& m) { return at < m.begin; });
  --member;
  std::int64_t at = begin;
  for (; at < end; ++member) {
    if (at < member->content) {
      const std::string header = HeaderOf(*member->entry);
      const std::int64_t until = std::min(end, member->content);
      piece.append(header, static_cast<std::size_t>(at - member->begin),
                   static_cast<std::size_t>(until - at));
      at = until;
    }
    const std::int64_t next = member->content + Padded(member->entry->second.size);
    const std::int64_t until = std::min(end, next);
    if (at < until) AddContent(*member, at - member->content, until - at, piece);
    at = std::max(at, until);
  }
  return piece;
}

void SyncArchive::AddContent(const Member& member, std::int64_t from, std::int64_t count,
                             std::string& piece) {
  const std::string& name = member.entry->first;
  const std::int64_t there = std::clamp<std::int64_t>(member.entry->second.size - from, 0, count);
  const std::size_t before = piece.size();
  if (there > 0 && !changed_.contains(name)) {
    const auto part = ReadPart(tree_->folder / name, tree_->stamps.at(name), from, there);
    if (part)
      piece += *part;
    else
      changed_.insert(name);
  }
  piece.resize(before + static_cast<std::size_t>(count), '\0');
}

std::string SyncArchive::Ending(bool complete) const {
  std::string text;
  const std::vector<std::string> skipped(changed_.begin(), changed_.end());
  text += NamesFile("skip", skipped);
  text += NamesFile("remove", orders_.remove);
  text += NamesFile("rmdir", orders_.remove_folders);
  for (const auto& [mode, names] : orders_.modes)
    text += NamesFile(fmt::format("mode-{:o}", mode), names);
  for (const auto& [time, names] : orders_.times)
    text += NamesFile(fmt::format("time-{}", time), names);
  text += ListFile("drop", SyncListText(orders_.drop));
  text += ListFile("add", SyncListText(orders_.add));
  const bool recorded = complete && skipped.empty();
  text += ListFile(
      "commit", fmt::format("{} {}\n", recorded ? orders_.from : "-", recorded ? orders_.to : "-"));
  text.resize(text.size() + static_cast<std::size_t>(2 * kTarBlock), '\0');
  return text;
}

std::shared_ptr<ports::Pace> ReadArchive(std::shared_ptr<SyncArchive> archive, bool complete,
                                         std::function<void(std::int64_t)> on_sent) {
  return std::make_shared<ArchiveReader>(std::move(archive), complete, std::move(on_sent));
}

}  // namespace jobman::client
