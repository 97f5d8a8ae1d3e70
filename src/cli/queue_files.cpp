#include "cli/queue_files.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "jobman/base/env.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/off_loop.hpp"

namespace jobman::cli {
namespace {

/// The text is bounded, so that reading it ends in a second or two, if the disk answers.
constexpr base::Duration kLongestRead = std::chrono::minutes{1};

/// "tasks.yaml:12: unknown key ... (...)", in one line.
std::string ProblemLine(const config::Problem& problem) {
  std::string line = problem.file;
  if (problem.line > 0) line += ":" + std::to_string(problem.line);
  line += ": " + problem.message;
  return problem.hint.empty() ? line : line + " (" + problem.hint + ")";
}

ports::QueueFileContent ReadContent(const base::Path& path) {
  config::QueueFileRequest request{.file = path};
  request.defaults.env = base::GetEnv;
  auto text = base::ReadRegularFile(path, config::kLongestQueueFile);
  ports::QueueFileContent content;
  if (text.ok()) {
    content.fingerprint = base::Sha256Hex(*text);
    request.text = std::move(text).value();
  }
  config::QueueFileResult read = config::ReadQueueFile(request);
  content.list = std::move(read.list);
  if (!content.list && !read.problems.empty()) content.error = ProblemLine(read.problems.front());
  for (const config::Problem& warning : read.warnings)
    content.warnings.push_back(ProblemLine(warning));
  return content;
}

}  // namespace

base::Result<ports::QueueFileStamp> DiskQueueFiles::Look(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return base::FromErrno(errno, "looking at " + path);
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return ports::QueueFileStamp{
      .modified_ns = std::int64_t{info.st_mtim.tv_sec} * kNanoseconds + info.st_mtim.tv_nsec,
      .size = info.st_size,
      .inode = info.st_ino};
}

base::Task<base::Result<ports::QueueFileContent>> DiskQueueFiles::Read(std::string path) {
  const auto content = std::make_shared<ports::QueueFileContent>();
  const std::function<void()> work = [content, path] { *content = ReadContent(path); };
  const std::function<void()> nothing = [] {};  // the work ends by itself
  JM_CO_ASSIGN_OR_RETURN(const bool in_time,
                         co_await base::RunOffLoop(work, nothing, kLongestRead));
  if (!in_time) {
    co_return base::Error{
        .code = base::Code::kDeadlineExceeded,
        .message = path + " was not read within " + base::FormatDuration(kLongestRead)};
  }
  co_return std::move(*content);
}

}  // namespace jobman::cli
