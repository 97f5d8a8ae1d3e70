#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "jobman/base/result.hpp"
#include "jobman/config/load.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {

/// Makes "~" and relative paths absolute. A relative path is looked for in `folder`, that of the
/// file which contains it, then in the working folder, then at the root of the Git checkout around
/// that; what is nowhere is taken to be in `folder`.
std::string ResolvePath(const Defaults& defaults, const base::Path& folder,
                        const std::string& text);

/// A tree after CheckAgainstSchema(), for completing the spec that was read from it: tells what was
/// written and where, and takes reports of contradictions.
class Reader {
 public:
  Reader(const Value& root, const LoadRequest& request, Diagnostics& out)
      : root_(root), request_(request), out_(out) {}

  const LoadRequest& request() const { return request_; }
  const Defaults& defaults() const { return request_.defaults; }
  std::optional<std::string> Env(const std::string& name) const;

  /// Whether there is a value; null and broken values do not count.
  bool Has(std::string_view path) const { return Get(path) != nullptr; }
  /// Whether the key has a value, broken or not.
  bool IsWritten(std::string_view path) const;
  /// The value of a key that has no field in the spec; empty or nothing when it is absent.
  std::string Text(std::string_view path) const;
  std::optional<bool> Bool(std::string_view path) const;
  /// The hosts at a key that has no field in the spec: text, or a list of numbers.
  std::optional<core::HostSet> Hosts(std::string_view path) const;
  /// How many items a list has; 0 when it is absent.
  std::size_t CountItems(std::string_view path) const;

  /// The folder of the file that contains the value.
  base::Path FolderOf(std::string_view path) const;

  /// The place of the value, else of the nearest key above it.
  Position At(std::string_view path) const;
  /// The path as the user wrote it, without what a short form implies.
  std::string Name(std::string_view path) const;

  void Complain(std::string_view path, std::string message, std::string hint = {},
                base::Reason reason = base::Reason::kNone);
  /// Says what may not be what was meant, and does not make the file invalid.
  void Warn(std::string_view path, std::string message, std::string hint);
  /// The same as Complain() at the place of the key.
  void ComplainOfKey(std::string_view path, std::string message, std::string hint);
  /// Reports "path: message" when the status is an error.
  void Complain(std::string_view path, const base::Status& status);

  /// Records where a value came from that is not in any file.
  void Note(std::string path, std::string where) { notes_[std::move(path)] = std::move(where); }
  /// Records which file the text of a key was read from.
  void NoteFile(const std::string& path, const base::Path& file) { files_[path] = file.string(); }
  const std::map<std::string, std::string>& notes() const { return notes_; }
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  const Value* Get(std::string_view path) const;
  /// Whether the value, or a map or list around it, has been reported.
  bool IsBroken(std::string_view path) const;
  const Value& root_;
  const LoadRequest& request_;
  Diagnostics& out_;
  std::map<std::string, std::string> notes_ = {};
  std::map<std::string, std::string> files_ = {};
};

}  // namespace jobman::config
