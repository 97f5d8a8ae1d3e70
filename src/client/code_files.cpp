#include "client/code_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <set>

#include "client/git.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

Words SplitAtNul(const std::string& text) {
  Words names = base::Split(text, '\0');
  names.pop_back();  // after the last NUL
  return names;
}

base::Error CannotRead(const std::string& what, const std::string& why) {
  return base::InvalidArgument("code: " + what + " cannot be read: " + why,
                               "make it readable, or leave it out: code.exclude, .gitignore");
}

/// git goes on without a folder that it cannot open; code without it would fail on the hosts.
base::Status CheckTalk(const base::ProcessResult& listed) {
  constexpr std::string_view kSign = "could not open directory '";
  const std::size_t at = listed.err.find(kSign);
  if (at == std::string::npos) return base::Ok();
  const std::string rest = listed.err.substr(at + kSign.size());
  return CannotRead("the folder " + rest.substr(0, rest.find('\'')), "permission denied");
}

/// Whether the folder belongs to a work tree.
Task<Result<bool>> IsInWorkTree(base::Path folder) {
  const Words ask = {"-C", folder.string(), "rev-parse", "--is-inside-work-tree"};
  JM_CO_ASSIGN_OR_RETURN(const base::ProcessResult said, co_await RunGit(ask));
  if (said.exit_code == 0) co_return base::Trim(said.out) == "true";
  if (base::Contains(said.err, "not a git repository")) co_return false;
  co_return base::InvalidArgument(
      "code.dir: git does not read " + folder.string() + ": " + GitSays(said),
      "git -C " + folder.string() + " status says what to do");
}

/// The names in one work tree or folder; that of a folder stands for another repository.
Task<Result<Words>> ListOne(base::Path folder, base::Path scratch) {
  JM_CO_ASSIGN_OR_RETURN(const bool tracked, co_await IsInWorkTree(folder));
  const std::string own = (scratch / "ignore").string();
  Words list = {"-C", folder.string(), "ls-files", "-z", "--others", "--exclude-standard"};
  if (tracked) {
    list.emplace_back("--cached");
  } else {
    const Words init = {"init", "-q", "--template=", own};
    JM_CO_TRY(co_await AskGit(init));
    list.insert(list.begin(), {"--git-dir=" + own + "/.git", "--work-tree=" + folder.string()});
  }
  JM_CO_ASSIGN_OR_RETURN(const base::ProcessResult listed, co_await RunGit(list));
  if (listed.exit_code != 0) co_return base::InvalidArgument("code: git: " + GitSays(listed));
  JM_CO_TRY(CheckTalk(listed));
  co_return SplitAtNul(listed.out);
}

bool IsFolder(const base::Path& path) {
  std::error_code problem;
  return fs::is_directory(fs::symlink_status(path, problem));
}

/// Those of repositories in the folder too: submodules, and others.
Task<Result<Words>> ListAll(base::Path folder, base::Path scratch, Words* notes) {
  Words all;
  std::deque<std::string> prefixes = {""};
  while (!prefixes.empty()) {
    const std::string prefix = prefixes.front();
    prefixes.pop_front();
    JM_CO_ASSIGN_OR_RETURN(const Words names, co_await ListOne(folder / prefix, scratch));
    for (std::string name : names) {
      if (name.ends_with('/')) name.pop_back();
      std::error_code problem;
      const base::Path path = folder / (prefix + name);
      if (!IsFolder(path)) {
        all.push_back(prefix + name);
      } else if (fs::exists(path / ".git", problem)) {
        prefixes.push_back(prefix + name + "/");
      } else {
        notes->push_back("the submodule " + base::CleanLine(prefix + name) +
                         " is not taken: its folder is empty here");
      }
    }
  }
  co_return all;
}

/// Without git: everything.
Result<Words> WalkFolder(const base::Path& folder) {
  Words names;
  std::error_code problem;
  auto walk = fs::recursive_directory_iterator(folder, problem);
  for (; !problem && walk != fs::recursive_directory_iterator(); walk.increment(problem)) {
    const bool git = walk->path().filename() == ".git";
    if (git) walk.disable_recursion_pending();
    if (git || IsFolder(walk->path())) continue;
    names.push_back(walk->path().lexically_relative(folder).string());
  }
  if (problem) return CannotRead("the folder " + folder.string(), problem.message());
  return names;
}

