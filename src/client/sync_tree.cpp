#include "client/sync_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "client/code_files.hpp"
#include "client/sync_difference.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNano = 1'000'000'000;
constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;
/// A file that was written to this recently may change again within one tick of its clock.
constexpr std::int64_t kTooFresh = 2 * kNano;
/// Hashes of a folder that did not change for so long are read anew.
constexpr auto kHashesKept = std::chrono::hours{24 * 30};
/// The largest time that an archive's header has room for: the year 2242.
constexpr std::int64_t kLatest = (std::int64_t{1} << 33) - 1;

/// The words of `code:` in an error of FindCodeFiles(), as those of this command.
base::Error InWordsOfSync(base::Error error) {
  for (std::string* text : {&error.message, &error.hint}) {
    *text = base::ReplaceAll(*text, "code.dir: ", "");
    *text = base::ReplaceAll(*text, "code: ", "");
    *text = base::ReplaceAll(*text, "code.exclude", "--exclude");
  }
  return error;
}

/// Hashes of files as they were read before, in a file.
class KeptHashes {
 public:
  explicit KeptHashes(base::Path file) : file_(std::move(file)) {
    before_ = base::ReadRegularFile(file_).value_or("");
    for (const std::string& row : base::Split(before_, '\0')) {
      const std::size_t end = row.find(' ');
      if (end == 64) known_.emplace(row.substr(end + 1), row.substr(0, end));
    }
  }
  /// Empty if it is not known.
  std::string Find(const std::string& name, const FileStamp& stamp) const {
    const auto at = known_.find(Key(name, stamp));
    return at == known_.end() ? std::string() : at->second;
  }
  void Add(const std::string& name, const FileStamp& stamp, const std::string& sha256) {
    const std::int64_t latest = std::max(stamp.modified, stamp.changed);
    if (latest > began_ - kTooFresh) return;
    text_ += sha256 + ' ' + Key(name, stamp) + '\0';
  }
  /// Without it, all is read again next time.
  void Save() const {
    if (text_ == before_ || text_.size() >= base::kLongestFile) return;
    if (!base::EnsureDir(file_.parent_path()).ok()) return;
    SweepOld();
    (void)base::WriteFileAtomic(file_, text_).ok();
  }

 private:
  static std::int64_t Now() {
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * kNano + now.tv_nsec;
  }
  /// Folders come and go.
  void SweepOld() const {
    std::error_code problem;
    const auto old = fs::file_time_type::clock::now() - kHashesKept;
    for (fs::directory_iterator one(file_.parent_path(), problem), end; !problem && one != end;
         one.increment(problem)) {
      std::error_code gone;
      if (one->last_write_time(gone) < old && !gone) fs::remove(one->path(), gone);
    }
  }
  static std::string Key(const std::string& name, const FileStamp& stamp) {
    return fmt::format("{} {} {} {} {}", stamp.inode, stamp.size, stamp.modified, stamp.changed,
                       name);
  }
  base::Path file_;
  std::int64_t began_ = Now();
  std::string before_ = {};
  std::map<std::string, std::string> known_ = {};
  std::string text_ = {};
};

base::Error SyncCannotRead(const base::Path& path, int code) {
  base::Error error = base::FromErrno(code, "reading " + base::CleanLine(path.string()));
  error.hint = "make it readable, or leave it out: --exclude, .gitignore";
  return error;
}

/// Reads and hashes the files of a tree.
class TreeReader {
 public:
  TreeReader(SyncTree& tree, KeptHashes& kept, std::function<void(std::int64_t)> on_read)
      : tree_(tree), kept_(kept), on_read_(std::move(on_read)) {}

