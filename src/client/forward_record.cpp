#include "client/forward_record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "jobman/core/job_json.hpp"

namespace jobman::client {
namespace {

using base::Json;
using base::Result;

/// Far more than a record has.
constexpr std::size_t kLongestNote = std::size_t{64} << 10;
constexpr std::int64_t kLastTcpPort = 65535;
/// Who looks at a record holds its lock for a moment.
constexpr int kLockTries = 100;
constexpr std::chrono::milliseconds kLockPause{10};

Json NoteJson(const ForwardNote& note) {
  const ForwardRequest& request = note.forward.request;
  Json ports = Json::array();
  for (const ForwardedPort& port : request.ports)
    ports.push_back({{"local", port.local}, {"remote", port.remote}});
  Json json = {{"process", note.forward.process}, {"job", request.job.value},
               {"name", note.forward.job_name},   {"host", request.host},
               {"ports", std::move(ports)},       {"since", base::ToMillis(note.forward.since)}};
  if (note.error) json["error"] = core::ErrorToJson(*note.error);
  if (!note.ended.empty()) json["ended"] = note.ended;
  return json;
}

std::optional<ForwardNote> NoteOf(const Json& json) {
  ForwardNote note;
  note.forward.process = base::GetString(json, "process");
  note.forward.request.job = core::JobId{base::GetInt(json, "job")};
  note.forward.job_name = base::GetString(json, "name");
  note.forward.request.host = static_cast<int>(base::GetInt(json, "host"));
  note.forward.since = base::FromMillis(base::GetInt(json, "since"));
  note.ended = base::GetString(json, "ended");
  const Json& error = base::GetMember(json, "error");
  if (error.is_object()) note.error = core::ErrorFromJson(error);
  const Json& ports = base::GetMember(json, "ports");
  if (!ports.is_array() || note.forward.process.empty()) return std::nullopt;
  for (const Json& port : ports) {
    const std::int64_t local = base::GetInt(port, "local");
    const std::int64_t remote = base::GetInt(port, "remote");
    if (local < 0 || local > kLastTcpPort || remote < 0 || remote > kLastTcpPort)
      return std::nullopt;
    note.forward.request.ports.push_back(
        {.local = static_cast<int>(local), .remote = static_cast<int>(remote)});
  }
  return note;
}

base::UniqueFd OpenNote(const base::Path& path, int flags) {
  return base::MoveUp(base::UniqueFd(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)));
}

/// False if it was removed meanwhile, by somebody who found it without a lock.
bool IsLinked(int fd) {
  struct stat info = {};
  return ::fstat(fd, &info) == 0 && info.st_nlink > 0;
}

}  // namespace

base::Path ForwardFile(const base::StatePaths& paths, const std::string& id) {
  return paths.ForwardsDir() / (id + ".json");
}

std::optional<ForwardNote> ReadForwardNote(const base::StatePaths& paths, const std::string& id) {
  const auto text = base::ReadRegularFile(ForwardFile(paths, id), kLongestNote);
  if (!text.ok()) return std::nullopt;
  const auto json = base::ParseJson(*text);
  if (!json.ok() || !json->is_object()) return std::nullopt;
  auto note = NoteOf(*json);
  if (note) note->forward.id = id;
  return note;
}

std::optional<bool> IsForwardLocked(const base::StatePaths& paths, const std::string& id) {
  const base::UniqueFd fd = OpenNote(ForwardFile(paths, id), O_RDONLY);
  if (!fd) return std::nullopt;
  // A shared lock, so that two who look do not take each other for its process.
  return ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

void RemoveForward(const base::StatePaths& paths, const std::string& id) {
  for (const char* end : {".json", ".log", ".1.log"})
    static_cast<void>(base::RemoveAll(paths.ForwardsDir() / (id + end)).ok());
}

Result<ForwardRecord> ForwardRecord::Create(const base::StatePaths& paths, const std::string& id) {
  const base::Path path = ForwardFile(paths, id);
  JM_TRY(base::EnsureDir(paths.ForwardsDir()));
  for (int tries = 0; tries < kLockTries; ++tries) {
    base::UniqueFd fd = OpenNote(path, O_RDWR | O_CREAT);
    if (!fd) return base::FromErrno(errno, "creating " + path.string());
    const bool locked = ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) return base::FromErrno(errno, "locking " + path.string());
    if (locked && IsLinked(fd.get())) return ForwardRecord(std::move(fd), path);
    std::this_thread::sleep_for(kLockPause);
  }
  return base::Error{.code = base::Code::kAborted,
                     .message = path.string() + " is locked by another process"};
}

bool ForwardRecord::IsThere() const {
  return IsLinked(fd_.get());
}

base::Status ForwardRecord::Write(const ForwardNote& note) {
  const std::string text =
      NoteJson(note).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  // In place: the lock is that of this file. Written before it is cut, so that a reader finds the
  // whole note, old or new: what is added comes at the end.
  const auto size = static_cast<ssize_t>(text.size());
  errno = 0;
  const bool written =
      ::pwrite(fd_.get(), text.data(), text.size(), 0) == size && ::ftruncate(fd_.get(), size) == 0;
  if (!written) return base::FromErrno(errno != 0 ? errno : ENOSPC, "writing " + path_.string());
  return base::Ok();
}

}  // namespace jobman::client
