#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/time.hpp"

namespace jobman::base {

/// When the bytes of a growing file came, as FileTimesWriter recorded it beside the file, in
/// "<path>.times". A line "OFFSET SECONDS" says that at that time (Unix, whole seconds) the file
/// had OFFSET bytes and more came: they came then, up to the OFFSET of the next line. A file whose
/// bytes all came in one second has no record: the time at which it was changed says the same.
class FileTimes {
 public:
  /// A longer file has a record.
  static constexpr std::int64_t kMostUnrecorded = 4096;
  static constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

  struct Entry {
    std::int64_t offset = 0;
    TimePoint at = {};
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// What is recorded of the file `path` about its bytes from `from` on, and maybe about earlier
  /// ones. Nothing if it is empty, or long without a record. Lines that make no sense are passed
  /// over.
  static FileTimes Read(const Path& path, std::int64_t from = 0);

  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  /// When the byte at `offset` came; nothing if that is not known.
  std::optional<TimePoint> At(std::int64_t offset) const;
  /// Where the bytes end that came together with the one at `offset`; kNoEnd while no later entry
  /// says so.
  std::int64_t EndOf(std::int64_t offset) const;
  /// The first byte that may have come at `time` or later; nothing if all came before. For the
  /// record of a whole file.
  std::optional<std::int64_t> FirstSince(TimePoint time) const;

 private:
  std::vector<Entry> entries_ = {};  ///< by offset
};

/// Records when the bytes of a growing file come: an entry a second at most, and only while bytes
/// come. The first is written with the second, or when the file is long: of a thousand hosts that
/// say a word each a thousand records would cost more than their logs. The record stays small: when
/// it has kMost entries, each two of the older half become one, which says the later time, so that
/// whoever asks for what came since some time gets rather too much. What cannot be recorded is
/// lost, and the log says so once: a record is not worth a failure.
class FileTimesWriter {
 public:
  static constexpr std::size_t kMost = 8192;

  /// Goes on with the record of the file `path`, without what it says of bytes that are not there.
  /// Reads nothing until something is recorded.
  explicit FileTimesWriter(const Path& path);
  /// The file has `offset` bytes, and `more` come now. To be called before they are written, so
  /// that a reader who finds them finds their time, too.
  void Record(std::int64_t offset, TimePoint now, std::int64_t more);

 private:
  Status Begin(std::int64_t offset);
  bool Hold(const FileTimes::Entry& entry, std::int64_t more);
  Status Add(const FileTimes::Entry& entry);
  Status Rewrite(const std::vector<FileTimes::Entry>& entries);

  std::string path_;                             ///< of the file
  std::optional<FileTimes::Entry> held_ = {};    ///< the first, not written yet
  bool begun_ = false;                           ///< what is there was read
  std::int64_t size_ = 0;                        ///< of its whole lines
  std::size_t count_ = 0;                        ///< of its entries
  std::optional<TimePoint> last_ = {};           ///< of the last entry
  std::optional<std::int64_t> unrecorded_ = {};  ///< from where on it failed
  bool failed_ = false;                          ///< and it was said
};

}  // namespace jobman::base
