#include "cli/queue_files.hpp"

#include <sys/stat.h>

#include <functional>
#include <memory>

#include "jobman/base/env.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/off_loop.hpp"
#include "jobman/config/queue_file.hpp"

namespace jobman::cli {
namespace {

/// For checking ten thousand tasks on a busy machine.
constexpr base::Duration kCheckLimit = std::chrono::seconds{60};
/// More than ReadQueueFile() takes, so that it refuses what is too large in its own words.
constexpr std::int64_t kMostBytes = std::int64_t{8} << 20;

ports::QueueFileContent Check(const std::string& file, const base::Result<std::string>& text) {
  if (!text.ok()) return {.error = config::LineOf(config::UnreadableFile(file, text.error()))};
  ports::QueueFileContent content{.fingerprint = base::Sha256Hex(*text)};
  config::QueueFileResult read =
      config::ReadQueueFile({.file = file, .text = *text, .defaults = {.env = &base::GetEnv}});
  content.list = std::move(read.list);
  for (const config::Problem& warning : read.warnings)
    content.warnings.push_back(config::LineOf(warning));
  if (!content.list) content.error = config::LineOf(read.problems.front());
  return content;
}

/// Takes as long as the disk does.
base::Task<base::Result<std::string>> ReadText(std::string file) {
  const auto text = std::make_shared<base::Result<std::string>>(std::string());
  std::function<void()> read = [text, file] { *text = base::ReadRegularFile(file, kMostBytes); };
  JM_CO_TRY(co_await base::RunAndLeave(read));
  co_return std::move(*text);
}

std::optional<ports::QueueFileStamp> LookNow(const std::string& file) {
  struct stat info = {};
  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  return ports::QueueFileStamp{
      .modified = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
      .size = info.st_size,
      .inode = info.st_ino};
}

}  // namespace

base::Task<std::optional<ports::QueueFileStamp>> LocalQueueFiles::Look(std::string file) {
  const auto stamp = std::make_shared<std::optional<ports::QueueFileStamp>>();
  std::function<void()> look = [stamp, file] { *stamp = LookNow(file); };
  const auto ended = co_await base::RunAndLeave(look);
  // Without a thread, Read() has none either, and says so.
  if (!ended.ok()) co_return std::nullopt;
  co_return *stamp;
}

base::Task<ports::QueueFileContent> LocalQueueFiles::Read(std::string file) {
  const base::Result<std::string> text = co_await ReadText(file);
  ports::QueueFileContent content;
  std::function<void()> check = [&content, &file, &text] { content = Check(file, text); };
  // Nothing ends it early: it takes time by the size of the text, and is waited for.
  std::function<void()> interrupt = [] {};
  const auto ended = co_await base::RunOffLoop(check, interrupt, kCheckLimit);
  if (ended.ok()) co_return content;
  ports::QueueFileContent failed{.error = file + ": " + ended.error().ToString()};
  co_return failed;
}

}  // namespace jobman::cli
