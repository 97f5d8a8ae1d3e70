#include "jobman/client/out_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

namespace jobman::client {
namespace {

using base::Result;
using base::Status;

std::string OutFileName(int host, OutFiles::Stream stream) {
  return fmt::format("host-{:04}.{}", host, stream == OutFiles::Stream::kOut ? "out" : "err");
}

/// Whether the name is one of OutFileName().
bool IsOutFileName(std::string_view name) {
  if (!name.starts_with("host-") || !(name.ends_with(".out") || name.ends_with(".err")))
    return false;
  const std::string_view number = name.substr(5, name.size() - 9);
  return number.size() >= 4 &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

base::Error HasOutput(const base::Path& folder, const std::string& name) {
  return {.code = base::Code::kAlreadyExists,
          .message = folder.string() + " has the output of an earlier command (" + name + ")",
          .hint = "name another folder, or replace it: --force"};
}

}  // namespace

Result<OutFiles> OutFiles::Create(base::Path folder, const std::vector<int>& hosts, bool replace) {
  JM_TRY(base::EnsureDir(folder));
  base::UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return base::FromErrno(errno, "opening " + folder.string());
  OutFiles files(std::move(folder), std::move(fd));
  JM_TRY(files.RemoveOld(replace));
  for (const int host : hosts) {
    JM_ASSIGN_OR_RETURN(const base::UniqueFd made,
                        files.Open(OutFileName(host, Stream::kOut), true));
  }
  return files;
}

Status OutFiles::RemoveOld(bool replace) const {
  std::error_code error;
  std::filesystem::directory_iterator file(folder_, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (!IsOutFileName(name)) continue;
    if (!replace) return HasOutput(folder_, name);
    if (::unlinkat(fd_.get(), name.c_str(), 0) != 0)
      return base::FromErrno(errno, "removing " + file->path().string());
  }
  if (error) return base::FromErrno(error.value(), "reading " + folder_.string());
  return base::Ok();
}

Result<base::UniqueFd> OutFiles::Open(const std::string& name, bool is_new) const {
  const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (is_new ? O_CREAT | O_EXCL : 0);
  base::UniqueFd fd(::openat(fd_.get(), name.c_str(), flags, 0600));
  if (!fd) return base::FromErrno(errno, "opening " + (folder_ / name).string());
  return fd;
}

Status OutFiles::Append(int host, Stream stream, std::string_view bytes) {
  const std::string name = OutFileName(host, stream);
  const bool is_new = stream == Stream::kErr && !with_err_.contains(host);
  JM_ASSIGN_OR_RETURN(const base::UniqueFd fd, Open(name, is_new));
  if (is_new) with_err_.insert(host);
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::FromErrno(errno, "writing " + (folder_ / name).string());
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return base::Ok();
}

base::Path OutFiles::PathOf(int host, Stream stream) const {
  return folder_ / OutFileName(host, stream);
}

}  // namespace jobman::client
