#include "jobman/base/trusted.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::base {
namespace {

constexpr int kMostLinks = 40;  // as the kernel follows
constexpr std::size_t kEntrySize = 16384;

std::string NameOf(uid_t user) {
  std::vector<char> buffer(kEntrySize);
  passwd entry = {};
  passwd* found = nullptr;
  ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? std::string{} : found->pw_name;
}

/// Whether a local account of another user has this group as its own.
bool IsGroupOfAnother(gid_t id, uid_t user) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/etc/passwd", "re"),
                                                             &std::fclose);
  if (!file) return false;
  std::vector<char> buffer(kEntrySize);
  passwd entry = {};
  passwd* found = nullptr;
  while (::fgetpwent_r(file.get(), &entry, buffer.data(), buffer.size(), &found) == 0) {
    if (found->pw_gid == id && found->pw_uid != user) return true;
  }
  return false;
}

/// Whether the group is the user's own and has no other member. Where each user has such a group,
/// new files are often group-writable (umask 002). Root has none.
bool IsPrivateGroup(gid_t id, uid_t user) {
  const std::string name = user == 0 ? "" : NameOf(user);
  if (name.empty()) return false;
  std::vector<char> buffer(kEntrySize);
  group entry = {};
  group* found = nullptr;
  ::getgrgid_r(id, &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr || name != found->gr_name) return false;
  for (char** member = found->gr_mem; *member != nullptr; ++member) {
    if (name != *member) return false;
  }
  return !IsGroupOfAnother(id, user);
}

Error NotSafe(const TrustedUse& use, const std::string& why, std::string cure) {
  return {.code = Code::kFailedPrecondition,
          .message = fmt::format("{} is not safe: {}", use.what, why),
          .hint = std::move(cure)};
}

Error Foreign(const Path& path, uid_t owner, const TrustedUse& use) {
  const std::string name = NameOf(owner);
  const std::string who =
      name.empty() ? fmt::format("uid {}", owner) : fmt::format("uid {}, {}", owner, name);
  const bool root = ::geteuid() == 0 && !name.empty();
  return NotSafe(
      use, fmt::format("{} belongs to another user ({})", path.string(), who),
      root ? fmt::format("run jobman as {}, or {}", name, use.instead) : std::string(use.instead));
}

/// In a user namespace, as in many containers, files of users that it does not map, host's root
/// among them, show this owner.
bool IsUnmapped(uid_t owner) {
  constexpr std::int64_t kAllUsers = 4294967295;
  constexpr std::int64_t kUsual = 65534;
  const auto number = [](std::string_view text) { return ParseNumber(Trim(text)).value_or(0); };
  const auto overflow = ReadFile("/proc/sys/kernel/overflowuid");
  if (owner != (overflow.ok() ? number(*overflow) : kUsual)) return false;
  const auto map = ReadFile("/proc/self/uid_map");
  std::int64_t mapped = 0;
  for (const std::string& line : Split(Trim(map.value_or("")), '\n'))
    mapped += number(std::string_view(line).substr(line.find_last_of(' ') + 1));
  return mapped > 0 && mapped < kAllUsers;
}

