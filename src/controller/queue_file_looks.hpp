#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "jobman/base/clock.hpp"
#include "jobman/base/task.hpp"
#include "jobman/ports/queue_files.hpp"

namespace jobman::controller {

/// What was seen of a queue file when it was last taken; nothing: it never was.
using SeenFile = std::optional<std::optional<ports::QueueFileStamp>>;

/// A look at a queue file, and the reading of it if it has changed.
struct QueueFileLook {
  core::TimePoint begun_at = {};
  bool ended = false;
  bool awaited = false;  ///< its end wakes the desk
  bool told = false;     ///< that it is late
  std::optional<ports::QueueFileStamp> stamp = {};
  std::optional<ports::QueueFileContent> content = {};  ///< nothing: it has not changed
};

/// Looks at queue files while everything else goes on: the disk of one may hang for ever. At most
/// one look at a file is under way, and its end waits to be taken.
class QueueFileLooks {
 public:
  /// `wake` is called when a look ends that is awaited. `files` may be nullptr: then call nothing.
  QueueFileLooks(asio::io_context& loop, ports::QueueFiles* files, const base::Clock& clock,
                 std::function<void()> wake);

  /// The look at the file that was begun and not taken. If there is none, begins one, which reads
  /// the file unless it is as it was `seen`.
  QueueFileLook& At(const std::string& file, SeenFile seen);
  QueueFileLook* Find(const std::string& file);
  /// Takes the look, which has ended, out: the next At() begins another.
  std::shared_ptr<QueueFileLook> Take(const std::string& file);
  /// Drops looks that ended and are `wanted` by no queue any more: what they saw grows old.
  void DropUnless(const std::function<bool(const std::string& file)>& wanted);
  /// Whether it goes on for so long that its queue does without.
  bool IsLate(const QueueFileLook& look) const;
  /// Whether a look goes on that is not late.
  bool Busy() const;

 private:
  static base::Task<void> LookAt(QueueFileLooks* self, std::shared_ptr<QueueFileLook> look,
                                 std::string file, SeenFile seen);

  asio::io_context& loop_;
  ports::QueueFiles* files_;
  const base::Clock& clock_;
  std::function<void()> wake_;
  std::map<std::string, std::shared_ptr<QueueFileLook>> looks_ = {};
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
