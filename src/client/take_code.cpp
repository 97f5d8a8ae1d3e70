#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "client/code_files.hpp"
#include "client/git.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/code.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

constexpr base::Duration kPackLimit = std::chrono::minutes{20};
constexpr std::size_t kNamedFiles = 5;
constexpr std::string_view kScratch = "jobman-code-";

/// Removes what a process that was killed left there long ago.
void SweepScratch(const base::Path& parent) {
  std::error_code problem;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours{24};
  for (fs::directory_iterator entry(parent, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    std::error_code gone;
    const bool ours = entry->path().filename().string().starts_with(kScratch);
    if (ours && entry->last_write_time(gone) < old) fs::remove_all(entry->path(), gone);
  }
}

/// The list of names in the archive: a line each.
std::string Manifest(const std::vector<CodeFile>& files) {
  std::string text;
  for (const CodeFile& file : files) {
    const std::string plain = base::ReplaceAll(file.name, "\\", "\\\\");
    text += base::ReplaceAll(plain, "\n", "\\n") + "\n";
  }
  return text;
}

base::Error TooLarge(const core::CodeSpec& code, std::vector<CodeFile> files) {
  std::int64_t all = 0;
  for (const CodeFile& file : files) all += file.bytes;
  const std::size_t shown = std::min(kNamedFiles, files.size());
  std::partial_sort(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(shown), files.end(),
                    [](const CodeFile& a, const CodeFile& b) { return a.bytes > b.bytes; });
  std::string message =
      fmt::format("the code is larger than {} packed (code.max_size): {} in {}. The largest:",
                  base::FormatBytes(code.max_size), base::FormatBytes(all),
                  base::Plural(static_cast<std::int64_t>(files.size()), "file"));
  for (std::size_t i = 0; i < shown; ++i) {
    message += fmt::format("\n  {:>10}  {}", base::FormatBytes(files[i].bytes),
                           base::CleanLine(files[i].name));
  }
  return base::InvalidArgument(message, code.dir.empty()
                                            ? "raise code.max_size"
                                            : "leave some out with code.exclude or .gitignore, or "
                                              "raise code.max_size");
}

base::Error DiskFull(const base::Path& scratch) {
  return {.code = base::Code::kResourceExhausted,
          .message = "the code cannot be packed: the disk of " + scratch.string() + " is full",
          .reason = base::Reason::kDiskFull,
          .hint = "free some space there"};
}

base::Error NotPacked(const base::ProcessResult& ended, const base::Path& scratch) {
  if (base::Contains(ended.err, "No space left on device")) return DiskFull(scratch);
  const std::string said(base::Trim(ended.err));
  return base::InvalidArgument("the code cannot be packed: " + said.substr(0, said.find('\n')),
                               "run it again if a file changed meanwhile");
}

/// tar, stopped when the archive is larger than allowed: what it writes then is lost anyway.
Words PackCommand(const core::CodeSpec& code, const base::Path& folder, const base::Path& scratch,
                  const base::Path& archive) {
  constexpr std::int64_t kBlock = 512;  // of ulimit
  return {"sh",
          "-c",
          "ulimit -f \"$1\" 2>/dev/null; shift; exec \"$@\"",
          "sh",
          std::to_string(code.max_size / kBlock + 2),
          "env",
          "-u",
          "TAR_OPTIONS",
          "-u",
          "GZIP",
          "LC_ALL=C",
          "tar",
          "--create",
          "--file=" + archive.string(),
          "--use-compress-program=gzip -n",
          "--format=gnu",
          "--no-recursion",
          "--hard-dereference",
          "--mtime=@0",
          "--owner=0",
          "--group=0",
          "--numeric-owner",
          "--mode=u+rw,go-w",
          "--transform=flags=r;s,^\\./,code/,",
          "--directory=" + scratch.string(),
          "files",
          "--directory=" + folder.string(),
          "--null",
          "--files-from=-"};
}

Task<base::Status> Pack(const core::CodeSpec* code, base::Path folder,
                        const std::vector<CodeFile>* files, base::Path scratch,
                        base::Path archive) {
  JM_CO_TRY(base::WriteFileAtomic(scratch / "files", Manifest(*files), 0644));
  std::string names;
  for (const CodeFile& file : *files) names += "./" + file.name + '\0';
  auto run = base::RunProcess(PackCommand(*code, folder, scratch, archive), std::move(names));
  JM_CO_ASSIGN_OR_RETURN(const base::ProcessResult ended,
                         co_await base::WithTimeout(std::move(run), kPackLimit, "tar"));
  if (base::FileSize(archive).value_or(0) > code->max_size) co_return TooLarge(*code, *files);
  if (ended.exit_code != 0) co_return NotPacked(ended, scratch);
  co_return base::Ok();
}

Result<std::string> HashOf(const base::Path& path) {
  std::ifstream file(path, std::ios::binary);
  base::Sha256 hash;
  std::string piece(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash.Add({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (!file.eof()) return base::FromErrno(errno, "reading " + path.string());
  return hash.Hex();
}

}  // namespace

Result<std::shared_ptr<ScratchFolder>> ScratchFolder::Make(const base::Path& parent) {
  SweepScratch(parent);
  std::string name = (parent / (std::string(kScratch) + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    return base::FromErrno(errno, "making a folder in " + parent.string());
  return std::shared_ptr<ScratchFolder>(new ScratchFolder(name));
}

ScratchFolder::~ScratchFolder() {
  std::error_code problem;
  fs::remove_all(path_, problem);
}

namespace {

Task<Result<TakenCode>> TakeInto(core::CodeSpec code, base::Path scratch) {
  TakenCode taken;
  JM_CO_ASSIGN_OR_RETURN(taken.folder, ScratchFolder::Make(scratch));
  const base::Path here = taken.folder->path();
  taken.archive = here / "archive.tar.gz";
  const base::Path folder = code.dir.empty() ? here / "clone" : base::Path(code.dir);
  std::string commit;
  if (code.dir.empty()) {
    JM_CO_ASSIGN_OR_RETURN(commit, co_await FetchCode(code, folder));
  }
  JM_CO_ASSIGN_OR_RETURN(CodeFiles found, co_await FindCodeFiles(folder, code.exclude, here));
  JM_CO_TRY(co_await Pack(&code, folder, &found.files, here, taken.archive));
  core::CodeSnapshot& snapshot = taken.snapshot;
  JM_CO_ASSIGN_OR_RETURN(snapshot.sha256, HashOf(taken.archive));
  snapshot.files = static_cast<int>(found.files.size());
  snapshot.packed = base::FileSize(taken.archive).value_or(0);
  for (const CodeFile& file : found.files) snapshot.unpacked += file.bytes;
  snapshot.commit = code.dir.empty() ? commit : found.commit;
  snapshot.changed = !code.dir.empty() && found.changed;
  taken.notes = std::move(found.notes);
  std::error_code problem;
  if (code.dir.empty()) fs::remove_all(folder, problem);  // it may be large
  co_return taken;
}

}  // namespace

Task<Result<TakenCode>> TakeCode(core::CodeSpec code, base::Path scratch) {
  auto taken = co_await TakeInto(std::move(code), scratch);
  // Only there is anything written, and a message of git does not say where that is.
  if (!taken.ok() && taken.error().reason == base::Reason::kDiskFull) co_return DiskFull(scratch);
  co_return taken;
}

base::Status KeepCode(const TakenCode& code, const base::StatePaths& paths, std::int64_t job) {
  const base::Path file = paths.CodeFile(job, code.snapshot.sha256);
  JM_TRY(base::EnsureDir(file.parent_path()));
  std::error_code problem;
  // Jobs of one array share the content.
  fs::create_hard_link(code.archive, file, problem);
  if (problem && problem != std::errc::file_exists)
    fs::copy_file(code.archive, file, fs::copy_options::overwrite_existing, problem);
  if (!problem || problem == std::errc::file_exists) return base::Ok();
  return base::FromErrno(problem.value(), "keeping the code in " + file.string());
}

}  // namespace jobman::client