/// Makes a repository in `own` whose index has just these names, whatever they are.
Task<base::Status> IndexNames(std::string own, const Words* names) {
  const Words init = {"init", "-q", "--template=", "--object-format=sha1", own};
  JM_CO_TRY(co_await AskGit(init));
  std::string entries;
  for (const std::string& name : *names) {
    entries += "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\t" + name;  // of an empty file
    entries += '\0';
  }
  const Words add = {
      "-C",           own,  "-c",          "core.protectNTFS=false", "-c", "core.protectHFS=false",
      "update-index", "-z", "--index-info"};
  JM_CO_TRY(co_await AskGit(add, std::move(entries)));
  co_return base::Ok();
}

/// Those of the names that match a pattern. An index that has just these names tells which they
/// are, whether they are tracked, untracked or of a submodule.
Task<Result<std::set<std::string>>> FindMatching(const Words* patterns, base::Path scratch,
                                                 const Words* names) {
  const std::string own = (scratch / "exclude").string();
  JM_CO_TRY(co_await IndexNames(own, names));
  Words match = {"-C", own, "ls-files", "-z", "--cached", "--ignored"};
  for (const std::string& pattern : *patterns) match.push_back("--exclude=" + pattern);
  JM_CO_ASSIGN_OR_RETURN(const std::string matching, co_await AskGit(match));
  const Words list = SplitAtNul(matching);
  std::set<std::string> out(list.begin(), list.end());
  co_return out;
}

/// Takes the names that match a pattern out.
Task<base::Status> Exclude(const Words* patterns, base::Path scratch, Words* names) {
  if (patterns->empty()) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(const auto out, co_await FindMatching(patterns, scratch, names));
  std::erase_if(*names, [&out](const std::string& name) { return out.contains(name); });
  co_return base::Ok();
}

/// The work tree that a folder is in, as git's options, and the folder's name in it.
struct WorkTree {
  std::string top = {};
  std::string prefix = {};   ///< "" or "sub/"
  std::string exclude = {};  ///< the repository's own file of patterns; empty: none
};

Task<Result<WorkTree>> FindWorkTree(base::Path folder) {
  WorkTree tree{.top = folder.string()};
  JM_CO_ASSIGN_OR_RETURN(const bool tracked, co_await IsInWorkTree(folder));
  if (!tracked) co_return tree;
  const auto line = [](const std::string& said) { return said.substr(0, said.rfind('\n')); };
  const Words top = {"-C", folder.string(), "rev-parse", "--show-toplevel"};
  JM_CO_ASSIGN_OR_RETURN(const std::string at, co_await AskGit(top));
  const Words prefix = {"-C", folder.string(), "rev-parse", "--show-prefix"};
  JM_CO_ASSIGN_OR_RETURN(const std::string within, co_await AskGit(prefix));
  const Words own = {"-C", folder.string(), "rev-parse", "--git-path", "info/exclude"};
  JM_CO_ASSIGN_OR_RETURN(const std::string file, co_await AskGit(own));
  tree = {.top = line(at), .prefix = line(within), .exclude = line(file)};
  const base::Path exclude = folder / tree.exclude;
  std::error_code problem;
  tree.exclude = fs::exists(exclude, problem) ? exclude.string() : "";
  co_return tree;
}

/// Stands for a folder in an index, which has files only.
constexpr std::string_view kProbe = "jobman-probe";

std::string KindOf(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

/// Checks that each name can be packed. One that is gone by now was deleted, which git may not have
/// been told. What is neither file nor link stays behind: see NoteOthers().
Result<std::vector<CodeFile>> LookAt(const base::Path& folder, const Words& names) {
  std::vector<CodeFile> files;
  for (const std::string& name : names) {
    const base::Path path = folder / name;
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) continue;
      return CannotRead(path.string(), base::FromErrno(errno, "looking").message);
    }
    const bool file = S_ISREG(info.st_mode);
    if (!file && !S_ISLNK(info.st_mode)) continue;
    if (file && ::access(path.c_str(), R_OK) != 0)
      return CannotRead(path.string(), "permission denied");
    files.push_back({.name = name, .bytes = file ? info.st_size : 0});
  }
  return files;
}

