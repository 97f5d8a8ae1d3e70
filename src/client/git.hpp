#pragma once

#include <string>
#include <vector>

#include "jobman/base/process.hpp"
#include "jobman/core/setup_spec.hpp"

namespace jobman::client {

/// How long git may take for what needs no network, and for what does.
inline constexpr base::Duration kGitLimit = std::chrono::minutes{5};
inline constexpr base::Duration kFetchCodeLimit = std::chrono::minutes{20};

/// Runs git: in English, without questions, and as if no hook or alias had set its variables.
/// kNotFound if it is not installed; kDiskFull if that is why it failed; another exit code than 0
/// is a result.
base::Task<base::Result<base::ProcessResult>> RunGit(std::vector<std::string> words,
                                                     std::string input = {},
                                                     base::Duration limit = kGitLimit);
/// The same; kInvalidArgument with what git said if the exit code is not 0. Returns its output.
base::Task<base::Result<std::string>> AskGit(std::vector<std::string> words,
                                             std::string input = {});
/// The line of git's errors that says what is wrong.
std::string GitSays(const base::ProcessResult& ended);

/// Fetches the commit of `code.git` into a new clone in `folder`, and checks it out. Returns the
/// commit.
base::Task<base::Result<std::string>> FetchCode(core::CodeSpec code, base::Path folder);

}  // namespace jobman::client
