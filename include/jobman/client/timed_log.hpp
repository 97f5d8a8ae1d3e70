#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "jobman/base/files.hpp"
#include "jobman/base/time.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/client/log_search.hpp"

namespace jobman::client {

/// A piece of a log.
struct LogPiece {
  std::string_view bytes = {};
  /// When it came; nothing if that is not known, or nobody asked.
  std::optional<base::TimePoint> at = {};
};

/// ReadLog(); if `timed`, in pieces that came within a second each and say when, as far as it is
/// recorded (base::FileTimes). Stops also `most` bytes further on, as ReadPlacedLog() does.
base::Result<std::int64_t> ReadPieces(const base::Path& path, std::int64_t offset, bool timed,
                                      const std::function<bool(const LogPiece& piece)>& take,
                                      std::int64_t most = kWholeLog);

/// The end of a log that is asked for; with both, the shorter one.
struct LogPart {
  std::optional<std::int64_t> tail = {};      ///< as many lines
  std::optional<base::TimePoint> since = {};  ///< what came since then
  LineTest fits = {};                         ///< the lines that `tail` counts; empty: all
};
/// Where that part of the file begins, which is where a line begins. If it is not known when
/// output came, all of it counts as having come since.
std::int64_t BeginOf(const base::Path& path, const LogPart& part);
/// Whether the log has output, and it is not known of any when it came: an older jobman fetched it.
bool IsUntimed(const base::Path& path);

}  // namespace jobman::client