/// Who relies on what is neither file nor folder should know. Looks only where files are taken.
void NoteOthers(const base::Path& folder, const std::vector<CodeFile>& files, Words& notes) {
  std::set<base::Path> places;
  for (const CodeFile& file : files) {
    for (base::Path at = base::Path(file.name).parent_path(); places.insert(at).second;)
      at = at.parent_path();
  }
  for (const base::Path& place : places) {
    std::error_code problem;
    for (fs::directory_iterator entry(folder / place, problem), end; !problem && entry != end;
         entry.increment(problem)) {
      struct stat info {};
      if (::lstat(entry->path().c_str(), &info) != 0) continue;
      if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode)) continue;
      const std::string name = (place / entry->path().filename()).string();
      notes.push_back(base::CleanLine(name) + " is left out: it is " + KindOf(info.st_mode));
    }
  }
}

Task<base::Status> NoteCommit(base::Path folder, CodeFiles* files) {
  const std::string at = folder.string();
  const Words head = {"-C", at, "rev-parse", "--verify", "-q", "HEAD^{commit}"};
  JM_CO_ASSIGN_OR_RETURN(const base::ProcessResult commit, co_await RunGit(head));
  if (commit.exit_code != 0) co_return base::Ok();
  files->commit = base::Trim(commit.out);
  const Words status = {"-C", at, "status", "--porcelain", "-z", "--", "."};
  JM_CO_ASSIGN_OR_RETURN(const std::string changes, co_await AskGit(status));
  files->changed = !changes.empty();
  co_return base::Ok();
}

Task<Result<Words>> FindNames(base::Path folder, const Words* exclude, base::Path scratch,
                              CodeFiles* found) {
  const Words version = {"--version"};
  const auto git = co_await RunGit(version);
  if (!git.ok() && git.error().code == base::Code::kNotFound) {
    if (!exclude->empty()) {
      co_return base::InvalidArgument("code.exclude needs git on this machine", "install git");
    }
    found->notes.emplace_back("git is not installed here, so .gitignore was not read");
    co_return WalkFolder(folder);
  }
  JM_CO_ASSIGN_OR_RETURN(Words names, co_await ListAll(folder, scratch, &found->notes));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  JM_CO_TRY(co_await Exclude(exclude, scratch, &names));
  JM_CO_TRY(co_await NoteCommit(folder, found));
  co_return names;
}

}  // namespace

Task<Result<CodeFiles>> FindCodeFiles(base::Path folder, Words exclude, base::Path scratch) {
  CodeFiles found;
  JM_CO_ASSIGN_OR_RETURN(const Words names, co_await FindNames(folder, &exclude, scratch, &found));
  JM_CO_ASSIGN_OR_RETURN(found.files, LookAt(folder, names));
  if (found.files.empty()) {
    co_return base::InvalidArgument("code: there are no files in " + folder.string(),
                                    "are all of them ignored (.gitignore, code.exclude)?");
  }
  std::sort(found.files.begin(), found.files.end(),
            [](const CodeFile& a, const CodeFile& b) { return a.name < b.name; });
  NoteOthers(folder, found.files, found.notes);
  co_return found;
}

Task<Result<std::set<std::string>>> FindIgnored(base::Path folder, Words names, Words exclude,
                                                base::Path scratch) {
  std::set<std::string> ignored;
  const Words version = {"--version"};
  const auto git = co_await RunGit(version);
  if (!git.ok() && git.error().code == base::Code::kNotFound) co_return ignored;
  for (std::string& name : names) {
    if (name.ends_with('/')) name += kProbe;
  }
  JM_CO_ASSIGN_OR_RETURN(const WorkTree tree, co_await FindWorkTree(folder));
  Words whole;
  for (const std::string& name : names) whole.push_back(tree.prefix + name);
  const std::string own = (scratch / "ignored").string();
  JM_CO_TRY(co_await IndexNames(own, &whole));
  Words ask = {"--git-dir=" + own + "/.git",
               "--work-tree=" + tree.top,
               "ls-files",
               "-z",
               "--cached",
               "--ignored",
               "--exclude-standard"};
  if (!tree.exclude.empty()) ask.push_back("--exclude-from=" + tree.exclude);
  JM_CO_ASSIGN_OR_RETURN(const std::string said, co_await AskGit(ask));
  for (const std::string& name : SplitAtNul(said)) ignored.insert(name.substr(tree.prefix.size()));
  if (!exclude.empty()) {
    JM_CO_ASSIGN_OR_RETURN(const auto more, co_await FindMatching(&exclude, scratch, &names));
    ignored.insert(more.begin(), more.end());
  }
  std::set<std::string> given;
  for (std::string name : ignored) {
    if (name.ends_with("/" + std::string(kProbe))) name.resize(name.size() - kProbe.size());
    given.insert(std::move(name));
  }
  co_return given;
}

}  // namespace jobman::client