/// One entry on the way. `last`: the thing itself, which must not be shared at all.
Status CheckEntry(const Path& path, const struct stat& info, bool last, const TrustedUse& use) {
  const uid_t self = ::geteuid();
  const bool ours = info.st_uid == 0 || info.st_uid == self || (!last && IsUnmapped(info.st_uid));
  if (!ours) return Foreign(path, info.st_uid, use);
  // A device is read as it is, whoever else writes to it: /dev/null.
  if (S_ISLNK(info.st_mode) || S_ISCHR(info.st_mode) || (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return Ok();
  // In a sticky folder nobody else can rename or remove what is ours.
  if (!last && S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0) return Ok();
  if ((info.st_mode & S_IWOTH) == 0 && IsPrivateGroup(info.st_gid, self)) return Ok();
  return NotSafe(
      use, path.string() + " can be written by other users",
      fmt::format("chmod go-w {}, if it is right as it is; or {}", path.string(), use.instead));
}

/// The names on a path, from the root.
std::deque<Path> NamesOf(const Path& path) {
  std::deque<Path> names;
  for (const Path& name : path.relative_path()) {
    if (!name.empty() && name != ".") names.push_back(name);
  }
  return names;
}

/// Takes the first word off a shell command.
std::string_view NextWord(std::string_view& command) {
  constexpr std::string_view kBetween = " \t\n;&|<>()";
  command.remove_prefix(std::min(command.size(), command.find_first_not_of(kBetween)));
  if (command.empty()) return {};
  const bool quoted = command.front() == '\'' || command.front() == '"';
  const std::string_view stops = !quoted ? kBetween : command.front() == '"' ? "\"" : "'";
  if (quoted) command.remove_prefix(1);
  const std::string_view word = command.substr(0, command.find_first_of(stops));
  command.remove_prefix(std::min(command.size(), word.size() + (quoted ? 1 : 0)));
  return word;
}

bool RunsItsArgument(const Path& word) {
  constexpr std::array kWords = {".",   "source", "exec",    "sh",   "bash", "dash",
                                 "zsh", "python", "python3", "perl", "node", "ruby"};
  return std::find(kWords.begin(), kWords.end(), word.filename()) != kWords.end();
}

bool IsProgram(const Path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0;
}

}  // namespace

Status CheckTrusted(const Path& path, TrustedUse use) {
  std::error_code failed;
  const Path whole = std::filesystem::absolute(path, failed);
  if (failed) return FromErrno(failed.value(), "finding " + path.string());
  std::deque<Path> names = NamesOf(whole);
  names.push_front("/");
  Path here = "/";
  for (int links = 0; !names.empty();) {
    const Path next = here / names.front();  // "/" replaces what is before it
    names.pop_front();
    if (next.filename() == "..") {
      here = here.parent_path();
      continue;
    }
    struct stat info {};
    // What cannot be looked at cannot be opened either.
    if (::lstat(next.c_str(), &info) != 0) return Ok();
    JM_TRY(CheckEntry(next, info, names.empty(), use));
    if (!S_ISLNK(info.st_mode)) {
      here = next;
      continue;
    }
    const Path target = std::filesystem::read_symlink(next, failed);
    if (failed || ++links > kMostLinks) return Ok();
    if (target.is_absolute()) here = "/";
    const std::deque<Path> more = NamesOf(target);
    names.insert(names.begin(), more.begin(), more.end());
  }
  return Ok();
}

bool IsOpenToOthers(const Path& path) {
  std::error_code failed;
  const Path real = std::filesystem::canonical(path, failed);
  struct stat info {};
  if (failed || ::stat(real.c_str(), &info) != 0) return false;
  if (info.st_uid != ::geteuid() || (info.st_mode & S_IROTH) == 0) return false;
  for (Path here = real.parent_path();; here = here.parent_path()) {
    if (::stat(here.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0) return false;
    if (here == here.root_path()) return true;
  }
}

Status CheckTrustedCommand(std::string_view text, const Path& folder, TrustedUse use) {
  // The home folder by its variable; quotes around it say nothing about the path.
  std::string plain(text);
  for (const char* home : {"\"${HOME}\"", "\"$HOME\"", "${HOME}", "$HOME"}) {
    plain = ReplaceAll(plain, std::string(home) + "/", "~/");
  }
  std::string_view command = plain;
  bool runs_next = true;  // the word that comes is run, or read as a script
  while (!Trim(command).empty()) {
    const std::string_view word = NextWord(command);
    if (word.find(' ') != std::string_view::npos) {
      JM_TRY(CheckTrustedCommand(word, folder, use));  // bash -c 'PROGRAM ...'
    }
    // Only the shell knows what these become.
    const bool open = word.find_first_of("$`*=") != std::string_view::npos;
    if (open || (runs_next && word.starts_with('-'))) continue;
    if (word.find('/') != std::string_view::npos) {
      const Path path = folder / ExpandHome(word);
      if (runs_next || IsProgram(path)) JM_TRY(CheckTrusted(path, use));
    }
    runs_next = RunsItsArgument(word);
  }
  return Ok();
}

}  // namespace jobman::base
