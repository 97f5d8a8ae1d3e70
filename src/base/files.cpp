#include "jobman/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "jobman/base/env.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::base {
namespace {

/// The dynamic loader of the tarball, as packaging/package.sh names it.
constexpr std::string_view kPackedLoader = "jobman-ld.so";

Result<UniqueFd> OpenFile(const Path& path, int flags, mode_t mode, std::string_view doing) {
  for (;;) {
    UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (fd) return fd;
    if (errno != EINTR) return FromErrno(errno, fmt::format("{} {}", doing, path.string()));
  }
}

/// Writes all of `bytes` at offset `written` of the file, which grows by what was written, even on
/// failure.
Status WriteAll(int fd, std::string_view bytes, const std::string& path, std::int64_t& written) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FromErrno(errno, "writing " + path);
    written += count;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return Ok();
}

/// The calling user's entry in the password database; empty strings if there is none.
struct Account {
  std::string name = {};
  std::string home = {};
};

Account OwnAccount() {
  std::vector<char> buffer(16384);
  passwd entry = {};
  passwd* found = nullptr;
  ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return {};
  return {.name = found->pw_name, .home = found->pw_dir};
}

/// Makes a rename in `folder` survive a power cut. File systems that cannot sync a folder are
/// ignored: the file itself is safe.
void SyncFolder(const Path& folder) {
  const UniqueFd fd(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

Status WriteSynced(const Path& path, std::string_view content, mode_t mode) {
  JM_ASSIGN_OR_RETURN(const UniqueFd fd,
                      OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, mode, "creating"));
  // The umask may have taken bits away from `mode`.
  if (::fchmod(fd.get(), mode) != 0) return FromErrno(errno, "setting mode of " + path.string());
  std::int64_t written = 0;
  JM_TRY(WriteAll(fd.get(), content, path.string(), written));
  if (::fsync(fd.get()) != 0) return FromErrno(errno, "syncing " + path.string());
  return Ok();
}

}  // namespace

Result<std::string> ReadFile(const Path& path, std::size_t most) {
  JM_ASSIGN_OR_RETURN(const UniqueFd fd, OpenFile(path, O_RDONLY, 0, "opening"));
  std::string content;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count == 0) return content;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FromErrno(errno, "reading " + path.string());
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > most)
      return InvalidArgument(fmt::format("{} is longer than {} bytes", path.string(), most));
  }
}

Result<std::string> ReadRegularFile(const Path& path, std::size_t most) {
  struct stat info = {};
  // Checked before opening: opening a pipe waits for its writer.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return InvalidArgument(path.string() + " is not a regular file");
  return ReadFile(path, most);
}

Status WriteFileAtomic(const Path& path, std::string_view content, mode_t mode) {
  Path sibling = path;
  sibling += "." + RandomHex(6) + ".tmp";
  Status done = WriteSynced(sibling, content, mode);
  if (done && ::rename(sibling.c_str(), path.c_str()) != 0) {
    done = FromErrno(errno, "replacing " + path.string());
  }
  if (!done) {
    ::unlink(sibling.c_str());
    Error error = std::move(done).error();
    // Users do not know about the sibling.
    error.message = ReplaceAll(std::move(error.message), sibling.string(), path.string());
    return error;
  }
  SyncFolder(path.parent_path());
  return Ok();
}

Status EnsureDir(const Path& path, mode_t mode) {
  if (path.empty()) return Ok();
  if (::mkdir(path.c_str(), mode) == 0) return Ok();
  int problem = errno;
  if (problem == ENOENT && path.has_parent_path() && path.parent_path() != path) {
    JM_TRY(EnsureDir(path.parent_path(), mode));
    if (::mkdir(path.c_str(), mode) == 0) return Ok();
    problem = errno;
  }
  struct stat info = {};
  // Whatever mkdir said (EEXIST, or EROFS and EACCES on an existing folder): a folder is enough.
  const int look = ::stat(path.c_str(), &info) == 0 ? 0 : errno;
  if (look == 0 && S_ISDIR(info.st_mode)) return Ok();
  if (look == ELOOP) problem = ELOOP;  // mkdir only reports that the path exists
  return FromErrno(problem, "creating folder " + path.string());
}

Path HomeDir() {
  if (auto home = GetEnv("HOME")) return *home;
  return OwnAccount().home;
}

Path ExpandHome(std::string_view path) {
  if (path == "~") return HomeDir();
  if (path.starts_with("~/")) return HomeDir() / path.substr(2);
  return path;
}

Path RealPath(const Path& path) {
  std::error_code problem;
  const Path absolute = std::filesystem::absolute(path, problem);
  if (problem) return path.lexically_normal();
  Path real = std::filesystem::weakly_canonical(absolute, problem);
  return problem ? absolute.lexically_normal() : real;
}

std::string UserName() {
  std::string name = OwnAccount().name;
  if (name.empty()) name = GetEnv("USER").value_or("");
  return name.empty() ? fmt::format("uid-{}", ::getuid()) : name;
}

std::optional<std::int64_t> FileSize(const Path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info.st_size;
}

std::optional<std::int64_t> FreeSpace(const Path& path) {
  struct statvfs disk = {};
  // Without blocks it is no disk: /proc, some network file systems.
  if (::statvfs(path.c_str(), &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  return static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
}

Status RemoveAll(const Path& path) {
  std::error_code problem;
  std::filesystem::remove_all(path, problem);
  if (problem) return FromErrno(problem.value(), "removing " + path.string());
  return Ok();
}

Path SelfExe() {
  std::error_code problem;
  Path exe = std::filesystem::read_symlink("/proc/self/exe", problem);
  // In the tarball the process is the loader that was packed beside the program. The launcher
  // (packaging/launcher.c) gives it its own path as the name of the program.
  const Path launcher = program_invocation_name;
  const bool is_loader = exe.filename() == kPackedLoader && launcher.is_absolute();
  return is_loader ? launcher : exe;
}

Result<AppendFile> AppendFile::Open(const Path& path, mode_t mode) {
  JM_ASSIGN_OR_RETURN(UniqueFd fd, OpenFile(path, O_WRONLY | O_CREAT, mode, "opening"));
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0) return FromErrno(errno, "examining " + path.string());
  return AppendFile(std::move(fd), path, info.st_size);
}

Status AppendFile::Append(std::string_view bytes) {
  return WriteAll(fd_.get(), bytes, path_, size_);
}

Status AppendFile::Extend(std::int64_t size) {
  if (size <= size_) return Ok();
  if (::ftruncate(fd_.get(), size) != 0) return FromErrno(errno, "extending " + path_);
  size_ = size;
  return Ok();
}

}  // namespace jobman::base
