#include "client/git.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

using base::ProcessResult;
using base::Result;
using base::Task;
using Words = std::vector<std::string>;

constexpr int kNotInstalled = 127;  // of env

/// Whether it failed since a disk of this machine is full; the server's has "remote: " before it.
bool FoundDiskFull(const ProcessResult& ended) {
  if (ended.exit_code == 0) return false;
  const auto lines = base::Split(ended.err, '\n');
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return !line.starts_with("remote: ") && base::Contains(line, "No space left on device");
  });
}

/// Whether the ref may be a commit, perhaps shortened.
bool MayBeCommit(const std::string& ref) {
  return ref.size() >= 4 && ref.size() <= 64 &&
         ref.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

/// The user's own way to reach servers, which asks for nothing.
Task<std::string> SshCommand() {
  if (const auto named = base::GetEnv("GIT_SSH_COMMAND")) co_return *named + " -o BatchMode=yes";
  const Words ask = {"config", "--get", "core.sshCommand"};
  const auto set = co_await RunGit(ask);
  std::string own(set.ok() ? base::Trim(set->out) : "");
  if (own.empty()) own = base::GetEnv("GIT_SSH").value_or("ssh");
  co_return own + " -o BatchMode=yes -o ConnectTimeout=30";
}

base::Error NotFetched(const core::CodeSpec& code, const ProcessResult& ended) {
  const std::string said = GitSays(ended);
  if (base::Contains(said, "find remote ref")) {
    return base::InvalidArgument(
        fmt::format("code.ref: {} has no branch or tag {}", code.git, code.ref),
        "git ls-remote " + code.git + " lists them");
  }
  return {.code = base::Code::kUnavailable,
          .message = "code.git: " + code.git + " cannot be fetched: " + said,
          .hint = "try: git ls-remote " + code.git +
                  "; it must work without asking for a password or a host key"};
}

/// Runs git with the network in a clone.
class Fetcher {
 public:
  Fetcher(const core::CodeSpec& code, const base::Path& folder, std::string ssh)
      : code_(code), folder_(folder), ssh_(std::move(ssh)) {}

  Task<Result<ProcessResult>> Run(Words words) const {
    Words all = {"-c", "core.sshCommand=" + ssh_, "-C", folder_.string()};
    // What belongs to a repository of this machine may too; git asks to be told so.
    if (code_.git.starts_with('/') || code_.git.starts_with("file:"))
      all.insert(all.end(), {"-c", "protocol.file.allow=always"});
    all.insert(all.end(), words.begin(), words.end());
    return RunGit(std::move(all), {}, kFetchCodeLimit);
  }

 private:
  const core::CodeSpec& code_;
  const base::Path& folder_;
  std::string ssh_;
};

/// A server may refuse to give a single commit, and none knows a shortened one: then everything is
/// fetched. Returns what names the commit in the clone.
Task<Result<std::string>> FetchRef(const core::CodeSpec* code, const Fetcher* fetcher) {
  const std::string ref = code->ref.empty() ? "HEAD" : code->ref;
  const Words one = {"fetch",  "-q", "--depth=1", "--no-tags", "--no-recurse-submodules",
                     "origin", ref};
  JM_CO_ASSIGN_OR_RETURN(const ProcessResult fetched, co_await fetcher->Run(one));
  if (fetched.exit_code == 0) co_return "FETCH_HEAD";
  if (!MayBeCommit(ref)) co_return NotFetched(*code, fetched);
  const Words all = {"fetch",
                     "-q",
                     "--no-recurse-submodules",
                     "origin",
                     "+refs/heads/*:refs/remotes/origin/*",
                     "+refs/tags/*:refs/tags/*"};
  JM_CO_ASSIGN_OR_RETURN(const ProcessResult everything, co_await fetcher->Run(all));
  if (everything.exit_code != 0) co_return NotFetched(*code, everything);
  co_return ref;
}

Task<base::Status> FetchSubmodules(const core::CodeSpec* code, const Fetcher* fetcher) {
  ProcessResult last;
  for (const bool shallow : {true, false}) {
    Words words = {"submodule", "update", "-q", "--init", "--recursive"};
    if (shallow) words.insert(words.end(), {"--depth", "1"});
    JM_CO_ASSIGN_OR_RETURN(last, co_await fetcher->Run(words));
    if (last.exit_code == 0) co_return base::Ok();
  }
  base::Error error = NotFetched(*code, last);
  error.message = "code.submodules: those of " + code->git + " cannot be fetched: " + GitSays(last);
  co_return error;
}

}  // namespace