  base::Status Add(const std::string& name) {
    if (name == kSyncOwn || name.starts_with(std::string(kSyncOwn) + "/")) return base::Ok();
    if (name.size() > kLongestSyncName / 2)
      return base::InvalidArgument("a name is too long: " + base::Shorten(name, 200));
    const base::Path path = tree_.folder / name;
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0)
      return errno == ENOENT ? base::Ok() : base::Status(SyncCannotRead(path, errno));
    AddFoldersOf(name);
    if (S_ISLNK(info.st_mode)) return AddLink(name, path);
    if (S_ISDIR(info.st_mode)) {
      AddFolder(name, info.st_mode);
      return base::Ok();
    }
    ++tree_.files;
    return AddFile(name, path);
  }

 private:
  void AddFolder(const std::string& name, mode_t mode) {
    tree_.entries[name] = {.kind = SyncEntry::Kind::kFolder, .mode = mode & 0777U};
  }
  void AddFoldersOf(const std::string& name) {
    std::size_t slash = name.rfind('/');
    while (slash != std::string::npos && !tree_.entries.contains(name.substr(0, slash))) {
      const std::string folder = name.substr(0, slash);
      struct stat info {};
      const bool there = ::lstat((tree_.folder / folder).c_str(), &info) == 0;
      AddFolder(folder, there ? info.st_mode : 0755);
      slash = name.rfind('/', slash - 1);
    }
  }
  base::Status AddLink(const std::string& name, const base::Path& path) {
    std::error_code problem;
    const base::Path target = fs::read_symlink(path, problem);
    if (problem) return SyncCannotRead(path, problem.value());
    tree_.entries[name] = {.kind = SyncEntry::Kind::kLink, .target = target.string()};
    ++tree_.files;
    return base::Ok();
  }
  base::Status AddFile(const std::string& name, const base::Path& path) {
    const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (!file || ::fstat(file.get(), &info) != 0) return SyncCannotRead(path, errno);
    const FileStamp stamp = StampOf(info);
    std::string sha256 = kept_.Find(name, stamp);
    if (sha256.empty()) {
      JM_ASSIGN_OR_RETURN(sha256, HashFile(file.get(), path));
    }
    kept_.Add(name, stamp, sha256);
    tree_.stamps[name] = stamp;
    tree_.entries[name] = {.kind = SyncEntry::Kind::kFile,
                           .mode = info.st_mode & 0777U,
                           .size = info.st_size,
                           .mtime = std::clamp<std::int64_t>(info.st_mtim.tv_sec, 0, kLatest),
                           .sha256 = std::move(sha256)};
    return base::Ok();
  }
  base::Result<std::string> HashFile(int file, const base::Path& path) {
    base::Sha256 hash;
    while (true) {
      const ssize_t count = ::read(file, buffer_.data(), buffer_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return SyncCannotRead(path, errno);
      if (count == 0) return hash.Hex();
      hash.Add({buffer_.data(), static_cast<std::size_t>(count)});
      read_ += count;
      if (on_read_) on_read_(read_);
    }
  }

  SyncTree& tree_;
  KeptHashes& kept_;
  std::function<void(std::int64_t)> on_read_;
  std::string buffer_ = std::string(kReadAtOnce, '\0');
  std::int64_t read_ = 0;
};

/// Folders without any content, which git does not list.
base::Result<std::vector<std::string>> EmptyFolders(const base::Path& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  const auto options = fs::directory_options::skip_permission_denied;
  auto walk = fs::recursive_directory_iterator(folder, options, problem);
  for (; !problem && walk != fs::recursive_directory_iterator(); walk.increment(problem)) {
    std::error_code unreadable;
    if (!walk->is_directory(unreadable) || walk->is_symlink(unreadable)) continue;
    if (walk->path().filename() == ".git") {
      walk.disable_recursion_pending();
    } else if (fs::is_empty(walk->path(), unreadable) && !unreadable) {
      names.push_back(walk->path().lexically_relative(folder).string() + "/");
    }
  }
  if (problem) return base::FromErrno(problem.value(), "reading " + folder.string());
  return names;
}

base::Task<base::Result<std::vector<std::string>>> FindNamesToSync(base::Path folder,
                                                                   std::vector<std::string> exclude,
                                                                   base::Path scratch,
                                                                   SyncTree* tree) {
  JM_CO_ASSIGN_OR_RETURN(CodeFiles found, co_await FindCodeFiles(folder, exclude, scratch));
  tree->notes = std::move(found.notes);
  std::vector<std::string> names;
  for (CodeFile& file : found.files) names.push_back(std::move(file.name));
  JM_CO_ASSIGN_OR_RETURN(std::vector<std::string> empty, EmptyFolders(folder));
  if (empty.empty()) co_return names;
  const base::Path own = scratch / "empty";
  JM_CO_ASSIGN_OR_RETURN(const auto ignored,
                         co_await FindIgnored(folder, empty, std::move(exclude), own));
  for (std::string& name : empty) {
    if (ignored.contains(name)) continue;
    name.pop_back();
    names.push_back(std::move(name));
  }
  co_return names;
}

}  // namespace

FileStamp StampOf(const struct stat& info) {
  return {.inode = info.st_ino,
          .size = info.st_size,
          .modified = info.st_mtim.tv_sec * kNano + info.st_mtim.tv_nsec,
          .changed = info.st_ctim.tv_sec * kNano + info.st_ctim.tv_nsec};
}

base::Task<base::Result<SyncTree>> ReadSyncTree(base::Path folder, std::vector<std::string> exclude,
                                                base::Path scratch, base::Path kept,
                                                std::function<void(std::int64_t)> on_read) {
  std::error_code problem;
  if (!fs::is_directory(folder, problem)) {
    const bool there = fs::exists(folder, problem);
    const std::string shown = base::CleanLine(folder.string());
    if (!there) co_return base::NotFound("there is no folder " + shown + " here");
    co_return base::InvalidArgument(shown +
                                        " is no folder: sync makes a folder of the hosts equal "
                                        "to one of this machine",
                                    "for single files: jobman cp");
  }
  SyncTree tree{.folder = folder};
  auto names = co_await FindNamesToSync(folder, std::move(exclude), std::move(scratch), &tree);
  if (!names.ok()) co_return InWordsOfSync(std::move(names).error());
  KeptHashes hashes(std::move(kept));
  TreeReader reader(tree, hashes, std::move(on_read));
  for (const std::string& name : *names) {
    JM_CO_TRY(reader.Add(name));
  }
  hashes.Save();
  co_return tree;
}

}  // namespace jobman::client
