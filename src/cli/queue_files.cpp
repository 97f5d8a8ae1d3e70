#include "cli/queue_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>

#include "jobman/base/env.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/off_loop.hpp"
#include "jobman/config/queue_file.hpp"

namespace jobman::cli {
namespace {

/// For reading and checking ten thousand tasks on a busy machine.
constexpr base::Duration kReadLimit = std::chrono::seconds{60};
/// More than ReadQueueFile() takes, so that it refuses what is too large in its own words.
constexpr std::int64_t kMostBytes = std::int64_t{8} << 20;

std::string LineOf(const config::Problem& problem) {
  const std::string hint = problem.hint.empty() ? "" : " (" + problem.hint + ")";
  if (problem.line == 0) return fmt::format("{}: {}{}", problem.file, problem.message, hint);
  return fmt::format("{}:{}: {}{}", problem.file, problem.line, problem.message, hint);
}

ports::QueueFileContent ReadNow(const std::string& file) {
  const auto text = base::ReadRegularFile(file, kMostBytes);
  if (!text.ok()) return {.error = text.error().ToString()};
  ports::QueueFileContent content{.fingerprint = base::Sha256Hex(*text)};
  config::QueueFileResult read =
      config::ReadQueueFile({.file = file, .text = *text, .defaults = {.env = &base::GetEnv}});
  content.list = std::move(read.list);
  for (const config::Problem& warning : read.warnings) content.warnings.push_back(LineOf(warning));
  if (!content.list) content.error = LineOf(read.problems.front());
  return content;
}

}  // namespace

std::optional<ports::QueueFileStamp> LocalQueueFiles::Look(const std::string& file) {
  struct stat info = {};
  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  return ports::QueueFileStamp{
      .modified = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
      .size = info.st_size,
      .inode = info.st_ino};
}

base::Task<ports::QueueFileContent> LocalQueueFiles::Read(std::string file) {
  const auto content = std::make_shared<ports::QueueFileContent>();
  std::function<void()> read = [content, file] { *content = ReadNow(file); };
  // Nothing ends a read early: it is bounded by the size of the file.
  std::function<void()> interrupt = [] {};
  const auto ended = co_await base::RunOffLoop(read, interrupt, kReadLimit);
  if (ended.ok()) co_return *content;
  ports::QueueFileContent failed{.error = file + ": " + ended.error().ToString()};
  co_return failed;
}

}  // namespace jobman::cli