Task<Result<ProcessResult>> RunGit(Words words, std::string input, base::Duration limit) {
  Words argv = {"env",
                "-u",
                "GIT_DIR",
                "-u",
                "GIT_WORK_TREE",
                "-u",
                "GIT_INDEX_FILE",
                "-u",
                "GIT_PREFIX",
                "-u",
                "GIT_SSH_COMMAND",
                "LC_ALL=C",
                "GIT_TERMINAL_PROMPT=0",
                "GIT_OPTIONAL_LOCKS=0",
                "git"};
  const std::string what = base::Shorten("git " + base::Join(words, " "), 100);
  argv.insert(argv.end(), words.begin(), words.end());
  auto run = base::RunProcess(std::move(argv), std::move(input));
  JM_CO_ASSIGN_OR_RETURN(ProcessResult ended,
                         co_await base::WithTimeout(std::move(run), limit, what));
  if (ended.exit_code == kNotInstalled) co_return base::NotFound("git is not installed here");
  if (FoundDiskFull(ended)) {
    base::Error full{.code = base::Code::kResourceExhausted,
                     .message = "git: " + GitSays(ended),
                     .reason = base::Reason::kDiskFull,
                     .hint = "free some space"};
    co_return full;
  }
  co_return ended;
}

Task<Result<std::string>> AskGit(Words words, std::string input) {
  JM_CO_ASSIGN_OR_RETURN(ProcessResult ended, co_await RunGit(std::move(words), std::move(input)));
  if (ended.exit_code != 0) co_return base::InvalidArgument("git: " + GitSays(ended));
  co_return std::move(ended.out);
}

std::string GitSays(const ProcessResult& ended) {
  std::string before, said;
  for (const std::string& line : base::Split(ended.err, '\n')) {
    if (line.starts_with("fatal: ") || line.starts_with("error: ")) {
      said = line.substr(7);
      break;
    }
    if (!base::Trim(line).empty()) before = line;
  }
  // Then ssh has said why.
  const bool no_answer = base::Contains(said, "read from remote repository");
  if (said.empty() || (no_answer && !before.empty())) said = before;
  return said.empty() ? fmt::format("exit code {}", ended.exit_code) : base::Shorten(said, 300);
}

Task<Result<std::string>> FetchCode(core::CodeSpec code, base::Path folder) {
  std::string ssh = co_await SshCommand();
  const Fetcher fetcher(code, folder, std::move(ssh));
  const std::string at = folder.string();
  const Words init = {"init", "-q", "--template=", at};
  JM_CO_TRY(co_await AskGit(init));
  const Words remote = {"-C", at, "remote", "add", "origin", code.git};
  JM_CO_TRY(co_await AskGit(remote));
  JM_CO_ASSIGN_OR_RETURN(const std::string name, co_await FetchRef(&code, &fetcher));
  const Words resolve = {"-C", at, "rev-parse", "--verify", "-q", name + "^{commit}"};
  const auto found = co_await AskGit(resolve);
  if (!found.ok()) {
    co_return base::InvalidArgument(
        fmt::format("code.ref: {} has no branch, tag or commit {}", code.git, code.ref));
  }
  const std::string commit(base::Trim(*found));
  const Words checkout = {"-C",       at,   "-c",       "core.hooksPath=/dev/null",
                          "checkout", "-q", "--detach", commit};
  JM_CO_TRY(co_await AskGit(checkout));
  if (code.submodules) JM_CO_TRY(co_await FetchSubmodules(&code, &fetcher));
  co_return commit;
}

}  // namespace jobman::client
